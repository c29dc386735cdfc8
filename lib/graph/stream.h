/* A request body that is read while it is sent. Private to lib/graph. */
#ifndef SWITCHBOARD_GRAPH_STREAM_H
#define SWITCHBOARD_GRAPH_STREAM_H

#include <sys/types.h>

#include "graph/transfer.h"

/* The caller sets the members above the line. */
struct stream {
    struct transfer *transfer;
    struct slice head, tail; /* sent before and after what is read */
    int64_t size;            /* bytes to read; -1: until `read` returns 0 */

    /* Reads up to `n` bytes into `bytes` and returns their number. If it returns -1, or 0 before
     * `size` bytes were read, the call is aborted, and the platform does not receive a complete
     * request. */
    ssize_t (*read)(void *context, void *bytes, size_t n);
    void *context;
    /* --- */
    int64_t left;      /* bytes that were not read yet */
    bool is_ended;     /* all was read */
    struct slice held; /* bytes to send after the received bytes were read */
};

/* Makes the transfer a POST with this body, which fails when no byte is transferred for 30 s. The
 * length is announced; a body of unknown size is sent in chunks. The stream must stay valid until
 * the end of the transfer. */
void stream_set(struct stream *stream);

#endif
