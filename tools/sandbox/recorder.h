/* What the gateway sent, kept exactly as it came. */
#ifndef SANDBOX_RECORDER_H
#define SANDBOX_RECORDER_H

#include "exchange.h"

/* Bytes all records may take together; the oldest go first. */
void recorder_limit(uint64_t bytes);

/* Keeps the request. Called once per request, when it was read or when it broke off. */
void recorder_keep(struct exchange *exchange);

/* Which records are meant: a substring of the target, a method; NULL takes all. At most `last` of
 * them, the newest (0: all). */
struct record_filter {
    const char *path;
    const char *method;
    uint64_t last;
};

/* Appends the records as a JSON array, oldest first; their number. */
void recorder_list(struct bytes *out, const struct record_filter *filter);
uint64_t recorder_count(const struct record_filter *filter);

/* Appends one record as JSON, or its raw body; id 0 is the newest that matches. False when there
 * is none (or, for the body, when it was not kept). */
bool recorder_show(struct bytes *out, uint64_t id, const struct record_filter *filter);
bool recorder_body(struct bytes *out, uint64_t id, const struct record_filter *filter);

/* Forgets everything; ids go on counting. */
void recorder_clear(void);

#endif
