/* The control calls that send webhooks and the verification, and that list the results. */
#ifndef SANDBOX_WEBHOOKS_H
#define SANDBOX_WEBHOOKS_H

#include "exchange.h"
#include "webhook_send.h"

/* Start and end the sending of webhooks. webhook_stop aborts the posts in progress. */
int webhook_start(void);
void webhook_stop(void);
bool webhook_stopped(void);

/* Answer POST webhooks and POST webhooks/verify, under the state's read lock. The connection is
 * held until all posts are sent. If the call is wrong they return false and set *problem, an error
 * text that the caller frees. */
bool webhook_call(struct exchange *exchange, char **problem);
bool webhook_verify(struct exchange *exchange, char **problem);

/* GET webhooks, webhooks/kinds; DELETE webhooks. */
void webhook_kinds_list(struct bytes *out);
void webhook_log_list(struct bytes *out);
void webhook_log_clear(void);

/* Adds a finished post to the list of GET webhooks. */
void webhook_log(const struct post *post);

/* Returns the sending rules of the settings. Called under the state lock. */
struct send_rules webhook_rules(void);

#endif
