#include "api/graph/graph_local.h"

#include "api/graph/graph_failure.h"
#include "base/crypto.h"
#include "base/product.h"

static const char *const scopes[] = {"whatsapp_business_management", "whatsapp_business_messaging"};

enum { SCOPES = sizeof scopes / sizeof *scopes };

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
    json_write_start(&out, rq->arena);
    json_write_object(&out, NULL);
    json_write_text(&out, "category", "Business");
    graph_write_app(&out, rq);
    json_write_end(&out);
    return graph_reply_json(rq, json_written(&out));
}

int graph_get_me(struct request *rq, const struct graph_node *node) {
    const struct store_user *user = &rq->caller->user;
    struct json_writer out;
    (void)node;
    json_write_start(&out, rq->arena);
    json_write_object(&out, NULL);
    json_write_text(&out, "name", user->email);
    json_write_text(&out, "id", number_of(rq, user->id));
    json_write_end(&out);
    return graph_reply_json(rq, json_written(&out));
}

/* Whether the token is one of the caller's: that of the request, or another one. */
static enum store_result find_token_owner(struct request *rq, struct slice token) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    struct store_user user;
    if (crypto_equal(token, rq->graph->token))
        return STORE_OK;
    crypto_sha256(token, hash);
    enum store_result result = store_authenticate(rq->caller->store, rq->arena, hash, &user);
    return result == STORE_OK && strcmp(user.id, rq->caller->user.id) != 0 ? STORE_NOT_FOUND
                                                                           : result;
}

/* Each scope with the ids of the WABAs that it is for. */
static int write_scopes(struct json_writer *out, struct request *rq) {
    struct store_account *accounts;
    size_t count;
    enum store_result result =
        store_list_accounts(rq->caller->store, rq->arena, rq->caller->user.id, &accounts, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_array(out, "scopes");
    for (size_t i = 0; i < SCOPES; i++)
        json_write_text(out, NULL, scopes[i]);
    json_write_end(out);
    json_write_array(out, "granular_scopes");
    for (size_t i = 0; i < SCOPES; i++) {
        json_write_object(out, NULL);
        json_write_text(out, "scope", scopes[i]);
        json_write_array(out, "target_ids");
        for (size_t k = 0; k < count; k++)
            json_write_text(out, NULL, accounts[k].waba_id);
        json_write_end(out);
        json_write_end(out);
    }
    json_write_end(out);
    return 0;
}

static int write_valid(struct json_writer *out, struct request *rq) {
    json_write_text(out, "app_id", GRAPH_APP_ID);
    json_write_text(out, "type", "SYSTEM_USER");
    json_write_text(out, "application", SWITCHBOARD_NAME);
    json_write_integer(out, "data_access_expires_at", 0);
    json_write_integer(out, "expires_at", 0);
    json_write_bool(out, "is_valid", true);
    if (write_scopes(out, rq))
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
    struct json_writer out;
    (void)node;
    if (!token.n)
        return fail(rq, INVALID, "You must provide an input token");
    state_hold_view(rq);
    enum store_result found = find_token_owner(rq, token);
    if (found != STORE_OK && found != STORE_NOT_FOUND)
        return state_fail(rq, found);
    json_write_start(&out, rq->arena);
    json_write_object(&out, NULL);
    json_write_object(&out, "data");
    if (found == STORE_NOT_FOUND)
        write_invalid(&out);
    else if (write_valid(&out, rq))
        return -1;
    json_write_end(&out);
    json_write_end(&out);
    return graph_reply_json(rq, json_written(&out));
}
