/* Which templates were sent and what became of the messages, for template_analytics: the last
 * USES_MAX messages. It has a lock of its own, which each call takes. */
#ifndef SANDBOX_TEMPLATE_USE_H
#define SANDBOX_TEMPLATE_USE_H

#include "text/json_fields.h"

enum { USES_MAX = 4096 };

/* Some days of a template, as one of the two edges for messages sent it. */
struct template_days {
    const char *template_id;
    bool is_marketing; /* by marketing_messages */
    int64_t from, to;  /* in milliseconds since 1970, `to` is not one of them */
};

struct template_counts {
    int sent, delivered, read;
};

/* Keeps that the message with this id was sent now. */
void template_use_add(const char *id, const char *template_id, bool is_marketing);

/* Keeps a status of a message, such as delivered; of other messages it does nothing. */
void template_use_status(const char *id, const char *status);

/* Keeps that the user has tapped the button with this text, the first one of a message. */
void template_use_click(const char *id, const char *text);

/* Count the messages that were sent in these days; those whose button with this text was tapped. */
struct template_counts template_use_count(const struct template_days *days);
int template_use_clicks(const struct template_days *days, const char *text);

/* Adds a message: {id, templateId, sentAt, isMarketing, delivered, read, clicked}. Returns NULL, or
 * in `arena` the text of an error. */
const char *template_use_put(struct arena *arena, const cJSON *json);

/* Appends all messages as bodies of template_use_put. */
void template_use_print(struct buffer *out);

/* Forgets all messages. */
void template_use_clear(void);

#endif
