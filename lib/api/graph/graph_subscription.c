#include "api/graph/graph_subscription.h"

#include <stdlib.h>

#include "api/graph/graph_callbacks.h"
#include "api/graph/graph_failure.h"
#include "api/graph/graph_local.h"
#include "api/url_verification.h"
#include "api/view/webhook_view.h"
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
    const char *name;               /* of the parameter with the URL */
};

static const char override_name[] = "override_callback_uri";

static int check_callback(struct request *rq, const struct callback *callback) {
    const char *problem = url_check(callback->url), *reason;
    if (problem)
        return fail(rq, INVALID, "%s %s.", callback->name, problem);
    if (callback->url.n > LONGEST_URL)
        return fail(rq, INVALID, "%s must have at most %d bytes.", callback->name, LONGEST_URL);
    if (!callback->verify_token.n)
        return fail(rq, INVALID, "The parameter verify_token is required.");
    if (verify_url(rq, arena_copy(rq->arena, callback->url), callback->verify_token, &reason))
        return -1;
    if (!reason)
        return 0;
    rq->graph->error_code = CALLBACK_REFUSED;
    return fail(rq, INVALID, "Callback verification failed with the following errors: %s", reason);
}

/* `text`: its code; p == NULL: the request has failed. */
static int insert(struct request *rq, struct slice text, struct store_webhook_change *change) {
    struct webhook_code code = {.rq = rq, .text = text};
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

static int change_webhook(struct request *rq, const struct store_webhook_change *change) {
    enum store_result result = store_change_webhook(rq->caller->store, change);
    return result == STORE_OK || result == STORE_NOT_FOUND ? 0 : state_fail(rq, result);
}

static int change_url(struct request *rq, const struct store_webhook *present, const char *url) {
    return change_webhook(rq, &(struct store_webhook_change){.id = present->id,
                                                             .user_id = rq->caller->user.id,
                                                             .sets_url = true,
                                                             .url = url,
                                                             .resumes = true,
                                                             .now = rq->now});
}

static int delete_present(struct request *rq, const struct store_webhook *present) {
    if (!present)
        return 0;
    enum store_result result =
        store_delete_webhook(rq->caller->store, rq->caller->user.id, present->id, rq->now);
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
    return delete_present(rq, find(&callbacks, account, line));
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
    return present ? change_url(rq, present, url)
                   : insert(rq, choose_code(rq, &callbacks), &change);
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
                                      graph_parameter(rq, "verify_token"), override_name};
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
    struct callback callback = {.name = override_name};
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

/* --- the application ---
 *
 * A program such as n8n's trigger has an application of its own, with an id and a secret: the
 * secret gives it a token for the application's subscription, and signs the POSTs. Here the secret
 * is a scoped token of the user, and the webhook's code too. A code is shown to all who may manage
 * webhooks, so the token may do no more than they.
 */

#define APP_WEBHOOK_NAME GRAPH_WEBHOOK_NAME GRAPH_APP_ID

static const char object_name[] = "whatsapp_business_account";

static int check_secret(struct request *rq) {
    static const unsigned most = SCOPE_BASIC | SCOPE_EVENTS | SCOPE_MANAGE;
    if (!(rq->caller->scopes & ~most))
        return 0;
    return fail(rq, FORBIDDEN,
                "The client secret must be a scoped token with the scope manage, and without read, "
                "send and inbox: it becomes the code of a webhook, which is shown. Make one with "
                "`switchboard scoped-token add`.");
}

int graph_get_access_token(struct request *rq, const struct graph_node *node) {
    struct json_writer out;
    (void)node;
    if (!slice_equal(graph_parameter(rq, "client_id"), SLICE(GRAPH_APP_ID)))
        return fail(rq, INVALID, "The client_id must be " GRAPH_APP_ID ".");
    if (check_secret(rq))
        return -1;
    json_write_start_object(&out, rq->arena);
    json_write_string(&out, "access_token", rq->graph->token);
    json_write_text(&out, "token_type", "bearer");
    return graph_reply_json(rq, json_written(&out));
}

/* The webhook of the application; NULL: there is none. */
static const struct store_webhook *find_app(const struct graph_callbacks *callbacks) {
    for (size_t i = 0; i < callbacks->count; i++) {
        const struct store_webhook *webhook = &callbacks->list[i];
        if (!webhook->account_id && webhook->all_lines &&
            strcmp(webhook->name, APP_WEBHOOK_NAME) == 0)
            return webhook;
    }
    return NULL;
}

static int compare_fields(const void *a, const void *b) {
    const struct slice *first = a, *second = b;
    const size_t n = first->n < second->n ? first->n : second->n;
    const int order = memcmp(first->p, second->p, n);
    return order ? order : (first->n > second->n) - (first->n < second->n);
}

/* Writes the fields, which are words, in the order of the alphabet: programs compare the list. */
static void write_fields(struct json_writer *out, const struct request *rq, struct slice words) {
    struct slice list[LONGEST_FIELDS / 2];
    size_t count = 0;
    while (words.n && count < sizeof list / sizeof *list)
        list[count++] = slice_cut(&words, ' ');
    qsort(list, count, sizeof *list, compare_fields);
    json_write_array(out, "fields");
    for (size_t i = 0; i < count; i++) {
        json_write_object(out, NULL);
        json_write_string(out, "name", list[i]);
        json_write_text(out, "version", rq->config->graph_version);
        json_write_end(out);
    }
    json_write_end(out);
}

int graph_get_app_subscription(struct request *rq, const struct graph_node *node) {
    struct graph_callbacks callbacks;
    struct json_writer out;
    (void)node;
    if (graph_list_callbacks(rq, &callbacks))
        return -1;
    const struct store_webhook *present = find_app(&callbacks);
    json_write_start_object(&out, rq->arena);
    json_write_array(&out, "data");
    if (present) {
        json_write_object(&out, NULL);
        json_write_text(&out, "object", object_name);
        json_write_text(&out, "callback_url", present->url);
        json_write_bool(&out, "active", present->paused_at == INT64_MAX);
        write_fields(&out, rq, slice_of(present->fields ? present->fields : "messages"));
        json_write_end(&out);
    }
    return graph_reply_json(rq, json_written(&out));
}

/* Makes the webhook, or gives it another URL, other fields, and the token of the request as its
 * code. */
static int set_app_webhook(struct request *rq, const char *url, const char *fields) {
    struct webhook_code code = {.rq = rq, .text = rq->graph->token};
    const struct store_secret secret = {webhook_code_seal, &code};
    struct graph_callbacks callbacks;
    if (graph_list_callbacks(rq, &callbacks))
        return -1;
    const struct store_webhook *present = find_app(&callbacks);
    struct store_webhook_change change = {.user_id = rq->caller->user.id,
                                          .name = APP_WEBHOOK_NAME,
                                          .sets_url = true,
                                          .url = url,
                                          .sets_fields = true,
                                          .fields = fields,
                                          .resumes = true,
                                          .now = rq->now};
    if (!present)
        return insert(rq, code.text, &change);
    change.id = present->id;
    change.code = &secret;
    return change_webhook(rq, &change);
}

static int check_object(struct request *rq) {
    return slice_equal(graph_parameter(rq, "object"), slice_of(object_name))
               ? 0
               : fail(rq, INVALID, "The parameter object must be %s.", object_name);
}

int graph_subscribe_app(struct request *rq, const struct graph_node *node) {
    const struct callback callback = {graph_parameter(rq, "callback_url"),
                                      graph_parameter(rq, "verify_token"), "callback_url"};
    struct buffer list = buffer_in(rq->arena);
    (void)node;
    if (check_secret(rq) || check_object(rq) ||
        add_text(rq, &list, graph_parameter(rq, "fields")) || check_callback(rq, &callback))
        return -1;
    const char *fields = list.n ? arena_copy(rq->arena, buffer_slice(&list)) : NULL;
    return set_app_webhook(rq, arena_copy(rq->arena, callback.url), fields)
               ? -1
               : graph_reply_success(rq);
}

int graph_unsubscribe_app(struct request *rq, const struct graph_node *node) {
    struct graph_callbacks callbacks;
    (void)node;
    if (graph_list_callbacks(rq, &callbacks) || delete_present(rq, find_app(&callbacks)))
        return -1;
    return graph_reply_success(rq);
}
