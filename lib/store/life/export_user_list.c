/* The lists of a user's export, as export_list.c has those of a person, and its events. */
#include "engine/sql.h"
#include "store/export.h"

const struct export_list export_accounts = {
    .name = "accounts",
    .columns = {{"id", EXPORT_TEXT},
                {"wabaId", EXPORT_TEXT},
                {"name", EXPORT_TEXT},
                {"createdAt", EXPORT_TIME}},
    .statement = &(struct statement){
        .sql = "SELECT a.id, a.waba_id, a.name, a.created_at FROM account a WHERE a.user_id = ?1 "
               "AND a.id > ?2 ORDER BY a.id LIMIT ?3"}};

const struct export_list export_members = {
    .name = "members",
    .columns = {{"id", EXPORT_TEXT},
                {"email", EXPORT_TEXT},
                {"name", EXPORT_TEXT},
                {"role", EXPORT_TEXT},
                {"createdAt", EXPORT_TIME},
                {"createdBy", EXPORT_TEXT},
                {"lineIds", EXPORT_WORDS},
                {"ownThreadsOnly", EXPORT_BOOL}},
    .statement = &(struct statement){
        .sql = "SELECT m.member_id, p.email, p.name, m.role, m.created_at, m.created_by, "
               "m.line_ids, m.own_threads "
               "FROM membership m JOIN member p ON p.id = m.member_id WHERE m.user_id = ?1 "
               "AND m.member_id > ?2 ORDER BY m.member_id LIMIT ?3"}};

const struct export_list export_webhooks = {
    .name = "webhooks",
    .columns = {{"id", EXPORT_TEXT},
                {"name", EXPORT_TEXT},
                {"kind", EXPORT_TEXT},
                {"host", EXPORT_HOST},
                {"accountId", EXPORT_TEXT},
                {"createdAt", EXPORT_TIME}},
    .statement = &(struct statement){
        .sql = "SELECT w.id, w.name, w.kind, w.url, w.account_id, w.created_at FROM webhook w "
               "WHERE w.user_id = ?1 AND w.deleted_at IS NULL AND w.id > ?2 ORDER BY w.id "
               "LIMIT ?3"}};

const struct export_list export_trail = {
    .name = "trail",
    .columns = {{"id", EXPORT_TEXT},
                {"at", EXPORT_TIME},
                {"actor", EXPORT_TEXT},
                {"actorName", EXPORT_TEXT},
                {"action", EXPORT_TEXT},
                {"objectId", EXPORT_TEXT},
                {"details", EXPORT_JSON_TEXT},
                {"address", EXPORT_TEXT},
                {"requestId", EXPORT_TEXT}},
    .statement = &(struct statement){
        .sql = "SELECT r.id, r.at, r.actor, r.actor_name, r.action, r.object_id, r.details, "
               "r.address, r.request_id FROM trail r WHERE r.user_id = ?1 AND r.id > ?2 "
               "ORDER BY r.id LIMIT ?3"}};

const struct export_list export_lines = {
    .name = "lines",
    .columns = {{"id", EXPORT_TEXT},
                {"accountId", EXPORT_TEXT},
                {"phoneNumberId", EXPORT_TEXT},
                {"phoneNumber", EXPORT_TEXT},
                {"name", EXPORT_TEXT},
                {"isRegistered", EXPORT_BOOL},
                {"isCoexisting", EXPORT_BOOL},
                {"platformType", EXPORT_TEXT},
                {"sendRate", EXPORT_INTEGER},
                {"archivedAt", EXPORT_TIME},
                {"createdAt", EXPORT_TIME}},
    .statement = &(struct statement){
        .sql = "SELECT l.id, l.account_id, l.phone_number_id, l.phone_number, l.name, "
               "l.is_registered, l.is_coexisting, l.platform_type, l.send_rate, "
               "l.archived_at, l.created_at "
               "FROM line l WHERE l.account_id = ?1 AND l.id > ?2 ORDER BY l.id LIMIT ?3"}};

/* A name has several languages: their order is that of both. */
const struct export_list export_templates = {
    .name = "templates",
    .columns = {{NULL, EXPORT_TEXT},
                {"accountId", EXPORT_TEXT},
                {"name", EXPORT_TEXT},
                {"language", EXPORT_TEXT},
                {"id", EXPORT_TEXT},
                {"status", EXPORT_TEXT},
                {"category", EXPORT_TEXT},
                {"reason", EXPORT_TEXT},
                {"flowId", EXPORT_TEXT},
                {"updatedAt", EXPORT_TIME}},
    .statement = &(struct statement){
        .sql = "SELECT t.name || ' ' || t.language, t.account_id, t.name, t.language, "
               "t.template_id, t.status, t.category, t.reason, t.flow_id, t.updated_at "
               "FROM template t WHERE t.account_id = ?1 AND t.name || ' ' || t.language > ?2 "
               "ORDER BY t.name || ' ' || t.language LIMIT ?3"}};

const struct export_list export_forms = {
    .name = "forms",
    .columns = {{"id", EXPORT_TEXT},
                {"accountId", EXPORT_TEXT},
                {"name", EXPORT_TEXT},
                {"status", EXPORT_TEXT},
                {"validation", EXPORT_JSON},
                {"createdAt", EXPORT_TIME},
                {"updatedAt", EXPORT_TIME}},
    .statement = &(struct statement){
        .sql = "SELECT f.flow_id, f.account_id, f.name, f.status, f.validation, f.created_at, "
               "f.updated_at FROM flow f WHERE f.account_id = ?1 AND f.flow_id > ?2 "
               "ORDER BY f.flow_id LIMIT ?3"}};

const struct export_list export_opt_outs = {
    .name = "optOuts",
    .columns = {{"identity", EXPORT_TEXT},
                {"accountId", EXPORT_TEXT},
                {"source", EXPORT_TEXT},
                {"since", EXPORT_TIME}},
    .statement = &(struct statement){
        .sql = "SELECT o.identity, o.account_id, o.source, o.since FROM opt_out o "
               "WHERE o.account_id = ?1 AND o.identity > ?2 ORDER BY o.identity LIMIT ?3"}};

const struct export_list export_threads = {
    .name = "threads",
    .columns = {{"contactId", EXPORT_TEXT}, {"id", EXPORT_TEXT}},
    .statement =
        &(struct statement){.sql = "SELECT t.contact_id, t.id FROM thread t WHERE t.line_id = ?1 "
                                   "AND t.contact_id > ?2 AND NOT EXISTS (SELECT 1 FROM erasure e "
                                   "WHERE e.contact_id = t.contact_id AND e.ended_at IS NULL) "
                                   "ORDER BY t.contact_id LIMIT ?3"}};
