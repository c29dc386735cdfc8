/* The control calls that make the platform talk: webhooks now, verification, and what became of
 * them. */
#ifndef SANDBOX_WEBHOOKS_H
#define SANDBOX_WEBHOOKS_H

#include "exchange.h"
#include "webhook_send.h"

/* Starts and ends the sending of webhooks; webhook_stop breaks off what is under way. */
int webhook_start(void);
void webhook_stop(void);
bool webhook_stopped(void);

/* POST webhooks and POST webhooks/verify, under the state's read lock: false with *problem, a
 * sentence the caller frees, when the call is wrong. The connection is held until all is sent. */
bool webhook_call(struct exchange *exchange, char **problem);
bool webhook_verify(struct exchange *exchange, char **problem);

/* GET webhooks, webhooks/kinds; DELETE webhooks. */
void webhook_kinds_list(struct bytes *out);
void webhook_log_list(struct bytes *out);
void webhook_log_clear(void);

/* Notes a finished post in the log. */
void webhook_log(const struct post *post);

/* The sending rules of the settings. Under the state lock. */
struct send_rules webhook_rules(void);

#endif
