#include "graph/stream.h"

enum { STREAM_BUFFER = 256 * 1024 };

/* Reads the next bytes. Returns -1 when the call must be aborted. */
static ssize_t read_more(struct stream *stream, char *bytes, size_t room) {
    if (stream->size >= 0 && (int64_t)room > stream->left)
        room = (size_t)stream->left;
    ssize_t got = stream->read(stream->context, bytes, room);
    if (got < 0 || (got == 0 && stream->size >= 0))
        return -1;
    stream->left -= got;
    stream->is_ended = stream->size >= 0 ? stream->left == 0 : got == 0;
    return got;
}

/* Fills the whole buffer if there are enough bytes: few large writes to the platform are faster
 * than many small ones. */
static size_t fill(struct stream *stream, char *bytes, size_t room) {
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
    struct stream *stream = context;
    size_t room = size * count;
    if (stream->held.n)
        return slice_take(&stream->held, bytes, room);
    size_t n = fill(stream, bytes, room);
    if (n == 0 || n == CURL_READFUNC_ABORT || !transfer_has_input(stream->transfer))
        return n;
    char *held = arena_alloc(stream->transfer->arena, n);
    memcpy(held, bytes, n);
    stream->held = (struct slice){held, n};
    return transfer_pause(stream->transfer);
}

void stream_set(struct stream *stream) {
    struct http_client *http = &stream->transfer->http;
    stream->left = stream->size;
    stream->is_ended = stream->size == 0;
    transfer_limit_stall(stream->transfer);
    transfer_watch(stream->transfer);
    http_set(http, CURLOPT_POST, 1L);
    if (stream->size < 0)
        http_add_header(http, "Transfer-Encoding: chunked");
    else
        http_set(http, CURLOPT_POSTFIELDSIZE_LARGE,
                 (curl_off_t)stream->head.n + stream->size + (curl_off_t)stream->tail.n);
    http_set(http, CURLOPT_UPLOAD_BUFFERSIZE, (long)STREAM_BUFFER);
    http_set(http, CURLOPT_READFUNCTION, on_read);
    http_set(http, CURLOPT_READDATA, stream);
}
