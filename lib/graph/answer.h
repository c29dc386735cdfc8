/* The platform's answer to a call. */
#ifndef SWITCHBOARD_GRAPH_ANSWER_H
#define SWITCHBOARD_GRAPH_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct graph_answer {
    int status;              /* HTTP status; 0 when no complete answer was received */
    struct slice body;       /* the whole body */
    const char *retry_after; /* the header's value, NULL when absent */
    const char *failure;     /* why there is no answer; NULL when there is one */
    int64_t ms;              /* duration of the call */
    bool was_sent;           /* the request may have reached the platform */
};

#endif
