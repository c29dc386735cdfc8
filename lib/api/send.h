/* The one way a message goes out (spec 4.3, 4.4): blocked contacts are refused, the platform is
 * asked, what it accepted is recorded, its answer is the client's. */
#ifndef SWITCHBOARD_SEND_H
#define SWITCHBOARD_SEND_H

#include "api/auth.h"

/* A kind of message: what it must hold and how the platform wants it. */
struct message_kind {
    const char *type;           /* the platform's message type */
    const struct field *fields; /* of our request's body; SEND_FIELDS among them */

    /* Writes the value of the member named `type`, an object, from our request's body. */
    void (*write)(struct json_writer *out, struct request *rq);

    /* Adds what only this kind knows to the record; NULL: nothing. */
    void (*note)(struct request *rq, struct store_send *send);
};

/* Sends a message of the kind from the request's checked body through caller->line. Returns 0 with
 * the platform's answer as the reply's data, or fails. */
int send_message(struct request *rq, const struct message_kind *kind);

/* Copies a member of our body into what is written, unchanged; nothing when it is not there. */
void send_copy(struct json_writer *out, const char *name, struct json object, const char *member);

#endif
