#include "api/graph/graph_local.h"

#include "api/graph/graph_failure.h"
#include "base/crypto.h"
#include "base/product.h"

/* The platform's names of what a token may do, and the scopes that stand for them here. */
static const struct {
    const char *name;
    unsigned scope;
} permissions[] = {{"whatsapp_business_management", SCOPE_MANAGE},
                   {"whatsapp_business_messaging", SCOPE_SEND}};

enum { PERMISSIONS = sizeof permissions / sizeof *permissions };

int graph_reply_json(struct request *rq, struct slice json) {
    return reply_body(rq, 200, GRAPH_JSON, json);
}

int graph_reply_success(struct request *rq) {
    return graph_reply_json(rq, SLICE("{\"success\":true}"));
}

/* A number of 15 digits that stays the same for the user: programs expect the platform's form. */
static const char *number_of(struct request *rq, const char *user_id) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    unsigned long long number = 0;
    crypto_sha256(slice_of(user_id), hash);
    for (int i = 0; i < 7; i++)
        number = number << 8 | hash[i];
    return arena_printf(rq->arena, "%llu", 100000000000000ULL + number % 900000000000000ULL);
}

void graph_write_app(struct json_writer *out, const struct request *rq) {
    if (*rq->config->public_url)
        json_write_text(out, "link", rq->config->public_url);
    json_write_text(out, "name", SWITCHBOARD_NAME);
    json_write_text(out, "id", GRAPH_APP_ID);
}

int graph_get_app(struct request *rq, const struct graph_node *node) {
    struct json_writer out;
    (void)node;
    json_write_start_object(&out, rq->arena);
    json_write_text(&out, "category", "Business");
    graph_write_app(&out, rq);
    return graph_reply_json(rq, json_written(&out));
}

int graph_get_me(struct request *rq, const struct graph_node *node) {
    const struct store_user *user = &rq->caller->user;
    struct json_writer out;
    (void)node;
    json_write_start_object(&out, rq->arena);
    json_write_text(&out, "name", user->email);
    json_write_text(&out, "id", number_of(rq, user->id));
    return graph_reply_json(rq, json_written(&out));
}

/* Finds the caller's own token: that of the request, or another one. STORE_NOT_FOUND: it is none of
 * this user, or has expired. */
static enum store_result find_own_token(struct request *rq, struct slice token,
                                        struct caller *found) {
    *found = *rq->caller;
    if (crypto_equal(token, rq->graph->token))
        return STORE_OK;
    enum store_result result = auth_find_token(rq->arena, found, token);
    const bool is_own = result == STORE_OK && found->expires_at > rq->now &&
                        strcmp(found->user.id, rq->caller->user.id) == 0;
    return result == STORE_OK && !is_own ? STORE_NOT_FOUND : result;
}

static void write_targets(struct json_writer *out, const char *name,
                          const struct store_account *accounts, size_t count) {
    json_write_object(out, NULL);
    json_write_text(out, "scope", name);
    json_write_array(out, "target_ids");
    for (size_t i = 0; i < count; i++)
        json_write_text(out, NULL, accounts[i].waba_id);
    json_write_end(out);
    json_write_end(out);
}

/* The permissions of a token with these scopes, and each with the ids of the WABAs that it is for.
 */
static int write_scopes(struct json_writer *out, struct request *rq, unsigned scopes) {
    struct store_account *accounts;
    size_t count;
    if (auth_list_accounts(rq, &accounts, &count))
        return -1;
    json_write_array(out, "scopes");
    for (size_t i = 0; i < PERMISSIONS; i++)
        if (scopes & permissions[i].scope)
            json_write_text(out, NULL, permissions[i].name);
    json_write_end(out);
    json_write_array(out, "granular_scopes");
    for (size_t i = 0; i < PERMISSIONS; i++)
        if (scopes & permissions[i].scope)
            write_targets(out, permissions[i].name, accounts, count);
    json_write_end(out);
    return 0;
}

static int write_valid(struct json_writer *out, struct request *rq, const struct caller *token) {
    json_write_text(out, "app_id", GRAPH_APP_ID);
    json_write_text(out, "type", "SYSTEM_USER");
    json_write_text(out, "application", SWITCHBOARD_NAME);
    json_write_integer(out, "data_access_expires_at", 0);
    json_write_integer(out, "expires_at",
                       token->expires_at == INT64_MAX ? 0 : token->expires_at / 1000);
    json_write_bool(out, "is_valid", true);
    if (write_scopes(out, rq, token->scopes))
        return -1;
    json_write_text(out, "user_id", number_of(rq, rq->caller->user.id));
    return 0;
}

static void write_invalid(struct json_writer *out) {
    json_write_object(out, "error");
    json_write_integer(out, "code", 190);
    json_write_text(out, "message", "The token is not an API token of this user.");
    json_write_end(out);
    json_write_bool(out, "is_valid", false);
    json_write_array(out, "scopes");
    json_write_end(out);
}

int graph_debug_token(struct request *rq, const struct graph_node *node) {
    struct slice token = graph_parameter(rq, "input_token");
    struct caller own;
    struct json_writer out;
    (void)node;
    if (!token.n)
        return fail(rq, INVALID, "You must provide an input token");
    state_hold_view(rq);
    enum store_result found = find_own_token(rq, token, &own);
    if (found != STORE_OK && found != STORE_NOT_FOUND)
        return state_fail(rq, found);
    json_write_start_object(&out, rq->arena);
    json_write_object(&out, "data");
    if (found == STORE_NOT_FOUND)
        write_invalid(&out);
    else if (write_valid(&out, rq, &own))
        return -1;
    return graph_reply_json(rq, json_written(&out));
}
