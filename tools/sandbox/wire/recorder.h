/* Records of the requests that the gateway sent, byte for byte. */
#ifndef SANDBOX_RECORDER_H
#define SANDBOX_RECORDER_H

#include "wire/exchange.h"

/* Sets the size in bytes of all records together. Beyond it the oldest are deleted. */
void recorder_limit(int64_t bytes);

/* Records the request and ends the digest of its body. Called once per request, when it was read or
 * when it broke off. */
void recorder_keep(struct exchange *exchange);

/* Selects records by a substring of the target and by a method; NULL selects all. At most the
 * `last` newest ones; 0: all. */
struct record_filter {
    const char *path;
    const char *method;
    int64_t last;
};

/* Appends the records that match as a JSON array, oldest first. */
void recorder_list(struct buffer *out, const struct record_filter *filter);

/* Returns the number of records that match. */
int64_t recorder_count(const struct record_filter *filter);

/* Append one record as JSON, or its raw body; id 0 is the newest that matches. Return false when
 * there is none, or when its body was not stored. */
bool recorder_show(struct buffer *out, int64_t id, const struct record_filter *filter);
bool recorder_body(struct buffer *out, int64_t id, const struct record_filter *filter);

/* Deletes all records. The ids continue. */
void recorder_clear(void);

#endif
