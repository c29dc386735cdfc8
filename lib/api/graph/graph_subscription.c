#include "api/graph/graph_subscription.h"

#include "api/graph/graph_callbacks.h"
#include "api/graph/graph_failure.h"
#include "api/graph/graph_local.h"
#include "api/url_verification.h"
#include "api/view/webhook_view.h"
#include "api/webhook_code.h"
#include "base/url.h"
#include "payload/webhook_rules.h"
#include "store/user_webhook.h"
#include "web/multipart.h"

enum {
    LONGEST_URL = 2048,
    LONGEST_FIELDS = 4096,
    CALLBACK_REFUSED = 2200 /* the platform's code */
};

/* --- their code: one for all of them, since many programs have one secret for all numbers --- */

/* The code of a webhook that these routes made before, else a new one. p == NULL after failing the
 * request. */
static struct slice choose_code(struct request *rq, const struct graph_callbacks *callbacks) {
    for (size_t i = 0; i < callbacks->count; i++) {
        struct slice code;
        if (!callbacks->list[i].account_id)
            continue;
        if (webhook_view_code(rq, &callbacks->list[i], &code))
            return (struct slice){NULL, 0};
        if (code.n)
            return code;
    }
    return webhook_code_make(rq->arena);
}

/* --- making, changing and deleting them --- */

/* What a request asks for. */
struct callback {
    struct slice url, verify_token; /* p == NULL: not given */
};

static int check_callback(struct request *rq, const struct callback *callback) {
    const char *problem = url_check(callback->url), *reason;
    if (problem)
        return fail(rq, INVALID, "override_callback_uri %s.", problem);
    if (callback->url.n > LONGEST_URL)
        return fail(rq, INVALID, "override_callback_uri must have at most %d bytes.", LONGEST_URL);
    if (!callback->verify_token.n)
        return fail(rq, INVALID, "The parameter verify_token is required.");
    if (verify_url(rq, arena_copy(rq->arena, callback->url), callback->verify_token, &reason))
        return -1;
    if (!reason)
        return 0;
    rq->graph->error_code = CALLBACK_REFUSED;
    return fail(rq, INVALID, "Callback verification failed with the following errors: %s", reason);
}

static int insert(struct request *rq, const struct graph_callbacks *callbacks,
                  struct store_webhook_change *change) {
    struct webhook_code code = {.rq = rq, .text = choose_code(rq, callbacks)};
    const struct store_secret secret = {webhook_code_seal, &code};
    char id[ID_SIZE];
    if (!code.text.p)
        return -1;
    id_make(id, "whk_", rq->now);
    change->id = id;
    change->kind = WEBHOOK_FORWARD;
    change->code = &secret;
    enum store_result result = store_insert_webhook(rq->caller->store, change);
    if (result == STORE_CONFLICT)
        return fail(rq, INVALID, "The user has %d webhooks already; delete one.",
                    STORE_WEBHOOKS_KEPT);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

static int change_url(struct request *rq, const struct store_webhook *present, const char *url) {
    const struct store_webhook_change change = {.id = present->id,
                                                .user_id = rq->caller->user.id,
                                                .sets_url = true,
                                                .url = url,
                                                .resumes = true,
                                                .now = rq->now};
    enum store_result result = store_change_webhook(rq->caller->store, &change);
    return result == STORE_OK || result == STORE_NOT_FOUND ? 0 : state_fail(rq, result);
}

/* The webhook of an account, or of its line. */
static const struct store_webhook *find(const struct graph_callbacks *callbacks,
                                        const struct store_account *account,
                                        const struct line *line) {
    return line ? graph_line_callback(callbacks, account->id, line->phone_number_id)
                : graph_account_callback(callbacks, account->id);
}

/* Deletes the webhook of an account, or of its line, if there is one. */
static int delete_webhook(struct request *rq, const struct store_account *account,
                          const struct line *line) {
    struct graph_callbacks callbacks;
    if (graph_list_callbacks(rq, &callbacks))
        return -1;
    const struct store_webhook *present = find(&callbacks, account, line);
    if (!present)
        return 0;
    enum store_result result =
        store_delete_webhook(rq->caller->store, rq->caller->user.id, present->id, rq->now);
    return result == STORE_OK || result == STORE_NOT_FOUND ? 0 : state_fail(rq, result);
}

/* Sets the webhook of an account, or of its line. */
static int set_webhook(struct request *rq, const struct store_account *account,
                       const struct line *line, const struct callback *callback) {
    const char *url = arena_copy(rq->arena, callback->url);
    struct graph_callbacks callbacks;
    if (graph_list_callbacks(rq, &callbacks))
        return -1;
    const struct store_webhook *present = find(&callbacks, account, line);
    struct store_webhook_change change = {
        .user_id = rq->caller->user.id,
        .name = arena_printf(rq->arena, GRAPH_WEBHOOK_NAME "%s",
                             line ? line->phone_number_id : account->waba_id),
        .url = url,
        .account_id = account->id,
        .line_ids = line ? line->id : NULL,
        .now = rq->now,
    };
    return present ? change_url(rq, present, url) : insert(rq, &callbacks, &change);
}

/* --- the fields of the account's webhooks --- */

/* Adds a name to the list, unless it is in it, or is no name of a field. */
static void add_field(struct buffer *list, struct slice name) {
    const struct slice known = buffer_slice(list);
    if (!name.n || name.n > webhook_field_rule.longest || webhook_field_rule.check(name) ||
        slice_equal(name, SLICE(WEBHOOK_ALL_FIELDS)) || slice_has_word(known, ' ', name) ||
        known.n + name.n > LONGEST_FIELDS)
        return;
    buffer_printf(list, "%s%.*s", known.n ? " " : "", (int)name.n, name.p);
}

/* Adds the names of an array. */
static int add_array(struct request *rq, struct buffer *list, struct json array) {
    if (json_type(array) != JSON_ARRAY)
        return fail(rq, INVALID, "subscribed_fields must be a list of names.");
    for (struct json i = json_first(array); json_is(i); i = json_next(i))
        add_field(list, json_string(i, rq->arena));
    return 0;
}

/* Adds the names of a text: a JSON array, or names separated by commas. */
static int add_text(struct request *rq, struct buffer *list, struct slice text) {
    struct json array = {0};
    struct json_error error;
    text = slice_trim(text);
    if (slice_starts(text, SLICE("["))) {
        if (json_read(rq->arena, text, &array, &error))
            array = (struct json){0};
        return add_array(rq, list, array);
    }
    while (text.n)
        add_field(list, slice_trim(slice_cut(&text, ',')));
    return 0;
}

/* Adds the names of the parameters `subscribed_fields` and `subscribed_fields[...]`. */
static int add_pairs(struct request *rq, struct buffer *list, const struct query *pairs) {
    for (size_t i = 0; i < pairs->count; i++) {
        struct slice rest = pairs->values[i].name;
        if (slice_equal(slice_cut(&rest, '['), SLICE("subscribed_fields")) &&
            add_text(rq, list, pairs->values[i].value))
            return -1;
    }
    return 0;
}

/* Keeps the parameter subscribed_fields, if it is given, for the account's webhooks. */
static int keep_fields(struct request *rq, const struct store_account *account) {
    const struct graph_request *graph = rq->graph;
    const struct json member = json_get(graph->json, "subscribed_fields");
    struct buffer list = buffer_in(rq->arena);
    if (add_pairs(rq, &list, &graph->parameters) || add_pairs(rq, &list, &graph->form))
        return -1;
    if (json_type(member) == JSON_STRING) {
        if (add_text(rq, &list, json_string(member, rq->arena)))
            return -1;
    } else if (json_is(member) && json_type(member) != JSON_NULL && add_array(rq, &list, member)) {
        return -1;
    }
    if (!list.n)
        return 0;
    enum store_result result =
        store_set_subscribed_fields(rq->caller->store, rq->caller->user.id, account->id,
                                    arena_copy(rq->arena, buffer_slice(&list)), rq->now);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

/* --- the edges --- */

int graph_get_subscription(struct request *rq, const struct graph_node *node) {
    struct graph_callbacks callbacks;
    state_hold_view(rq);
    if (graph_list_callbacks(rq, &callbacks))
        return -1;
    return graph_reply_json(
        rq, graph_make_subscription(rq, graph_account_callback(&callbacks, node->accounts->id)));
}

int graph_subscribe(struct request *rq, const struct graph_node *node) {
    const struct callback callback = {graph_parameter(rq, "override_callback_uri"),
                                      graph_parameter(rq, "verify_token")};
    if (multipart_is(rq->graph->content_type))
        return fail(rq, INVALID, "The body must be JSON or application/x-www-form-urlencoded.");
    if (callback.url.n && check_callback(rq, &callback))
        return -1;
    if (keep_fields(rq, node->accounts))
        return -1;
    if (callback.url.n && set_webhook(rq, node->accounts, NULL, &callback))
        return -1;
    return graph_reply_success(rq);
}

int graph_unsubscribe(struct request *rq, const struct graph_node *node) {
    if (delete_webhook(rq, node->accounts, NULL))
        return -1;
    enum store_result result = store_set_subscribed_fields(rq->caller->store, rq->caller->user.id,
                                                           node->accounts->id, NULL, rq->now);
    return result == STORE_OK ? graph_reply_success(rq) : state_fail(rq, result);
}

/* Reads the object webhook_configuration, which may be a JSON text in a string. */
static int read_configuration(struct request *rq, struct callback *callback) {
    struct slice text = graph_parameter(rq, "webhook_configuration");
    struct json object = {0};
    struct json_error error;
    if (json_read(rq->arena, text, &object, &error) || json_type(object) != JSON_OBJECT)
        return fail(rq, INVALID, "webhook_configuration must be an object.");
    callback->url = json_string(json_get(object, "override_callback_uri"), rq->arena);
    callback->verify_token = json_string(json_get(object, "verify_token"), rq->arena);
    return 0;
}

int graph_configure_webhook(struct request *rq, const struct graph_node *node) {
    const struct line *line = &rq->caller->line;
    struct callback callback;
    (void)node;
    if (read_configuration(rq, &callback))
        return -1;
    if (!callback.url.p)
        return fail(rq, INVALID, "webhook_configuration must have override_callback_uri.");
    if (callback.url.n && check_callback(rq, &callback))
        return -1;
    if (callback.url.n ? set_webhook(rq, &line->account, line, &callback)
                       : delete_webhook(rq, &line->account, line))
        return -1;
    return graph_reply_success(rq);
}
