#include "api/media/upload.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/spool.h"
#include "base/write_all.h"
#include "payload/mime.h"
#include "web/multipart.h"

enum { FIELD_LIMIT = 255 };

int upload_fail_too_large(struct request *rq) {
    return fail(rq, TOO_LARGE, "The file is larger than %d bytes (100 MB); send a smaller one.",
                UPLOAD_LIMIT);
}

static void hash_bytes(struct upload *upload, struct slice bytes) {
    if (upload->hash)
        crypto_sha256_add(upload->hash, bytes);
}

/* --- the file of a form --- */

static int fail_spool(struct request *rq, const char *what) {
    log_message(LOG_ERROR, "request %s: %s in %s: %s", rq->id, what, rq->config->spool_dir,
                strerror(errno));
    return fail(rq, INTERNAL, "The gateway cannot store the file; its log says why.");
}

static int open_spool(struct upload *upload) {
    struct request *rq = upload->rq;
    if (upload->spool >= 0)
        return fail(rq, INVALID, "file was sent twice; send one file in a request.");
    upload->spool = spool_open(rq->config->spool_dir);
    return upload->spool < 0 ? fail_spool(rq, "no file can be created") : 0;
}

static int write_spool(struct upload *upload, struct slice bytes) {
    return write_all(upload->spool, bytes) ? 0 : fail_spool(upload->rq, "a file cannot be written");
}

static int take_file(struct upload *upload, struct multipart *form, const struct part *part) {
    struct request *rq = upload->rq;
    struct slice bytes;
    int more;
    if (open_spool(upload))
        return -1;
    upload->size = 0;
    upload->type = part->type;
    upload->name = part->filename ? part->filename : "";
    while ((more = multipart_read(form, &bytes)) > 0) {
        upload->size += (int64_t)bytes.n;
        if (upload->size > UPLOAD_LIMIT)
            return upload_fail_too_large(rq);
        if (write_spool(upload, bytes))
            return -1;
        hash_bytes(upload, bytes);
    }
    if (more == 0 && part->length >= 0 && part->length != upload->size)
        return fail(rq, INVALID,
                    "The Content-Length of the part file is %" PRId64 ", but it holds %" PRId64
                    " bytes.",
                    part->length, upload->size);
    return more;
}

/* --- a form --- */

static int take_field(struct request *rq, struct multipart *form, const char *name,
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

static int take_part(struct upload *upload, struct multipart *form, const struct part *part) {
    if (strcmp(part->name, "file") == 0)
        return take_file(upload, form, part);
    if (strcmp(part->name, "phoneNumberId") == 0)
        return take_field(upload->rq, form, part->name, &upload->line);
    if (strcmp(part->name, "type") == 0)
        return take_field(upload->rq, form, part->name, &upload->hint);
    return 0;
}

static ssize_t read_form(void *context, void *bytes, size_t n) {
    struct request *rq = context;
    if (rq->body_read > UPLOAD_FORM_LIMIT)
        return upload_fail_too_large(rq);
    return request_read_body(rq, bytes, n);
}

/* Reads what follows the form, and checks that the body ends at its Content-Length. */
static int take_rest(struct request *rq) {
    char dropped[4096];
    while (read_form(rq, dropped, sizeof dropped) > 0)
        ;
    if (request_body_is_complete(rq))
        return 0;
    return fail(rq, INVALID,
                "The body has %zu bytes where Content-Length announced %" PRId64 "; send it again.",
                rq->body_read, rq->content_length);
}

static int take_form(struct upload *upload) {
    struct request *rq = upload->rq;
    struct multipart form;
    struct part part;
    if (rq->content_length > UPLOAD_FORM_LIMIT)
        return upload_fail_too_large(rq);
    int more = multipart_start(&form, rq->arena, request_variable("CONTENT_TYPE"), read_form, rq);
    while (more >= 0 && (more = multipart_next(&form, &part)) > 0)
        more = take_part(upload, &form, &part);
    if (more < 0) /* keeps an earlier failure, such as that of read_form */
        return fail(rq, INVALID, "%s", form.error ? form.error : "The body cannot be read.");
    if (upload->spool >= 0 && lseek(upload->spool, 0, SEEK_SET) < 0)
        return fail_spool(rq, "a file cannot be read from its beginning");
    return take_rest(rq);
}

/* --- a raw body --- */

static int take_headers(struct upload *upload) {
    struct request *rq = upload->rq;
    const char *name = request_variable("HTTP_X_FILENAME");
    if (rq->content_length < 0)
        return fail(rq, LENGTH_REQUIRED,
                    "The length of the file must be known: send the header Content-Length.");
    if (rq->content_length > UPLOAD_LIMIT)
        return upload_fail_too_large(rq);
    upload->name = name && *name ? name : "file";
    upload->type = request_variable("CONTENT_TYPE");
    upload->hint = request_variable("HTTP_X_UPLOAD_TYPE");
    upload->size = upload->left = rq->content_length;
    return 0;
}

/* Reads the next bytes of the body. The last bytes are returned only when the body ends there: it
 * may be longer than Content-Length as well as shorter. */
static ssize_t read_body(struct upload *upload, void *bytes, size_t n) {
    char more;
    ssize_t got = (ssize_t)(upload->seen.n < n ? upload->seen.n : n);
    if (got) {
        memcpy(bytes, upload->seen.p, (size_t)got);
        upload->seen = slice_skip(upload->seen, (size_t)got);
    } else {
        got = request_read_body(upload->rq, bytes, n);
    }
    upload->left -= got > 0 ? got : 0;
    return upload->left == 0 && request_read_body(upload->rq, &more, 1) != 0 ? -1 : got;
}

/* --- forms and raw bodies --- */

int upload_begin(struct upload *upload, struct request *rq, bool hashes) {
    *upload = (struct upload){.rq = rq, .size = -1, .spool = -1};
    upload->hash = hashes ? crypto_sha256_start(rq->arena) : NULL;
    if (request_check_encoding(rq))
        return -1;
    if (multipart_is(request_variable("CONTENT_TYPE")) ? take_form(upload) : take_headers(upload))
        return -1;
    if (!upload->line) /* spec 5.6: of a form, too */
        upload->line = request_variable("HTTP_X_PHONE_NUMBER_ID");
    if (!upload->line)
        upload->line = request_variable("HTTP_PHONENUMBERID");
    return 0;
}

int upload_check_file(const struct upload *upload) {
    struct issues issues;
    issues_start(&issues, upload->rq->arena);
    if (upload->size < 0)
        issues_add(&issues, "file", "required", "is required: send a form field file");
    else if (!upload->size)
        issues_add(&issues, "file", "empty", "must not be empty");
    return fail_on_issues(upload->rq, &issues);
}

int upload_stated_type(struct upload *upload, const char **type) {
    struct arena *arena = upload->rq->arena;
    const char *hint = mime_read(arena, upload->hint), *own = mime_read(arena, upload->type);
    if (upload->hint && *upload->hint && !hint)
        return fail(upload->rq, INVALID, "The type must be a MIME type such as image/jpeg.");
    *type = hint && !mime_is_generic(hint) ? hint : own && !mime_is_generic(own) ? own : NULL;
    return 0;
}

ssize_t upload_read(void *context, void *bytes, size_t n) {
    struct upload *upload = context;
    ssize_t got = upload->spool >= 0 ? read(upload->spool, bytes, n) : read_body(upload, bytes, n);
    upload->is_broken = got <= 0;
    if (upload->spool < 0 && got > 0) /* the file of a form was hashed when it was spooled */
        hash_bytes(upload, (struct slice){bytes, (size_t)got});
    return got;
}

int upload_fingerprint(struct upload *upload, unsigned char fingerprint[CRYPTO_HASH_SIZE]) {
    const char *const words[] = {upload->line, upload->hint, upload->type, upload->name};
    struct buffer all = buffer_in(upload->rq->arena);
    unsigned char file[CRYPTO_HASH_SIZE];
    char bytes[16384];
    while (upload->spool < 0 && upload->left > 0 && !upload->is_broken)
        upload_read(upload, bytes, sizeof bytes);
    if (upload->is_broken)
        return -1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        buffer_add_text(&all, words[i] ? words[i] : "");
        buffer_add_char(&all, '\0');
    }
    crypto_sha256_end(upload->hash, file);
    buffer_add(&all, file, sizeof file);
    crypto_sha256(buffer_slice(&all), fingerprint);
    return 0;
}

int upload_fail(const struct upload *upload) {
    if (upload->spool >= 0)
        return fail_spool(upload->rq, "a file cannot be read");
    return fail(upload->rq, INVALID,
                "The body has not the %" PRId64 " bytes that Content-Length announced; send it "
                "again.",
                upload->size);
}

void upload_end(struct upload *upload) {
    if (upload->spool >= 0)
        close(upload->spool);
}
