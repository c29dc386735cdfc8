#include "wire/response.h"

#include <stdio.h>
#include <sys/socket.h>

#include "text/memory.h"
#include "wire/timer.h"

enum { BLOCK = 64 << 10, DRIP_MS = 100 };

/* The body of an answer while it is sent. It lies in the arena of the answer. */
struct stream {
    struct arena *arena;
    struct source source;
    struct MHD_Connection *connection;
    int64_t cut; /* position at which the stream breaks off; INT64_MAX: none */
    bool reset;  /* breaks off with a TCP reset */
    bool drip;
    bool due;
    int64_t interval;
};

/* On Linux, connect(2) with AF_UNSPEC on a connected socket sends a reset. */
void response_reset(struct MHD_Connection *connection) {
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    int socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    if (connect(socket, &none, sizeof none) != 0)
        perror("switchboard-sandbox: connection reset");
}

static ssize_t read_memory(void *state, int64_t position, char *out, size_t room) {
    struct slice left = slice_skip(buffer_slice(state), (size_t)position);
    if (room > left.n)
        room = left.n;
    memcpy(out, left.p, room);
    return (ssize_t)room;
}

/* Returns the number of bytes, at most `room`, that lie between `position` and the end. */
static size_t room_left(const struct stream *stream, int64_t position, size_t room) {
    int64_t end = stream->cut < stream->source.length ? stream->cut : stream->source.length;
    if (stream->drip)
        return 1;
    return (int64_t)room < end - position ? room : (size_t)(end - position);
}

static ssize_t stream_read(void *cls, uint64_t offset, char *out, size_t room) {
    struct stream *stream = cls;
    int64_t position = (int64_t)offset;
    if (position >= stream->cut) {
        if (stream->reset)
            response_reset(stream->connection);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (position >= stream->source.length)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (stream->drip && !stream->due) {
        stream->due = true;
        return timer_hold(stream->connection, stream->interval) ? 0
                                                                : MHD_CONTENT_READER_END_WITH_ERROR;
    }
    stream->due = false;
    return stream->source.read(stream->source.state, position, out,
                               room_left(stream, position, room));
}

static void stream_free(void *cls) {
    struct stream *stream = cls;
    if (stream->source.release)
        stream->source.release(stream->source.state);
    memory_close(stream->arena);
}

/* Applies the fault to the body while it is sent. */
static void stream_spoil(struct stream *stream, const struct fault *fault) {
    stream->drip = fault->kind == FAULT_DRIP;
    stream->interval = fault->milliseconds == 0 ? DRIP_MS : fault->milliseconds;
    if (fault->kind == FAULT_TRUNCATE || fault->kind == FAULT_CLOSE_MID_BODY) {
        stream->cut = fault->has_bytes ? fault->bytes : stream->source.length / 2;
        stream->reset = fault->kind == FAULT_CLOSE_MID_BODY;
    }
}

/* Takes the bytes of the answer, and their arena, out of the exchange. */
static struct stream *stream_new(struct exchange *exchange) {
    struct reply *reply = &exchange->reply;
    struct stream *stream = arena_alloc(reply->arena, sizeof *stream);
    *stream = (struct stream){.arena = reply->arena,
                              .source = reply->source,
                              .connection = exchange->connection,
                              .cut = INT64_MAX};
    if (!reply->source.read) {
        struct buffer *body = arena_alloc(reply->arena, sizeof *body);
        *body = reply->body;
        stream->source =
            (struct source){.length = (int64_t)body->n, .read = read_memory, .state = body};
    }
    reply->arena = NULL;
    reply->source = (struct source){0};
    return stream;
}

static struct MHD_Response *streamed_response(struct exchange *exchange) {
    struct stream *stream = stream_new(exchange);
    const struct fault *fault = exchange->fault;
    if (fault)
        stream_spoil(stream, fault);
    bool unsized = exchange->reply.unsized || (fault && fault->kind == FAULT_CLOSE_MID_BODY);
    return MHD_create_response_from_callback(unsized ? MHD_SIZE_UNKNOWN
                                                     : (uint64_t)stream->source.length,
                                             BLOCK, stream_read, stream, stream_free);
}

static bool needs_stream(const struct exchange *exchange) {
    enum fault_kind kind = exchange->fault ? exchange->fault->kind : FAULT_NONE;
    return exchange->reply.source.read || exchange->reply.unsized || kind == FAULT_DRIP ||
           kind == FAULT_TRUNCATE || kind == FAULT_CLOSE_MID_BODY;
}

static void plain_free(void *cls) {
    memory_close(cls);
}

static struct MHD_Response *plain_response(struct reply *reply) {
    struct arena *arena = reply->arena;
    reply->arena = NULL;
    return MHD_create_response_from_buffer_with_free_callback_cls(
        reply->body.n, reply->body.p ? reply->body.p : "", plain_free, arena);
}

/* Adds the lines `Name: value\n` of `lines`. */
static void add_headers(struct exchange *exchange, struct MHD_Response *response,
                        struct slice lines) {
    while (lines.n > 0) {
        char *line = arena_copy(exchange->arena, slice_cut(&lines, '\n'));
        char *colon = strstr(line, ": ");
        if (colon) {
            *colon = '\0';
            MHD_add_response_header(response, line, colon + 2);
        }
    }
}

enum MHD_Result response_send(struct exchange *exchange) {
    struct reply *reply = &exchange->reply;
    struct slice headers = slice_of(arena_copy(exchange->arena, buffer_slice(&reply->headers)));
    exchange->stage = STAGE_DONE;
    struct MHD_Response *response =
        needs_stream(exchange) ? streamed_response(exchange) : plain_response(reply);
    if (!response)
        return MHD_NO;
    if (reply->type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    add_headers(exchange, response, headers);
    if (exchange->fault)
        add_headers(exchange, response, buffer_slice(&exchange->fault->headers));
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    return result;
}
