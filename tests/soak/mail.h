/* A queue of the platform's payloads for /platform/webhook. Each is sent until it is answered 200,
 * and some are sent once more. */
#ifndef SOAK_MAIL_H
#define SOAK_MAIL_H

#include <stdint.h>

#include "base/slice.h"

/* Starts the sending threads. Accepted payloads are written to inbound.tsv. */
void mail_start(void);

/* Adds a payload that is sent from `due` (ms since 1970) on, to the web host `host` (exchange.h)
 * and, when that does not accept it, to the next ones. `lines` are its lines for inbound.tsv; p ==
 * NULL: it duplicates another payload. Both are copied. */
void mail_add(struct slice body, struct slice lines, unsigned host, int64_t due);

/* The number of payloads that are not yet accepted. */
int mail_count(void);

/* Ends the threads and writes payloads that were not accepted to unacked.tsv. */
void mail_end(void);

#endif
