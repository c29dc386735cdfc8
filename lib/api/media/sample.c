#include "api/media/sample.h"

#include <inttypes.h>

#include "api/state.h"
#include "api/upstream.h"
#include "payload/mime.h"

/* Reads the answer, and sets `*text` to the member that it must have. */
static int take(struct request *rq, const struct graph_answer *answer, const char *name,
                const char **text) {
    struct json json;
    if (upstream_read(rq, UPSTREAM_UPLOAD, answer, &json))
        return -1;
    *text = json_text(json_get(json, name), rq->arena);
    return *text && **text ? 0
                           : fail_with_details(rq, BAD_GATEWAY, json_raw(json),
                                               "The platform's answer has no %s.", name);
}

static int ask(struct request *rq, const struct graph_relay *call, const char **id) {
    struct graph_relayed relayed;
    upstream_relay(rq, call, NULL, &relayed);
    return take(rq, &relayed.answer, "id", id);
}

/* The type that the client states, else that of the file's extension. */
static const char *type_of(struct upload *upload) {
    const char *type;
    if (upload_stated_type(upload, &type))
        return NULL;
    if (!type)
        type = mime_of_name(upload->name);
    if (!type)
        fail(upload->rq, INVALID,
             "The type of the file is not known: send a Content-Type such as image/jpeg.");
    return type;
}

/* Starts a session for the file, and sets `*id` to its path and query. */
static int start(struct upload *upload, const char *token, const char **id) {
    struct request *rq = upload->rq;
    const char *app, *type = type_of(upload);
    const struct graph_relay own = {
        .method = "GET", .path = "app", .query = SLICE("fields=id"), .token = token};
    if (!type || ask(rq, &own, &app))
        return -1;
    const struct graph_relay call = {
        .method = "POST",
        .path = arena_printf(rq->arena, "%s/uploads", graph_escape(rq->arena, slice_of(app))),
        .query =
            slice_of(arena_printf(rq->arena, "file_name=%s&file_length=%" PRId64 "&file_type=%s",
                                  graph_escape(rq->arena, slice_of(upload->name)), upload->size,
                                  graph_escape(rq->arena, slice_of(type)))),
        .token = token};
    return ask(rq, &call, id);
}

int sample_upload(struct upload *upload, const struct store_account *account, const char **handle) {
    struct request *rq = upload->rq;
    const char *id, *token = state_account_token(rq, account);
    struct graph_relayed relayed;
    if (!token || start(upload, token, &id))
        return -1;
    struct slice query = slice_of(id), path = slice_cut(&query, '?');
    const struct graph_relay call = {.method = "POST",
                                     .path = arena_copy(rq->arena, path),
                                     .query = query,
                                     .token = token,
                                     .scheme = "OAuth",
                                     .offset = "0",
                                     .content_type = "application/octet-stream"};
    const struct graph_source source = {
        .size = upload->size, .read = upload_read, .context = upload};
    if (!slice_starts(path, SLICE("upload:")))
        return fail(rq, BAD_GATEWAY, "The platform's answer names no upload session.");
    upstream_relay(rq, &call, &source, &relayed);
    if (!relayed.answer.status && upload->is_broken)
        return upload_fail(upload);
    return take(rq, &relayed.answer, "h", handle);
}
