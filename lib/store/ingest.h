/* Storing the updates of a webhook payload (spec 6): one call stores all of them in one
 * transaction. */
#ifndef SWITCHBOARD_STORE_INGEST_H
#define SWITCHBOARD_STORE_INGEST_H

#include "store/event.h"
#include "store/forward.h"
#include "store/store_update.h"

/* A payload to store. */
struct store_payload {
    struct store_update *updates;
    size_t count;
    int64_t now;         /* ms */
    event_writer *write; /* makes the bodies of events */
    const struct store_post
        *post;              /* the payload itself, for forwarding; NULL: it is not forwarded */
    bool archives_media;    /* attachments are queued for the archive (media_copy.h) */
    size_t most_deliveries; /* 0: no limit; a single update has none */
    size_t events;          /* set by store_ingest: the number of events inserted */
    size_t webhooks; /* the same, also on failure: the most webhooks of a user who has events */
};

/* Stores the updates in order; a repeated update changes nothing. In the same transaction it
 * inserts the events that they cause into the outbox, and those that forward the POST, with a
 * delivery for each webhook that wants them. A POST that was forwarded before is not forwarded
 * again. Sets `outcome` of each update. STORE_OK: everything is on disk. STORE_EXCESSIVE: also when
 * one event for each update would have more deliveries than `most_deliveries`. Works in `arena`. */
enum store_result store_ingest(struct store *store, struct arena *arena,
                               struct store_payload *payload);

#endif
