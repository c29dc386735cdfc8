/* Updates of a payload that are no messages and statuses: each is stored as it is, once, and may
 * change other rows. */
#include "base/crypto.h"
#include "store/inbox/erased_mark.h"
#include "store/ingest/identity.h"
#include "store/ingest/message_row.h"
#include "store/ingest/update_event.h"

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

/* Stores the update. A preference may be the first update that has a person's phone and BSUID
 * together: then the contact gets both. Inserts no contact. One without a timestamp shows nothing.
 */
bool ingest_other(struct ingest *in, struct store_update *update) {
    struct contact contact;
    if (!ingest_insert_raw(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    const struct contact *who = &update->other.who;
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

bool ingest_template(struct ingest *in, struct store_update *update) {
    static struct statement s = {
        .sql = "INSERT INTO template (account_id, name, language, template_id, status, category, "
               "reason, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
               "ON CONFLICT (account_id, name, language) DO UPDATE SET "
               "template_id = coalesce(excluded.template_id, template.template_id), "
               "status = coalesce(excluded.status, template.status), "
               "category = coalesce(excluded.category, template.category), "
               "reason = CASE WHEN excluded.status IS NULL THEN template.reason "
               "ELSE excluded.reason END, updated_at = excluded.updated_at"};
    if (!ingest_insert_raw(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    const struct update_template *state = &update->template;
    return sql_run(in->store, &s, TEXT(in->owner.account_id), TEXT(state->name),
                   TEXT(state->language), TEXT(state->template_id), TEXT(state->status),
                   TEXT(state->category), TEXT(state->reason), INTEGER(in->now));
}

bool ingest_flow(struct ingest *in, struct store_update *update) {
    static struct statement s = {.sql = "UPDATE flow SET status = ?3, updated_at = ?4 "
                                        "WHERE account_id = ?1 AND flow_id = ?2"};
    if (!ingest_insert_raw(in, update, OUTCOME_STORED) || update->outcome == OUTCOME_DUPLICATE)
        return !sql_failed(in->store);
    return sql_run(in->store, &s, TEXT(in->owner.account_id), TEXT(update->flow.flow_id),
                   TEXT(update->flow.status), INTEGER(in->now));
}
