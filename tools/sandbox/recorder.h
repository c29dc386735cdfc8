/* Records of the requests that the gateway sent, byte for byte. */
#ifndef SANDBOX_RECORDER_H
#define SANDBOX_RECORDER_H

#include "exchange.h"

/* Sets the size in bytes of all records together. Beyond it the oldest are deleted. */
void recorder_limit(uint64_t bytes);

/* Records the request. Called once per request, when it was read or when it broke off. */
void recorder_keep(struct exchange *exchange);

/* Selects records by a substring of the target and by a method; NULL selects all. At most the
 * `last` newest ones; 0: all. */
struct record_filter {
    const char *path;
    const char *method;
    uint64_t last;
};

/* recorder_list appends the records as a JSON array, oldest first; recorder_count returns their
 * number. */
void recorder_list(struct bytes *out, const struct record_filter *filter);
uint64_t recorder_count(const struct record_filter *filter);

/* Append one record as JSON, or its raw body; id 0 is the newest that matches. Return false if
 * there is none, or if its body was not stored. */
bool recorder_show(struct bytes *out, uint64_t id, const struct record_filter *filter);
bool recorder_body(struct bytes *out, uint64_t id, const struct record_filter *filter);

/* Deletes all records. The ids continue. */
void recorder_clear(void);

#endif
