/* GET /: a start page for people, or JSON for programs (spec 4.1). The paths of the dashboard and
 * of the reference lead to those with a slash. apache.conf also sends every path without an
 * executable of its own here; the answer is a 404 in the envelope (spec 7). */
#include "base/product.h"
#include "web/request.h"

static const char page[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head><meta charset=\"utf-8\"><title>" SWITCHBOARD_NAME "</title></head>\n"
    "<body>\n"
    "<h1>" SWITCHBOARD_NAME "</h1>\n"
    "<p>An HTTP JSON gateway in front of the WhatsApp Business Cloud API.</p>\n"
    "<ul>\n"
    "<li><a href=\"/v2/health\">/v2/health</a>: is it up</li>\n"
    "<li><a href=\"/v2/ready\">/v2/ready</a>: is it able to work, and if not, what to do</li>\n"
    "<li><a href=\"/v2/version\">/v2/version</a>: which version</li>\n"
    "<li><a href=\"/v2/docs/\">/v2/docs/</a>: the reference of every route; "
    "<a href=\"/v2/openapi.json\">/v2/openapi.json</a>: the same for programs</li>\n"
    "<li><a href=\"/?format=json\">/?format=json</a>: this list for programs</li>\n"
    "</ul>\n"
    "<p>To begin: send <code>Authorization: Bearer TOKEN</code> (from <code>switchboard user "
    "add</code>)\n"
    "to <a href=\"/v2/me\">/v2/me</a>, which lists your accounts and lines; then\n"
    "<code>{\"phoneNumberId\":\"...\",\"to\":\"+1...\",\"text\":\"...\"}</code> to "
    "<code>POST /v2/messages/send/text</code>.</p>\n"
    "</body>\n"
    "</html>\n";

/* Whether the parameters of a media range give it the weight 0 (RFC 9110 12.4.2). */
static bool is_unwanted(struct slice parameters) {
    while (parameters.n) {
        struct slice value = slice_trim(slice_cut(&parameters, ';'));
        struct slice name = slice_cut(&value, '=');
        if (name.n != 1 || (*name.p != 'q' && *name.p != 'Q') || !value.n || *value.p != '0')
            continue;
        for (size_t i = 1; i < value.n; i++)
            if (value.p[i] != (i == 1 ? '.' : '0'))
                return false;
        return true;
    }
    return false;
}

/* Whether `Accept` names application/json with a weight above 0 (RFC 9110 12.5.1). */
static bool accepts_json(const char *accept) {
    struct slice rest = slice_of(accept);
    while (rest.n) {
        struct slice range = slice_cut(&rest, ',');
        struct slice type = slice_trim(slice_cut(&range, ';'));
        if (slice_is_word(type, "application/json"))
            return !is_unwanted(range);
    }
    return false;
}

/* Answers a request whose method the web server refused (apache.conf, ErrorDocument 405). Apache's
 * own answer would have an empty Allow header. */
static int refuse_method(struct request *rq) {
    static const char allow[] = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
    reply_header(rq, "Allow", allow);
    return fail(rq, METHOD_NOT_ALLOWED,
                "No route answers this method: use one of those in the "
                "Allow header.");
}

static bool is_refused_method(void) {
    const char *status = request_variable("REDIRECT_STATUS");
    return status && strcmp(status, "405") == 0;
}

static int get_root(struct request *rq) {
    if (is_refused_method())
        return refuse_method(rq);
    reply_header(rq, "Vary", "Accept");
    if (!slice_equal(query_get(&rq->query, "format"), SLICE("json")) &&
        !accepts_json(request_variable("HTTP_ACCEPT")))
        return reply_body(rq, 200, "text/html; charset=utf-8", SLICE(page));
    struct json_writer data;
    reply_start(rq, &data);
    json_write_text(&data, "name", SWITCHBOARD_NAME);
    json_write_array(&data, "versions");
    json_write_text(&data, NULL, "v2");
    json_write_end(&data);
    json_write_object(&data, "docs");
    json_write_text(&data, "health", "/v2/health");
    json_write_text(&data, "version", "/v2/version");
    json_write_text(&data, "me", "/v2/me");
    json_write_text(&data, "reference", "/v2/docs/");
    json_write_text(&data, "openapi", "/v2/openapi.json");
    json_write_end(&data);
    return reply_object(rq, &data);
}

/* Answers a path of static files that lacks its last slash. Apache would make an absolute Location
 * of the request's Host. */
static int add_slash(struct request *rq) {
    const char *last = strrchr(rq->path, '/') + 1;
    reply_header(rq, "Location", arena_printf(rq->arena, "%s/", last));
    return reply_body(rq, 301, NULL, SLICE(""));
}

static const struct field query[] = {
    {.name = "format", .type = FIELD_STRING, .may_be_empty = true},
    {0},
};

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/",
     .handle = get_root, .query = query},
    {.method = "GET", .path = "/dashboard",
     .handle = add_slash},
    {.method = "GET", .path = "/v2/docs",
     .handle = add_slash},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "root", .routes = routes, .is_catch_all = true};
