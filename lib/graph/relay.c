#include "graph/relay.h"

const char *const graph_relay_headers[] = {"facebook-api-version", "x-app-usage",
                                           "x-business-use-case-usage", "x-fb-trace-id", NULL};

/* Whether libcurl sends the bytes in a query as they are. */
static bool is_sendable(struct slice query) {
    for (size_t i = 0; i < query.n; i++)
        if ((unsigned char)query.p[i] <= ' ' || query.p[i] == '#' || query.p[i] == 0x7f)
            return false;
    return true;
}

static char *url_of(struct arena *arena, const struct config *config,
                    const struct graph_relay *relay) {
    struct buffer url = buffer_in(arena);
    buffer_printf(&url, "%s/%s/%s", config->graph_base_url, config->graph_version, relay->path);
    if (relay->query.n)
        buffer_add_char(&url, '?');
    buffer_add_slice(&url, relay->query);
    buffer_add(&url, "", 0);
    return url.p;
}

/* Adds the type of the body. libcurl would add one of its own to a body without a type. */
static void add_type(struct transfer *transfer, const char *type) {
    struct buffer line = buffer_in(transfer->arena);
    buffer_add_text(&line, type ? "Content-Type: " : "Content-Type:");
    for (const char *p = type ? type : ""; *p; p++)
        if ((unsigned char)*p >= 0x20 && *p != 0x7f)
            buffer_add_char(&line, *p);
    buffer_add(&line, "", 0);
    http_add_header(&transfer->http, line.p);
}

static void add_body(struct transfer *transfer, const struct graph_relay *relay) {
    http_set(&transfer->http, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)relay->body.n);
    http_set(&transfer->http, CURLOPT_POSTFIELDS, relay->body.n ? relay->body.p : "");
    add_type(transfer, relay->content_type);
}

static void set_request(struct transfer *transfer, const struct graph_relay *relay) {
    bool is_get = strcmp(relay->method, "GET") == 0, is_post = strcmp(relay->method, "POST") == 0;
    transfer->is_repeatable = is_get;
    http_set(&transfer->http, CURLOPT_TIMEOUT_MS, (long)GRAPH_CALL_TIMEOUT_MS);
    if (!is_get && (is_post || relay->body.p))
        add_body(transfer, relay);
    if (!is_get && !is_post)
        http_set(&transfer->http, CURLOPT_CUSTOMREQUEST, relay->method);
}

static void perform(struct transfer *transfer, struct graph_relayed *relayed) {
    if (transfer_perform(transfer) != CURLE_OK)
        return;
    for (size_t i = 0; i < GRAPH_RELAY_HEADERS; i++)
        relayed->headers[i] = transfer_header(transfer, graph_relay_headers[i]);
}

/* Starts the call. Returns false when the query cannot be sent; the answer is a failure then. */
static bool begin(struct transfer *transfer, const struct config *config, struct arena *arena,
                  const struct graph_relay *relay, struct graph_relayed *relayed) {
    *relayed = (struct graph_relayed){0};
    if (!is_sendable(relay->query)) {
        relayed->answer.failure = "the query holds a character that a URL cannot have";
        return false;
    }
    transfer_start(transfer, config, arena, relay->scheme ? NULL : relay->token, &relayed->answer);
    if (relay->scheme)
        http_add_header(&transfer->http,
                        arena_printf(arena, "Authorization: %s %s", relay->scheme, relay->token));
    if (relay->offset)
        http_add_header(&transfer->http, arena_printf(arena, "file_offset: %s", relay->offset));
    http_set(&transfer->http, CURLOPT_URL, url_of(arena, config, relay));
    return true;
}

void graph_relay(const struct config *config, struct arena *arena, const struct graph_relay *relay,
                 struct graph_relayed *relayed) {
    struct transfer transfer;
    if (!begin(&transfer, config, arena, relay, relayed))
        return;
    set_request(&transfer, relay);
    perform(&transfer, relayed);
}

void graph_relay_stream(const struct config *config, struct arena *arena,
                        const struct graph_relay *relay, const struct graph_source *source,
                        struct graph_relayed *relayed) {
    struct transfer transfer;
    struct graph_stream body = {.transfer = &transfer, .source = *source};
    if (!begin(&transfer, config, arena, relay, relayed))
        return;
    add_type(&transfer, relay->content_type);
    transfer_stream(&body);
    perform(&transfer, relayed);
}
