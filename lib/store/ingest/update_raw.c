/* Updates of a payload that are no messages and statuses: each is stored as it is, once, and may
 * change other rows. */
#include "base/crypto.h"
#include "store/campaign.h"
#include "store/inbox/erased_mark.h"
#include "store/ingest/identity.h"
#include "store/ingest/message_row.h"
#include "store/ingest/update_event.h"
#include "store/opt_out.h"

enum { SECOND = 1000 };

static const char *key_of(struct ingest *in, const struct store_update *update) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    if (update->key)
        return update->key;
    crypto_sha256(update->body, hash);
    return arena_printf(in->arena, "sha256:%s", crypto_hex(in->arena, hash, sizeof hash));
}

bool ingest_skip_erased(struct ingest *in, struct store_update *update) {
    update->outcome = OUTCOME_DUPLICATE;
    in->erased++;
    return true;
}

bool ingest_insert_raw(struct ingest *in, struct store_update *update, enum store_outcome outcome) {
    static struct statement s = {
        .sql = "INSERT INTO platform_update (account_id, key, field, body, received_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (account_id, key) DO NOTHING"};
    const char *key = key_of(in, update);
    const struct erased_mark mark = erased_mark_of(in->arena, in->owner.account_id, key);
    if (erased_mark_is_set(in->store, &mark))
        return ingest_skip_erased(in, update);
    if (!sql_run(in->store, &s, TEXT(in->owner.account_id), TEXT(key), TEXT(update->field),
                 BLOB(update->body), INTEGER(in->now)))
        return false;
    update->outcome = sql_changes(in->store) ? outcome : OUTCOME_DUPLICATE;
    return true;
}

/* A choice that is older than an opt-out does not end it: the update came late. The platform
 * reports seconds. */
static bool apply_choice(struct ingest *in, const struct update_other *other) {
    const struct opt_out_names names = {other->who.phone, other->who.bsuid};
    const int64_t at = other->at && other->at < in->now ? other->at : in->now;
    switch (other->choice) {
    case CHOICE_STOP:
        return opt_out_insert(in->store, in->owner.account_id, &names, "platform", at);
    case CHOICE_RESUME:
        return opt_out_delete(in->store, in->owner.account_id, &names, at + SECOND - 1);
    case CHOICE_NONE: break;
    }
    return true;
}

/* Stores the update. A preference may be the first update that has a person's phone and BSUID
 * together: then the contact gets both. Inserts no contact. One without a timestamp shows nothing.
 */
bool ingest_other(struct ingest *in, struct store_update *update) {
    struct contact contact;
    if (!ingest_insert_raw(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    const struct contact *who = &update->other.who;
    if (!apply_choice(in, &update->other))
        return false;
    if (!who->phone || !who->bsuid || !update->other.at)
        return true;
    const struct occasion occasion = ingest_occasion(in, update->other.at, NULL);
    return identity_resolve(&occasion, who, &contact);
}

bool ingest_identity(struct ingest *in, struct store_update *update) {
    if (!ingest_insert_raw(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    const struct occasion occasion =
        ingest_occasion(in, update->identity.at, ingest_id(in, "con_"));
    return identity_change(&occasion, &update->identity.before, &update->identity.after,
                           update->identity.reason);
}

bool ingest_lead(struct ingest *in, struct store_update *update) {
    const char *wamid = update->lead.wamid;
    struct stored_message known = {0};
    struct contact contact = {0};
    if (wamid && !stored_message_find_locked(in, wamid, &known, &contact))
        return false;
    if (known.is_erased)
        return ingest_skip_erased(in, update);
    if (!ingest_insert_raw(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    if (in->owner.is_archived)
        return true;
    struct store_event event = {
        .type = "lead.created", .source = "lead_event", .wamid = wamid, .lead_event = update->body};
    if (known.id[0])
        return update_event_add_lead(in, &event, &contact, known.thread_id);
    return update_event_add(in, &event, NULL, NULL);
}

/* --- templates and flows --- */

/* What is stored of a template; NULL: never reported. */
struct template_row {
    const char *template_id, *status, *category, *reason, *quality;
};

#define OF(member) ROW_MEMBER(struct template_row, member)
static const struct row_layout layout = ROW_LAYOUT(struct template_row, OF(template_id), OF(status),
                                                   OF(category), OF(reason), OF(quality));

/* Reads the row of the template; it is empty when there is none. */
static bool find_template(struct ingest *in, const struct update_template *update,
                          struct template_row *row) {
    static struct statement s = {
        .sql = "SELECT template_id, status, category, reason, quality FROM template "
               "WHERE account_id = ?1 AND name = ?2 AND language = ?3"};
    *row = (struct template_row){0};
    sql_start(in->store, &s, TEXT(in->owner.account_id), TEXT(update->name),
              TEXT(update->language));
    row_find(in->store, &s, in->arena, &layout, row);
    return !sql_failed(in->store);
}

/* SQL: what was reported is not older than what the row has. */
#define IS_STATUS  "excluded.status_at >= coalesce(template.status_at, 0)"
#define IS_QUALITY "excluded.quality_at >= coalesce(template.quality_at, 0)"

/* Deletes the row of a template with another id, whose place this one has taken, and stores what
 * was reported. A status or quality that is older than the stored one came late: it stays. */
static bool upsert_template(struct ingest *in, const struct update_template *update) {
    static struct statement delete_former = {
        .sql = "DELETE FROM template WHERE account_id = ?1 AND name = ?2 AND language = ?3 "
               "AND template_id <> ?4"};
    /* clang-format off */
    static struct statement s = {
        .sql = "INSERT INTO template (account_id, name, language, template_id, status, category, "
               "reason, quality, status_at, quality_at, updated_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
               "CASE WHEN ?5 IS NOT NULL THEN CAST(?9 AS BIGINT) END, "
               "CASE WHEN ?8 IS NOT NULL THEN CAST(?9 AS BIGINT) END, ?10) "
               "ON CONFLICT (account_id, name, language) DO UPDATE SET "
               "template_id = coalesce(excluded.template_id, template.template_id), "
               "category = coalesce(excluded.category, template.category), "
               "status = CASE WHEN " IS_STATUS " THEN excluded.status ELSE template.status END, "
               "reason = CASE WHEN " IS_STATUS " THEN excluded.reason ELSE template.reason END, "
               "status_at = CASE WHEN " IS_STATUS " THEN excluded.status_at "
               "ELSE template.status_at END, "
               "quality = CASE WHEN " IS_QUALITY " THEN excluded.quality "
               "ELSE template.quality END, "
               "quality_at = CASE WHEN " IS_QUALITY " THEN excluded.quality_at "
               "ELSE template.quality_at END, updated_at = excluded.updated_at"};
    /* clang-format on */
    return sql_run(in->store, &delete_former, TEXT(in->owner.account_id), TEXT(update->name),
                   TEXT(update->language), TEXT(update->template_id)) &&
           sql_run(in->store, &s, TEXT(in->owner.account_id), TEXT(update->name),
                   TEXT(update->language), TEXT(update->template_id), TEXT(update->status),
                   TEXT(update->category), TEXT(update->reason), TEXT(update->quality),
                   INTEGER(update->at), INTEGER(in->now));
}

/* Adds the event of the update; `before`, `after`: the row. */
static bool add_template_event(struct ingest *in, const struct store_update *update,
                               const struct template_row *before,
                               const struct template_row *after) {
    const struct update_template *reported = &update->template;
    const bool is_status = reported->status != NULL;
    const struct template_change change = {
        .id = after->template_id,
        .name = reported->name,
        .language = reported->language,
        .category = after->category,
        .change = reported->change,
        .status = is_status ? reported->status : after->status,
        .quality = reported->quality ? reported->quality : after->quality,
        .previous = is_status ? before->status : reported->previous,
        .reason = is_status ? reported->reason : after->reason,
        .raw = update->body,
    };
    struct store_event event = {.type = "template.status", .template = &change};
    return update_event_add(in, &event, NULL, NULL);
}

/* The platform refuses what a paused or disabled template would send: its campaigns wait, also when
 * the update came late and the template is still in that state. */
static bool pause_campaigns(struct ingest *in, const struct update_template *reported,
                            const struct template_row *after) {
    const bool is_stopped =
        reported->status && after->status &&
        (strcmp(after->status, "PAUSED") == 0 || strcmp(after->status, "DISABLED") == 0);
    const struct stopped_template stopped = {.account_id = in->owner.account_id,
                                             .name = reported->name,
                                             .language = reported->language,
                                             .now = in->now,
                                             .write = in->write};
    return !is_stopped || campaign_pause_template(in->store, &stopped);
}

bool ingest_template(struct ingest *in, struct store_update *update) {
    struct template_row before, after;
    if (!ingest_insert_raw(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    return find_template(in, &update->template, &before) &&
           upsert_template(in, &update->template) && find_template(in, &update->template, &after) &&
           pause_campaigns(in, &update->template, &after) &&
           add_template_event(in, update, &before, &after);
}

bool ingest_flow(struct ingest *in, struct store_update *update) {
    static struct statement s = {.sql = "UPDATE flow SET status = ?3, updated_at = ?4 "
                                        "WHERE account_id = ?1 AND flow_id = ?2"};
    if (!ingest_insert_raw(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    return sql_run(in->store, &s, TEXT(in->owner.account_id), TEXT(update->flow.flow_id),
                   TEXT(update->flow.status), INTEGER(in->now));
}
