/* Payloads of the platform on their way to /platform/webhook: each again and again until it is
 * answered 200, some of them twice. */
#ifndef SOAK_MAIL_H
#define SOAK_MAIL_H

#include <stdint.h>

#include "base/slice.h"

/* Starts to send. What was taken is written to inbound.tsv. */
void mail_start(void);

/* Takes a copy of a body, to be sent from `due` (ms since 1970) on, and of its lines for
 * inbound.tsv; without lines (p == NULL) it is a copy of another one. */
void mail_add(struct slice body, struct slice lines, int64_t due);

/* How many are on their way. */
int mail_count(void);

/* Stops; what was not taken is written to unacked.tsv. */
void mail_end(void);

#endif
