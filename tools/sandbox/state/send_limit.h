/* The limits of messages that the settings give the simulated platform. It has a lock of its own,
 * which each call takes. Each call counts the message if it returns that it may go. */
#ifndef SANDBOX_SEND_LIMIT_H
#define SANDBOX_SEND_LIMIT_H

#include <stdbool.h>

/* Returns the error code that refuses a message of the number to the user now, or 0. */
int send_limit_check(const char *phone_id, const char *user);

/* Whether the user gets one more marketing message in these 24 hours. */
bool send_limit_marketing(const char *user);

/* Counts a message of the template. Whether it is the last one before the template is paused. */
bool send_limit_ends_template(const char *template_id);

/* Forgets all messages. */
void send_limit_clear(void);

#endif
