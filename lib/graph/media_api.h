/* Media of the platform, as streams: nothing here holds a whole file. */
#ifndef SWITCHBOARD_GRAPH_MEDIA_H
#define SWITCHBOARD_GRAPH_MEDIA_H

#include <sys/types.h>

#include "graph/graph.h"

/* A file on its way to the platform. */
struct graph_upload {
    const char *line;  /* the phone number id it is uploaded for */
    const char *token; /* the platform access token; never logged */
    const char *type;  /* its MIME type, without parameters */
    const char *name;  /* its name, any text */
    int64_t size;      /* bytes */

    /* Gives up to `n` of its bytes, `size` in all. 0 or -1 before the last one aborts the call: the
     * platform never sees a whole request then. */
    ssize_t (*read)(void *context, void *bytes, size_t n);
    void *context;
};

/* Uploads the file and waits: 5 s to connect, then as long as bytes move, 30 s at most between two.
 * TLS and the rest as graph_call; never sent twice. The name loses its directories, control
 * characters, quotes and backslashes. Strings and body of the answer live in `arena`. */
void graph_upload(const struct config *config, struct arena *arena,
                  const struct graph_upload *upload, struct graph_answer *answer);

/* What the head of a download says. Strings live in the arena; NULL: no such header. */
struct graph_head {
    int status;
    const char *type, *range, *accepts_ranges; /* Content-Type, Content-Range, Accept-Ranges */
    int64_t length;                            /* -1: not told */
};

/* A file on its way from the platform. */
struct graph_download {
    const char *url;
    const char *token;
    const char *range;       /* the value of a Range header; NULL: the whole file */
    struct graph_head *head; /* filled before the first write, and whenever there is an answer */

    /* Takes bytes of a 200 or 206. Returns 0, or -1 to abort the call. */
    int (*write)(void *context, struct slice bytes);
    void *context;
};

/* Downloads the file and waits, as graph_upload. The URL must be on the host and port of
 * `graph_base_url`, or on a host of `media_hosts` by a scheme no weaker than that of
 * `graph_base_url`; else nothing is sent anywhere and the answer is a failure. The body of the
 * answer is empty where it was written. */
void graph_download(const struct config *config, struct arena *arena,
                    const struct graph_download *download, struct graph_answer *answer);

#endif
