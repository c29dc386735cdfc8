/* Media of the platform's Graph API: POST /PHONE/media and the bytes of resumable uploads, which
 * are passed on while they arrive, and the files behind the signed URLs that media objects have
 * here. No process holds a whole file in memory. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "api/graph/graph_failure.h"
#include "api/graph/graph_forward.h"
#include "api/media/download.h"
#include "api/media/media_find.h"
#include "api/media/signed_url.h"
#include "api/media/upload.h"
#include "api/selector.h"
#include "api/upstream.h"
#include "base/http_client.h"
#include "web/form_copy.h"

/* --- bodies that are passed on --- */

/* Reads the next bytes of the body. The last bytes of a known number are returned only when the
 * body ends there: it may be longer than Content-Length as well as shorter. */
static ssize_t read_body(void *context, void *bytes, size_t n) {
    struct request *rq = context;
    char more;
    ssize_t got = request_read_body(rq, bytes, n);
    if (rq->body_read > UPLOAD_FORM_LIMIT)
        return upload_fail_too_large(rq);
    bool is_last = got > 0 && (int64_t)rq->body_read == rq->content_length;
    bool is_cut = got < 0 || (got == 0 && !request_body_is_complete(rq)) ||
                  (is_last && request_read_body(rq, &more, 1) != 0);
    return is_cut ? -1 : got;
}

/* A body that is passed on. */
struct passing {
    struct request *rq;
    struct graph_parts parts; /* of a form */
    struct form_copy copy;    /* of a form */
    struct slice ahead; /* of the copy: the bytes that were read before the platform was called */
    bool is_broken;     /* the body cannot be read, is too large, or is refused */
};

static struct passing *start_passing(struct request *rq) {
    struct passing *passing = arena_alloc(rq->arena, sizeof *passing);
    passing->rq = rq;
    return passing;
}

/* An earlier failure, such as that of a part, stays. */
static int fail_broken(const struct passing *passing) {
    struct request *rq = passing->rq;
    if (passing->copy.error)
        return fail(rq, INVALID, "%s", passing->copy.error);
    return fail(rq, INVALID,
                "The body has not the %" PRId64 " bytes that Content-Length announced; send it "
                "again.",
                rq->content_length);
}

/* Passes the body on with the token of the node's account, and replies with the answer. */
static int pass_on(struct passing *passing, const struct graph_node *node,
                   struct graph_relay *relay, const struct graph_source *source) {
    struct request *rq = passing->rq;
    struct graph_outcome outcome = {.account = node->accounts};
    const struct graph_answer *answer = &outcome.relayed.answer;
    relay->token = outcome.token = state_account_token(rq, outcome.account);
    if (!relay->token)
        return -1;
    upstream_relay(rq, relay, source, &outcome.relayed);
    if (answer->status)
        return graph_reply(rq, &outcome, answer->body);
    return passing->is_broken ? fail_broken(passing) : graph_fail_unanswered(rq, relay, answer);
}

/* --- POST /PHONE/media --- */

/* What is read of a form before the platform is called: a form that is not longer is checked whole
 * before. */
enum { AHEAD = 64 * 1024 };

/* Reads the next bytes of the copy that the platform gets. A refusal ends the transfer, so that the
 * platform gets no complete request. */
static ssize_t read_copy(void *context, void *bytes, size_t n) {
    struct passing *passing = context;
    if (passing->ahead.n)
        return (ssize_t)slice_take(&passing->ahead, bytes, n);
    ssize_t got = form_copy_read(&passing->copy, bytes, n);
    passing->is_broken = got < 0;
    return got;
}

/* Begins to read the form. */
static int begin(struct passing *passing) {
    struct request *rq = passing->rq;
    const struct form_source source = {.content_type = request_variable("CONTENT_TYPE"),
                                       .size = rq->content_length,
                                       .read = read_body,
                                       .context = rq,
                                       .check = graph_check_part,
                                       .checker = &passing->parts};
    char *bytes = arena_alloc(rq->arena, AHEAD);
    struct slice ahead = {bytes, 0};
    ssize_t got = 1;
    passing->parts.rq = rq;
    passing->parts.seen = &rq->graph->seen;
    if (form_copy_start(&passing->copy, rq->arena, &source))
        return fail_broken(passing);
    while (got > 0 && ahead.n < AHEAD) {
        got = read_copy(passing, bytes + ahead.n, AHEAD - ahead.n);
        ahead.n += got > 0 ? (size_t)got : 0;
    }
    passing->ahead = ahead;
    return got < 0 ? fail_broken(passing) : 0;
}

/* Passes the form on while it arrives: its file may come first. */
static int pass_form_on(struct request *rq, const struct graph_node *node) {
    struct passing *passing = start_passing(rq);
    if (begin(passing))
        return -1;
    struct graph_relay relay = graph_outgoing(rq, node);
    const struct graph_source source = {
        .size = passing->copy.size, .read = read_copy, .context = passing};
    relay.content_type = passing->copy.content_type;
    return pass_on(passing, node, &relay, &source);
}

static int post_media(struct request *rq) {
    struct graph_node node;
    if (request_check_encoding(rq))
        return -1;
    if (rq->content_length > UPLOAD_FORM_LIMIT)
        return upload_fail_too_large(rq);
    if (!multipart_is(request_variable("CONTENT_TYPE")))
        return fail(rq, INVALID, "The body must be multipart/form-data.");
    if (graph_find_node(rq, rq->graph->node, &node))
        return -1;
    return node.kind == GRAPH_PHONE ? pass_form_on(rq, &node) : graph_fail_unknown(rq);
}

/* --- POST and GET /upload:SESSION ---
 *
 * The id and its signature in the query are the platform's. The body is the file, whatever its
 * Content-Type says: programs send that of a form. */

enum { LONGEST_SESSION = 1024 };

static bool is_session(struct slice id) {
    for (size_t i = 0; i < id.n; i++)
        if (!isalnum((unsigned char)id.p[i]) && !strchr("-._~=+:", id.p[i]))
            return false;
    return slice_starts(id, SLICE("upload:")) && id.n > 7 && id.n <= LONGEST_SESSION;
}

/* The sessions of a caller are those of its first account, with whose token they are started. */
static int find_session(struct request *rq, struct graph_node *node) {
    const struct slice id = rq->graph->node;
    *node = (struct graph_node){.kind = GRAPH_UPLOAD, .id = arena_copy(rq->arena, id)};
    if (!is_session(id) || rq->graph->edge.n)
        return graph_fail_unknown(rq);
    if (auth_check_scope(rq, SCOPE_MANAGE) || selector_list(rq, &node->accounts, &node->count))
        return -1;
    node->count = 1;
    return 0;
}

/* The header file_offset, which Apache passes by this name (apache.conf); *offset is NULL without
 * it. */
static int read_offset(struct request *rq, const char **offset) {
    enum { MOST_DIGITS = 15 };
    const char *text = *offset = request_variable("SWITCHBOARD_FILE_OFFSET");
    return !text || (*text && strlen(text) <= MOST_DIGITS &&
                     text[strspn(text, "0123456789")] == '\0')
               ? 0
               : fail(rq, INVALID, "The header file_offset must be a number of bytes.");
}

static ssize_t read_piece(void *context, void *bytes, size_t n) {
    struct passing *passing = context;
    ssize_t got = read_body(passing->rq, bytes, n);
    passing->is_broken = got < 0;
    return got;
}

static int post_session(struct request *rq) {
    struct graph_node node;
    const char *offset;
    if (request_check_encoding(rq) || find_session(rq, &node) || read_offset(rq, &offset))
        return -1;
    if (rq->content_length > UPLOAD_LIMIT)
        return upload_fail_too_large(rq);
    struct passing *passing = start_passing(rq);
    struct graph_relay relay = graph_outgoing(rq, &node);
    const struct graph_source source = {
        .size = rq->content_length, .read = read_piece, .context = passing};
    relay.scheme = "OAuth";
    relay.offset = offset;
    relay.content_type = "application/octet-stream";
    return pass_on(passing, &node, &relay, &source);
}

static int get_session(struct request *rq) {
    struct graph_node node;
    struct graph_outcome outcome;
    if (find_session(rq, &node))
        return -1;
    struct graph_relay relay = graph_outgoing(rq, &node);
    relay.scheme = "OAuth";
    return graph_ask(rq, &node, &relay, &outcome)
               ? -1
               : graph_reply(rq, &outcome, outcome.relayed.answer.body);
}

/* --- GET /graph/media/MEDIA --- */

static const struct field signed_query[] = {
    {.name = "user", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "account", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "expires", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "signature", .type = FIELD_STRING, .may_be_empty = true},
    DISPOSITION_FIELD,
    {0},
};

static int fail_forged(struct request *rq) {
    return fail(rq, FORBIDDEN,
                "The URL has no valid signature; read the media object for a new "
                "one.");
}

/* The time, in the one spelling that signed URLs have; 0, which no URL has, for anything else. */
static int64_t read_time(const char *text) {
    bool is_number = text && *text != '0' && text[strspn(text, "0123456789")] == '\0';
    return is_number ? strtoll(text, NULL, 10) : 0;
}

static struct signed_url read_url(struct request *rq) {
    return (struct signed_url){
        .media_id = request_segment(rq),
        .user_id = query_get(&rq->query, "user").p,
        .account_id = query_get(&rq->query, "account").p,
        .expires_at = read_time(query_get(&rq->query, "expires").p),
    };
}

/* Checks the URL, and finds its account. */
static int check_url(struct request *rq, const struct signed_url *url,
                     struct store_account *account) {
    struct store *store = state_store(rq, INTERNAL);
    if (!store)
        return -1;
    if (!url->user_id || !url->account_id)
        return fail_forged(rq);
    state_hold_view(rq);
    enum store_result result =
        store_find_account(store, rq->arena, url->user_id, url->account_id, account);
    if (result == STORE_NOT_FOUND || (result == STORE_OK && !account->sealed_token.n))
        return fail_forged(rq);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const char *token = state_account_token(rq, account);
    if (!token)
        return -1;
    if (!signed_url_is_genuine(url, query_get(&rq->query, "signature"), token))
        return fail_forged(rq);
    if (url->expires_at <= rq->now / 1000)
        return fail(rq, FORBIDDEN, "The URL has expired; read the media object for a new one.");
    return 0;
}

/* The signature stands for a token; an Authorization header has no effect. */
static int get_media(struct request *rq) {
    struct store_account account;
    struct signed_url url = read_url(rq);
    if (!media_is_id(rq->parameters[0]))
        return fail_forged(rq);
    if (check_url(rq, &url, &account))
        return -1;
    rq->user_id = account.user_id;
    json_write_text(&rq->log, "user", account.user_id);
    return media_reply(rq, url.media_id, &account, 1);
}

/* --- the program --- */

/* clang-format off */
static const struct route routes[] = {
    {.method = "POST", .path = "/:id/media",
     .trail = TRAIL_BY_EDGE,
     .scope = SCOPE_SEND, .guard = &graph_stream_guard, .handle = post_media, .body = BODY_STREAM},
    {.method = "POST", .path = "/:upload",
     .trail = TRAIL_BY_EDGE,
     .scope = SCOPE_BY_EDGE, .guard = &graph_stream_guard, .handle = post_session,
     .body = BODY_STREAM},
    {.method = "GET", .path = "/:upload",
     .scope = SCOPE_BY_EDGE, .guard = &graph_stream_guard, .handle = get_session},
    {.method = "GET", .path = "/media/:mediaId",
     .handle = get_media, .query = signed_query},
    {0},
};

static const struct graph_edge edges[] = {
    {"POST", GRAPH_PHONE, "media",              SCOPE_SEND, .action = GRAPH_FORWARDED,
     .trail = NO_TRAIL("a message that sends the file is the trace")},
    {"POST", GRAPH_UPLOAD, "",                  SCOPE_MANAGE, .action = GRAPH_FORWARDED,
     .trail = NO_TRAIL("a template that has the sample is the trace")},
    {"GET",  GRAPH_UPLOAD, "",                  SCOPE_MANAGE, .action = GRAPH_FORWARDED},
    {"GET",  GRAPH_ROOT,  "graph/media/:media", SCOPE_NONE, .action = GRAPH_LOCAL},
    {0},
};
/* clang-format on */

static void write_edges(struct json_writer *out, const char *name) {
    graph_write_edges(out, name, edges);
}

const struct service this_service = {.name = "graph_media",
                                     .routes = routes,
                                     .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM |
                                              READS_ARCHIVE,
                                     .load = http_prepare,
                                     .enter = graph_enter,
                                     .settle = graph_settle,
                                     .write_edges = write_edges,
                                     .is_catch_all = true};
