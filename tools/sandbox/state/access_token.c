#include "state/access_token.h"

#include "state/graph_target.h"
#include "state/settings.h"
#include "text/json_print.h"
#include "text/memory.h"
#include "text/text.h"

struct token_override {
    struct arena *arena; /* of the struct and its text */
    const char *token;
    enum token_state state;
    struct token_override *next;
};

static struct token_override *overrides; /* the newest first */

static bool is_of_app(const char *token) {
    return settings.app_secret && strncmp(token, APP_ID "|", sizeof APP_ID) == 0 &&
           strcmp(token + sizeof APP_ID, settings.app_secret) == 0;
}

enum token_state token_check(const char *token) {
    const struct token_override *override = overrides;
    while (override && strcmp(override->token, token) != 0)
        override = override->next;
    if (override && override->state != TOKEN_VALID)
        return override->state;
    if (account_by_token(token))
        return TOKEN_VALID;
    return is_of_app(token) ? TOKEN_APP : TOKEN_UNKNOWN;
}

static void token_override(const char *token, enum token_state state) {
    struct arena *arena = memory_open();
    struct token_override *override = arena_alloc(arena, sizeof *override);
    *override = (struct token_override){
        .arena = arena, .token = text_copy(arena, token), .state = state, .next = overrides};
    overrides = override;
}

static const char *const names[] = {
    [TOKEN_VALID] = "valid", [TOKEN_EXPIRED] = "expired", [TOKEN_REVOKED] = "revoked"};

const char *token_put(const cJSON *json) {
    const char *token = json_text(json, "token");
    const char *state = json_text(json, "state");
    for (int i = TOKEN_VALID; token && state && i <= TOKEN_REVOKED; i++) {
        if (strcmp(state, names[i]) == 0) {
            token_override(token, (enum token_state)i);
            return NULL;
        }
    }
    return "token and state (valid, expired or revoked) are needed";
}

static void print_from(struct buffer *out, const struct token_override *override) {
    if (override->next)
        print_from(out, override->next);
    buffer_add_text(out, override->next ? ",\n{\"token\":" : "{\"token\":");
    json_quote_text(out, override->token);
    buffer_printf(out, ",\"state\":\"%s\"}", names[override->state]);
}

void token_print(struct buffer *out) {
    if (overrides)
        print_from(out, overrides);
}

void token_clear(void) {
    while (overrides) {
        struct token_override *gone = overrides;
        overrides = gone->next;
        memory_close(gone->arena);
    }
}
