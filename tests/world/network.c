/* libcurl's functions for transfers, as the processes of a world have them: a transfer is a call
 * (process.h) that the simulator answers. Those for URLs and texts are libcurl's own. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

enum { LONGEST_MS = 5 * 60 * 1000, TRANSFERS = 1024 };

struct transfer {
    const char *method; /* CURLOPT_CUSTOMREQUEST; NULL: by the body */
    char url[CALL_URL];
    struct curl_slist *headers;
    const char *body;
    size_t body_size;
    curl_write_callback on_header, on_body;
    void *header_context, *body_context, *request_context, *own;
    curl_prereq_callback on_request;
    char *error;
    long limit_ms;
    /* of the transfer in progress */
    int call; /* index; -1: none */
    int64_t ends;
    long status;
    CURLcode code;
    bool is_done, is_taken; /* curl_multi_info_read has returned it */
};

struct multi {
    struct transfer *transfers[TRANSFERS];
    CURLMsg message;
};

CURL *curl_easy_init(void) {
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer)
        curl_easy_reset(transfer);
    return transfer;
}

void curl_easy_reset(CURL *handle) {
    struct transfer *transfer = handle;
    *transfer = (struct transfer){.call = -1};
}

void curl_easy_cleanup(CURL *handle) {
    free(handle);
}

CURLcode curl_global_init(long flags) {
    (void)flags;
    return CURLE_OK;
}

void curl_global_cleanup(void) {
}

CURLcode curl_easy_setopt(CURL *handle, CURLoption option, ...) {
    struct transfer *t = handle;
    va_list values;
    va_start(values, option);
    switch (option) {
    case CURLOPT_URL: snprintf(t->url, sizeof t->url, "%s", va_arg(values, char *)); break;
    case CURLOPT_HTTPHEADER: t->headers = va_arg(values, struct curl_slist *); break;
    case CURLOPT_CUSTOMREQUEST: t->method = va_arg(values, char *); break;
    case CURLOPT_POSTFIELDS: t->body = va_arg(values, char *); break;
    case CURLOPT_POSTFIELDSIZE_LARGE: t->body_size = (size_t)va_arg(values, curl_off_t); break;
    case CURLOPT_HEADERFUNCTION: t->on_header = va_arg(values, curl_write_callback); break;
    case CURLOPT_WRITEFUNCTION: t->on_body = va_arg(values, curl_write_callback); break;
    case CURLOPT_HEADERDATA: t->header_context = va_arg(values, void *); break;
    case CURLOPT_WRITEDATA: t->body_context = va_arg(values, void *); break;
    case CURLOPT_PREREQFUNCTION: t->on_request = va_arg(values, curl_prereq_callback); break;
    case CURLOPT_PREREQDATA: t->request_context = va_arg(values, void *); break;
    case CURLOPT_PRIVATE: t->own = va_arg(values, void *); break;
    case CURLOPT_ERRORBUFFER: t->error = va_arg(values, char *); break;
    case CURLOPT_TIMEOUT_MS: t->limit_ms = va_arg(values, long); break;
    default: break; /* of connections and TLS, which a world does not have */
    }
    va_end(values);
    return CURLE_OK;
}

CURLcode curl_easy_getinfo(CURL *handle, CURLINFO info, ...) {
    static char address[] = "127.0.0.1";
    struct transfer *t = handle;
    va_list values;
    va_start(values, info);
    void *out = va_arg(values, void *);
    va_end(values);
    switch (info) {
    case CURLINFO_RESPONSE_CODE: *(long *)out = t->status; break;
    case CURLINFO_PRIVATE: *(void **)out = t->own; break;
    case CURLINFO_PRIMARY_IP: *(char **)out = address; break;
    case CURLINFO_CONTENT_LENGTH_DOWNLOAD_T: *(curl_off_t *)out = -1; break;
    default: return CURLE_UNKNOWN_OPTION;
    }
    return CURLE_OK;
}

/* --- calls --- */

static int free_call(void) {
    for (int i = 0; i < CALLS; i++)
        if (world_shared->calls[i].state == CALL_FREE)
            return i;
    return -1;
}

static void write_headers(const struct transfer *t, struct call *call) {
    size_t n = 0;
    call->headers[0] = '\0';
    for (const struct curl_slist *line = t->headers; line; line = line->next)
        if (n < sizeof call->headers)
            n +=
                (size_t)snprintf(call->headers + n, sizeof call->headers - n, "%s\r\n", line->data);
}

/* Returns false when the request is too large for a call, or there are too many calls. */
static bool ask(struct transfer *t) {
    t->is_done = t->is_taken = false;
    t->status = 0;
    t->ends = world_shared->now + (t->limit_ms ? t->limit_ms : LONGEST_MS) * 1000;
    t->call = free_call();
    if (t->call < 0 || t->body_size > CALL_BODY) {
        fprintf(stderr, "world: no room for a call of %zu bytes\n", t->body_size);
        abort();
    }
    struct call *call = &world_shared->calls[t->call];
    if (world_shared->calls_used <= t->call)
        world_shared->calls_used = t->call + 1;
    call->owner = world_self;
    call->number = ++world_shared->calls_made;
    snprintf(call->method, sizeof call->method, "%s",
             t->method ? t->method
             : t->body ? "POST"
                       : "GET");
    snprintf(call->url, sizeof call->url, "%s", t->url);
    write_headers(t, call);
    call->body_size = t->body ? t->body_size : 0;
    if (call->body_size)
        memcpy(call->body, t->body, call->body_size);
    call->code = CURLE_OK;
    call->status = 0;
    call->answer_size = 0;
    call->answer_headers[0] = '\0';
    call->is_connected = false;
    call->state = CALL_ASKED;
    return true;
}

static void give_up(struct transfer *t) {
    if (t->call < 0)
        return;
    struct call *call = &world_shared->calls[t->call];
    call->owner = -1;
    if (call->state != CALL_ON_ITS_WAY)
        call->state = CALL_FREE;
    t->call = -1;
}

static void pass_headers(const struct transfer *t, struct call *call) {
    for (char *line = call->answer_headers, *end; t->on_header && *line; line = end) {
        end = strstr(line, "\r\n") + 2;
        t->on_header(line, 1, (size_t)(end - line), t->header_context);
    }
}

/* The callbacks are called when the answer is complete. */
static void take_answer(struct transfer *t) {
    static char peer[] = "127.0.0.1";
    struct call *call = &world_shared->calls[t->call];
    t->code = (CURLcode)call->code;
    if (call->is_connected && t->on_request &&
        t->on_request(t->request_context, peer, peer, 443, 40000) != CURL_PREREQFUNC_OK)
        t->code = CURLE_ABORTED_BY_CALLBACK;
    if (t->code == CURLE_OK) {
        t->status = call->status;
        pass_headers(t, call);
        if (call->answer_size && t->on_body &&
            t->on_body(call->answer, 1, call->answer_size, t->body_context) != call->answer_size)
            t->code = CURLE_WRITE_ERROR;
    }
    if (t->code && t->error)
        snprintf(t->error, CURL_ERROR_SIZE, "%s", curl_easy_strerror(t->code));
    give_up(t);
    t->is_done = true;
}

/* A request that arrived has a connection, of which the program learns although no answer comes. */
static void time_out(struct transfer *t) {
    static char peer[] = "127.0.0.1";
    if (world_shared->calls[t->call].is_connected && t->on_request)
        t->on_request(t->request_context, peer, peer, 443, 40000);
    if (t->error)
        snprintf(t->error, CURL_ERROR_SIZE, "%s", curl_easy_strerror(CURLE_OPERATION_TIMEDOUT));
    give_up(t);
    t->code = CURLE_OPERATION_TIMEDOUT;
    t->is_done = true;
}

static void advance(struct transfer *t) {
    if (t->is_done)
        return;
    if (world_shared->calls[t->call].state == CALL_ANSWERED)
        take_answer(t);
    else if (world_shared->now >= t->ends)
        time_out(t);
}

CURLcode curl_easy_perform(CURL *handle) {
    struct transfer *t = handle;
    for (ask(t); !t->is_done; advance(t))
        process_wait(t->ends, true, false);
    return t->code;
}

CURLcode curl_easy_pause(CURL *handle, int mask) {
    (void)handle, (void)mask;
    return CURLE_OK;
}

CURLHcode curl_easy_header(CURL *handle, const char *name, size_t index, unsigned origin,
                           int request, struct curl_header **out) {
    (void)handle, (void)name, (void)index, (void)origin, (void)request, (void)out;
    return CURLHE_MISSING;
}

/* --- several transfers --- */

CURLM *curl_multi_init(void) {
    return calloc(1, sizeof(struct multi));
}

CURLMcode curl_multi_cleanup(CURLM *handle) {
    free(handle);
    return CURLM_OK;
}

CURLMcode curl_multi_setopt(CURLM *handle, CURLMoption option, ...) {
    (void)handle, (void)option;
    return CURLM_OK;
}

CURLMcode curl_multi_add_handle(CURLM *handle, CURL *easy) {
    struct multi *multi = handle;
    for (size_t i = 0; i < TRANSFERS; i++)
        if (!multi->transfers[i]) {
            multi->transfers[i] = easy;
            return ask(easy) ? CURLM_OK : CURLM_OUT_OF_MEMORY;
        }
    return CURLM_OUT_OF_MEMORY;
}

CURLMcode curl_multi_remove_handle(CURLM *handle, CURL *easy) {
    struct multi *multi = handle;
    for (size_t i = 0; i < TRANSFERS; i++)
        if (multi->transfers[i] == easy)
            multi->transfers[i] = NULL;
    give_up(easy);
    return CURLM_OK;
}

CURLMcode curl_multi_perform(CURLM *handle, int *running) {
    struct multi *multi = handle;
    process_step();
    *running = 0;
    for (size_t i = 0; i < TRANSFERS; i++)
        if (multi->transfers[i]) {
            advance(multi->transfers[i]);
            *running += !multi->transfers[i]->is_done;
        }
    return CURLM_OK;
}

CURLMsg *curl_multi_info_read(CURLM *handle, int *left) {
    struct multi *multi = handle;
    *left = 0;
    for (size_t i = 0; i < TRANSFERS; i++) {
        struct transfer *t = multi->transfers[i];
        if (!t || !t->is_done || t->is_taken)
            continue;
        t->is_taken = true;
        multi->message = (CURLMsg){.msg = CURLMSG_DONE, .easy_handle = t, .data.result = t->code};
        return &multi->message;
    }
    return NULL;
}

static int64_t first_end(const struct multi *multi, int64_t until) {
    for (size_t i = 0; i < TRANSFERS; i++) {
        const struct transfer *t = multi->transfers[i];
        if (t && !t->is_done && t->ends < until)
            until = t->ends;
    }
    return until;
}

/* The descriptors, of signals and of the wake socket, are the system's. */
static int ready(struct curl_waitfd *descriptors, unsigned count) {
    struct pollfd polled[8];
    for (unsigned i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = descriptors[i].fd, .events = POLLIN};
    return poll(polled, count, 0);
}

CURLMcode curl_multi_poll(CURLM *handle, struct curl_waitfd descriptors[], unsigned count,
                          int limit_ms, int *found) {
    const int64_t until = world_shared->now + limit_ms * INT64_C(1000);
    if (limit_ms && !ready(descriptors, count))
        process_wait(first_end(handle, until), true, true);
    if (found)
        *found = 0;
    return CURLM_OK;
}
