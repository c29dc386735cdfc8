#include "graph/transfer.h"

#include <poll.h>

#include "base/clock.h"

enum {
    STALL_TIMEOUT_MS = 30000,
    ANSWER_LIMIT = 16 * 1024 * 1024,
    ANSWER_ROOM = 64 * 1024, /* enough for a typical answer and for parsing it */
    STREAM_BUFFER = 256 * 1024,
    IDLE_SECONDS = 20, /* a connection that was idle for longer is not reused */
};

size_t transfer_keep(struct transfer *transfer, struct slice bytes) {
    if (transfer->body.n + bytes.n > ANSWER_LIMIT) {
        transfer->is_too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    buffer_add(&transfer->body, bytes.p, bytes.n);
    return bytes.n;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *context) {
    return transfer_keep(context, (struct slice){bytes, size * n});
}

static size_t on_header(char *bytes, size_t size, size_t n, void *context) {
    struct transfer *transfer = context;
    struct slice value;
    if (http_header_is((struct slice){bytes, size * n}, "Retry-After", &value))
        transfer->answer->retry_after = arena_copy(transfer->arena, value);
    return size * n;
}

/* libcurl repeats a request on a new connection when a reused one is closed before it returned any
 * answer. The platform may already have processed a POST, so the repetition is refused. */
static int on_request(void *context, char *peer, char *own, int peer_port, int own_port) {
    struct transfer *transfer = context;
    (void)peer, (void)own, (void)peer_port, (void)own_port;
    return transfer->sent++ && !transfer->is_repeatable ? CURL_PREREQFUNC_ABORT
                                                        : CURL_PREREQFUNC_OK;
}

static int on_progress(void *context, curl_off_t to_receive, curl_off_t received,
                       curl_off_t to_send, curl_off_t sent) {
    struct transfer *transfer = context;
    (void)to_receive, (void)to_send;
    if (transfer->is_paused) {
        transfer->is_paused = false;
        curl_easy_pause(transfer->http.curl, CURLPAUSE_CONT);
    }
    if (received + sent != transfer->moved) {
        transfer->moved = received + sent;
        transfer_moved(transfer);
    }
    transfer->is_stalled = clock_monotonic() - transfer->moved_at > transfer->stall_limit;
    return transfer->is_stalled;
}

void transfer_start_with(struct transfer *transfer, CURL *curl, const struct config *config,
                         struct arena *arena, const char *token, struct graph_answer *answer) {
    static const struct http_use use = {IDLE_SECONDS, on_header, on_body, on_request};
    *answer = (struct graph_answer){0};
    arena_reserve(arena, ANSWER_ROOM);
    *transfer = (struct transfer){.http.curl = curl,
                                  .arena = arena,
                                  .answer = answer,
                                  .body = buffer_in(arena),
                                  .socket = -1,
                                  .started = clock_monotonic()};
    http_start(&transfer->http, config, &use, transfer);
    if (token)
        http_add_header(&transfer->http, arena_printf(arena, "Authorization: Bearer %s", token));
}

void transfer_start(struct transfer *transfer, const struct config *config, struct arena *arena,
                    const char *token, struct graph_answer *answer) {
    static CURL *curl; /* the handle of this process, and its open connection */
    if (!curl)
        curl = curl_easy_init();
    transfer_start_with(transfer, curl, config, arena, token, answer);
}

void transfer_limit_stall(struct transfer *transfer) {
    transfer->stall_limit = STALL_TIMEOUT_MS;
    transfer->moved_at = clock_monotonic();
    http_set(&transfer->http, CURLOPT_XFERINFOFUNCTION, on_progress);
    http_set(&transfer->http, CURLOPT_XFERINFODATA, transfer);
    http_set(&transfer->http, CURLOPT_NOPROGRESS, 0L);
}

void transfer_moved(struct transfer *transfer) {
    transfer->moved_at = clock_monotonic();
}

/* --- a body that is read while it is sent --- */

/* libcurl does not expose the socket during a transfer, except to this callback. */
static int on_socket(void *context, curl_socket_t fd, curlsocktype purpose) {
    struct transfer *transfer = context;
    if (purpose == CURLSOCKTYPE_IPCXN)
        transfer->socket = fd;
    return CURL_SOCKOPT_OK;
}

/* Whether input of the platform (bytes, or the end of the connection) can be read. False when the
 * socket is not known, as on a reused connection. */
static bool has_input(const struct transfer *transfer) {
    struct pollfd input = {.fd = transfer->socket, .events = POLLIN};
    return poll(&input, 1, 0) > 0 && !(input.revents & POLLNVAL);
}

/* Reads the next bytes. Returns -1 when the call must be aborted. */
static ssize_t read_more(struct graph_stream *stream, char *bytes, size_t room) {
    if (stream->source.size >= 0 && (int64_t)room > stream->left)
        room = (size_t)stream->left;
    ssize_t got = stream->source.read(stream->source.context, bytes, room);
    if (got < 0 || (got == 0 && stream->source.size >= 0))
        return -1;
    stream->left -= got;
    stream->is_ended = stream->source.size >= 0 ? stream->left == 0 : got == 0;
    return got;
}

/* Fills the whole buffer if there are enough bytes: few large writes to the platform are faster
 * than many small ones. */
static size_t fill(struct graph_stream *stream, char *bytes, size_t room) {
    size_t n = slice_take(&stream->head, bytes, room);
    while (!stream->is_ended && n < room) {
        ssize_t got = read_more(stream, bytes + n, room - n);
        if (got < 0)
            return CURL_READFUNC_ABORT;
        n += (size_t)got;
    }
    if (stream->is_ended)
        n += slice_take(&stream->tail, bytes + n, room - n);
    transfer_moved(stream->transfer);
    return n;
}

/* While this function waits for bytes of the client, the platform may answer and close the
 * connection. Sending would then fail and the answer would be lost. So when input is pending, the
 * transfer is paused until libcurl has read it. */
static size_t on_read(char *bytes, size_t size, size_t count, void *context) {
    struct graph_stream *stream = context;
    size_t room = size * count;
    if (stream->held.n)
        return slice_take(&stream->held, bytes, room);
    size_t n = fill(stream, bytes, room);
    if (n == 0 || n == CURL_READFUNC_ABORT || !has_input(stream->transfer))
        return n;
    char *held = arena_alloc(stream->transfer->arena, n);
    memcpy(held, bytes, n);
    stream->held = (struct slice){held, n};
    stream->transfer->is_paused = true; /* on_progress resumes it */
    return CURL_READFUNC_PAUSE;
}

void transfer_stream(struct graph_stream *stream) {
    struct http_client *http = &stream->transfer->http;
    stream->left = stream->source.size;
    stream->is_ended = stream->source.size == 0;
    transfer_limit_stall(stream->transfer);
    http_set(http, CURLOPT_SOCKOPTFUNCTION, on_socket);
    http_set(http, CURLOPT_SOCKOPTDATA, stream->transfer);
    http_set(http, CURLOPT_POST, 1L);
    if (stream->source.size < 0)
        http_add_header(http, "Transfer-Encoding: chunked");
    else
        http_set(http, CURLOPT_POSTFIELDSIZE_LARGE,
                 (curl_off_t)stream->head.n + stream->source.size + (curl_off_t)stream->tail.n);
    http_set(http, CURLOPT_UPLOAD_BUFFERSIZE, (long)STREAM_BUFFER);
    http_set(http, CURLOPT_READFUNCTION, on_read);
    http_set(http, CURLOPT_READDATA, stream);
}

/* --- the answer --- */

const char *transfer_header(const struct transfer *transfer, const char *name) {
    struct curl_header *found;
    if (curl_easy_header(transfer->http.curl, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    return arena_copy(transfer->arena, slice_of(found->value));
}

static const char *explain(const struct transfer *transfer, CURLcode code) {
    if (transfer->is_too_large)
        return "its answer is larger than 16 MB";
    if (transfer->is_stalled)
        return "no byte moved for 30 s";
    return arena_copy(transfer->arena, slice_of(http_reason(&transfer->http, code)));
}

/* The platform may refuse a request and close the connection before it has read the whole body, so
 * that sending fails. A complete answer is used in spite of that. */
static bool is_whole_refusal(const struct transfer *transfer, CURLcode code, long status) {
    curl_off_t length = -1;
    curl_easy_getinfo(transfer->http.curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return code == CURLE_SEND_ERROR && status >= 400 && length >= 0 &&
           (curl_off_t)transfer->body.n == length;
}

CURLcode transfer_end(struct transfer *transfer, CURLcode code) {
    struct graph_answer *answer = transfer->answer;
    long status = 0;
    if (transfer->sent > 0) {
        curl_easy_getinfo(transfer->http.curl, CURLINFO_RESPONSE_CODE, &status);
        code = is_whole_refusal(transfer, code, status) ? CURLE_OK : code;
    }
    http_finish(&transfer->http);
    answer->status = code == CURLE_OK ? (int)status : 0;
    answer->body = buffer_slice(&transfer->body);
    answer->failure = code == CURLE_OK ? NULL : explain(transfer, code);
    answer->ms = clock_monotonic() - transfer->started;
    answer->was_sent = transfer->sent > 0;
    return code;
}

CURLcode transfer_perform(struct transfer *transfer) {
    const CURLcode code = http_ready(&transfer->http);
    return transfer_end(transfer, code == CURLE_OK ? curl_easy_perform(transfer->http.curl) : code);
}
