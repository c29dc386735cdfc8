/* The copies of the files of messages that the sender makes (store/media_copy.h), beside the sends
 * and on their handle: the media object, then the file behind its URL, into a temporary file, which
 * gets its name once all of it is on the disk. It also removes the files of deleted messages. */
#ifndef SWITCHBOARD_ARCHIVE_COPYING_H
#define SWITCHBOARD_ARCHIVE_COPYING_H

#include "delivery/resources.h"
#include "graph/call.h"
#include "graph/media_api.h"
#include "store/media_copy.h"

enum { COPYING_SLOTS = 4 };

enum copying_step {
    COPYING_FREE,
    COPYING_ASKS,     /* for the media object */
    COPYING_ASKED,    /* it has the answer */
    COPYING_RECEIVES, /* the file */
    COPYING_RECEIVED,
    COPYING_FAILED, /* what became of it is not stored yet */
};

/* A row that is being copied. */
struct copying_slot {
    struct graph_owner owner;
    enum copying_step step;
    struct arena arena; /* of all that follows */
    struct store_media_copy row;
    const char *token;
    struct graph_call call;
    struct graph_post asking;
    struct graph_receiving receiving;
    struct graph_head head;
    const char *expected; /* the SHA-256 that the platform names, in hexadecimal; NULL: none */
    struct crypto_sha256 *hash;
    int file;         /* -1: none */
    int64_t unsynced; /* bytes that were written since the last synchronization */
    int64_t most;     /* bytes */
    const char *archive, *reason;
    const char *state; /* gone or failed: the row ends; NULL: it is tried again */
};

struct copying {
    const char *owner; /* of the lease */
    CURLM *multi;
    struct arena planning;
    struct copying_slot slots[COPYING_SLOTS];
    int64_t next_look; /* monotonic */
    bool is_full;      /* of the disk; it was logged */
    bool is_behind;    /* more rows were due than slots were free */
};

void copying_open(struct copying *copying, CURLM *multi, const char *owner);
void copying_close(struct copying *copying);

/* Goes on with the copies whose calls have ended, and begins further ones unless `is_stopping`. To
 * be called with the lease, and after each graph_owners_advance that has ended calls. */
enum store_result copying_go_on(struct copying *copying, struct resources *resources,
                                bool is_stopping);

/* Whether a call has ended with which copying_go_on can go on now. */
bool copying_may_go_on(const struct copying *copying);

/* Abandons what is in flight: those rows stay in the queue. */
void copying_abandon(struct copying *copying);

#endif
