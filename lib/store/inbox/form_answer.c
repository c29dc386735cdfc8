#include "store/form_answer.h"

#include "engine/row.h"

enum store_result store_find_form_account(struct store *store, const char *user_id,
                                          const char *flow_id, char account_id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT a.id FROM account a WHERE a.user_id = ?1 AND (EXISTS (SELECT 1 FROM flow f "
               "WHERE f.account_id = a.id AND f.flow_id = ?2) OR EXISTS (SELECT 1 "
               "FROM flow_reply_count c WHERE c.account_id = a.id AND c.flow_id = ?2)) "
               "ORDER BY a.id LIMIT 1"};
    sql_start(store, &s, TEXT(user_id), TEXT(flow_id));
    const bool found = sql_read_id(store, &s, account_id);
    return sql_found(store, found);
}

#define OF(member) ROW_MEMBER(struct store_form_answer, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_form_answer, OF(message_id), OF(wamid), OF(thread_id), OF(received_at),
               OF(contact.id), OF(contact.name), OF(contact.phone), OF(contact.bsuid), OF(body));

enum store_result store_list_form_answers(struct store *store, struct arena *arena,
                                          const char *account_id, const char *flow_id,
                                          const struct store_page *page,
                                          struct store_form_answer **answers, size_t *count) {
    static struct statement s = {
        .sql = "SELECT m.id, m.wamid, m.thread_id, m.created_at, c.id, c.name, c.phone, c.bsuid, "
               "m.body FROM flow_response r JOIN message m ON m.id = r.message_id "
               "JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id "
               "WHERE r.account_id = ?1 AND r.flow_id = ?2 AND r.message_id < ?3 "
               "ORDER BY r.message_id DESC LIMIT ?4"};
    sql_start(store, &s, TEXT(account_id), TEXT(flow_id), TEXT(page->after ? page->after : "msg_~"),
              INTEGER((int64_t)page->limit));
    *answers = row_list(store, &s, arena, &layout, count);
    return sql_result(store);
}
