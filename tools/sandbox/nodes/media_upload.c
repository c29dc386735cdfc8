#include "nodes/media_upload.h"
#include "nodes/edges.h"

#include <errno.h>
#include <unistd.h>

#include "state/media_spool.h"
#include "text/text.h"
#include "wire/graph_error.h"
#include "wire/multipart_stream.h"

enum { FIELD_MAX = 4096, FILE_MAX = 100 << 20 };

#define TYPES                                                                                      \
    "audio/aac, audio/mp4, audio/mpeg, audio/amr, audio/ogg, audio/opus, "                         \
    "application/vnd.ms-powerpoint, application/msword, "                                          \
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document, "                    \
    "application/vnd.openxmlformats-officedocument.presentationml.presentation, "                  \
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, application/pdf, "         \
    "text/plain, application/vnd.ms-excel, image/jpeg, image/png, image/webp, video/mp4, "         \
    "video/3gpp"

struct upload {
    struct arena *arena; /* of the request */
    struct multipart multipart;
    struct buffer product; /* field messaging_product */
    struct buffer type;    /* field type */
    struct buffer token;   /* field access_token */
    struct buffer *field;  /* the field being read, or NULL */
    bool in_file;
    bool has_type;
    unsigned files;
    int file; /* spool, or -1 */
    const char *path;
    const char *part_headers;
    const char *part_type;
    const char *filename;
    int64_t size;
    struct crypto_sha256 *digest;
    const char *problem;
};

static void file_begin(struct upload *upload, const char *headers, const char *disposition) {
    if (upload->files++ > 0)
        return;
    upload->in_file = true;
    upload->part_headers = text_copy(upload->arena, headers);
    upload->part_type = part_header(upload->arena, headers, "Content-Type");
    upload->filename = header_parameter(upload->arena, disposition, "filename");
    upload->file = spool_create(upload->arena, &upload->path);
    if (upload->file < 0)
        upload->problem = "the sandbox cannot spool the file";
}

static void part_begin(void *cls, const char *headers) {
    struct upload *upload = cls;
    const char *disposition = part_header(upload->arena, headers, "Content-Disposition");
    const char *name = header_parameter(upload->arena, disposition, "name");
    upload->field = NULL;
    if (!name) {
        upload->problem = "a part has no name";
    } else if (strcmp(name, "file") == 0) {
        file_begin(upload, headers, disposition);
    } else if (strcmp(name, "messaging_product") == 0) {
        upload->field = &upload->product;
    } else if (strcmp(name, "type") == 0) {
        upload->field = &upload->type;
        upload->has_type = true;
    } else if (strcmp(name, "access_token") == 0) {
        upload->field = &upload->token;
    }
}

static void file_write(struct upload *upload, struct slice piece) {
    upload->size += (int64_t)piece.n;
    crypto_sha256_add(upload->digest, piece);
    if (upload->size > FILE_MAX || upload->file < 0)
        return;
    while (piece.n > 0) {
        ssize_t wrote = write(upload->file, piece.p, piece.n);
        if (wrote < 0 && errno != EINTR) {
            upload->problem = "the sandbox cannot spool the file";
            return;
        }
        piece = slice_skip(piece, wrote < 0 ? 0 : (size_t)wrote);
    }
}

static void part_data(void *cls, struct slice piece) {
    struct upload *upload = cls;
    if (upload->in_file)
        file_write(upload, piece);
    else if (upload->field && upload->field->n + piece.n <= FIELD_MAX)
        buffer_add_slice(upload->field, piece);
}

static void part_end(void *cls) {
    struct upload *upload = cls;
    upload->in_file = false;
    upload->field = NULL;
}

struct upload *upload_new(struct arena *arena, const char *content_type) {
    static const struct multipart_events events = {part_begin, part_data, part_end};
    struct upload *upload = arena_alloc(arena, sizeof *upload);
    upload->arena = arena;
    upload->file = -1;
    upload->product = buffer_in(arena);
    upload->type = buffer_in(arena);
    upload->token = buffer_in(arena);
    upload->digest = crypto_sha256_start(arena);
    multipart_start(&upload->multipart, arena, content_type, &events, upload);
    return upload;
}

void upload_feed(struct upload *upload, struct slice piece) {
    multipart_feed(&upload->multipart, piece);
}

const char *upload_token(const struct upload *upload) {
    return upload->token.n > 0 ? buffer_slice(&upload->token).p : NULL;
}

void upload_end(struct upload *upload) {
    if (upload->file >= 0)
        close(upload->file);
    if (upload->path)
        unlink(upload->path);
}

/* The part's Content-Type must be exactly one of the list; a type with parameters is refused
 * too. */
static bool type_listed(struct arena *arena, const char *type) {
    static const char types[] = ", " TYPES ", ";
    return !strchr(type, ',') && strstr(types, arena_printf(arena, ", %s, ", type));
}

static bool file_check(struct exchange *exchange, const struct upload *upload) {
    const char *type = upload->part_type ? upload->part_type : "application/octet-stream";
    if (upload->files == 0)
        reply_error(exchange, 100, "(#100) The parameter file is required.");
    else if (upload->files > 1)
        reply_error(exchange, 100, "(#100) Param file was given %u times.", upload->files);
    else if (!type_listed(exchange->arena, type))
        reply_error(exchange, 100,
                    "(#100) Param file must be a file with one of the following types: " TYPES
                    ". Received file of type '%s'.",
                    type);
    else if (upload->size == 0)
        reply_error(exchange, 100, "(#100) Param file must not be empty.");
    else if (upload->size > FILE_MAX)
        reply_error(exchange, 100, "(#100) Param file must be at most 100 MB.");
    else
        return true;
    return false;
}

static bool upload_check(struct exchange *exchange, const struct upload *upload) {
    const char *problem = upload ? multipart_finish(&upload->multipart) : "nothing was read";
    if (!problem)
        problem = upload->problem;
    if (problem) {
        reply_error(exchange, 100, "(#100) Invalid upload: %s.", problem);
        return false;
    }
    const char *product = upload->product.n > 0 ? buffer_slice(&upload->product).p
                                                : exchange_parameter(exchange, "messaging_product");
    if (!text_matches(product, "whatsapp")) {
        reply_error(exchange, 100, "(#100) The parameter messaging_product is required.");
        return false;
    }
    return file_check(exchange, upload);
}

void upload_answer(struct exchange *exchange, const struct target *target) {
    struct upload *upload = exchange->upload;
    unsigned char hash[CRYPTO_HASH_SIZE];
    if (!upload_check(exchange, upload))
        return;
    crypto_sha256_end(upload->digest, hash);
    struct media media = {.waba_id = target->account->waba_id,
                          .phone_id = target->phone->id,
                          .mime = upload->part_type,
                          .filename = upload->filename,
                          .part_headers = upload->part_headers,
                          .type_field = upload->has_type ? buffer_slice(&upload->type).p : NULL,
                          .path = upload->path,
                          .size = upload->size,
                          .sha256 = crypto_hex(exchange->arena, hash, sizeof hash)};
    upload->path = NULL;
    buffer_printf(&exchange->reply.body, "{\"id\":\"%s\"}", media_add(&media)->id);
}
