/* What all calls of the platform have in common: one libcurl handle per process, what makes it
 * safe, and how an answer is kept. For the files of lib/graph alone. */
#ifndef SWITCHBOARD_TRANSFER_H
#define SWITCHBOARD_TRANSFER_H

#include <curl/curl.h>

#include "base/buffer.h"
#include "base/config.h"
#include "graph/answer.h"

/* A call under way. */
struct transfer {
    CURL *curl;      /* NULL: there is none to be had */
    CURLcode failed; /* the first option that could not be set; CURLE_OK: none */
    struct arena *arena;
    struct graph_answer *answer;
    struct curl_slist *headers;
    struct buffer body; /* of the answer */
    bool is_repeatable; /* libcurl may send it again on a new connection */
    bool is_too_large;
    int sent;            /* times the request was about to be written */
    int64_t started;     /* clock_monotonic */
    int64_t stall_limit; /* milliseconds without a byte; 0: none */
    int64_t moved_at;    /* when the last byte moved */
    curl_off_t moved;    /* bytes moved so far, both ways */
    bool is_stalled;
    int socket;     /* the newest; -1: not known */
    bool is_paused; /* sending goes on when what was received has been looked at */
    char detail[CURL_ERROR_SIZE];
};

/* Takes the process's handle for a call: TLS verified, no redirects, no proxy, 5 s to connect, our
 * User-Agent; the answer's body goes to `answer`, at most 16 MB of it. `token` goes into the
 * Authorization header; NULL sends none. Not repeatable until the caller says so. */
void transfer_start(struct transfer *transfer, const struct config *config, struct arena *arena,
                    const char *token, struct graph_answer *answer);

/* Sets an option of libcurl. Where one cannot be set the call fails, and nothing is sent: it might
 * be the one that makes it safe. */
#define transfer_set(transfer, option, value)                                                      \
    transfer_note(transfer, curl_easy_setopt((transfer)->curl, option, value))

/* The same for what another function than curl_easy_setopt has said. */
void transfer_note(struct transfer *transfer, CURLcode code);

/* Adds a header line to the request. */
void transfer_header(struct transfer *transfer, const char *line);

/* Keeps bytes of the answer for its body, as happens without a write function of the caller.
 * Returns what such a function must. */
size_t transfer_keep(struct transfer *transfer, struct slice bytes);

/* Gives up when no byte has moved for 30 s, however long the whole takes. */
void transfer_limit_stall(struct transfer *transfer);

/* To be called by read and write functions when they return: the time they waited for our own
 * client is not the platform's. */
void transfer_moved(struct transfer *transfer);

/* Lets transfer_has_news know. */
void transfer_watch(struct transfer *transfer);

/* Whether bytes of the platform, or its end of the connection, wait to be read; false where that is
 * not known, as on a connection that was kept. */
bool transfer_has_news(const struct transfer *transfer);

/* What a read function must return so that they are read before it is called again; of a transfer
 * with a limited stall. */
size_t transfer_pause(struct transfer *transfer);

/* Makes the call and fills the answer. Returns libcurl's verdict. */
CURLcode transfer_perform(struct transfer *transfer);

#endif
