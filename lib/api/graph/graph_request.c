/* What is passed on can be read in one way only:
 *
 *     parameter       one that graph_check_name refuses, or that stands there twice, is refused;
 *                     characters that other readers could take for a separator are percent-encoded
 *     JSON            a member that stands there twice is refused; else byte for byte
 *     form            its pairs, as parameters; one that begins as a JSON object is JSON
 *     multipart form  written anew (form_copy.h)
 *     upload          a form that is named JSON is a form, where it starts a resumable upload
 *     other bodies    refused, and so is what is not UTF-8; without a Content-Type it is JSON
 *
 * The Content-Type is written anew.
 */
#include "api/graph/graph_request.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "payload/graph_form.h"
#include "web/form_copy.h"
#include "web/plain_name.h"

enum { LEAST_VERSION = 13 };

/* The forms of a body that the platform reads. */
enum form { FORM_JSON, FORM_URLENCODED, FORM_MULTIPART, FORM_OTHER };

/* --- the path --- */

/* Whether the text is a number of at most three digits. */
static bool is_number(struct slice text) {
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return text.n >= 1 && text.n <= 3;
}

/* Whether the segment is the version of an API that the platform still answers. */
static bool is_version(struct slice segment) {
    struct slice minor = slice_skip(segment, 1), major = slice_cut(&minor, '.');
    return slice_starts(segment, SLICE("v")) && is_number(major) && is_number(minor) &&
           strtol(major.p, NULL, 10) >= LEAST_VERSION;
}

static struct slice without_slashes(struct slice path) {
    while (path.n && *path.p == '/')
        path = slice_skip(path, 1);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    return path;
}

/* Takes the first segment off the front of the path, which has no slash at its ends. */
static struct slice take_segment(struct slice *path) {
    struct slice segment = slice_cut(path, '/');
    *path = without_slashes(*path);
    return segment;
}

void graph_enter(struct request *rq) {
    struct graph_request *graph = arena_alloc(rq->arena, sizeof *graph);
    struct slice path = without_slashes(slice_of(rq->path)), rest = path, after = path;
    if (slice_equal(take_segment(&after), SLICE("graph")))
        rest = after;
    after = rest;
    if (is_version(take_segment(&after)))
        rest = after;
    struct slice prefix = without_slashes((struct slice){path.p, (size_t)(rest.p - path.p)});
    graph->prefix =
        slice_of(arena_printf(rq->arena, "%s%.*s", prefix.n ? "/" : "", (int)prefix.n, prefix.p));
    graph->node = take_segment(&rest);
    graph->seen.has_node = graph->node.n > 0;
    graph->edge = rest;
    rq->path = arena_printf(rq->arena, "/%.*s%s%.*s", (int)graph->node.n,
                            graph->node.n ? graph->node.p : "", graph->edge.n ? "/" : "",
                            (int)graph->edge.n, graph->edge.n ? graph->edge.p : "");
    rq->graph = graph;
}

/* --- the token --- */

/* Adds a token that was found; fails when it differs from one that was found elsewhere. */
static int add_token(struct request *rq, struct slice token) {
    struct graph_request *graph = rq->graph;
    if (!token.n)
        return 0;
    if (graph->token.p && !crypto_equal(graph->token, token))
        return fail(rq, UNAUTHORIZED,
                    "The request holds different tokens; send the token in one place.");
    graph->token = token;
    return 0;
}

static int fail_without_token(struct request *rq) {
    return fail(rq, UNAUTHORIZED,
                "Missing API token: send the header Authorization: Bearer API_TOKEN, or the "
                "parameter access_token.");
}

/* --- parameters --- */

/* Whether the character of a value can be passed on as it stands. Some readers take `;` for a
 * separator of pairs; JSON is not always encoded. */
static bool is_passed(char c) {
    return isalnum((unsigned char)c) || (c && strchr("-._~!$'()*,/:?@%+=", c));
}

static void add_pair(struct buffer *kept, struct slice pair) {
    struct slice value = pair, name = slice_cut(&value, '=');
    if (kept->n)
        buffer_add_char(kept, '&');
    buffer_add(kept, name.p, pair.n - value.n); /* with the `=`, if there is one */
    for (size_t i = 0; i < value.n; i++)
        if (is_passed(value.p[i]))
            buffer_add_char(kept, value.p[i]);
        else
            buffer_printf(kept, "%%%02X", (unsigned char)value.p[i]);
}

/* Checks the name of a pair, which must stand there as it is read. */
static int take_pair(struct request *rq, struct graph_names *names, struct slice name,
                     struct slice pair) {
    if (!plain_name_is_raw(name, slice_cut(&pair, '=')))
        return fail(rq, INVALID,
                    "The parameter %.*s is not accepted: send the letters of its name as they are, "
                    "not percent-encoded.",
                    (int)name.n, name.p);
    return graph_take_name(rq, &rq->graph->seen, names, name);
}

/* Copies `text`, pairs separated by `&`, without those that are not passed on; `decoded` has all
 * pairs. Takes the tokens. p == NULL after failing the request. */
static struct slice pass_pairs(struct request *rq, struct slice text, const struct query *decoded) {
    struct graph_names *names = arena_alloc(rq->arena, sizeof *names);
    struct buffer kept = buffer_in(rq->arena);
    buffer_add(&kept, "", 0);
    for (size_t i = 0; text.n;) {
        struct slice pair = slice_cut(&text, '&');
        if (!pair.n) /* not counted in `decoded` */
            continue;
        const struct query_value *value = &decoded->values[i++];
        if (slice_equal(value->name, SLICE("access_token")) && add_token(rq, value->value))
            return (struct slice){NULL, 0};
        if (graph_is_secret(value->name) ||
            (slice_equal(value->name, SLICE("ids")) && !rq->graph->node.n))
            continue; /* graph_get_root makes a call for each of the ids */
        if (take_pair(rq, names, value->name, pair))
            return (struct slice){NULL, 0};
        add_pair(&kept, pair);
    }
    return buffer_slice(&kept);
}

static int read_query(struct request *rq) {
    struct graph_request *graph = rq->graph;
    const char *error, *text = request_variable("QUERY_STRING");
    if (query_read(rq->arena, text, &graph->parameters, &error))
        return fail(rq, INVALID, "%s", error);
    graph->query = pass_pairs(rq, slice_of(text), &graph->parameters);
    graph->has_query_token = query_get(&graph->parameters, "access_token").n > 0;
    return rq->failure.code ? -1 : 0;
}

/* --- the body --- */

/* The form that the Content-Type names; a body without one is read as JSON. */
static enum form named_form(void) {
    const char *named = request_variable("CONTENT_TYPE");
    struct slice rest = slice_of(named), type = slice_trim(slice_cut(&rest, ';'));
    if (!type.n || slice_is_word(type, "application/json"))
        return FORM_JSON;
    if (graph_form_is_urlencoded(named))
        return FORM_URLENCODED;
    return multipart_is(named) ? FORM_MULTIPART : FORM_OTHER;
}

/* Returns the type to pass on: without parameters but the charset, which must be UTF-8. In another
 * one the bytes could be other text. NULL after failing the request. */
static const char *type_of(struct request *rq, const char *type) {
    struct slice rest = slice_of(request_variable("CONTENT_TYPE"));
    struct slice charset = {NULL, 0};
    slice_cut(&rest, ';');
    while (rest.n) {
        struct slice value = slice_trim(slice_cut(&rest, ';'));
        struct slice name = slice_trim(slice_cut(&value, '='));
        if (name.n < 7 || strncasecmp(name.p, "charset", 7) != 0)
            continue;
        value = slice_trim(value);
        if (!slice_is_word(name, "charset") ||
            (!slice_is_word(value, "utf-8") && !slice_is_word(value, "\"utf-8\""))) {
            fail(rq, INVALID, "The charset of the Content-Type must be UTF-8.");
            return NULL;
        }
        charset = value;
    }
    return charset.p ? arena_printf(rq->arena, "%s; charset=%.*s", type, (int)charset.n, charset.p)
                     : type;
}

/* Whether the body begins as a JSON object. Some clients send JSON and name it a form. */
static bool begins_as_object(struct slice body) {
    return slice_starts(json_cut_token(&body), SLICE("{"));
}

static int check_member(struct request *rq, struct json member) {
    struct slice name = json_name(member, rq->arena);
    if (graph_is_secret(name))
        return fail(rq, INVALID, "%.*s may not stand in JSON: send the token as a header.",
                    (int)name.n, name.p);
    if (graph_check_name(rq, &rq->graph->seen, name))
        return -1;
    if (slice_equal(name, SLICE("fields")) && json_type(member) != JSON_STRING)
        return fail(rq, INVALID, "The parameter fields must be a string.");
    return 0;
}

static int read_json(struct request *rq) {
    struct graph_request *graph = rq->graph;
    if (request_read_object(rq, &graph->json))
        return -1;
    for (struct json m = json_first(graph->json); json_is(m); m = json_next(m))
        if (check_member(rq, m))
            return -1;
    struct slice doubled = json_doubled_name(graph->json, rq->arena);
    if (doubled.p)
        return fail(rq, INVALID, "The JSON has the member %.*s twice in one object; send it once.",
                    (int)(doubled.n < 64 ? doubled.n : 64), doubled.p);
    graph->content_type = type_of(rq, "application/json");
    graph->body = rq->body;
    return graph->content_type ? 0 : -1;
}

static int read_urlencoded(struct request *rq) {
    struct graph_request *graph = rq->graph;
    const char *error, *text = arena_copy(rq->arena, rq->body);
    if (begins_as_object(rq->body))
        return read_json(rq);
    if (strlen(text) != rq->body.n || query_read(rq->arena, text, &graph->form, &error))
        return fail(rq, INVALID,
                    "The form must be percent-encoded UTF-8 text of at most 100 fields.");
    graph->content_type = type_of(rq, "application/x-www-form-urlencoded");
    graph->body = pass_pairs(rq, slice_of(text), &graph->form);
    return rq->failure.code ? -1 : 0;
}

/* Writes the form anew. The token has been checked before, so no part may hold it. */
static int read_multipart(struct request *rq) {
    struct graph_request *graph = rq->graph;
    struct graph_parts *parts = arena_alloc(rq->arena, sizeof *parts);
    struct slice rest = rq->body;
    const struct form_source source = {.content_type = request_variable("CONTENT_TYPE"),
                                       .size = -1,
                                       .read = multipart_from_slice,
                                       .context = &rest,
                                       .check = graph_check_part,
                                       .checker = parts};
    struct form_copy copy;
    struct buffer body = buffer_in(rq->arena);
    char bytes[16 * 1024];
    parts->rq = rq;
    parts->seen = &graph->seen;
    ssize_t got = form_copy_start(&copy, rq->arena, &source);
    while (got >= 0 && (got = form_copy_read(&copy, bytes, sizeof bytes)) > 0)
        buffer_add(&body, bytes, (size_t)got);
    if (got < 0) /* keeps an earlier failure, that of a part */
        return fail(rq, INVALID, "%s", copy.error ? copy.error : "The form cannot be read.");
    graph->content_type = copy.content_type;
    graph->body = buffer_slice(&body);
    return 0;
}

/* Whether the request starts a resumable upload. */
static bool starts_upload(const struct graph_request *graph) {
    return slice_equal(graph->edge, SLICE("uploads"));
}

/* Reads the body of a POST or DELETE; that of a GET is dropped. */
static int read_body(struct request *rq) {
    if (!rq->body.n || strcmp(rq->method, "GET") == 0)
        return 0;
    if (request_check_encoding(rq))
        return -1;
    switch (named_form()) {
    case FORM_JSON:
        /* Frappe names the form that starts an upload JSON, and the platform reads it */
        return starts_upload(rq->graph) && !begins_as_object(rq->body) ? read_urlencoded(rq)
                                                                       : read_json(rq);
    case FORM_URLENCODED: return read_urlencoded(rq);
    case FORM_MULTIPART: return read_multipart(rq);
    case FORM_OTHER: break;
    }
    return fail(rq, INVALID,
                "The body must be application/json, application/x-www-form-urlencoded or "
                "multipart/form-data; name it as Content-Type.");
}

/* --- the guard --- */

/* Whether the token may stand in the body. */
static bool may_have_form_token(const struct request *rq) {
    return rq->route->body == BODY_RAW && strcmp(rq->method, "GET") != 0 &&
           named_form() == FORM_URLENCODED;
}

/* Whether the request asks for a token of the application, by its secret, which is an API token. */
static bool is_login(const struct graph_request *graph) {
    return slice_equal(graph->node, SLICE("oauth")) &&
           slice_equal(graph->edge, SLICE("access_token"));
}

/* Whether the edge is one of another application. Programs ask for it with a token that they make
 * of its id and secret. */
static bool is_of_other_app(const struct graph_request *graph) {
    return (slice_equal(graph->edge, SLICE("subscriptions")) || starts_upload(graph)) &&
           !slice_equal(graph->node, SLICE(GRAPH_APP_ID));
}

static int take_secret(struct request *rq) {
    struct slice secret = graph_parameter(rq, "client_secret");
    if (!secret.n)
        return fail(rq, INVALID, "Missing client_secret parameter.");
    return auth_check_token(rq, rq->graph->token = secret);
}

static int check_before_body(struct request *rq) {
    const bool logs_in = is_login(rq->graph);
    if (is_of_other_app(rq->graph))
        return fail(rq, INVALID, "The only application here is " GRAPH_APP_ID "; see %s",
                    starts_upload(rq->graph) ? "doc/api/graph.md" : "doc/clients/n8n.md");
    if (!rq->graph->query.p &&
        ((!logs_in && add_token(rq, auth_header_token(true))) || read_query(rq)))
        return -1;
    if (logs_in)
        return 0;
    if (rq->graph->token.p)
        return auth_check_token(rq, rq->graph->token);
    return may_have_form_token(rq) ? 0 : fail_without_token(rq);
}

static int check_body(struct request *rq) {
    bool is_known = rq->graph->token.p != NULL;
    if (read_body(rq))
        return -1;
    if (is_login(rq->graph))
        return take_secret(rq);
    if (!rq->graph->token.p)
        return fail_without_token(rq);
    return is_known ? 0 : auth_check_token(rq, rq->graph->token);
}

const struct guard graph_guard = {
    .before_body = check_before_body, .before_fields = check_body, .requires = REQUIRES_TOKEN};
const struct guard graph_stream_guard = {.before_body = check_before_body,
                                         .requires = REQUIRES_TOKEN};

/* --- what handlers read --- */

struct slice graph_parameter(struct request *rq, const char *name) {
    const struct graph_request *graph = rq->graph;
    struct slice value = query_get(&graph->parameters, name);
    if (!value.p)
        value = query_get(&graph->form, name);
    if (value.p || !json_is(json_get(graph->json, name)))
        return value;
    struct json member = json_get(graph->json, name);
    return json_type(member) == JSON_STRING ? json_string(member, rq->arena) : json_raw(member);
}
