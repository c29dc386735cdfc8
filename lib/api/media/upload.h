/* A file that a client uploads, as a raw body or in a form (spec 4.6), read as a stream. A raw body
 * is never stored on disk. The file of a form is stored in spool_dir until the whole form is read,
 * because the fields after the file may make the request invalid. */
#ifndef SWITCHBOARD_UPLOAD_H
#define SWITCHBOARD_UPLOAD_H

#include "base/crypto.h"
#include "web/request.h"

/* In bytes. */
enum {
    UPLOAD_LIMIT = 100 * 1024 * 1024,                   /* of the file (spec 8) */
    UPLOAD_FORM_LIMIT = UPLOAD_LIMIT + 2 * 1024 * 1024, /* of a form with its file */
};

struct upload {
    struct request *rq;
    const char *line; /* phoneNumberId as it was sent; NULL: absent */
    const char *hint; /* the type that the client demands; NULL: none */
    const char *type; /* the Content-Type of the file; NULL: none */
    const char *name;
    int64_t size;               /* bytes; -1: there is no file */
    int spool;                  /* the descriptor of a form's file; -1: the file is the body */
    struct slice seen;          /* the beginning of the body, read ahead for upload_type */
    int64_t left;               /* bytes of the body that upload_read has not returned yet */
    bool is_broken;             /* upload_read could not return the whole file */
    struct crypto_sha256 *hash; /* of the file's bytes so far; NULL: no fingerprint is needed */
};

/* Reads everything that precedes the file: of a form the whole body, of a raw body only the
 * headers. `hashes`: upload_fingerprint will be called. Returns 0, or -1 after failing the request:
 * 400 for an invalid form, 411 for a raw body of unknown length, 413 for a file that is too large,
 * 415 for a Content-Encoding. The caller must call upload_end in either case. */
int upload_begin(struct upload *upload, struct request *rq, bool hashes);

/* Checks that there is a file that is not empty. Returns 0, or -1 after failing the request. */
int upload_check_file(const struct upload *upload);

/* Sets `*type` to the MIME type that the client states: the hint, else the Content-Type of the
 * file, each if it is not generic; else to NULL. Returns 0, or -1 after failing the request: 400
 * for a hint that is not a MIME type. */
int upload_stated_type(struct upload *upload, const char **type);

/* Returns the MIME type of the file: the stated one, else the type detected by content and name.
 * NULL after failing the request, as upload_stated_type does. */
const char *upload_type(struct upload *upload);

/* Reads the next bytes of the file: the `read` function for graph_upload, with the upload as
 * context. Returns -1 when the length of the body is not its Content-Length. */
ssize_t upload_read(void *upload, void *bytes, size_t n);

/* Computes the fingerprint of the upload: the SHA-256 of line, hint, type and name as they were
 * sent and of the file. It does not depend on the encoding of a form, since a client that repeats
 * the request chooses another boundary. Reads the rest of a raw body first. Returns 0, or -1 when
 * the upload is_broken. */
int upload_fingerprint(struct upload *upload, unsigned char fingerprint[CRYPTO_HASH_SIZE]);

/* Fails the request of an upload that is_broken: 400 for a raw body, 500 for a spooled file.
 * Returns -1. */
int upload_fail(const struct upload *upload);

/* Fails with 413, because a file or a form is larger than its limit. Returns -1. */
int upload_fail_too_large(struct request *rq);

/* Closes the spooled file. */
void upload_end(struct upload *upload);

#endif
