#include "graph/media_api.h"

#include "base/clock.h"
#include "base/header.h"
#include "base/id.h"

enum { DOWNLOAD_BUFFER = 256 * 1024 };

/* --- upload --- */

#define PART "--%s\r\nContent-Disposition: form-data; name=\"%s\""

struct upload_form upload_form_make(struct arena *arena, const struct upload_text *texts,
                                    const char *file_name, const char *file_type) {
    struct buffer head = buffer_in(arena);
    char boundary[ID_SIZE];
    id_make(boundary, "part-", clock_now()); /* 80 random bits, so no file contains it */
    for (; texts->name; texts++)
        buffer_printf(&head, PART "\r\n\r\n%s\r\n", boundary, texts->name, texts->value);
    buffer_printf(&head, PART "; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n", boundary, "file",
                  header_file_name(arena, file_name), file_type);
    return (struct upload_form){
        .head = buffer_slice(&head),
        .tail = slice_of(arena_printf(arena, "\r\n--%s--\r\n", boundary)),
        .type = arena_printf(arena, "multipart/form-data; boundary=%s", boundary)};
}

void graph_upload(const struct config *config, struct arena *arena,
                  const struct graph_upload *upload, struct graph_answer *answer) {
    struct transfer transfer;
    /* the platform takes the type of the file from the Content-Type of its part alone */
    const struct upload_text texts[] = {
        {"messaging_product", "whatsapp"}, {"type", upload->type}, {NULL, NULL}};
    struct upload_form frame = upload_form_make(arena, texts, upload->name, upload->type);
    struct graph_stream form = {&transfer, frame.head, frame.tail, .source = upload->source};
    transfer_start(&transfer, config, arena, upload->token, answer);
    http_add_header(&transfer.http, arena_printf(arena, "Content-Type: %s", frame.type));
    http_set(&transfer.http, CURLOPT_URL,
             arena_printf(arena, "%s/%s/%s/media", config->graph_base_url, config->graph_version,
                          graph_escape(arena, slice_of(upload->phone_number_id))));
    transfer_stream(&form);
    transfer_perform(&transfer);
}

/* --- the hosts that may receive the token --- */

/* The origin of a URL, in lower case. */
struct origin {
    const char *scheme, *host, *port;
};

static struct origin origin_of(struct arena *arena, CURLU *url) {
    return (struct origin){http_url_part(arena, url, CURLUPART_SCHEME),
                           http_url_part(arena, url, CURLUPART_HOST),
                           http_url_part(arena, url, CURLUPART_PORT)};
}

/* Whether `pattern` (HOST or *.HOST, optionally with :PORT) matches the origin. */
static bool matches(struct slice pattern, const struct origin *origin) {
    struct slice port = pattern, host = slice_cut(&port, ':'), name = slice_of(origin->host);
    if (port.n && !slice_equal(port, slice_of(origin->port)))
        return false;
    if (!slice_starts(host, SLICE("*.")))
        return host.n == name.n && strncasecmp(host.p, name.p, host.n) == 0;
    host = slice_skip(host, 1); /* keeps the dot */
    return name.n > host.n && strncasecmp(host.p, name.p + name.n - host.n, host.n) == 0;
}

static bool is_allowed(const struct config *config, const struct origin *origin,
                       const struct origin *base) {
    if (strcmp(origin->host, base->host) == 0 && strcmp(origin->port, base->port) == 0 &&
        strcmp(origin->scheme, base->scheme) == 0)
        return true;
    if (strcmp(origin->scheme, "https") != 0 && strcmp(origin->scheme, base->scheme) != 0)
        return false;
    struct slice rest = slice_of(config->media_hosts);
    while (rest.n) {
        struct slice pattern = slice_cut(&rest, ' ');
        if (pattern.n && matches(pattern, origin))
            return true;
    }
    return false;
}

/* Parses a media URL with libcurl, which also makes the call, so that both see the same host.
 * Returns NULL and the answer, a failure, when the token may not be sent to that host. The caller
 * frees the URL with curl_url_cleanup. */
static CURLU *allowed_url(const struct config *config, struct arena *arena, const char *text,
                          struct graph_answer *answer) {
    CURLU *url = curl_url(), *base = curl_url();
    struct origin origin = {"", "", ""};
    *answer = (struct graph_answer){.failure = "the platform's media URL cannot be read"};
    bool readable = url && base &&
                    curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER) == CURLUE_OK &&
                    curl_url_set(base, CURLUPART_URL, config->graph_base_url, 0) == CURLUE_OK;
    if (readable) {
        struct origin base_origin = origin_of(arena, base);
        origin = origin_of(arena, url);
        answer->failure =
            is_allowed(config, &origin, &base_origin)
                ? NULL
                : arena_printf(arena, "the media URL's host %s is not among media_hosts",
                               origin.host);
    }
    curl_url_cleanup(base);
    if (!answer->failure)
        return url;
    curl_url_cleanup(url);
    return NULL;
}

/* --- download --- */

static void read_head(struct graph_receiving *receiving) {
    const struct transfer *transfer = &receiving->transfer;
    curl_off_t length = -1;
    long status = 0;
    if (receiving->has_head)
        return;
    receiving->has_head = true;
    curl_easy_getinfo(transfer->http.curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    curl_easy_getinfo(transfer->http.curl, CURLINFO_RESPONSE_CODE, &status);
    *receiving->download.head = (struct graph_head){
        .status = (int)status,
        .type = transfer_header(transfer, "Content-Type"),
        .range = transfer_header(transfer, "Content-Range"),
        .accepts_ranges = transfer_header(transfer, "Accept-Ranges"),
        .length = length,
    };
}

static size_t on_write(char *bytes, size_t size, size_t count, void *context) {
    struct graph_receiving *receiving = context;
    const struct graph_download *download = &receiving->download;
    struct slice piece = {bytes, size * count};
    read_head(receiving);
    if (download->head->status != 200 && download->head->status != 206)
        return transfer_keep(&receiving->transfer, piece);
    int aborted = download->write(download->context, piece);
    transfer_moved(&receiving->transfer);
    return aborted ? CURL_WRITEFUNC_ERROR : piece.n;
}

/* Describes the download on the handle that transfer_start has set up. */
static void describe(struct graph_receiving *receiving, struct arena *arena) {
    struct http_client *http = &receiving->transfer.http;
    transfer_limit_stall(&receiving->transfer);
    if (receiving->download.range)
        http_add_header(http, arena_printf(arena, "Range: %s", receiving->download.range));
    http_set(http, CURLOPT_CURLU, receiving->url);
    http_set(http, CURLOPT_BUFFERSIZE, (long)DOWNLOAD_BUFFER);
    http_set(http, CURLOPT_WRITEFUNCTION, on_write);
    http_set(http, CURLOPT_WRITEDATA, receiving);
}

static void end(struct graph_receiving *receiving, CURLcode code) {
    if (code == CURLE_OK)
        read_head(receiving);
    curl_url_cleanup(receiving->url);
    receiving->url = NULL;
}

void graph_download(const struct config *config, struct arena *arena,
                    const struct graph_download *download, struct graph_answer *answer) {
    struct graph_receiving receiving = {.download = *download};
    receiving.url = allowed_url(config, arena, download->url, answer);
    if (!receiving.url)
        return;
    transfer_start(&receiving.transfer, config, arena, download->token, answer);
    describe(&receiving, arena);
    end(&receiving, transfer_perform(&receiving.transfer));
}

bool graph_receiving_start(struct graph_receiving *receiving, CURLM *multi,
                           const struct config *config, struct arena *arena, void *context) {
    const struct graph_download *download = &receiving->download;
    receiving->has_head = false;
    receiving->url = allowed_url(config, arena, download->url, &receiving->answer);
    if (!receiving->url)
        return false;
    if (!receiving->curl)
        receiving->curl = curl_easy_init();
    transfer_start_with(&receiving->transfer, receiving->curl, config, arena, download->token,
                        &receiving->answer);
    describe(receiving, arena);
    http_set(&receiving->transfer.http, CURLOPT_PRIVATE, context);
    CURLcode code = http_ready(&receiving->transfer.http);
    if (code == CURLE_OK && curl_multi_add_handle(multi, receiving->curl) == CURLM_OK)
        return true;
    end(receiving, transfer_end(&receiving->transfer, code ? code : CURLE_FAILED_INIT));
    return false;
}

void graph_receiving_end(struct graph_receiving *receiving, CURLM *multi, CURLcode code) {
    end(receiving, transfer_end(&receiving->transfer, code));
    curl_multi_remove_handle(multi, receiving->curl);
}
