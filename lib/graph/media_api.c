#include "graph/media_api.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "graph/transfer.h"

enum { STREAM_BUFFER = 256 * 1024, LONGEST_NAME = 240 };

/* --- upload --- */

/* An upload under way. */
struct sending {
    const struct graph_upload *upload;
    struct transfer transfer;
    struct slice head, tail; /* of the body: what stands before and after the file */
    int64_t left;            /* of the file, bytes */
    struct slice held;       /* bytes that wait until an answer has been looked at */
};

/* The name as it may stand between quotes in a header (RFC 7578 4.2): UTF-8 stays, what could end
 * the quotes or the line goes. */
static const char *safe_name(struct arena *arena, const char *name) {
    struct buffer out = buffer_in(arena);
    for (const char *p = name; *p; p++)
        if (*p == '/' || *p == '\\')
            name = p + 1;
    struct slice rest = slice_of(name);
    while (rest.n && out.n < LONGEST_NAME) {
        size_t length = utf8_length(rest.p, rest.n);
        if (!length)
            buffer_add_char(&out, '_');
        else if (length > 1 ||
                 ((unsigned char)*rest.p >= 0x20 && *rest.p != '"' && *rest.p != 0x7f))
            buffer_add(&out, rest.p, length);
        rest = slice_skip(rest, length ? length : 1);
    }
    return out.n ? out.p : "file";
}

/* The parts around the file's bytes. The platform looks at the Content-Type of the file's part and
 * at nothing else to know its type. */
static void frame(struct sending *sending, struct arena *arena, const char *boundary) {
    const struct graph_upload *upload = sending->upload;
    sending->head = slice_of(arena_printf(
        arena,
        "--%s\r\nContent-Disposition: form-data; name=\"messaging_product\"\r\n\r\nwhatsapp\r\n"
        "--%s\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\n%s\r\n"
        "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n"
        "Content-Type: %s\r\n\r\n",
        boundary, boundary, upload->type, boundary, safe_name(arena, upload->name), upload->type));
    sending->tail = slice_of(arena_printf(arena, "\r\n--%s--\r\n", boundary));
    sending->left = upload->size;
}

static size_t take(struct slice *rest, char *bytes, size_t room) {
    size_t n = rest->n < room ? rest->n : room;
    memcpy(bytes, rest->p, n);
    *rest = slice_skip(*rest, n);
    return n;
}

/* Fills as much of the buffer as there is: few large writes to the platform are faster than many
 * small ones. */
static size_t fill(struct sending *sending, char *bytes, size_t room) {
    size_t n = take(&sending->head, bytes, room);
    while (sending->left && n < room) {
        size_t more = room - n;
        if ((int64_t)more > sending->left)
            more = (size_t)sending->left;
        ssize_t got = sending->upload->read(sending->upload->context, bytes + n, more);
        if (got <= 0)
            return CURL_READFUNC_ABORT;
        sending->left -= got;
        n += (size_t)got;
    }
    if (!sending->left)
        n += take(&sending->tail, bytes + n, room - n);
    transfer_moved(&sending->transfer);
    return n;
}

/* The platform may have answered while we waited for the client's bytes, and hung up. Sending them
 * would fail, and its answer be lost: it is read first. */
static size_t on_read(char *bytes, size_t size, size_t count, void *context) {
    struct sending *sending = context;
    size_t room = size * count;
    if (sending->held.n)
        return take(&sending->held, bytes, room);
    size_t n = fill(sending, bytes, room);
    if (n == 0 || n == CURL_READFUNC_ABORT || !transfer_has_news(&sending->transfer))
        return n;
    char *held = arena_alloc(sending->transfer.arena, n);
    memcpy(held, bytes, n);
    sending->held = (struct slice){held, n};
    return transfer_pause(&sending->transfer);
}

void graph_upload(const struct config *config, struct arena *arena,
                  const struct graph_upload *upload, struct graph_answer *answer) {
    struct sending sending = {.upload = upload};
    char boundary[ID_SIZE];
    id_make(boundary, "part-", clock_now()); /* 80 random bits: in no file */
    frame(&sending, arena, boundary);
    transfer_start(&sending.transfer, config, arena, upload->token, answer);
    transfer_limit_stall(&sending.transfer);
    transfer_watch(&sending.transfer);
    transfer_header(
        &sending.transfer,
        arena_printf(arena, "Content-Type: multipart/form-data; boundary=%s", boundary));
    struct transfer *transfer = &sending.transfer;
    transfer_set(transfer, CURLOPT_URL,
                 arena_printf(arena, "%s/%s/%s/media", config->graph_base_url,
                              config->graph_version, graph_escape(arena, slice_of(upload->line))));
    transfer_set(transfer, CURLOPT_POST, 1L);
    transfer_set(transfer, CURLOPT_POSTFIELDSIZE_LARGE,
                 (curl_off_t)sending.head.n + upload->size + (curl_off_t)sending.tail.n);
    transfer_set(transfer, CURLOPT_UPLOAD_BUFFERSIZE, (long)STREAM_BUFFER);
    transfer_set(transfer, CURLOPT_READFUNCTION, on_read);
    transfer_set(transfer, CURLOPT_READDATA, &sending);
    transfer_perform(&sending.transfer);
}

/* --- where the token may go --- */

/* The parts of a URL that say where it leads, in lower case. */
struct place {
    const char *scheme, *host, *port;
};

static const char *url_part(struct arena *arena, CURLU *url, CURLUPart part) {
    char *text = NULL;
    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
        return "";
    char *copy = arena_copy(arena, slice_of(text));
    curl_free(text);
    for (char *p = copy; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    return copy;
}

static struct place place_of(struct arena *arena, CURLU *url) {
    return (struct place){url_part(arena, url, CURLUPART_SCHEME),
                          url_part(arena, url, CURLUPART_HOST),
                          url_part(arena, url, CURLUPART_PORT)};
}

/* Whether `pattern` (HOST, *.HOST, either with :PORT) stands for the place. */
static bool matches(struct slice pattern, const struct place *place) {
    struct slice port = pattern, host = slice_cut(&port, ':'), name = slice_of(place->host);
    if (port.n && !slice_equal(port, slice_of(place->port)))
        return false;
    if (!slice_starts(host, SLICE("*.")))
        return host.n == name.n && strncasecmp(host.p, name.p, host.n) == 0;
    host = slice_skip(host, 1); /* the dot stays */
    return name.n > host.n && strncasecmp(host.p, name.p + name.n - host.n, host.n) == 0;
}

static bool is_allowed(const struct config *config, const struct place *place,
                       const struct place *base) {
    if (strcmp(place->host, base->host) == 0 && strcmp(place->port, base->port) == 0 &&
        strcmp(place->scheme, base->scheme) == 0)
        return true;
    if (strcmp(place->scheme, "https") != 0 && strcmp(place->scheme, base->scheme) != 0)
        return false;
    struct slice rest = slice_of(config->media_hosts);
    while (rest.n) {
        struct slice pattern = slice_cut(&rest, ' ');
        if (pattern.n && matches(pattern, place))
            return true;
    }
    return false;
}

/* The URL, taken apart by the one who will call it; NULL and `*failure` when the token may not go
 * there. */
static CURLU *allowed_url(const struct config *config, struct arena *arena, const char *text,
                          const char **failure) {
    CURLU *url = curl_url(), *base = curl_url();
    struct place place = {"", "", ""};
    *failure = "the platform's media URL cannot be read";
    bool readable = url && base &&
                    curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER) == CURLUE_OK &&
                    curl_url_set(base, CURLUPART_URL, config->graph_base_url, 0) == CURLUE_OK;
    if (readable) {
        struct place base_place = place_of(arena, base);
        place = place_of(arena, url);
        *failure = is_allowed(config, &place, &base_place)
                       ? NULL
                       : arena_printf(arena, "the media URL's host %s is not among media_hosts",
                                      place.host);
    }
    curl_url_cleanup(base);
    if (!*failure)
        return url;
    curl_url_cleanup(url);
    return NULL;
}

/* --- download --- */

/* A download under way. */
struct receiving {
    const struct graph_download *download;
    struct transfer transfer;
    bool has_head;
};

static const char *header(const struct transfer *transfer, const char *name) {
    struct curl_header *found;
    if (curl_easy_header(transfer->curl, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    return arena_copy(transfer->arena, slice_of(found->value));
}

static int read_status(const struct transfer *transfer) {
    long status = 0;
    curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static void read_head(struct receiving *receiving) {
    const struct transfer *transfer = &receiving->transfer;
    curl_off_t length = -1;
    if (receiving->has_head)
        return;
    receiving->has_head = true;
    curl_easy_getinfo(transfer->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    *receiving->download->head = (struct graph_head){
        .status = read_status(transfer),
        .type = header(transfer, "Content-Type"),
        .range = header(transfer, "Content-Range"),
        .accepts_ranges = header(transfer, "Accept-Ranges"),
        .length = length,
    };
}

static size_t on_write(char *bytes, size_t size, size_t count, void *context) {
    struct receiving *receiving = context;
    const struct graph_download *download = receiving->download;
    struct slice piece = {bytes, size * count};
    read_head(receiving);
    if (download->head->status != 200 && download->head->status != 206)
        return transfer_keep(&receiving->transfer, piece);
    int aborted = download->write(download->context, piece);
    transfer_moved(&receiving->transfer);
    return aborted ? CURL_WRITEFUNC_ERROR : piece.n;
}

void graph_download(const struct config *config, struct arena *arena,
                    const struct graph_download *download, struct graph_answer *answer) {
    struct receiving receiving = {.download = download};
    const char *failure;
    CURLU *url = allowed_url(config, arena, download->url, &failure);
    if (!url) {
        *answer = (struct graph_answer){.failure = failure};
        return;
    }
    transfer_start(&receiving.transfer, config, arena, download->token, answer);
    transfer_limit_stall(&receiving.transfer);
    if (download->range)
        transfer_header(&receiving.transfer, arena_printf(arena, "Range: %s", download->range));
    struct transfer *transfer = &receiving.transfer;
    transfer_set(transfer, CURLOPT_CURLU, url);
    transfer_set(transfer, CURLOPT_BUFFERSIZE, (long)STREAM_BUFFER);
    transfer_set(transfer, CURLOPT_WRITEFUNCTION, on_write);
    transfer_set(transfer, CURLOPT_WRITEDATA, &receiving);
    if (transfer_perform(&receiving.transfer) == CURLE_OK)
        read_head(&receiving);
    curl_url_cleanup(url);
}
