/* The common part of all calls of the platform: one libcurl handle per process, the answer, and a
 * body that is read while it is sent. The functions are private to lib/graph. */
#ifndef SWITCHBOARD_TRANSFER_H
#define SWITCHBOARD_TRANSFER_H

#include <sys/types.h>

#include "base/buffer.h"
#include "base/http_client.h"

enum { GRAPH_CALL_TIMEOUT_MS = 30000 }; /* of a call that streams no file */

/* The platform's answer to a call. */
struct graph_answer {
    int status;              /* HTTP status; 0 when no complete answer was received */
    struct slice body;       /* the whole body */
    const char *retry_after; /* the header's value, NULL when absent */
    const char *failure;     /* why there is no answer; NULL when there is one */
    int64_t ms;              /* duration of the call */
    bool was_sent;           /* the request may have reached the platform */
};

/* A call in progress. */
struct transfer {
    struct http_client http; /* the caller sets the URL, the method, the body and the time limit */
    struct arena *arena;
    struct graph_answer *answer;
    struct buffer body;  /* of the answer */
    bool is_repeatable;  /* libcurl may repeat the request on a new connection */
    bool is_too_large;   /* the answer is larger than 16 MB */
    int sent;            /* how often libcurl was about to send the request */
    int64_t started;     /* clock_monotonic */
    int64_t stall_limit; /* ms without a transferred byte; 0: no limit */
    int64_t moved_at;    /* clock_monotonic of the last transferred byte */
    curl_off_t moved;    /* bytes transferred so far, in both directions */
    bool is_stalled;
    int socket;     /* opened last for this call; -1: not known */
    bool is_paused; /* sending resumes when libcurl has read the pending input */
};

/* Starts to describe a call with the process's handle (http_start). The answer's body is stored in
 * `answer`, at most 16 MB. `token` is the bearer token of the Authorization header; NULL: no such
 * header. The caller may set `is_repeatable` afterwards. */
void transfer_start(struct transfer *transfer, const struct config *config, struct arena *arena,
                    const char *token, struct graph_answer *answer);

/* The same with the handle `curl` of the caller: NULL makes the call fail. */
void transfer_start_with(struct transfer *transfer, CURL *curl, const struct config *config,
                         struct arena *arena, const char *token, struct graph_answer *answer);

/* Appends bytes to the answer's body: the default write function. Returns what a libcurl write
 * function must return. */
size_t transfer_keep(struct transfer *transfer, struct slice bytes);

/* Makes the call fail when no byte is transferred for 30 s. There is no other limit after the
 * connection is established. */
void transfer_limit_stall(struct transfer *transfer);

/* Restarts the 30 s of transfer_limit_stall. Read and write functions call it when they return, so
 * that the time which they waited for the client does not count. */
void transfer_moved(struct transfer *transfer);

/* A body that is read while it is sent. */
struct graph_source {
    int64_t size; /* bytes; -1: until `read` returns 0 */

    /* Reads up to `n` bytes into `bytes` and returns their number. If it returns -1, or 0 before
     * `size` bytes were read, the call is aborted, and the platform does not receive a complete
     * request. */
    ssize_t (*read)(void *context, void *bytes, size_t n);
    void *context;
};

/* Such a body, for a transfer. The caller sets the members above the line. */
struct graph_stream {
    struct transfer *transfer;
    struct slice head, tail; /* sent before and after what is read */
    struct graph_source source;
    /* --- */
    int64_t left;      /* bytes that were not read yet */
    bool is_ended;     /* all was read */
    struct slice held; /* bytes to send after the received bytes were read */
};

/* Makes the transfer a POST with this body, which fails when no byte is transferred for 30 s. The
 * length is announced; a body of unknown size is sent in chunks. The stream must stay valid until
 * the end of the transfer. */
void transfer_stream(struct graph_stream *stream);

/* Returns the value of a header of the answer, in the transfer's arena; NULL: there is none. */
const char *transfer_header(const struct transfer *transfer, const char *name);

/* Makes the call and fills the answer. Returns libcurl's result code. */
CURLcode transfer_perform(struct transfer *transfer);

/* Fills the answer of a call that another has made with the handle, with libcurl's result `code`.
 * Returns the code: CURLE_OK when the platform has answered. */
CURLcode transfer_end(struct transfer *transfer, CURLcode code);

#endif
