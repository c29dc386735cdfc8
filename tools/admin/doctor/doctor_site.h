/* The requests of doctor to the gateway from outside. */
#ifndef SWITCHBOARD_ADMIN_DOCTOR_SITE_H
#define SWITCHBOARD_ADMIN_DOCTOR_SITE_H

#include "base/http_client.h"
#include "doctor.h"

enum { SITE_BODY_LIMIT = 4096, SITE_HEADERS = 3 };

struct site {
    struct report *report;
    struct arena *arena;
    struct http_client http;
    const char *url;
    int64_t ends;         /* when the time for all requests is over, on the monotonic clock */
    bool is_silent;       /* a request got no answer: there are no more requests */
    const char *location; /* where the last answer redirects to; NULL: nowhere */
    char body[SITE_BODY_LIMIT + 1]; /* of the last answer, its beginning */
    size_t length;
};

struct site_question {
    const char *method; /* NULL: GET */
    const char *path;
    const char *headers[SITE_HEADERS]; /* `Name: value`; the rest NULL */
    const char *body;                  /* NULL: none */
    size_t length;                     /* of the body */
};

/* Makes the request. Returns the status of the answer, whose body is in `site->body`; 0 with the
 * reason there when there is no answer. After a request without an answer none is made. */
long site_ask(struct site *site, const struct site_question *question);

/* Checks that requests of each kind reach the gateway: that no firewall, front end or rule of
 * another site refuses or answers them. Changes nothing: no token and no signature is valid. */
void site_check_front(struct site *site);

#endif
