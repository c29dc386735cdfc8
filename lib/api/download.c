#include "api/download.h"

#include "graph/media_api.h"
#include "api/mime.h"
#include "api/upstream.h"

/* The first bytes are held back: until there are so many, or all, a failure is still an answer. A
 * web server that has seen a shorter body to its end may moreover put its real length in place of
 * ours. */
enum { HELD_BACK = 64 * 1024 };

/* A download under way. */
struct stream {
    struct request *rq;
    const struct media *media;
    struct graph_head head;
    struct buffer held;
    int64_t left; /* bytes of the announced length that were not written yet */
    bool is_client_gone;
};

/* --- the head of the answer --- */

/* The upstream's type, when it may stand in a header, else the one that the platform told. */
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

/* RFC 6266: both forms of the name, which is the media id and what fits the type. */
static const char *content_disposition(const struct stream *stream, const char *type) {
    struct arena *arena = stream->rq->arena;
    struct slice wanted = query_get(&stream->rq->query, "disposition");
    const char *name =
        arena_printf(arena, "%s%s", stream->media->id, mime_extension(mime_read(arena, type)));
    return arena_printf(arena, "%s; filename=\"%s\"; filename*=UTF-8''%s",
                        wanted.p ? wanted.p : "inline", name, name);
}

/* The length of what comes: as its head says, else of a whole file as the platform told before.
 * -1 when nobody says. */
static int64_t content_length(const struct stream *stream) {
    if (stream->head.length >= 0)
        return stream->head.length;
    return stream->head.status == 200 ? stream->media->size : -1;
}

static int fail_download(struct request *rq, const char *reason) {
    if (!rq->failure.code && reason)
        json_write_text(&rq->log, "reason", reason);
    return fail_verbatim(rq, BAD_GATEWAY, "Failed to download media");
}

static int begin_answer(struct stream *stream, int64_t length) {
    struct request *rq = stream->rq;
    const struct graph_head *head = &stream->head;
    const char *type = content_type(stream);
    if (length < 0)
        return fail_download(rq, "nobody tells the length of the file");
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
    if ((int64_t)bytes.n > stream->left) /* more than was announced: not the file */
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
    if (!has_begun && (begin_answer(stream, content_length(stream)) ||
                       write_more(stream, buffer_slice(&stream->held))))
        return -1;
    return write_more(stream, bytes);
}

/* --- its end --- */

/* The answer has begun and cannot be taken back. When it breaks off its client gets fewer bytes
 * than announced, and the end of the connection (apache.conf). */
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
        if (!begin_answer(stream, (int64_t)stream->held.n))
            write_more(stream, buffer_slice(&stream->held));
        return 0;
    }
    if (answer->status != 416)
        return fail_download(rq, answer->failure);
    if (stream->head.range)
        reply_header(rq, "Content-Range", stream->head.range);
    return fail(rq, RANGE_NOT_SATISFIABLE, "The file does not have the bytes of this Range.");
}

/* The Range header, when it may be passed on. Without validators of our own an If-Range never
 * holds, so that the whole file is meant (RFC 9110 13.1.5); a Range that is none is ignored. */
static const char *wanted_range(const struct request *rq) {
    const char *range = request_variable("HTTP_RANGE");
    if (!range || rq->head || request_variable("HTTP_IF_RANGE") ||
        strncmp(range, "bytes=", 6) != 0 || strlen(range) > 255)
        return NULL;
    return range[6 + strspn(range + 6, "0123456789-, ")] ? NULL : range;
}

enum download_result download_pass(struct request *rq, const struct media *media) {
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
    graph_download(rq->config, rq->arena, &download, &answer);
    upstream_note(rq, &answer);
    if (answer.status == 401 || answer.status == 404)
        return DOWNLOAD_EXPIRED;
    return end_download(&stream, &answer) ? DOWNLOAD_FAILED : DOWNLOAD_DONE;
}
