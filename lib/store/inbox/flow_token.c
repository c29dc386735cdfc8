#include "store/inbox/flow_token.h"

bool flow_token_upsert(struct store *store, const char *account_id, const char *token,
                       const char *flow_id) {
    static struct statement s = {.sql = "INSERT INTO flow_token (account_id, token, flow_id) "
                                        "VALUES (?1, ?2, ?3) "
                                        "ON CONFLICT (account_id, token) DO UPDATE "
                                        "SET flow_id = excluded.flow_id"};
    return !token || sql_run_later(store, &s, TEXT(account_id), TEXT(token), TEXT(flow_id));
}
