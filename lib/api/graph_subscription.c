#include "api/graph_subscription.h"

#include "api/destination_view.h"
#include "api/graph_failure.h"
#include "api/graph_local.h"
#include "api/url_verification.h"
#include "api/webhook_code.h"
#include "base/url.h"
#include "payload/webhook_rules.h"
#include "store/destination.h"

enum { LONGEST_URL = 2048, CALLBACK_REFUSED = 2200 /* the platform's code */ };

/* --- the webhooks that these routes have made --- */

static const char *name_of(struct request *rq, const char *platform_id) {
    return arena_printf(rq->arena, GRAPH_WEBHOOK_NAME "%s", platform_id);
}

/* The webhooks of the caller that these routes have made. */
struct made {
    struct store_destination *list;
    size_t count;
};

static int list_made(struct request *rq, struct made *made) {
    const struct store_page all = {.limit = STORE_DESTINATIONS_KEPT};
    size_t count, kept = 0;
    enum store_result result = store_list_destinations(
        rq->caller->store, rq->arena, rq->caller->user.id, &all, &made->list, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    for (size_t i = 0; i < count; i++)
        if (strcmp(made->list[i].kind, DESTINATION_FORWARD) == 0 &&
            slice_starts(slice_of(made->list[i].name), SLICE(GRAPH_WEBHOOK_NAME)))
            made->list[kept++] = made->list[i];
    made->count = kept;
    return 0;
}

/* The webhook of an account or of a line; NULL: there is none. */
static const struct store_destination *find_made(struct request *rq, const struct made *made,
                                                 const char *platform_id) {
    const char *name = name_of(rq, platform_id);
    for (size_t i = 0; i < made->count; i++)
        if (strcmp(made->list[i].name, name) == 0)
            return &made->list[i];
    return NULL;
}

/* The ids of the account's lines that have no webhook of their own; "" when there are none. */
static int list_lines(struct request *rq, const struct made *made, const char *account_id,
                      const char **ids) {
    struct buffer text = buffer_in(rq->arena);
    struct store_line *lines;
    size_t count;
    enum store_result result =
        store_list_lines(rq->caller->store, rq->arena, rq->caller->user.id, &lines, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    buffer_add(&text, "", 0);
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i].account_id, account_id) == 0 &&
            !find_made(rq, made, lines[i].phone_number_id))
            buffer_printf(&text, "%s%s", text.n ? " " : "", lines[i].id);
    *ids = text.p;
    return 0;
}

/* --- their code: one for all of them, since many programs have one secret for all numbers --- */

/* The code of a webhook that was made before, else a new one. p == NULL after failing the request.
 */
static struct slice choose_code(struct request *rq, const struct made *made) {
    for (size_t i = 0; i < made->count; i++) {
        struct slice code;
        if (destination_view_code(rq, &made->list[i], &code))
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

static int insert(struct request *rq, const struct made *made, struct destination_change *change) {
    struct webhook_code code = {.rq = rq, .text = choose_code(rq, made)};
    const struct store_secret secret = {webhook_code_seal, &code};
    char id[ID_SIZE];
    if (!code.text.p)
        return -1;
    id_make(id, "whk_", rq->now);
    change->id = id;
    change->kind = DESTINATION_FORWARD;
    change->code = &secret;
    enum store_result result = store_insert_destination(rq->caller->store, change);
    if (result == STORE_CONFLICT)
        return fail(rq, INVALID, "The user has %d webhooks already; delete one.",
                    STORE_DESTINATIONS_KEPT);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

static int change_present(struct request *rq, const struct store_destination *present,
                          struct destination_change *change) {
    change->id = present->id;
    change->resumes = change->sets_url;
    enum store_result result = store_change_destination(rq->caller->store, change);
    return result == STORE_OK || result == STORE_NOT_FOUND ? 0 : state_fail(rq, result);
}

static int delete_present(struct request *rq, const struct store_destination *present) {
    enum store_result result =
        store_delete_destination(rq->caller->store, rq->caller->user.id, present->id, rq->now);
    return result == STORE_OK || result == STORE_NOT_FOUND ? 0 : state_fail(rq, result);
}

/* Deletes the webhook of an account or a line, if there is one. */
static int delete_webhook(struct request *rq, const char *platform_id) {
    struct made made;
    if (list_made(rq, &made))
        return -1;
    const struct store_destination *present = find_made(rq, &made, platform_id);
    return present ? delete_present(rq, present) : 0;
}

/* Sets the webhook of an account or a line. */
static int set_webhook(struct request *rq, const char *platform_id, const char *line_ids,
                       const struct callback *callback) {
    struct made made;
    if (list_made(rq, &made))
        return -1;
    const struct store_destination *present = find_made(rq, &made, platform_id);
    struct destination_change change = {.user_id = rq->caller->user.id,
                                        .sets_name = true,
                                        .name = name_of(rq, platform_id),
                                        .sets_url = true,
                                        .url = arena_copy(rq->arena, callback->url),
                                        .sets_lines = true,
                                        .line_ids = line_ids,
                                        .now = rq->now};
    return present ? change_present(rq, present, &change) : insert(rq, &made, &change);
}

/* Gives the account's webhook, if there is one, the lines that have none of their own. */
static int share_lines(struct request *rq, const struct store_account *account) {
    const char *line_ids;
    struct made made;
    if (list_made(rq, &made))
        return -1;
    const struct store_destination *present = find_made(rq, &made, account->waba_id);
    if (!present)
        return 0;
    if (list_lines(rq, &made, account->id, &line_ids))
        return -1;
    struct destination_change change = {
        .user_id = rq->caller->user.id, .sets_lines = true, .line_ids = line_ids, .now = rq->now};
    return *line_ids ? change_present(rq, present, &change) : delete_present(rq, present);
}

/* --- the edges --- */

int graph_get_subscription(struct request *rq, const struct graph_node *node) {
    struct made made;
    struct json_writer out;
    state_hold_view(rq);
    if (list_made(rq, &made))
        return -1;
    const struct store_destination *present = find_made(rq, &made, node->id);
    json_write_start(&out, rq->arena);
    json_write_object(&out, NULL);
    json_write_array(&out, "data");
    json_write_object(&out, NULL);
    json_write_object(&out, "whatsapp_business_api_data");
    graph_write_app(&out, rq);
    json_write_end(&out);
    if (present)
        json_write_text(&out, "override_callback_uri", present->url);
    json_write_end(&out);
    json_write_end(&out);
    json_write_end(&out);
    return graph_reply_json(rq, json_written(&out));
}

int graph_subscribe(struct request *rq, const struct graph_node *node) {
    const struct callback callback = {graph_parameter(rq, "override_callback_uri"),
                                      graph_parameter(rq, "verify_token")};
    const char *line_ids;
    struct made made;
    if (!callback.url.n)
        return graph_reply_success(rq);
    if (list_made(rq, &made) || list_lines(rq, &made, node->accounts->id, &line_ids))
        return -1;
    if (!*line_ids)
        return fail(rq, INVALID, "The account has no line, or each has a webhook of its own.");
    if (check_callback(rq, &callback) || set_webhook(rq, node->id, line_ids, &callback))
        return -1;
    return graph_reply_success(rq);
}

int graph_unsubscribe(struct request *rq, const struct graph_node *node) {
    return delete_webhook(rq, node->id) ? -1 : graph_reply_success(rq);
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
    const struct store_line *line = &rq->caller->line;
    struct callback callback;
    if (read_configuration(rq, &callback))
        return -1;
    if (!callback.url.p)
        return fail(rq, INVALID, "webhook_configuration must have override_callback_uri.");
    if (callback.url.n && check_callback(rq, &callback))
        return -1;
    if (callback.url.n ? set_webhook(rq, node->id, line->id, &callback)
                       : delete_webhook(rq, node->id))
        return -1;
    return share_lines(rq, &line->account) ? -1 : graph_reply_success(rq);
}
