/* A file that a client sends, as a raw body or in a form (spec 4.6): taken as a stream. Of a raw
 * body nothing is stored; the file of a form waits in spool_dir, since what follows it in the form
 * may say that it must not be sent. */
#ifndef SWITCHBOARD_UPLOAD_H
#define SWITCHBOARD_UPLOAD_H

#include "base/crypto.h"
#include "web/request.h"

enum { UPLOAD_LIMIT = 100 * 1024 * 1024 }; /* bytes of the file (spec 8) */

struct upload {
    struct request *rq;
    const char *line; /* phoneNumberId as it was sent; NULL: it was not */
    const char *hint; /* the type that the client insists on; NULL: none */
    const char *type; /* the type that the file came with; NULL: none */
    const char *name;
    int64_t size;               /* bytes; -1: there is no file */
    int spool;                  /* the descriptor of a form's file; -1: the file is the body */
    struct slice seen;          /* the body's beginning, when it was looked at before it was sent */
    int64_t left;               /* bytes of the body that upload_read has not given yet */
    bool is_broken;             /* upload_read could not give all */
    struct crypto_sha256 *hash; /* of the file's bytes so far; NULL: nobody wants it */
};

/* Reads all that comes with the file: of a form the whole body, of a raw body the headers alone.
 * `hashes`: upload_fingerprint will be called. Returns 0, or fails: 400 for a form that is none,
 * 411 for a raw body of unknown length, 413 for a file that is too large, 415 for a
 * Content-Encoding. upload_end is due in either case. */
int upload_begin(struct upload *upload, struct request *rq, bool hashes);

/* The MIME type that the file is to have: what the client insists on, else what it came with, else
 * what its content and its name say. NULL after failing: 400 for a hint that is no type. */
const char *upload_type(struct upload *upload);

/* The next bytes of the file, for graph_upload with the upload as context. -1 when the body has not
 * the length that was announced. */
ssize_t upload_read(void *upload, void *bytes, size_t n);

/* What tells this upload from others, whatever form it comes in: SHA-256 over line, hint, type and
 * name as they were sent and over the file. (The body of a form would not do: a client that sends
 * it again invents another boundary.) Reads what upload_read has not given yet. Returns 0, or -1
 * when the upload is_broken. */
int upload_fingerprint(struct upload *upload, unsigned char fingerprint[CRYPTO_HASH_SIZE]);

/* Fails the request for an upload that is_broken: 400, or 500 when the spool is. Returns -1. */
int upload_fail(const struct upload *upload);

/* Gives back what upload_begin took. */
void upload_end(struct upload *upload);

#endif
