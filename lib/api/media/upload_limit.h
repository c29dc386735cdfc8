/* The limits of uploaded files. */
#ifndef SWITCHBOARD_UPLOAD_LIMIT_H
#define SWITCHBOARD_UPLOAD_LIMIT_H

#include "web/request.h"

/* In bytes. */
enum {
    UPLOAD_LIMIT = 100 * 1024 * 1024,                   /* of the file (spec 8) */
    UPLOAD_FORM_LIMIT = UPLOAD_LIMIT + 2 * 1024 * 1024, /* of a form with its file */
};

/* Fails with 413, because a file or a form is larger than its limit. Returns -1. */
int upload_fail_too_large(struct request *rq);

#endif
