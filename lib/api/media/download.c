#include "api/media/download.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/upstream.h"
#include "payload/mime.h"

/* Up to so many bytes are held back before the reply begins, so that it can still be an error after
 * an early failure. Also, if a short body ends early, the web server may replace our
 * Content-Length with the real length. */
enum { HELD_BACK = 64 * 1024 };

/* A download in progress. */
struct stream {
    struct request *rq;
    const struct media *media;
    struct graph_head head;
    struct buffer held;
    int64_t left; /* bytes of Content-Length that were not written yet */
    bool is_client_gone;
};

const char *const download_dispositions[] = {"inline", "attachment", NULL};

/* --- the head of the reply --- */

/* The Content-Type of the download, if it is valid in a header; else the type in the platform's
 * media object. */
static const char *content_type(const struct stream *stream) {
    struct arena *arena = stream->rq->arena;
    const char *type = stream->head.type;
    for (const char *p = type; p && *p; p++)
        if (*p < 0x20 || *p > 0x7e)
            type = NULL;
    if (mime_read(arena, type))
        return type;
    type = mime_read(arena, stream->media->type);
    return type ? type : "application/octet-stream";
}

/* Both forms of the file name (RFC 6266): the media id with the extension of the type. */
static const char *content_disposition(const struct stream *stream, const char *type) {
    struct arena *arena = stream->rq->arena;
    struct slice wanted = query_get(&stream->rq->query, "disposition");
    const char *name =
        arena_printf(arena, "%s%s", stream->media->id, mime_extension(mime_read(arena, type)));
    return arena_printf(arena, "%s; filename=\"%s\"; filename*=UTF-8''%s",
                        wanted.p ? wanted.p : "inline", name, name);
}

/* The length of the body: the Content-Length of the download; for a whole file without one, the
 * size in the platform's media object. -1 when it is not known. */
static int64_t content_length(const struct stream *stream) {
    if (stream->head.length >= 0)
        return stream->head.length;
    return stream->head.status == 200 ? stream->media->size : -1;
}

static int fail_download(struct request *rq, const char *reason) {
    if (!rq->failure.code && reason)
        json_write_text(&rq->log, "reason", reason);
    return fail_verbatim(rq, BAD_GATEWAY, SLICE(""), "Failed to download media");
}

static int begin_reply(struct stream *stream, int64_t length) {
    struct request *rq = stream->rq;
    const struct graph_head *head = &stream->head;
    const char *type = content_type(stream);
    if (length < 0)
        return fail_download(rq, "the length of the file is not known");
    reply_header(rq, "Content-Disposition", content_disposition(stream, type));
    reply_header(rq, "Content-Security-Policy", "sandbox; default-src 'none'");
    if (head->range)
        reply_header(rq, "Content-Range", head->range);
    if (head->accepts_ranges)
        reply_header(rq, "Accept-Ranges", head->accepts_ranges);
    stream->left = length;
    stream->is_client_gone = reply_stream(rq, head->status, type, length) != 0;
    return stream->is_client_gone || rq->head ? -1 : 0;
}

/* --- its body --- */

static int write_more(struct stream *stream, struct slice bytes) {
    if ((int64_t)bytes.n > stream->left) /* more than Content-Length */
        return -1;
    stream->left -= (int64_t)bytes.n;
    stream->is_client_gone = reply_more(stream->rq, bytes) != 0;
    return stream->is_client_gone ? -1 : 0;
}

static int write_stream(void *context, struct slice bytes) {
    struct stream *stream = context;
    bool has_begun = stream->rq->reply.streamed;
    if (!has_begun && stream->held.n + bytes.n <= HELD_BACK) {
        buffer_add_slice(&stream->held, bytes);
        return 0;
    }
    if (!has_begun && (begin_reply(stream, content_length(stream)) ||
                       write_more(stream, buffer_slice(&stream->held))))
        return -1;
    return write_more(stream, bytes);
}

/* --- its end --- */

/* The status is sent already. If the download breaks off, the client gets fewer bytes than
 * Content-Length, and the web server closes the connection (apache.conf). */
static int end_stream(const struct stream *stream, const struct graph_answer *answer) {
    struct request *rq = stream->rq;
    if (rq->head || (answer->status && !stream->left))
        return 0;
    if (stream->is_client_gone)
        return fail(rq, BAD_GATEWAY, "The client left.");
    return fail(rq, BAD_GATEWAY, "The download broke off: %s.",
                answer->failure ? answer->failure : "it has another length than announced");
}

static int end_download(struct stream *stream, const struct graph_answer *answer) {
    struct request *rq = stream->rq;
    if (rq->reply.streamed)
        return end_stream(stream, answer);
    if (answer->status == 200 || answer->status == 206) {
        if (!begin_reply(stream, (int64_t)stream->held.n))
            write_more(stream, buffer_slice(&stream->held));
        return 0;
    }
    if (answer->status != 416)
        return fail_download(rq, answer->failure);
    if (stream->head.range)
        reply_header(rq, "Content-Range", stream->head.range);
    return fail(rq, RANGE_NOT_SATISFIABLE, "The file does not have the bytes of this Range.");
}

/* The value of the Range header, if it is passed on; NULL: the whole file. Our replies have no
 * validators, so an If-Range never matches and its Range is ignored (RFC 9110 13.1.5). An invalid
 * Range is ignored too. */
static const char *wanted_range(const struct request *rq) {
    const char *range = request_variable("HTTP_RANGE");
    if (!range || rq->head || request_variable("HTTP_IF_RANGE") ||
        strncmp(range, "bytes=", 6) != 0 || strlen(range) > 255)
        return NULL;
    return range[6 + strspn(range + 6, "0123456789-, ")] ? NULL : range;
}

enum download_result download_stream(struct request *rq, const struct media *media) {
    struct stream stream = {.rq = rq, .media = media, .held = buffer_in(rq->arena)};
    struct graph_download download = {
        .url = media->url,
        .token = media->token,
        .range = wanted_range(rq),
        .head = &stream.head,
        .write = write_stream,
        .context = &stream,
    };
    struct graph_answer answer;
    upstream_download(rq, &download, &answer);
    if (answer.status == 401 || answer.status == 404)
        return DOWNLOAD_EXPIRED;
    return end_download(&stream, &answer) ? DOWNLOAD_FAILED : DOWNLOAD_DONE;
}

/* --- a file --- */

/* The bytes of a file that a Range header names. */
struct range {
    int64_t from, length;
    bool is_partial, is_unsatisfiable;
};

/* Reads the digits at `*text` and moves it behind them; INT64_MAX for a number that is too large.
 */
static int64_t read_digits(const char **text) {
    char *end;
    const int64_t number = **text >= '0' && **text <= '9' ? strtoll(*text, &end, 10) : -1;
    *text += strspn(*text, "0123456789");
    return number;
}

/* The range of a file of `size` bytes. Several ranges are ignored, as a server may do. */
static struct range range_of(const char *header, int64_t size) {
    struct range whole = {.length = size};
    const char *text = header ? header + 6 : ""; /* after `bytes=` */
    int64_t from = read_digits(&text);
    if (*text != '-')
        return whole;
    text++;
    int64_t last = read_digits(&text);
    if (*text || (from < 0 && last < 0) || (from >= 0 && last >= 0 && last < from))
        return whole;
    if (from < 0) {
        from = last < size ? size - last : 0;
        from = last ? from : size; /* the last 0 bytes */
        last = size - 1;
    }
    if (from >= size)
        return (struct range){.is_unsatisfiable = true};
    last = last < 0 || last >= size ? size - 1 : last;
    return (struct range){.from = from, .length = last - from + 1, .is_partial = true};
}

/* Copies the bytes to the client. */
static int copy_file(struct stream *stream, int file, int64_t from) {
    enum { PIECE = 64 * 1024 };
    char *piece = arena_alloc(stream->rq->arena, PIECE);
    while (stream->left) {
        const size_t wanted = stream->left < PIECE ? (size_t)stream->left : PIECE;
        const ssize_t n = pread(file, piece, wanted, from);
        if (n <= 0)
            return fail(stream->rq, BAD_GATEWAY, "The file in the archive cannot be read.");
        if (write_more(stream, (struct slice){piece, (size_t)n}))
            return fail(stream->rq, BAD_GATEWAY, "The client left.");
        from += n;
    }
    return 0;
}

int download_file(struct request *rq, const struct media *media, int file) {
    struct stream stream = {.rq = rq, .media = media, .held = buffer_in(rq->arena)};
    const struct range range = range_of(wanted_range(rq), media->size);
    if (range.is_unsatisfiable) {
        reply_header(rq, "Content-Range", arena_printf(rq->arena, "bytes */%" PRId64, media->size));
        return fail(rq, RANGE_NOT_SATISFIABLE, "The file does not have the bytes of this Range.");
    }
    stream.head = (struct graph_head){
        .status = range.is_partial ? 206 : 200,
        .type = media->type,
        .accepts_ranges = "bytes",
        .length = range.length,
    };
    if (range.is_partial)
        stream.head.range = arena_printf(rq->arena, "bytes %" PRId64 "-%" PRId64 "/%" PRId64,
                                         range.from, range.from + range.length - 1, media->size);
    request_release(rq);
    if (begin_reply(&stream, range.length))
        return rq->head ? 0 : -1;
    return copy_file(&stream, file, range.from);
}
