/* switchboard scoped-token */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/token.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "payload/team_json.h"
#include "store/listing.h"
#include "store/scoped_token.h"
#include "web/scope.h"

enum { DAYS_PRESET = 365 };

#define DAY_MS (24 * 60 * 60 * INT64_C(1000))

/* Finds the user of the first operand. Returns EXIT_DONE, or EXIT_FAILED after printing why not. */
static int find_owner(struct invocation *call, char user_id[ID_SIZE]) {
    const char *email = call->operands[0];
    enum store_result result = store_find_user(call->store, email, user_id);
    return result == STORE_OK ? EXIT_DONE : fail_row(call, result, ROW_USER, email);
}

int scoped_token_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    struct store_scoped_token *tokens;
    char user_id[ID_SIZE];
    size_t count;
    if (find_owner(call, user_id) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result =
        store_list_scoped_tokens(call->store, arena, WHOLE_VIEW(user_id), &tokens, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = list_start(call);
    struct table table = TABLE(arena, "ID", "NAME", "ENDS ON", "SCOPES", "LINES", "CREATED BY",
                               "EXPIRES", "LAST USED");
    for (size_t i = 0; i < count; i++) {
        json_write_object(&json, NULL);
        team_json_token(&json, &tokens[i]);
        json_write_end(&json);
        table_cell(&table, tokens[i].id);
        table_cell(&table, tokens[i].name);
        table_cell(&table, tokens[i].last4);
        table_cell(&table, tokens[i].scopes);
        table_cell(&table, tokens[i].line_ids ? tokens[i].line_ids : "all");
        table_cell(&table, tokens[i].created_by);
        table_cell(&table, time_text(arena, tokens[i].expires_at));
        table_cell(&table, time_text(arena, tokens[i].last_used_at));
    }
    return list_print(call, &json, &table);
}

/* The words of an option, which are separated by commas; NULL without it. */
static const char *words_of(struct invocation *call, int option) {
    const char *list = call->options[option];
    char *words = list ? arena_copy(&call->arena, slice_of(list)) : NULL;
    for (char *p = words; p && *p; p++)
        if (*p == ',')
            *p = ' ';
    return words;
}

/* Reads --scope and --lines. Returns an exit code, after printing a failure. */
static int read_limits(struct invocation *call, const char *user_id,
                       struct store_scoped_token *token) {
    const char *lines = words_of(call, OPTION_LINES);
    const unsigned scopes = scope_set(slice_of(words_of(call, OPTION_SCOPE)));
    if (lines && strcmp(lines, "all") == 0)
        lines = NULL;
    token->scopes = scope_words(&call->arena, scopes);
    if (lines && scopes & SCOPES_OF_ALL_LINES)
        return fail("a token with --lines has neither the scope events nor manage: they are about "
                    "all lines");
    return line_option_read(call, user_id, lines, &token->line_ids);
}

static int64_t read_end(const struct invocation *call) {
    const char *days = call->options[OPTION_DAYS];
    if (days && strcmp(days, "never") == 0)
        return INT64_MAX;
    return call->now + (days ? strtol(days, NULL, 10) : DAYS_PRESET) * DAY_MS;
}

int scoped_token_add(struct invocation *call) {
    struct token token;
    char id[ID_SIZE], user_id[ID_SIZE];
    if (find_owner(call, user_id) != EXIT_DONE)
        return EXIT_FAILED;
    id_make(id, "tok_", call->now);
    token_make(&token, TOKEN_SCOPED);
    struct store_scoped_token row = {
        .id = id,
        .name = call->options[OPTION_NAME],
        .last4 = token.last4,
        .created_by = "switchboard scoped-token",
        .created_at = call->now,
        .expires_at = read_end(call),
        .last_used_at = INT64_MAX,
    };
    if (read_limits(call, user_id, &row) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result = store_insert_scoped_token(call->store, user_id, &row, token.hash);
    if (result == STORE_CONFLICT)
        return fail("%s has %d scoped tokens already; `switchboard scoped-token revoke` ends one",
                    call->operands[0], SCOPED_TOKENS_MAX);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = object_start(call);
    team_json_token(&json, &row);
    json_write_text(&json, "token", token.text);
    int status = object_print(call, &json, "%s", token.text);
    crypto_wipe(&token, sizeof token);
    return status;
}

int scoped_token_revoke(struct invocation *call) {
    const char *id = call->operands[1];
    char user_id[ID_SIZE];
    if (find_owner(call, user_id) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result =
        store_delete_scoped_token(call->store, &call->arena, WHOLE_VIEW(user_id), id);
    if (result == STORE_NOT_FOUND)
        return fail("%s has no scoped token %s; `switchboard scoped-token list %s` shows all",
                    call->operands[0], id, call->operands[0]);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", id);
    json_write_bool(&json, "revoked", true);
    return object_print(call, &json, "revoked scoped token %s", id);
}
