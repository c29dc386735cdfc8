/* POST /v2/media/upload, GET /v2/media/:mediaId/download (spec 2.7, 4.6). Files pass through as
 * streams: of a file at most a buffer is in memory, and only a form's file ever on disk. */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/log.h"
#include "base/spool.h"
#include "graph/media.h"
#include "mime.h"
#include "selector.h"
#include "upstream.h"
#include "web/multipart.h"

enum {
    FILE_LIMIT = 100 * 1024 * 1024,            /* spec 8 */
    FORM_LIMIT = FILE_LIMIT + 2 * 1024 * 1024, /* the file and what a form has around it */
    FIELD_LIMIT = 255,
};

/* --- upload: what is known of the file, whichever way it came --- */

struct file {
    struct request *rq;
    const char *line; /* phoneNumberId as it was sent; NULL: it was not */
    const char *hint; /* the type that the client insists on; NULL: none */
    const char *type; /* the type that the file came with; NULL: none */
    const char *name;
    int64_t size;      /* -1: there is no file */
    int spool;         /* a form's file; -1: the file is the body */
    struct slice seen; /* the body's beginning, when it was looked at before it was sent */
    int64_t left;      /* bytes of the body that were not sent yet */
    bool is_broken;    /* it could not be read to its end */
};

static int fail_too_large(struct request *rq) {
    return fail(rq, TOO_LARGE, "The file is larger than %d bytes (100 MB); send a smaller one.",
                FILE_LIMIT);
}

/* The next bytes of the body; of its last ones, only when the body ends there: it may be longer
 * than announced as well as shorter. */
static ssize_t read_body(struct file *file, void *bytes, size_t n) {
    char more;
    ssize_t got = (ssize_t)(file->seen.n < n ? file->seen.n : n);
    if (got) {
        memcpy(bytes, file->seen.p, (size_t)got);
        file->seen = slice_skip(file->seen, (size_t)got);
    } else {
        got = request_read_body(file->rq, bytes, n);
    }
    file->left -= got > 0 ? got : 0;
    return file->left == 0 && request_read_body(file->rq, &more, 1) != 0 ? -1 : got;
}

static ssize_t read_file(void *context, void *bytes, size_t n) {
    struct file *file = context;
    ssize_t got = file->spool >= 0 ? read(file->spool, bytes, n) : read_body(file, bytes, n);
    file->is_broken = got <= 0;
    return got;
}

/* The file's beginning, without taking it away from read_file. */
static struct slice look_ahead(struct file *file) {
    size_t n = 0, room = file->size < MIME_DETECT_SIZE ? (size_t)file->size : MIME_DETECT_SIZE;
    char *bytes = arena_alloc(file->rq->arena, room);
    ssize_t got = 1;
    for (; n < room && got > 0; n += got > 0 ? (size_t)got : 0)
        got = file->spool >= 0 ? pread(file->spool, bytes + n, room - n, (off_t)n)
                               : request_read_body(file->rq, bytes + n, room - n);
    if (file->spool < 0)
        file->seen = (struct slice){bytes, n};
    return (struct slice){bytes, n};
}

/* The type that the platform is told: what the client insists on, else what the file came with,
 * else what the file itself and its name say. NULL after failing. */
static const char *choose_type(struct file *file) {
    struct arena *arena = file->rq->arena;
    const char *hint = mime_read(arena, file->hint), *type = mime_read(arena, file->type);
    if (file->hint && *file->hint && !hint) {
        fail(file->rq, INVALID, "The type must be a MIME type such as image/jpeg.");
        return NULL;
    }
    if (hint && !mime_is_generic(hint))
        return hint;
    return type && !mime_is_generic(type) ? type : mime_detect(arena, look_ahead(file), file->name);
}

/* --- upload: multipart/form-data --- */

static ssize_t read_form(void *context, void *bytes, size_t n) {
    struct request *rq = context;
    if (rq->body_read > FORM_LIMIT)
        return fail_too_large(rq);
    return request_read_body(rq, bytes, n);
}

static int read_field(struct request *rq, struct multipart *form, const char *name,
                      const char **value) {
    struct buffer text = buffer_in(rq->arena);
    struct slice bytes;
    int more;
    if (*value)
        return fail(rq, INVALID, "%s was sent twice; send it once.", name);
    while ((more = multipart_read(form, &bytes)) > 0) {
        if (text.n + bytes.n > FIELD_LIMIT || memchr(bytes.p, '\0', bytes.n))
            return fail(rq, INVALID, "%s must be text of at most %d bytes.", name, FIELD_LIMIT);
        buffer_add_slice(&text, bytes);
    }
    *value = arena_copy(rq->arena, buffer_slice(&text));
    return more;
}

static int write_spool(struct request *rq, int spool, struct slice bytes) {
    while (bytes.n) {
        ssize_t wrote = write(spool, bytes.p, bytes.n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            log_message(LOG_ERROR, "request %s: writing to a file in %s: %s", rq->id,
                        rq->config->spool_dir, strerror(errno));
            return fail(rq, INTERNAL, "The gateway cannot store the file; its log says why.");
        }
        bytes = slice_skip(bytes, (size_t)wrote);
    }
    return 0;
}

static int open_spool(struct file *file) {
    struct request *rq = file->rq;
    if (file->spool >= 0)
        return fail(rq, INVALID, "file was sent twice; send one file in a request.");
    file->spool = spool_open(rq->config->spool_dir);
    if (file->spool >= 0)
        return 0;
    log_message(LOG_ERROR, "request %s: no file can be made in %s: %s", rq->id,
                rq->config->spool_dir, strerror(errno));
    return fail(rq, INTERNAL, "The gateway cannot store the file; its log says why.");
}

static int read_file_part(struct file *file, struct multipart *form, const struct part *part) {
    struct request *rq = file->rq;
    struct slice bytes;
    int more;
    if (open_spool(file))
        return -1;
    file->size = 0;
    while ((more = multipart_read(form, &bytes)) > 0) {
        file->size += (int64_t)bytes.n;
        if (file->size > FILE_LIMIT)
            return fail_too_large(rq);
        if (write_spool(rq, file->spool, bytes))
            return -1;
    }
    if (more == 0 && part->length >= 0 && part->length != file->size)
        return fail(rq, INVALID,
                    "The Content-Length of the part file is %" PRId64 ", but it holds %" PRId64
                    " bytes.",
                    part->length, file->size);
    file->type = part->type;
    file->name = part->filename ? part->filename : "";
    return more;
}

static int read_part(struct file *file, struct multipart *form, const struct part *part) {
    if (strcmp(part->name, "file") == 0)
        return read_file_part(file, form, part);
    if (strcmp(part->name, "phoneNumberId") == 0)
        return read_field(file->rq, form, part->name, &file->line);
    if (strcmp(part->name, "type") == 0)
        return read_field(file->rq, form, part->name, &file->hint);
    return 0;
}

/* What follows the form must end where the body was announced to. */
static int read_rest(struct request *rq) {
    char dropped[4096];
    while (read_form(rq, dropped, sizeof dropped) > 0)
        ;
    return request_body_is_complete(rq)
               ? 0
               : fail(rq, INVALID,
                      "The body has %zu bytes where Content-Length announced %" PRId64
                      "; send it again.",
                      rq->body_read, rq->content_length);
}

static int take_form(struct file *file) {
    struct request *rq = file->rq;
    struct multipart form;
    struct part part;
    if (rq->content_length > FORM_LIMIT)
        return fail_too_large(rq);
    int more = multipart_start(&form, rq->arena, request_variable("CONTENT_TYPE"), read_form, rq);
    if (more == 0)
        while ((more = multipart_next(&form, &part)) > 0)
            if ((more = read_part(file, &form, &part)) < 0)
                break;
    if (more < 0) /* where something else has failed before, that counts */
        return fail(rq, INVALID, "%s", form.error ? form.error : "The body cannot be read.");
    if (file->spool >= 0)
        lseek(file->spool, 0, SEEK_SET);
    return read_rest(rq);
}

/* --- upload: the body is the file --- */

static const char *first_variable(const char *name, const char *other) {
    const char *value = request_variable(name);
    return value ? value : request_variable(other);
}

static int take_body(struct file *file) {
    struct request *rq = file->rq;
    const char *name = request_variable("HTTP_X_FILENAME");
    if (rq->content_length < 0)
        return fail(rq, LENGTH_REQUIRED,
                    "The length of the file must be known: send the header Content-Length.");
    if (rq->content_length > FILE_LIMIT)
        return fail_too_large(rq);
    file->name = name && *name ? name : "file";
    file->type = request_variable("CONTENT_TYPE");
    file->hint = request_variable("HTTP_X_UPLOAD_TYPE");
    file->size = file->left = rq->content_length;
    return 0;
}

/* --- upload: from either to the platform --- */

static int check_line(struct file *file) {
    struct issues issues;
    issues_start(&issues, file->rq->arena);
    if (!file->line)
        file->line = first_variable("HTTP_X_PHONE_NUMBER_ID", "HTTP_PHONENUMBERID");
    if (!file->line)
        issues_add(&issues, "phoneNumberId", "required",
                   "is required: send the form field phoneNumberId or the header "
                   "X-Phone-Number-Id");
    else if (!*file->line)
        issues_add(&issues, "phoneNumberId", "empty", "must not be empty");
    return fail_on_issues(file->rq, &issues) ? -1 : auth_choose_line(file->rq, file->line);
}

static int check_file(struct file *file) {
    struct issues issues;
    issues_start(&issues, file->rq->arena);
    if (file->size < 0)
        issues_add(&issues, "file", "required", "is required: send a form field file");
    else if (!file->size)
        issues_add(&issues, "file", "empty", "must not be empty");
    return fail_on_issues(file->rq, &issues);
}

static int fail_broken(const struct file *file) {
    if (file->spool >= 0)
        return fail(file->rq, INTERNAL, "The gateway cannot read the file that it stored.");
    return fail(file->rq, INVALID,
                "The body has not the %" PRId64 " bytes that Content-Length announced; send it "
                "again.",
                file->size);
}

static int reply_media_id(struct request *rq, struct json answer) {
    const char *id = json_text(json_get(answer, "id"), rq->arena);
    if (!id || !*id) {
        fail(rq, BAD_GATEWAY, "The platform's answer names no media id.");
        return fail_with_details(rq, json_raw(answer));
    }
    struct json_writer w;
    json_write_start(&w, rq->arena);
    json_write_object(&w, NULL);
    json_write_text(&w, "mediaId", id);
    json_write_end(&w);
    return reply_data(rq, json_written(&w));
}

static int send_file(struct file *file) {
    struct request *rq = file->rq;
    struct graph_upload upload = {.size = file->size, .read = read_file, .context = file};
    struct graph_answer answer;
    struct json json;
    if (check_line(file) || check_file(file))
        return -1;
    if (!(upload.token = state_account_token(rq, &rq->caller->line.account)) ||
        !(upload.type = choose_type(file)))
        return -1;
    upload.line = rq->caller->line.phone_number_id;
    upload.name = file->name;
    graph_upload(rq->config, rq->arena, &upload, &answer);
    upstream_note(rq, &answer);
    if (!answer.status && file->is_broken)
        return fail_broken(file);
    return upstream_read(rq, UPSTREAM_MEDIA, &answer, &json) ? -1 : reply_media_id(rq, json);
}

static int post_upload(struct request *rq) {
    struct file file = {.rq = rq, .size = -1, .spool = -1};
    if (request_check_encoding(rq))
        return -1;
    bool is_form = multipart_is(request_variable("CONTENT_TYPE"));
    int result = is_form ? take_form(&file) : take_body(&file);
    if (!result)
        result = send_file(&file);
    if (file.spool >= 0)
        close(file.spool);
    return result;
}

/* --- download: where the file is --- */

static const char *const dispositions[] = {"inline", "attachment", NULL};

static const struct field download_query[] = {
    {.name = "disposition", .type = FIELD_STRING, .values = dispositions},
    SELECTOR_FIELDS,
    {0},
};

/* A file that the platform has. */
struct media {
    const char *id;
    const struct store_account *account; /* whose token the platform gives it to */
    const char *token;
    const char *url;  /* good for five minutes */
    const char *type; /* NULL: not told */
    int64_t size;     /* -1: not told */
};

static bool is_media_id(struct slice id) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    for (size_t i = 0; i < id.n; i++)
        if (!id.p[i] || !strchr(allowed, id.p[i]))
            return false;
    return id.n >= 1 && id.n <= 128;
}

/* Whether the platform says no more than that the account has no such media: it answers code 100
 * with subcode 33 for what is unknown and for what is another's. */
static bool is_elsewhere(struct request *rq, const struct graph_answer *answer) {
    struct json body;
    struct json_error error;
    int64_t code, subcode;
    if (answer->status == 404)
        return true;
    return answer->status == 400 && json_read(rq->arena, answer->body, &body, &error) == 0 &&
           json_integer(json_find(body, "error.code"), &code) && code == 100 &&
           json_integer(json_find(body, "error.error_subcode"), &subcode) && subcode == 33;
}

/* Reads what the platform tells of the media. Returns whether it names a URL. */
static bool read_media(struct request *rq, struct json answer, struct media *media) {
    media->url = json_text(json_get(answer, "url"), rq->arena);
    media->type = json_text(json_get(answer, "mime_type"), rq->arena);
    if (!json_integer(json_get(answer, "file_size"), &media->size) || media->size < 0)
        media->size = -1;
    return media->url && *media->url;
}

/* Asks with one account's token after the other until the platform names a URL. A 4xx may be that
 * account's alone, so the next one is asked; the first that tells more than "not mine" is what
 * fails the request when none has it. */
static int find_media(struct request *rq, const struct store_account *accounts, size_t count,
                      struct media *media) {
    struct graph_answer refusal = {0}, answer;
    struct json json;
    for (size_t i = 0; i < count; i++) {
        media->account = &accounts[i];
        media->token = state_account_token(rq, media->account);
        if (!media->token)
            return -1;
        struct graph_call call = {.method = "GET", .path = media->id, .token = media->token};
        upstream_ask(rq, &call, &answer);
        if (answer.status < 400 || answer.status > 499) {
            if (upstream_read(rq, UPSTREAM_MEDIA, &answer, &json))
                return -1;
            if (read_media(rq, json, media))
                return 0;
        } else if (!refusal.status && !is_elsewhere(rq, &answer)) {
            refusal = answer;
        }
    }
    return refusal.status ? upstream_fail(rq, UPSTREAM_MEDIA, &refusal)
                          : fail(rq, NOT_FOUND, "Media URL not found");
}

/* --- download: the stream --- */

/* The first bytes are held back: until there are so many, or all, a failure is still an answer. */
enum { HELD_BACK = 64 * 1024 };

struct stream {
    struct request *rq;
    const struct media *media;
    struct graph_head head;
    struct buffer held;
    int64_t left; /* bytes of the announced length that were not written yet */
    bool is_client_gone;
};

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

static int begin_answer(struct stream *stream, int64_t length) {
    struct request *rq = stream->rq;
    const char *type = content_type(stream);
    if (length < 0)
        return fail(rq, BAD_GATEWAY, "Failed to download media");
    reply_header(rq, "Content-Disposition", content_disposition(stream, type));
    reply_header(rq, "Content-Security-Policy", "sandbox; default-src 'none'");
    if (stream->head.range)
        reply_header(rq, "Content-Range", stream->head.range);
    if (stream->head.accepts_ranges)
        reply_header(rq, "Accept-Ranges", stream->head.accepts_ranges);
    stream->left = length;
    stream->is_client_gone = reply_stream(rq, stream->head.status, type, length) != 0;
    return stream->is_client_gone || rq->head ? -1 : 0;
}

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

/* The answer has begun and cannot be taken back. When it breaks off its client gets fewer bytes
 * than announced, and the end of the connection (apache.conf). */
static int end_stream(struct stream *stream, const struct graph_answer *answer) {
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
        return rq->reply.streamed ? 0 : -1;
    }
    if (answer->status == 416) {
        if (stream->head.range)
            reply_header(rq, "Content-Range", stream->head.range);
        return fail(rq, RANGE_NOT_SATISFIABLE, "The file does not have the bytes of this Range.");
    }
    if (answer->failure)
        json_write_text(&rq->log, "upstream_failure", answer->failure);
    return fail(rq, BAD_GATEWAY, "Failed to download media");
}

/* The Range header, when it may be passed on. Without validators of our own an If-Range never
 * holds, so that the whole file is meant (RFC 9110 13.1.5); a Range that is none is ignored. */
static const char *wanted_range(struct request *rq) {
    const char *range = request_variable("HTTP_RANGE");
    if (!range || rq->head || request_variable("HTTP_IF_RANGE") ||
        strncmp(range, "bytes=", 6) != 0 || strlen(range) > 255)
        return NULL;
    return range[6 + strspn(range + 6, "0123456789-, ")] ? NULL : range;
}

static int get_download(struct request *rq) {
    struct media media = {0};
    struct store_account *accounts;
    size_t count;
    if (!is_media_id(rq->parameters[0]))
        return fail(rq, NOT_FOUND, "Media URL not found");
    media.id = arena_copy(rq->arena, rq->parameters[0]);
    if (selector_list(rq, &accounts, &count) || find_media(rq, accounts, count, &media))
        return -1;
    for (int attempt = 1;; attempt++) {
        struct stream stream = {.rq = rq, .media = &media, .held = buffer_in(rq->arena)};
        struct graph_download download = {
            .url = media.url,
            .token = media.token,
            .range = wanted_range(rq),
            .head = &stream.head,
            .write = write_stream,
            .context = &stream,
        };
        struct graph_answer answer;
        graph_download(rq->config, rq->arena, &download, &answer);
        upstream_note(rq, &answer);
        /* an expired URL is a 404 or a 401: a new one is asked for, once */
        if (attempt > 1 || (answer.status != 401 && answer.status != 404))
            return end_download(&stream, &answer);
        if (find_media(rq, media.account, 1, &media))
            return -1;
    }
}

static const struct route routes[] = {
    {.method = "POST",
     .path = "/v2/media/upload",
     .guard = &token_guard,
     .handle = post_upload,
     .body = BODY_STREAM},
    {.method = "GET",
     .path = "/v2/media/:mediaId/download",
     .guard = &token_guard,
     .handle = get_download,
     .query = download_query},
    {0},
};

int main(void) {
    return serve(&(struct service){.name = "media",
                                   .routes = routes,
                                   .needs = READS_DATABASE | CALLS_PLATFORM | SPOOLS_FILES});
}
