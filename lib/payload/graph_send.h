/* What the gateway reads of a request to the platform's edge `messages`: recipient and content of
 * the message. The request itself is passed on as it is. */
#ifndef SWITCHBOARD_GRAPH_SEND_H
#define SWITCHBOARD_GRAPH_SEND_H

#include "base/json.h"

/* A member is NULL when the request does not have it, or has null or another type there. An object
 * may be a JSON text in a string, as some clients send it. */
struct graph_send {
    struct json body; /* the request's object; of a form the one that was made of it */
    bool is_form;
    bool is_message;        /* false: a read receipt, with or without a typing indicator */
    bool is_to_person;      /* false: to a group */
    const char *read_wamid; /* of a read receipt: the message */
    const char *to;         /* as it is written */
    const char *phone;      /* the digits of `to`; NULL: it has none */
    const char *bsuid;      /* `recipient` */
    const char *type;       /* of the message; text when the request names none */
    const char *context_wamid;
    const char *template_name, *template_language;
    const char *flow_id, *flow_token;
    bool has_callback_data; /* biz_opaque_callback_data, of any type */
};

/* Reads the body. Returns 0, or -1 with `*error`, a sentence for the client: it is neither a JSON
 * object nor a form; a member that determines recipient or kind is no text, or has another spelling
 * of its name (`To`, `to[]`); `to` is a business-scoped user id, whose digits would be the phone of
 * another person; or `to` is a phone in which readers find different digits
 * (recipient_is_plain_phone). Everything lives in `arena`, or is part of `body`. */
int graph_send_read(struct arena *arena, const char *content_type, struct slice body,
                    struct graph_send *send, const char **error);

/* Returns the request's object as it is recorded, in `arena`: without an access_token, and with the
 * content of the message as an object where the request has it as a JSON text. All other bytes are
 * those of the request. */
struct slice graph_send_record(struct arena *arena, const struct graph_send *send);

/* Returns the body with the callback data `data`, letters and digits, as its last member; `body` is
 * that which graph_send_read has read. All other bytes stay as they are. p == NULL: a body of this
 * Content-Type cannot be extended. */
struct slice graph_send_add_callback(struct arena *arena, const char *content_type,
                                     const struct graph_send *send, struct slice body,
                                     const char *data);

#endif
