/* Sends a message (spec 4.3, 4.4): refuses blocked contacts, calls the platform, records the
 * message that it accepted, and answers with the platform's answer. With `Prefer: respond-async` or
 * sendAt it queues the message for the sender instead (store/outgoing.h), and answers with its row.
 */
#ifndef SWITCHBOARD_SEND_H
#define SWITCHBOARD_SEND_H

#include "api/auth.h"
#include "api/period.h"
#include "payload/recipient.h"

/* A send is queued at most so long ahead, as the platform keeps an upload; and waits at most so
 * long, in seconds. */
enum { SEND_DAYS_AHEAD = 30, SEND_VALID_MOST = 30 * 24 * 60 * 60 };

/* clang-format off */
/* The fields that all kinds of messages have (spec 4.3). */
#define SEND_FIELDS                                                                                \
    LINE_FIELD, RECIPIENT_FIELDS,                                                                  \
    {.name = "sendAt", .type = FIELD_STRING, .rule = &period_moment_rule,                          \
     .example = PERIOD_TIME_EXAMPLE},                                                              \
    {.name = "validFor", .type = FIELD_INTEGER, .min = 1, .max = SEND_VALID_MOST}

/* The same of a kind that can quote an earlier message. In another kind the member is unknown and
 * has no effect. */
#define QUOTING_FIELDS SEND_FIELDS, {.name = "contextMessageWamid", .type = FIELD_STRING}
/* clang-format on */

/* A kind of message: the fields of the request's body, and the platform's object made from it. */
struct message_kind {
    const char *type;           /* the platform's message type */
    const struct field *fields; /* of the request's body: SEND_FIELDS and those of the kind */

    /* Writes the members of the platform's object that is named `type`, or the items of its array,
     * from the request's body. */
    void (*write)(struct json_writer *out, struct request *rq);

    /* Sets the members of the record that only this kind has; NULL: there are none. */
    void (*complete_record)(struct request *rq, struct store_send *send);

    bool is_array; /* the platform's value is an array, not an object */
};

/* Sends a message of the kind from the request's checked body through caller->line. Returns 0 with
 * the platform's answer as the reply's data, or -1 after failing the request. */
int send_message(struct request *rq, const struct message_kind *kind);

/* The same, at once, with the whole of the platform's object instead of what `kind` would write. */
int send_object(struct request *rq, const struct message_kind *kind, struct slice object);

/* Writes `member` of `object` under `name`, with its value unchanged; nothing when it is absent. */
void send_copy(struct json_writer *out, const char *name, struct json object, const char *member);

#endif
