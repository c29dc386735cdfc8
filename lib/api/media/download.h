/* Streams a file of the platform to the client (spec 4.6). */
#ifndef SWITCHBOARD_DOWNLOAD_H
#define SWITCHBOARD_DOWNLOAD_H

#include "web/request.h"

/* A media object of the platform. */
struct media {
    const char *id;
    const char *url;
    const char *token; /* the platform access token for the URL */
    const char *type;  /* NULL: not known */
    int64_t size;      /* bytes; -1: not known */
};

enum download_result {
    DOWNLOAD_DONE,    /* replied */
    DOWNLOAD_EXPIRED, /* the URL is no longer valid; there is no reply yet */
    DOWNLOAD_FAILED,  /* the request has failed */
};

/* The field of a query that chooses one, for the table of a route. */
#define DISPOSITION_FIELD                                                                          \
    { .name = "disposition", .type = FIELD_STRING, .values = download_dispositions }

extern const char *const download_dispositions[];

/* Replies with the file: 200 with the whole file, or 206 with the bytes of a Range header. The
 * query's `disposition` is copied to Content-Disposition. Content-Length is always sent: if the
 * download breaks off, the body is shorter, or the reply is 502 when no byte was sent yet. */
enum download_result download_stream(struct request *rq, const struct media *media);

/* Replies in the same way with an open file of `media->size` bytes; the URL and the token are not
 * used. Returns 0, or -1 after failing the request. */
int download_file(struct request *rq, const struct media *media, int file);

#endif
