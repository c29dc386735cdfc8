/* Rows of the table campaign, for clients. */
#include "store/campaign.h"

#include <string.h>

#include "engine/row.h"
#include "store/contact.h"
#include "store/deed.h"
#include "store/outgoing/campaign_count.h"

#define COLUMNS                                                                                    \
    "c.id, c.user_id, c.account_id, c.line_id, l.phone_number_id, c.name, c.template, "            \
    "c.language, c.category, c.components, c.state, c.reason, c.rate, c.valid_ms, c.start_at, "    \
    "c.created_at, c.finished_at, c.by_id, c.by_name, c.hours "                                    \
    "FROM campaign c JOIN line l ON l.id = c.line_id "

#define OF(member)      ROW_MEMBER(struct store_campaign, member)
#define TIME_OF(member) ROW_TIME_MEMBER(struct store_campaign, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_campaign, OF(id), OF(user_id), OF(account_id), OF(line_id),
               OF(phone_number_id), OF(name), OF(template_name), OF(language), OF(category),
               OF(components), OF(state), OF(reason), OF(rate), OF(valid_ms), TIME_OF(start_at),
               OF(created_at), TIME_OF(finished_at), OF(by.id), OF(by.name), OF(window));

enum store_result store_insert_campaign(struct store *store,
                                        const struct store_campaign *campaign) {
    static struct statement s = {
        .sql = "INSERT INTO campaign (id, user_id, account_id, line_id, name, template, language, "
               "category, components, state, rate, valid_ms, by_id, by_name, created_at, hours) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'draft', ?10, ?11, ?12, ?13, ?14, ?15) "
               "ON CONFLICT (id) DO NOTHING"};
    const struct store_campaign *c = campaign;
    const struct slice none = {NULL, 0};
    while (sql_transact(store))
        if (sql_run(store, &s, TEXT(c->id), TEXT(c->user_id), TEXT(c->account_id), TEXT(c->line_id),
                    TEXT(c->name), TEXT(c->template_name), TEXT(c->language), TEXT(c->category),
                    BLOB(c->components), c->rate ? INTEGER(c->rate) : NO_INTEGER,
                    INTEGER(c->valid_ms), TEXT(c->by.id), TEXT(c->by.id ? c->by.name : NULL),
                    INTEGER(c->created_at), BLOB(c->window.n ? c->window : none)))
            store_trail(store, c->user_id, c->id);
    return sql_result(store);
}

enum store_result store_find_campaign(struct store *store, struct arena *arena, const char *user_id,
                                      const char *id, struct store_campaign *campaign) {
    static struct statement s = {.sql = "SELECT " COLUMNS "WHERE c.id = ?1 AND c.user_id = ?2"};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    return sql_found(store, row_find(store, &s, arena, &layout, campaign));
}

enum store_result store_list_campaigns(struct store *store, struct arena *arena,
                                       const char *user_id, const struct store_page *page,
                                       struct store_campaign **campaigns, size_t *count) {
    static struct statement s = {.sql = "SELECT " COLUMNS "WHERE c.user_id = ?1 AND c.id < ?2 "
                                        "ORDER BY c.id DESC LIMIT ?3"};
    sql_start(store, &s, TEXT(user_id), TEXT(page->after ? page->after : "~"),
              INTEGER((int64_t)page->limit));
    *campaigns = row_list(store, &s, arena, &layout, count);
    return sql_result(store);
}

/* A measure without its beginning. */
static struct store_campaign_count count_of(const char *measure, int64_t count) {
    static const struct {
        const char *beginning;
        enum campaign_measure measure;
    } kinds[] = {{CAMPAIGN_DELIVERY, CAMPAIGN_STATUS}, {CAMPAIGN_ERROR, CAMPAIGN_CODE}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].beginning);
        if (strncmp(measure, kinds[i].beginning, length) == 0)
            return (struct store_campaign_count){kinds[i].measure, measure + length, count};
    }
    return (struct store_campaign_count){CAMPAIGN_STATE, measure, count};
}

enum store_result store_count_campaign(struct store *store, struct arena *arena, const char *id,
                                       struct store_campaign_count **counts, size_t *count) {
    static struct statement s = {
        .sql = "SELECT measure, count FROM campaign_count WHERE campaign_id = ?1 ORDER BY measure"};
    struct buffer list = buffer_in(arena);
    sql_start(store, &s, TEXT(id));
    while (sql_row(store, &s)) {
        const struct store_campaign_count row =
            count_of(column_text(&s, 0, arena), column_integer(&s, 1));
        buffer_add(&list, &row, sizeof row);
    }
    *counts = buffer_array(&list, sizeof **counts, count);
    return sql_result(store);
}

/* --- recipients --- */

/* Whether the campaign is a draft of the user; it stays one until the transaction ends. */
static bool hold_draft(struct store *store, const struct store_campaign *campaign) {
    static struct statement s = {.sql = "UPDATE campaign SET state = 'draft' WHERE id = ?1 "
                                        "AND user_id = ?2 AND state = 'draft'"};
    return row_write(store, &s, TEXT(campaign->id), TEXT(campaign->user_id));
}

/* How many recipients were added to the campaign: those of a draft that were erased count too. */
static int64_t read_recipients(struct store *store, const char *id) {
    static struct statement s = {.sql = "SELECT recipients FROM campaign WHERE id = ?1"};
    sql_start(store, &s, TEXT(id));
    return row_integer(store, &s, 0);
}

static bool raise_recipients(struct store *store, const char *id, size_t added) {
    static struct statement s = {
        .sql = "UPDATE campaign SET recipients = recipients + ?2 WHERE id = ?1"};
    return sql_run_later(store, &s, TEXT(id), INTEGER((int64_t)added)) &&
           campaign_count_rows(store, id, "waiting", (int64_t)added);
}

/* SQL: the contacts of the account ?2 that are meant by the recipient ?4 or the BSUID ?7. */
#define PERSON CONTACT_IDS_OF("?2", "?4") " UNION ALL " CONTACT_IDS_OF("?2", "?7")

/* SQL: all identities of the contacts `person`. */
#define NAMES                                                                                      \
    "SELECT c.phone FROM person p JOIN contact c ON c.id = p.id UNION ALL "                        \
    "SELECT c.bsuid FROM person p JOIN contact c ON c.id = p.id UNION ALL "                        \
    "SELECT c.parent_bsuid FROM person p JOIN contact c ON c.id = p.id UNION ALL "                 \
    "SELECT a.identity FROM person p JOIN contact_alias a ON a.contact_id = p.id"

/* SQL: a recipient `r` of the campaign; the rest of the condition and a parenthesis follow. */
#define NONE_WITH "NOT EXISTS (SELECT 1 FROM campaign_recipient r WHERE r.campaign_id = ?3 AND "

/* SQL: a name of a contact is in this column of no recipient. The server cannot make a join of it,
 * which it would read all recipients for where most campaigns have few. */
#define NONE_NAMED_IN(column)                                                                      \
    "NOT EXISTS (SELECT 1 FROM named WHERE (SELECT 1 FROM campaign_recipient r "                   \
    "WHERE r.campaign_id = ?3 AND r." column " = name LIMIT 1) = 1)"

/* SQL: the campaign ?3 has the person by none of the given identities, and by none of a contact. */
#define IS_NEW                                                                                     \
    NONE_WITH "r.recipient = ?7) AND " NONE_WITH "r.bsuid = ?4) AND " NONE_WITH                    \
              "r.bsuid = ?7) AND (NOT EXISTS (SELECT 1 FROM person) OR (" NONE_NAMED_IN(           \
                  "recipient") " AND " NONE_NAMED_IN("bsuid") "))"

/* Adds a person whom the campaign does not have by any identity. The identities of a contact are
 * read only if the account has a contact with one of the given ones. */
static bool add_recipient(struct store *store, const struct store_campaign *campaign,
                          const struct store_campaign_recipient *recipient, const char *id,
                          int64_t now) {
    static struct statement s = {
        .sql = "WITH person (id) AS MATERIALIZED (" PERSON "), named (name) AS MATERIALIZED (" NAMES
               ") INSERT INTO campaign_recipient (id, account_id, campaign_id, recipient, body, "
               "created_at, bsuid) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE " IS_NEW
               " ON CONFLICT (campaign_id, recipient) DO NOTHING"};
    return sql_run_later(store, &s, TEXT(id), TEXT(campaign->account_id), TEXT(campaign->id),
                         TEXT(recipient->recipient), BLOB(recipient->body), INTEGER(now),
                         TEXT(recipient->bsuid));
}

static bool remove_recipient(struct store *store, const char *id) {
    static struct statement s = {.sql = "DELETE FROM campaign_recipient WHERE id = ?1"};
    return sql_run(store, &s, TEXT(id));
}

/* Adds the recipients; STORE_EXCESSIVE if more than `room` of them are new: as many are added. */
static enum store_result add_new(struct store *store, const struct store_campaign *campaign,
                                 const struct store_campaign_recipient *recipients, size_t count,
                                 int64_t now, size_t room, size_t *added) {
    const int64_t before = sql_total_changes(store);
    char id[ID_SIZE];
    for (size_t i = 0; i < count; i++) {
        id_make(id, "rcp_", now);
        if (!add_recipient(store, campaign, &recipients[i], id, now))
            break;
        if (room < count && sql_total_changes(store) - before > (int64_t)room) {
            *added = room;
            return remove_recipient(store, id) ? STORE_EXCESSIVE : STORE_OK;
        }
    }
    *added = (size_t)(sql_total_changes(store) - before);
    return STORE_OK;
}

enum store_result store_add_recipients(struct store *store, const struct store_campaign *campaign,
                                       const struct store_campaign_recipient *recipients,
                                       size_t count, int64_t now, size_t *added) {
    enum store_result outcome = STORE_OK;
    while (sql_transact(store)) {
        *added = 0;
        if (!hold_draft(store, campaign)) {
            outcome = STORE_CONFLICT;
            continue;
        }
        const int64_t room = CAMPAIGN_ROWS_MOST - read_recipients(store, campaign->id);
        outcome =
            add_new(store, campaign, recipients, count, now, (size_t)(room > 0 ? room : 0), added);
        if (*added)
            raise_recipients(store, campaign->id, *added);
    }
    const enum store_result result = sql_result(store);
    return result != STORE_OK || outcome == STORE_OK
               ? result
               : sql_refuse(store, outcome, "the campaign takes no more recipients");
}
