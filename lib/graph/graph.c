#include "graph/graph.h"

#include <curl/curl.h>

#include "base/clock.h"
#include "version.h"

enum {
    CONNECT_TIMEOUT_MS = 5000,
    CALL_TIMEOUT_MS = 30000,
    ANSWER_LIMIT = 16 * 1024 * 1024,
    IDLE_SECONDS = 20, /* a connection idle for longer is not used again */
};

/* A call under way. */
struct transfer {
    struct arena *arena;
    struct buffer body;
    struct graph_answer *answer;
    bool too_large;
    bool is_repeatable;
    int sent; /* times the request was about to be written */
};

char *graph_escape(struct arena *arena, struct slice text) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    struct buffer out = buffer_in(arena);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] && strchr(plain, text.p[i]))
            buffer_add_char(&out, text.p[i]);
        else
            buffer_printf(&out, "%%%02X", (unsigned char)text.p[i]);
    buffer_add(&out, "", 0);
    return out.p;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *context) {
    struct transfer *transfer = context;
    if (transfer->body.n + size * n > ANSWER_LIMIT) {
        transfer->too_large = true;
        return 0;
    }
    buffer_add(&transfer->body, bytes, size * n);
    return size * n;
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

/* libcurl repeats a request by itself when a kept connection turns out dead before any answer. For
 * a POST nobody can know whether the platform got it, so the second time is refused. */
static int on_request(void *context, char *peer, char *own, int peer_port, int own_port) {
    struct transfer *transfer = context;
    (void)peer, (void)own, (void)peer_port, (void)own_port;
    return transfer->sent++ && !transfer->is_repeatable ? CURL_PREREQFUNC_ABORT
                                                        : CURL_PREREQFUNC_OK;
}

/* The process's handle, with its kept connection; everything set on it before is forgotten. */
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

static void set_safety(CURL *curl, const struct config *config) {
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_MAXAGE_CONN, (long)IDLE_SECONDS);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, SWITCHBOARD_NAME "/" SWITCHBOARD_VERSION);
    /* the hashed directory: loading the one big file costs 20 ms of CPU per process */
    curl_easy_setopt(curl, CURLOPT_CAPATH, *config->ca_path ? config->ca_path : NULL);
    curl_easy_setopt(curl, CURLOPT_CAINFO, *config->ca_file ? config->ca_file : NULL);
}

static struct curl_slist *headers_of(struct arena *arena, const struct graph_call *call) {
    struct curl_slist *headers = curl_slist_append(
        NULL, arena_printf(arena, "Authorization: Bearer %s", call->token));
    if (headers && call->body.p)
        curl_slist_append(headers, "Content-Type: application/json");
    if (headers)
        curl_slist_append(headers, "Expect:");
    return headers;
}

static void explain(struct transfer *transfer, CURLcode code, const char *detail) {
    transfer->answer->status = 0;
    transfer->answer->failure =
        transfer->too_large
            ? "its answer is larger than 16 MB"
            : arena_copy(transfer->arena,
                         slice_of(*detail ? detail : curl_easy_strerror(code)));
}

static void perform(CURL *curl, const struct graph_call *call, struct transfer *transfer,
                    const char *url) {
    char detail[CURL_ERROR_SIZE] = "";
    struct curl_slist *headers = headers_of(transfer->arena, call);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)CALL_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, transfer);
    if (call->body.p) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body.p);
    }
    CURLcode code = headers ? curl_easy_perform(curl) : CURLE_OUT_OF_MEMORY;
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    transfer->answer->status = (int)status;
    transfer->answer->body = buffer_slice(&transfer->body);
    if (code != CURLE_OK)
        explain(transfer, code, detail);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(headers);
}

void graph_call(const struct config *config, struct arena *arena, const struct graph_call *call,
                struct graph_answer *answer) {
    struct transfer transfer = {.arena = arena,
                                .body = buffer_in(arena),
                                .answer = answer,
                                .is_repeatable = strcmp(call->method, "GET") == 0};
    int64_t started = clock_monotonic();
    *answer = (struct graph_answer){0};
    CURL *curl = handle();
    if (!curl) {
        answer->failure = "out of memory";
        return;
    }
    set_safety(curl, config);
    perform(curl, call, &transfer,
            arena_printf(arena, "%s/%s/%s", config->graph_base_url, config->graph_version,
                         call->path));
    answer->ms = clock_monotonic() - started;
}
