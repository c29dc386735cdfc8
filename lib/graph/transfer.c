#include "graph/transfer.h"

#include <poll.h>

#include "base/clock.h"
#include "base/product.h"
#include "base/resolver.h"

enum {
    CONNECT_TIMEOUT_MS = 5000,
    STALL_TIMEOUT_MS = 30000,
    ANSWER_LIMIT = 16 * 1024 * 1024,
    ANSWER_ROOM = 64 * 1024, /* enough for a typical answer and for parsing it */
    IDLE_SECONDS = 20,       /* a connection that was idle for longer is not reused */
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
    struct slice value = {bytes, size * n};
    struct slice name = slice_cut(&value, ':');
    if (name.n == 11 && strncasecmp(name.p, "Retry-After", 11) == 0) {
        while (value.n && (value.p[value.n - 1] == '\r' || value.p[value.n - 1] == '\n'))
            value.n--;
        transfer->answer->retry_after = arena_copy(transfer->arena, slice_trim(value));
    }
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
        curl_easy_pause(transfer->curl, CURLPAUSE_CONT);
    }
    if (received + sent != transfer->moved) {
        transfer->moved = received + sent;
        transfer_moved(transfer);
    }
    transfer->is_stalled = clock_monotonic() - transfer->moved_at > transfer->stall_limit;
    return transfer->is_stalled;
}

/* curl_global_init makes OpenSSL read openssl.cnf(5), which loads its modules. */
void graph_prepare(void) {
    resolver_prepare();
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* Returns the handle of this process with its options reset. Its open connection is kept. */
static CURL *handle(void) {
    static CURL *curl;
    if (curl) {
        curl_easy_reset(curl);
    } else {
        curl_global_init(CURL_GLOBAL_DEFAULT);
        curl = curl_easy_init();
    }
    return curl;
}

void transfer_latch(struct transfer *transfer, CURLcode code) {
    if (!transfer->failed)
        transfer->failed = code;
}

static void set_safety(struct transfer *transfer, const struct config *config) {
    transfer_set(transfer, CURLOPT_NOSIGNAL, 1L);
    transfer_set(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
    transfer_set(transfer, CURLOPT_FOLLOWLOCATION, 0L);
    transfer_set(transfer, CURLOPT_PROXY, "");
    transfer_set(transfer, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    transfer_set(transfer, CURLOPT_MAXAGE_CONN, (long)IDLE_SECONDS);
    transfer_set(transfer, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    transfer_set(transfer, CURLOPT_USERAGENT, SWITCHBOARD_NAME "/" SWITCHBOARD_VERSION);
    /* a hashed directory by default: loading one large file takes 20 ms of CPU per process */
    transfer_set(transfer, CURLOPT_CAPATH, *config->ca_path ? config->ca_path : NULL);
    transfer_set(transfer, CURLOPT_CAINFO, *config->ca_file ? config->ca_file : NULL);
}

void transfer_start(struct transfer *transfer, const struct config *config, struct arena *arena,
                    const char *token, struct graph_answer *answer) {
    *answer = (struct graph_answer){0};
    arena_reserve(arena, ANSWER_ROOM);
    *transfer = (struct transfer){.curl = handle(),
                                  .arena = arena,
                                  .answer = answer,
                                  .body = buffer_in(arena),
                                  .socket = -1,
                                  .started = clock_monotonic()};
    if (!transfer->curl) {
        transfer_latch(transfer, CURLE_OUT_OF_MEMORY);
        return;
    }
    set_safety(transfer, config);
    transfer_set(transfer, CURLOPT_ERRORBUFFER, transfer->detail);
    transfer_set(transfer, CURLOPT_WRITEFUNCTION, on_body);
    transfer_set(transfer, CURLOPT_WRITEDATA, transfer);
    transfer_set(transfer, CURLOPT_HEADERFUNCTION, on_header);
    transfer_set(transfer, CURLOPT_HEADERDATA, transfer);
    transfer_set(transfer, CURLOPT_PREREQFUNCTION, on_request);
    transfer_set(transfer, CURLOPT_PREREQDATA, transfer);
    if (token)
        transfer_header(transfer, arena_printf(arena, "Authorization: Bearer %s", token));
    transfer_header(transfer, "Expect:");
}

void transfer_header(struct transfer *transfer, const char *line) {
    struct curl_slist *longer = curl_slist_append(transfer->headers, line);
    if (longer)
        transfer->headers = longer;
    else
        transfer_latch(transfer, CURLE_OUT_OF_MEMORY);
}

void transfer_limit_stall(struct transfer *transfer) {
    transfer->stall_limit = STALL_TIMEOUT_MS;
    transfer->moved_at = clock_monotonic();
    transfer_set(transfer, CURLOPT_XFERINFOFUNCTION, on_progress);
    transfer_set(transfer, CURLOPT_XFERINFODATA, transfer);
    transfer_set(transfer, CURLOPT_NOPROGRESS, 0L);
}

/* libcurl does not expose the socket during a transfer, except to this callback. */
static int on_socket(void *context, curl_socket_t fd, curlsocktype purpose) {
    struct transfer *transfer = context;
    if (purpose == CURLSOCKTYPE_IPCXN)
        transfer->socket = fd;
    return CURL_SOCKOPT_OK;
}

void transfer_watch(struct transfer *transfer) {
    transfer_set(transfer, CURLOPT_SOCKOPTFUNCTION, on_socket);
    transfer_set(transfer, CURLOPT_SOCKOPTDATA, transfer);
}

bool transfer_has_input(const struct transfer *transfer) {
    struct pollfd input = {.fd = transfer->socket, .events = POLLIN};
    return poll(&input, 1, 0) > 0 && !(input.revents & POLLNVAL);
}

size_t transfer_pause(struct transfer *transfer) {
    transfer->is_paused = true;
    return CURL_READFUNC_PAUSE;
}

void transfer_moved(struct transfer *transfer) {
    transfer->moved_at = clock_monotonic();
}

static const char *explain(const struct transfer *transfer, CURLcode code) {
    if (transfer->is_too_large)
        return "its answer is larger than 16 MB";
    if (transfer->is_stalled)
        return "no byte moved for 30 s";
    return arena_copy(transfer->arena,
                      slice_of(*transfer->detail ? transfer->detail : curl_easy_strerror(code)));
}

/* The platform may refuse a request and close the connection before it has read the whole body, so
 * that sending fails. A complete answer is used in spite of that. */
static bool is_whole_refusal(const struct transfer *transfer, CURLcode code, long status) {
    curl_off_t length = -1;
    curl_easy_getinfo(transfer->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return code == CURLE_SEND_ERROR && status >= 400 && length >= 0 &&
           (curl_off_t)transfer->body.n == length;
}

CURLcode transfer_perform(struct transfer *transfer) {
    struct graph_answer *answer = transfer->answer;
    long status = 0;
    transfer_set(transfer, CURLOPT_HTTPHEADER, transfer->headers);
    CURLcode code = transfer->failed;
    if (code == CURLE_OK) {
        code = curl_easy_perform(transfer->curl);
        curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
        code = is_whole_refusal(transfer, code, status) ? CURLE_OK : code;
        curl_easy_setopt(transfer->curl, CURLOPT_ERRORBUFFER, NULL);
    }
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    answer->status = code == CURLE_OK ? (int)status : 0;
    answer->body = buffer_slice(&transfer->body);
    answer->failure = code == CURLE_OK ? NULL : explain(transfer, code);
    answer->ms = clock_monotonic() - transfer->started;
    answer->was_sent = transfer->sent > 0;
    return code;
}
