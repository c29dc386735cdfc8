#include "graph_error.h"
#include "media.h"
#include "multipart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    struct multipart multipart;
    struct bytes product; /* field messaging_product */
    struct bytes type;    /* field type */
    struct bytes *field;  /* the field being read, or NULL */
    bool in_file;
    bool has_type;
    unsigned files;
    int file; /* spool, or -1 */
    char *path;
    char *part_headers;
    char *part_type;
    char *filename;
    uint64_t size;
    crypto_hash_sha256_state digest;
    const char *problem;
};

static void file_begin(struct upload *upload, const char *headers, const char *disposition) {
    if (upload->files++ > 0) {
        return;
    }
    upload->in_file = true;
    upload->part_headers = memory_text(headers);
    upload->part_type = part_header(headers, "Content-Type");
    upload->filename = header_parameter(disposition, "filename");
    upload->file = media_spool(&upload->path);
    if (upload->file < 0) {
        upload->problem = "the sandbox cannot spool the file";
    }
}

static void part_begin(void *cls, const char *headers, size_t length) {
    struct upload *upload = cls;
    char *disposition = part_header(headers, "Content-Disposition");
    char *name = header_parameter(disposition, "name");

    (void)length;
    upload->field = NULL;
    if (name == NULL) {
        upload->problem = "a part has no name";
    } else if (strcmp(name, "file") == 0) {
        file_begin(upload, headers, disposition);
    } else if (strcmp(name, "messaging_product") == 0) {
        upload->field = &upload->product;
    } else if (strcmp(name, "type") == 0) {
        upload->field = &upload->type;
        upload->has_type = true;
    }
    free(name);
    free(disposition);
}

static void file_write(struct upload *upload, const char *data, size_t length) {
    upload->size += length;
    crypto_hash_sha256_update(&upload->digest, (const unsigned char *)data, length);
    if (upload->size > FILE_MAX || upload->file < 0) {
        return;
    }
    while (length > 0) {
        ssize_t wrote = write(upload->file, data, length);

        if (wrote < 0 && errno != EINTR) {
            upload->problem = "the sandbox cannot spool the file";
            return;
        }
        data += wrote < 0 ? 0 : wrote;
        length -= wrote < 0 ? 0 : (size_t)wrote;
    }
}

static void part_data(void *cls, const char *data, size_t length) {
    struct upload *upload = cls;

    if (upload->in_file) {
        file_write(upload, data, length);
    } else if (upload->field != NULL && upload->field->length + length <= FIELD_MAX) {
        bytes_append(upload->field, data, length);
    }
}

static void part_end(void *cls) {
    struct upload *upload = cls;

    upload->in_file = false;
    upload->field = NULL;
}

struct upload *upload_new(const char *content_type) {
    static const struct multipart_events events = {part_begin, part_data, part_end};
    struct upload *upload = memory_new(sizeof *upload);

    upload->file = -1;
    crypto_hash_sha256_init(&upload->digest);
    multipart_start(&upload->multipart, content_type, &events, upload);
    return upload;
}

void upload_feed(struct upload *upload, const char *data, size_t length) {
    multipart_feed(&upload->multipart, data, length);
}

void upload_free(struct upload *upload) {
    if (upload == NULL) {
        return;
    }
    multipart_release(&upload->multipart);
    if (upload->file >= 0) {
        close(upload->file);
    }
    if (upload->path != NULL) {
        unlink(upload->path);
    }
    bytes_release(&upload->product);
    bytes_release(&upload->type);
    free(upload->path);
    free(upload->part_headers);
    free(upload->part_type);
    free(upload->filename);
    free(upload);
}

/* The part's Content-Type must be exactly one of the list; a type with parameters is refused
 * too. */
static bool type_listed(const char *type) {
    static const char types[] = ", " TYPES ", ";
    char *wanted = memory_format(", %s, ", type);
    bool listed = strchr(type, ',') == NULL && strstr(types, wanted) != NULL;

    free(wanted);
    return listed;
}

static bool upload_check(struct exchange *exchange) {
    const struct upload *upload = exchange->upload;
    const char *problem =
        upload == NULL ? "nothing was read" : multipart_finish(&upload->multipart);
    const char *type;

    problem = problem != NULL ? problem : upload->problem;
    if (problem != NULL) {
        reply_error(exchange, 100, "(#100) Invalid upload: %s.", problem);
        return false;
    }
    type = upload->part_type == NULL ? "application/octet-stream" : upload->part_type;
    if (!text_matches(upload->product.data, "whatsapp")) {
        reply_error(exchange, 100, "(#100) The parameter messaging_product is required.");
    } else if (upload->files == 0) {
        reply_error(exchange, 100, "(#100) The parameter file is required.");
    } else if (upload->files > 1) {
        reply_error(exchange, 100, "(#100) Param file was given %u times.", upload->files);
    } else if (!type_listed(type)) {
        reply_error(exchange, 100,
                    "(#100) Param file must be a file with one of the following types: " TYPES
                    ". Received file of type '%s'.",
                    type);
    } else if (upload->size == 0) {
        reply_error(exchange, 100, "(#100) Param file must not be empty.");
    } else if (upload->size > FILE_MAX) {
        reply_error(exchange, 100, "(#100) Param file must be at most 100 MB.");
    } else {
        return true;
    }
    return false;
}

void upload_answer(struct exchange *exchange, const struct account *account,
                   const struct phone *phone) {
    struct upload *upload = exchange->upload;
    unsigned char digest[crypto_hash_sha256_BYTES];
    struct media *media;

    if (!upload_check(exchange)) {
        return;
    }
    media = memory_new(sizeof *media);
    media->waba_id = memory_text(account->waba_id);
    media->phone_id = memory_text(phone->id);
    media->mime = memory_text(upload->part_type);
    media->filename = memory_text(upload->filename);
    media->part_headers = memory_text(upload->part_headers);
    media->type_field =
        upload->has_type
            ? memory_piece(upload->type.data == NULL ? "" : upload->type.data, upload->type.length)
            : NULL;
    media->path = upload->path;
    upload->path = NULL;
    media->size = upload->size;
    crypto_hash_sha256_final(&upload->digest, digest);
    bytes_hex(media->sha256, digest, sizeof digest);
    bytes_format(&exchange->reply.body, "{\"id\":\"%s\"}", media_adopt(media)->id);
}
