#include "server.h"

#include "control.h"
#include "exchange.h"
#include "faults.h"
#include "graph.h"
#include "recorder.h"
#include "state.h"
#include "timer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { THREADS = 4, CONNECTION_MEMORY = 256 << 10, BLOCK = 64 << 10 };

static struct MHD_Daemon *daemon_handle;
static atomic_ushort port_taken;

/* The body of an answer while it is sent, with the effect of the fault. */
struct stream {
    struct source source;
    struct bytes body; /* read by source if the answer is in memory */
    struct MHD_Connection *connection;
    uint64_t cut; /* position at which the stream breaks off; UINT64_MAX: none */
    bool reset;   /* breaks off with a TCP reset */
    bool drip;
    bool due;
    uint64_t interval;
};

/* Sends a TCP reset at once: on Linux, connect(2) with AF_UNSPEC on a connected socket does
 * that. */
static void connection_reset(struct MHD_Connection *connection) {
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    int socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;

    if (connect(socket, &none, sizeof none) != 0) {
        perror("graph-sandbox: connection reset");
    }
}

static ssize_t read_memory(void *state, uint64_t position, char *out, size_t room) {
    const struct bytes *body = state;
    size_t left = body->length - (size_t)position;

    if (room > left) {
        room = left;
    }
    memcpy(out, body->data + position, room);
    return (ssize_t)room;
}

static ssize_t stream_read(void *cls, uint64_t position, char *out, size_t room) {
    struct stream *stream = cls;

    if (position >= stream->cut) {
        if (stream->reset) {
            connection_reset(stream->connection);
        }
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (position >= stream->source.length) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    if (stream->drip && !stream->due) {
        stream->due = true;
        return timer_hold(stream->connection, stream->interval) ? 0
                                                                : MHD_CONTENT_READER_END_WITH_ERROR;
    }
    stream->due = false;
    if (room > stream->source.length - position) {
        room = (size_t)(stream->source.length - position);
    }
    if (room > stream->cut - position) {
        room = (size_t)(stream->cut - position);
    }
    return stream->source.read(stream->source.state, position, out, stream->drip ? 1 : room);
}

static void stream_free(void *cls) {
    struct stream *stream = cls;

    if (stream->source.release != NULL) {
        stream->source.release(stream->source.state);
    }
    bytes_release(&stream->body);
    free(stream);
}

/* Applies the fault to the body while it is sent. */
static void stream_spoil(struct stream *stream, const struct fault *fault) {
    if (fault == NULL) {
        return;
    }
    stream->drip = fault->kind == FAULT_DRIP;
    stream->interval = fault->milliseconds == 0 ? 100 : fault->milliseconds;
    if (fault->kind == FAULT_TRUNCATE || fault->kind == FAULT_CLOSE_MID_BODY) {
        stream->cut = fault->has_bytes ? fault->bytes : stream->source.length / 2;
        stream->reset = fault->kind == FAULT_CLOSE_MID_BODY;
    }
}

static struct MHD_Response *streamed_response(struct exchange *exchange) {
    struct reply *reply = &exchange->reply;
    struct stream *stream = memory_new(sizeof *stream);
    bool unsized = reply->unsized;

    stream->connection = exchange->connection;
    stream->cut = UINT64_MAX;
    if (reply->source.read != NULL) {
        stream->source = reply->source;
        memset(&reply->source, 0, sizeof reply->source);
    } else {
        stream->body = reply->body;
        memset(&reply->body, 0, sizeof reply->body);
        stream->source = (struct source){stream->body.length, read_memory, NULL, &stream->body};
    }
    stream_spoil(stream, exchange->fault);
    if (exchange->fault != NULL && exchange->fault->kind == FAULT_CLOSE_MID_BODY) {
        unsized = true;
    }
    return MHD_create_response_from_callback(unsized ? MHD_SIZE_UNKNOWN : stream->source.length,
                                             BLOCK, stream_read, stream, stream_free);
}

static bool needs_stream(const struct exchange *exchange) {
    enum fault_kind kind = exchange->fault == NULL ? FAULT_NONE : exchange->fault->kind;

    return exchange->reply.source.read != NULL || exchange->reply.unsized || kind == FAULT_DRIP ||
           kind == FAULT_TRUNCATE || kind == FAULT_CLOSE_MID_BODY;
}

static struct MHD_Response *plain_response(struct exchange *exchange) {
    size_t length = exchange->reply.body.length;

    return MHD_create_response_from_buffer(length, bytes_take(&exchange->reply.body),
                                           MHD_RESPMEM_MUST_FREE);
}

static void add_headers(struct MHD_Response *response, const struct bytes *headers) {
    char *lines = memory_text(headers->data == NULL ? "" : headers->data);
    char *rest = lines;
    char *line;

    while ((line = strsep(&rest, "\n")) != NULL) {
        char *colon = strstr(line, ": ");

        if (colon != NULL) {
            *colon = '\0';
            MHD_add_response_header(response, line, colon + 2);
        }
    }
    free(lines);
}

static enum MHD_Result send_reply(struct exchange *exchange) {
    struct reply *reply = &exchange->reply;
    struct MHD_Response *response;
    enum MHD_Result result;

    exchange->stage = STAGE_DONE;
    response = needs_stream(exchange) ? streamed_response(exchange) : plain_response(exchange);
    if (response == NULL) {
        return MHD_NO;
    }
    if (reply->type != NULL) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    }
    add_headers(response, &reply->headers);
    if (exchange->fault != NULL) {
        add_headers(response, &exchange->fault->headers);
    }
    result = MHD_queue_response(exchange->connection, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    return result;
}

/* Returns the delay of this answer in milliseconds. */
static uint64_t reply_wait(const struct exchange *exchange) {
    const struct fault *fault = exchange->fault;
    uint64_t latency;

    if (exchange->control) {
        return 0;
    }
    if (fault != NULL && fault->kind == FAULT_HANG) {
        return fault->milliseconds == 0 ? TIMER_FOREVER : fault->milliseconds;
    }
    state_read();
    latency = settings.latency_ms;
    state_done();
    return latency + (fault != NULL && fault->kind == FAULT_DELAY ? fault->milliseconds : 0);
}

static enum MHD_Result give_up(struct exchange *exchange) {
    exchange->stage = STAGE_DONE;
    return MHD_NO;
}

/* Called when the request is read: records it, carries it out, and answers, with the fault
 * applied. */
static enum MHD_Result exchange_answer(struct exchange *exchange) {
    uint64_t wait;

    exchange->complete = true;
    if (exchange->control) {
        control_answer(exchange);
        if (exchange->stage == STAGE_WAITING) {
            return MHD_YES;
        }
        return send_reply(exchange);
    }
    exchange->json = json_parse(exchange->body.data, exchange->body.length);
    recorder_keep(exchange);
    exchange->fault = fault_take(exchange, false);
    graph_answer(exchange);
    if (exchange->fault != NULL && exchange->fault->kind == FAULT_RESET) {
        connection_reset(exchange->connection);
        return give_up(exchange);
    }
    wait = reply_wait(exchange);
    if (wait == 0) {
        return send_reply(exchange);
    }
    exchange->stage = STAGE_WAITING;
    return timer_hold(exchange->connection, wait) ? MHD_YES : give_up(exchange);
}

/* Called when a delayed answer is due, or the delay was ended early. A hang ends without an
 * answer. */
static enum MHD_Result exchange_resume(struct exchange *exchange) {
    if (timer_stopped() || (exchange->fault != NULL && exchange->fault->kind == FAULT_HANG)) {
        return give_up(exchange);
    }
    return send_reply(exchange);
}

/* Applies the faults that reset the connection while the body is received. */
static bool reset_early(struct exchange *exchange) {
    if (exchange->fault == NULL || exchange->fault->kind != FAULT_RESET_BEFORE ||
        exchange->body_length < exchange->fault->bytes) {
        return false;
    }
    connection_reset(exchange->connection);
    return true;
}

static enum MHD_Result exchange_start(struct exchange *exchange, struct MHD_Connection *connection,
                                      const char *method) {
    exchange_begin(exchange, connection, method);
    if (exchange->control) {
        return MHD_YES;
    }
    exchange->fault = fault_take(exchange, true);
    if (reset_early(exchange)) {
        return give_up(exchange);
    }
    if (exchange->fault != NULL && exchange->fault->early) {
        recorder_keep(exchange);
        graph_answer(exchange);
        return send_reply(exchange);
    }
    graph_prepare(exchange);
    return MHD_YES;
}

static enum MHD_Result server_access(void *cls, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *length, void **request) {
    struct exchange *exchange = *request;

    (void)cls;
    (void)url;
    (void)version;
    if (exchange->stage == STAGE_NEW) {
        return exchange_start(exchange, connection, method);
    }
    if (exchange->stage == STAGE_WAITING) {
        return exchange_resume(exchange);
    }
    if (exchange->stage == STAGE_DONE) {
        *length = 0;
        return MHD_YES;
    }
    if (*length == 0) {
        return exchange_answer(exchange);
    }
    exchange_read(exchange, data, *length);
    *length = 0;
    return reset_early(exchange) ? give_up(exchange) : MHD_YES;
}

static void *server_target(void *cls, const char *target, struct MHD_Connection *connection) {
    (void)cls;
    (void)connection;
    return exchange_new(target);
}

/* Also records a request that broke off, as not complete. */
static void server_completed(void *cls, struct MHD_Connection *connection, void **request,
                             enum MHD_RequestTerminationCode code) {
    struct exchange *exchange = *request;

    (void)cls;
    (void)connection;
    (void)code;
    if (exchange == NULL) {
        return;
    }
    if (exchange->stage != STAGE_NEW && !exchange->control && !exchange->recorded) {
        recorder_keep(exchange);
    }
    exchange_free(exchange);
    *request = NULL;
}

uint16_t server_start(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    const union MHD_DaemonInfo *info;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    daemon_handle = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, server_access,
        NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)THREADS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_LIMIT, 4096U, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024U,
        MHD_OPTION_URI_LOG_CALLBACK, server_target, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        server_completed, NULL, MHD_OPTION_END);
    if (daemon_handle == NULL) {
        perror("graph-sandbox: cannot listen");
        return 0;
    }
    info = MHD_get_daemon_info(daemon_handle, MHD_DAEMON_INFO_BIND_PORT);
    port_taken = info->port;
    return port_taken;
}

void server_stop(void) {
    MHD_stop_daemon(daemon_handle);
}

uint16_t server_port(void) {
    return port_taken;
}
