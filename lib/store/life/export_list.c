/* The lists of an export: their statements and the names of their columns.
 *
 * The statement of a list has the parameters owner, last time (of a list with times), last id and
 * number of rows. That of a part has owner, last time and last id of the page before, then those of
 * the page: it reads the parts of all its rows at once. */
#include "engine/sql.h"
#include "store/export.h"

/* SQL: of an account's contacts `c` on a page. */
#define ON_PAGE_OF_CONTACTS "c.account_id = ?1 AND c.id > ?2 AND c.id <= ?3 ORDER BY c.id"
#define ON_PAGE_OF_MESSAGES                                                                        \
    "m.thread_id = ?1 AND (m.timestamp, m.id) > (?2, ?3) AND (m.timestamp, m.id) <= (?4, ?5) "     \
    "ORDER BY m.timestamp, m.id"

/* SQL: whether the contact has had this phone or user id, or there is none. */
#define IS_OF_CONTACT(name)                                                                        \
    "(" name " = '' OR EXISTS (SELECT 1 FROM contact_sign o WHERE o.contact_id = c.id "            \
    "AND (o.phone = " name " OR o.bsuid = " name ")) "                                             \
    "OR EXISTS (SELECT 1 FROM contact_alias o WHERE o.contact_id = c.id "                          \
    "AND o.identity = " name ") OR c.phone = " name " OR c.bsuid = " name ")"

/* SQL: the changes of identity of a page of contacts, by one of the former names; a number that was
 * another person's before is left out. refused_at keeps PostgreSQL from the index of the primary
 * key, which has all other columns. */
#define IS_OWN_CHANGE                                                                              \
    IS_OF_CONTACT("i.old_phone")                                                                   \
    " AND " IS_OF_CONTACT("i.old_bsuid") " AND " IS_OF_CONTACT("i.new_phone")
#define IS_CHANGE_FROM(old) SQL_IS("i.old_" old, "s." old) " AND coalesce(i.refused_at, 0) >= 0 "
#define CHANGES_FROM(old)                                                                          \
    "SELECT c.id, i.at, i.old_phone, i.old_bsuid, i.new_phone, i.new_bsuid FROM contact c "        \
    "JOIN contact_sign s ON s.contact_id = c.id JOIN identity_change i "                           \
    "ON i.account_id = c.account_id AND " IS_CHANGE_FROM(                                          \
        old) "WHERE s." old " <> '' "                                                              \
             "AND c.account_id = ?1 AND c.id > ?2 AND c.id <= ?3 AND " IS_OWN_CHANGE               \
             " AND " IS_OF_CONTACT("i.new_bsuid")

/* SQL: the opt-outs of a page of contacts by one of their columns. */
#define IS_ON_PAGE "c.account_id = ?1 AND c.id > ?2 AND c.id <= ?3"
#define OPT_OUTS_BY(column)                                                                        \
    "SELECT c.id, o.identity, o.source, o.since FROM contact c JOIN opt_out o "                    \
    "ON o.account_id = c.account_id AND o.identity = c." column " WHERE " IS_ON_PAGE

static const struct export_list contact_parts[] = {
    {.name = "threads",
     .columns = {{NULL, EXPORT_TEXT},
                 {"id", EXPORT_TEXT},
                 {"lineId", EXPORT_TEXT},
                 {"phoneNumberId", EXPORT_TEXT},
                 {"createdAt", EXPORT_TIME},
                 {"lastMessageAt", EXPORT_TIME},
                 {"lastInboundAt", EXPORT_TIME},
                 {"unread", EXPORT_INTEGER},
                 {"waitingSince", EXPORT_TIME},
                 {"doneAt", EXPORT_TIME},
                 {"assigneeId", EXPORT_TEXT}},
     .statement =
         &(struct statement){.sql = "SELECT c.id, t.id, t.line_id, l.phone_number_id, "
                                    "t.created_at, nullif(t.last_message_at, 0), "
                                    "t.last_inbound_at, t.unread, "
                                    "t.waiting_since, t.done_at, t.assignee_id FROM contact c "
                                    "JOIN thread t ON t.contact_id = c.id "
                                    "JOIN line l ON l.id = t.line_id WHERE " ON_PAGE_OF_CONTACTS}},
    {.name = "formerThreads",
     .columns = {{NULL, EXPORT_TEXT}, {"id", EXPORT_TEXT}, {"threadId", EXPORT_TEXT}},
     .statement = &(struct statement){.sql = "SELECT c.id, a.id, a.thread_id FROM contact c "
                                             "JOIN thread t ON t.contact_id = c.id "
                                             "JOIN thread_alias a ON a.thread_id = t.id "
                                             "WHERE " ON_PAGE_OF_CONTACTS}},
    {.name = "identities",
     .columns = {{NULL, EXPORT_TEXT},
                 {"phone", EXPORT_TEXT},
                 {"userId", EXPORT_TEXT},
                 {"parentUserId", EXPORT_TEXT},
                 {"firstShownAt", EXPORT_TIME},
                 {"lastShownAt", EXPORT_TIME}},
     .statement =
         &(struct statement){.sql = "SELECT c.id, nullif(s.phone, ''), nullif(s.bsuid, ''), "
                                    "s.parent_bsuid, s.first_at, s.last_at FROM contact c "
                                    "JOIN contact_sign s ON s.contact_id = c.id "
                                    "WHERE " ON_PAGE_OF_CONTACTS}},
    {.name = "otherIdentities",
     .columns = {{NULL, EXPORT_TEXT}, {"identity", EXPORT_TEXT}, {"createdAt", EXPORT_TIME}},
     .statement = &(struct statement){.sql = "SELECT c.id, a.identity, a.created_at FROM contact c "
                                             "JOIN contact_alias a ON a.contact_id = c.id "
                                             "WHERE " ON_PAGE_OF_CONTACTS}},
    {.name = "identityChanges",
     .columns = {{NULL, EXPORT_TEXT},
                 {"at", EXPORT_TIME},
                 {"oldPhone", EXPORT_TEXT},
                 {"oldUserId", EXPORT_TEXT},
                 {"newPhone", EXPORT_TEXT},
                 {"newUserId", EXPORT_TEXT}},
     .statement =
         &(struct statement){.sql = CHANGES_FROM("phone") " UNION " CHANGES_FROM("bsuid")}},
    {.name = "merges",
     .columns = {{NULL, EXPORT_TEXT},
                 {"contactId", EXPORT_TEXT},
                 {"reason", EXPORT_TEXT},
                 {"phone", EXPORT_TEXT},
                 {"userId", EXPORT_TEXT},
                 {"parentUserId", EXPORT_TEXT},
                 {"createdAt", EXPORT_TIME}},
     .statement =
         &(struct statement){.sql = "SELECT c.id, g.merged_id, g.reason, g.phone, g.bsuid, "
                                    "g.parent_bsuid, g.created_at FROM contact c "
                                    "JOIN contact_merge g ON g.contact_id = c.id "
                                    "WHERE " ON_PAGE_OF_CONTACTS}},
    {.name = "blocks",
     .columns = {{NULL, EXPORT_TEXT},
                 {"lineId", EXPORT_TEXT},
                 {"identity", EXPORT_TEXT},
                 {"createdAt", EXPORT_TIME}},
     .statement =
         &(struct statement){.sql = "SELECT c.id, b.line_id, nullif(b.identity, ''), b.created_at "
                                    "FROM contact c JOIN contact_block b ON b.contact_id = c.id "
                                    "WHERE " ON_PAGE_OF_CONTACTS}},
    {.name = "notes",
     .columns = {{NULL, EXPORT_TEXT},
                 {"id", EXPORT_TEXT},
                 {"threadId", EXPORT_TEXT},
                 {"text", EXPORT_TEXT},
                 {"byId", EXPORT_TEXT},
                 {"byName", EXPORT_TEXT},
                 {"createdAt", EXPORT_TIME}},
     .statement =
         &(struct statement){.sql = "SELECT c.id, n.id, n.thread_id, n.text, n.by_id, n.by_name, "
                                    "n.created_at FROM contact c "
                                    "JOIN thread t ON t.contact_id = c.id "
                                    "JOIN note n ON n.thread_id = t.id "
                                    "WHERE " ON_PAGE_OF_CONTACTS}},
    {.name = "leads",
     .columns = {{NULL, EXPORT_TEXT}, {"source", EXPORT_TEXT}, {"createdAt", EXPORT_TIME}},
     .statement = &(struct statement){.sql = "SELECT c.id, d.source, d.created_at FROM contact c "
                                             "JOIN lead d ON d.contact_id = c.id "
                                             "WHERE " ON_PAGE_OF_CONTACTS}},
    {.name = "optOuts",
     .columns = {{NULL, EXPORT_TEXT},
                 {"identity", EXPORT_TEXT},
                 {"source", EXPORT_TEXT},
                 {"since", EXPORT_TIME}},
     .statement =
         &(struct statement){
             .sql = OPT_OUTS_BY("phone") " UNION " OPT_OUTS_BY("bsuid") " UNION " OPT_OUTS_BY(
                 "parent_bsuid") " UNION SELECT c.id, o.identity, o.source, o.since "
                                 "FROM contact c JOIN contact_alias a ON a.contact_id = c.id "
                                 "JOIN opt_out o ON o.account_id = c.account_id "
                                 "AND o.identity = a.identity WHERE " IS_ON_PAGE}},
    {0},
};

const struct export_list export_contacts = {
    .name = "contacts",
    .columns = {{"id", EXPORT_TEXT},
                {"accountId", EXPORT_TEXT},
                {"phone", EXPORT_TEXT},
                {"userId", EXPORT_TEXT},
                {"parentUserId", EXPORT_TEXT},
                {"username", EXPORT_TEXT},
                {"name", EXPORT_TEXT},
                {"createdAt", EXPORT_TIME},
                {"updatedAt", EXPORT_TIME},
                {"heldAt", EXPORT_TIME}},
    .parts = contact_parts,
    .statement = &(struct statement){
        .sql = "SELECT c.id, c.account_id, c.phone, c.bsuid, c.parent_bsuid, c.username, c.name, "
               "c.created_at, c.updated_at, c.held_at FROM contact c WHERE c.account_id = ?1 "
               "AND c.id > ?2 AND NOT EXISTS (SELECT 1 FROM erasure e WHERE e.contact_id = c.id "
               "AND e.ended_at IS NULL) ORDER BY c.id LIMIT ?3"}};

static const struct export_list message_parts[] = {
    {.name = "statuses",
     .columns = {{NULL, EXPORT_TEXT},
                 {"status", EXPORT_TEXT},
                 {"recipient", EXPORT_TEXT},
                 {"timestamp", EXPORT_TIME},
                 {"receivedAt", EXPORT_TIME},
                 {"body", EXPORT_JSON}},
     .statement =
         &(struct statement){
             .sql = "SELECT m.id, s.status, s.recipient, s.timestamp, s.received_at, s.body "
                    "FROM message m JOIN message_status s ON s.message_id = m.id "
                    "WHERE " ON_PAGE_OF_MESSAGES ", s.timestamp, s.status"}},
    {.name = "copies",
     .columns = {{NULL, EXPORT_TEXT},
                 {"mediaId", EXPORT_TEXT},
                 {"state", EXPORT_TEXT},
                 {"type", EXPORT_TEXT},
                 {"size", EXPORT_INTEGER},
                 {"file", EXPORT_TEXT}},
     .statement =
         &(struct statement){
             .sql = "SELECT m.id, k.media_id, k.state, k.type, k.size, CASE WHEN k.state = 'done' "
                    "THEN k.user_id || '/' || k.month || '/' || k.sha256 END "
                    "FROM message m JOIN media_copy k ON k.message_id = m.id "
                    "WHERE " ON_PAGE_OF_MESSAGES}},
    {0},
};

const struct export_list export_messages = {
    .name = "messages",
    .columns = {{"timestamp", EXPORT_TIME},    {"id", EXPORT_TEXT},
                {"wamid", EXPORT_TEXT},        {"threadId", EXPORT_TEXT},
                {"lineId", EXPORT_TEXT},       {"direction", EXPORT_TEXT},
                {"source", EXPORT_TEXT},       {"type", EXPORT_TEXT},
                {"status", EXPORT_TEXT},       {"statusAt", EXPORT_TIME},
                {"contextWamid", EXPORT_TEXT}, {"phone", EXPORT_TEXT},
                {"userId", EXPORT_TEXT},       {"createdAt", EXPORT_TIME},
                {"doneAt", EXPORT_TIME},       {"flowId", EXPORT_TEXT},
                {"body", EXPORT_JSON},         {"error", EXPORT_JSON},
                {"byId", EXPORT_TEXT},         {"byName", EXPORT_TEXT}},
    .has_time = true,
    .parts = message_parts,
    .statement = &(struct statement){
        .sql = "SELECT m.timestamp, m.id, m.wamid, m.thread_id, m.line_id, m.direction, m.source, "
               "m.type, m.status, m.status_at, m.context_wamid, m.phone, m.bsuid, m.created_at, "
               "m.done_at, f.flow_id, m.body, m.error, m.by_id, m.by_name FROM message m "
               "LEFT JOIN flow_response f ON f.message_id = m.id WHERE m.thread_id = ?1 "
               "AND (m.timestamp, m.id) > (?2, ?3) ORDER BY m.timestamp, m.id LIMIT ?4"}};

/* Events with their deliveries: of the owner, by SQL of the event `e`. */
#define EVENTS_OF(owner)                                                                           \
    {                                                                                              \
        .name = "events", .columns = {{"id", EXPORT_TEXT},        {"type", EXPORT_TEXT},           \
                                      {"isForward", EXPORT_BOOL}, {"contactId", EXPORT_TEXT},      \
                                      {"lineId", EXPORT_TEXT},    {"createdAt", EXPORT_TIME},      \
                                      {"state", EXPORT_TEXT},     {"finishedAt", EXPORT_TIME},     \
                                      {"body", EXPORT_JSON}},                                      \
        .parts = (const struct export_list[]){DELIVERIES_OF(owner), {0}},                          \
        .statement = &(struct statement) {                                                         \
            .sql = "SELECT e.id, e.type, e.is_forward, e.contact_id, e.line_id, e.created_at, "    \
                   "e.state, e.finished_at, e.body FROM event e WHERE " owner " AND e.id > ?2 "    \
                   "ORDER BY e.id LIMIT ?3"                                                        \
        }                                                                                          \
    }
#define DELIVERIES_OF(owner)                                                                       \
    {                                                                                              \
        .name = "deliveries", .columns = {{NULL, EXPORT_TEXT},                                     \
                                          {"webhookId", EXPORT_TEXT},                              \
                                          {"state", EXPORT_TEXT},                                  \
                                          {"attempts", EXPORT_INTEGER},                            \
                                          {"lastAttemptAt", EXPORT_TIME},                          \
                                          {"lastStatus", EXPORT_INTEGER}},                         \
        .statement = &(struct statement) {                                                         \
            .sql = "SELECT e.id, d.webhook_id, d.state, d.attempts, d.last_attempt_at, "           \
                   "d.last_status FROM event e JOIN delivery d ON d.event_id = e.id "              \
                   "WHERE " owner " AND e.id > ?2 AND e.id <= ?3 ORDER BY e.id, d.webhook_id"      \
        }                                                                                          \
    }

/* SQL: the user of a contact, or of one that was merged. */
#define USER_OF_CONTACT                                                                            \
    "(SELECT a.user_id FROM account a WHERE a.id = coalesce("                                      \
    "(SELECT c.account_id FROM contact c WHERE c.id = ?1), "                                       \
    "(SELECT g.account_id FROM contact_merge g WHERE g.merged_id = ?1 LIMIT 1)))"

const struct export_list export_events =
    EVENTS_OF("e.user_id = " USER_OF_CONTACT " AND e.contact_id = ?1");
const struct export_list export_events_of_user = EVENTS_OF("e.user_id = ?1");

const struct export_list export_updates = {
    .name = "updates",
    .columns = {{NULL, EXPORT_TEXT},
                {"field", EXPORT_TEXT},
                {"receivedAt", EXPORT_TIME},
                {"body", EXPORT_JSON}},
    .statement = &(struct statement){
        .sql = "SELECT u.key, u.field, u.received_at, u.body FROM platform_update u "
               "WHERE u.account_id = ?1 AND u.key > ?2 ORDER BY u.key LIMIT ?3"}};

/* Webhooks: of their URLs only the host, since the rest may hold a secret. */
#define RECIPIENT_COLUMNS                                                                          \
    .columns = {                                                                                   \
        {"id", EXPORT_TEXT}, {"name", EXPORT_TEXT}, {"kind", EXPORT_TEXT}, {"host", EXPORT_HOST}}
#define SELECT_RECIPIENT "SELECT w.id, w.name, w.kind, w.url FROM webhook w WHERE "

const struct export_list export_recipient = {
    .name = "recipients",
    RECIPIENT_COLUMNS,
    .statement = &(struct statement){.sql = SELECT_RECIPIENT "w.id = ?1 AND w.id > ?2 LIMIT ?3"}};

const struct export_list export_forwards = {
    .name = "recipients",
    RECIPIENT_COLUMNS,
    .statement = &(struct statement){
        .sql = SELECT_RECIPIENT "w.user_id = (SELECT a.user_id FROM account a WHERE a.id = ?1) "
                                "AND w.id > ?2 AND w.kind = 'forward' AND w.deleted_at IS NULL "
                                "AND (w.account_id IS NULL OR w.account_id = ?1) "
                                "ORDER BY w.id LIMIT ?3"}};
