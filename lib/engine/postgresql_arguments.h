/* Internal to the PostgreSQL driver: the parameters of a statement. */
#ifndef SWITCHBOARD_ENGINE_POSTGRESQL_ARGUMENTS_H
#define SWITCHBOARD_ENGINE_POSTGRESQL_ARGUMENTS_H

#include <libpq-fe.h>

#include "engine/sql.h"

enum { MOST_PARAMETERS = 32 };

/* The parameters of a statement in libpq's form, binary. */
struct arguments {
    int count;
    Oid types[MOST_PARAMETERS];
    const char *values[MOST_PARAMETERS];
    int lengths[MOST_PARAMETERS], formats[MOST_PARAMETERS];
    uint64_t integers[MOST_PARAMETERS];
    char *replaced[MOST_PARAMETERS]; /* texts; NULL: the parameter's own bytes */
};

/* Converts the parameters, whose bytes must outlive `to`. Returns NULL, or why they cannot be sent.
 * In both cases the caller calls postgresql_free_arguments. */
const char *postgresql_read_arguments(struct arguments *to, const struct parameter *from,
                                      size_t count);

void postgresql_free_arguments(struct arguments *arguments);

#endif
