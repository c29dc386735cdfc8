/* A file of the platform on its way to a client (spec 4.6), as a stream. */
#ifndef SWITCHBOARD_DOWNLOAD_H
#define SWITCHBOARD_DOWNLOAD_H

#include "web/request.h"

/* Where a file is and what the platform tells of it. */
struct media {
    const char *id;
    const char *url;
    const char *token; /* that the URL wants */
    const char *type;  /* NULL: not told */
    int64_t size;      /* bytes; -1: not told */
};

enum download_result {
    DOWNLOAD_DONE,    /* answered */
    DOWNLOAD_EXPIRED, /* the URL is good no more; nothing was answered */
    DOWNLOAD_FAILED,  /* the request has failed */
};

/* Answers with the file: 200 with all of it, 206 with what a Range header asks for, by the query's
 * `disposition`. Content-Length is always sent: a download that breaks off is short of it, or a 502
 * when not a byte was sent yet. */
enum download_result download_pass(struct request *rq, const struct media *media);

#endif
