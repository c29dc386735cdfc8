/* The answers that control calls have in common. */
#ifndef SANDBOX_CONTROL_REPLY_H
#define SANDBOX_CONTROL_REPLY_H

#include "wire/exchange.h"

/* Answers {error} with that status. */
void control_refuse(struct exchange *exchange, int status, const char *problem);

/* Answers {done:true}, or 400 with the text `problem` unless it is NULL. */
void control_done(struct exchange *exchange, const char *problem);

/* Answers 404 unless `found`. */
void control_found(struct exchange *exchange, bool found);

#endif
