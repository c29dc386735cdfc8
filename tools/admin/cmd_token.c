/* switchboard token */
#include "cmd_token.h"
#include "base/crypto.h"

#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/admin.h"
#include "store/listing.h"

void token_print(struct invocation *call, const char *user_id, const char *email,
                 const struct token *token) {
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", user_id);
    json_write_text(&json, "email", email);
    json_write_text(&json, "token", token->text);
    object_print(call, &json, "%s", token->text);
}

int token_regenerate(struct invocation *call) {
    const char *email = call->operands[0];
    struct token token;
    char user_id[ID_SIZE];
    token_make(&token);
    enum store_result result =
        store_replace_token(call->store, email, token.hash, token.last4, call->now);
    if (result == STORE_OK)
        result = store_find_user(call->store, email, user_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, email);
    token_print(call, user_id, email, &token);
    crypto_wipe(&token, sizeof token);
    return EXIT_DONE;
}
