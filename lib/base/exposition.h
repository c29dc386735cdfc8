/* Prometheus' text exposition format, version 0.0.4. */
#ifndef SWITCHBOARD_EXPOSITION_H
#define SWITCHBOARD_EXPOSITION_H

#include <stdint.h>

#include "base/buffer.h"

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Writes the lines HELP and TYPE of a metric; its samples must follow. `type`: counter, gauge or
 * histogram. */
void exposition_start(struct buffer *out, const char *name, const char *type, const char *help);

/* A label of a sample; it is written escaped. */
struct exposition_label {
    const char *name;
    struct slice value;
};

/* Starts a sample: NAME with `suffix` and the labels; a value must follow. */
void exposition_sample(struct buffer *out, const char *name, const char *suffix,
                       const struct exposition_label *labels, size_t count);

/* Writes the value of a sample and ends its line. */
void exposition_integer(struct buffer *out, uint64_t value);

/* The same for a duration, in seconds. */
void exposition_seconds(struct buffer *out, uint64_t microseconds);

#endif
