#include "store/ingest/flow_reply.h"

#include "store/inbox/flow_token.h"

static bool insert_flow_reply(struct ingest *in, const struct update_message *message,
                              const char *message_id) {
    static struct statement s = {
        .sql = "INSERT INTO flow_response (message_id, account_id, flow_id) VALUES (?1, ?2, "
               "(SELECT flow_id FROM flow_token WHERE account_id = ?2 AND token IN (?3, ?4) "
               " ORDER BY token = ?3 DESC LIMIT 1)) ON CONFLICT (message_id) DO NOTHING"};
    static struct statement count = {
        .sql = "INSERT INTO flow_reply_count (account_id, flow_id, responses) "
               "SELECT account_id, flow_id, 1 FROM flow_response "
               "WHERE message_id = ?1 AND flow_id IS NOT NULL "
               "ON CONFLICT (account_id, flow_id) DO UPDATE "
               "SET responses = flow_reply_count.responses + 1"};
    return sql_run(in->store, &s, TEXT(message_id), TEXT(in->owner.account_id),
                   TEXT(message->context_wamid), TEXT(message->flow_token)) &&
           (!sql_changes(in->store) || sql_run(in->store, &count, TEXT(message_id)));
}

bool flow_reply_add(struct ingest *in, const struct update_message *message,
                    const char *message_id) {
    if (message->is_flow_reply)
        return insert_flow_reply(in, message, message_id);
    if (!message->is_outgoing || !message->flow_id)
        return true;
    /* replies name the message's id, the flow token, or both */
    const char *account_id = in->owner.account_id;
    return flow_token_upsert(in->store, account_id, message->wamid, message->flow_id) &&
           flow_token_upsert(in->store, account_id, message->flow_token, message->flow_id);
}
