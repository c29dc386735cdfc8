/* The courier's attempts: takes due events from the store, delivers them, and records the results.
 *
 * A slot holds one attempt. There are at most 512 slots, fewer if the limit of file descriptors is
 * low. hosts.h limits the attempts per host, per class of hosts and per user, so that hosts that
 * hang delay only the events of their user. A webhook that has received nothing since a failure has
 * at most 2 attempts in flight. dispatch.c says how slots are given.
 */
#ifndef SWITCHBOARD_DELIVERY_DISPATCH_H
#define SWITCHBOARD_DELIVERY_DISPATCH_H

#include "delivery/attempt.h"
#include "delivery/hosts.h"
#include "delivery/resources.h"

enum { DISPATCH_SLOTS = 512, DISPATCH_PER_FAILING = 2 };

enum slot { SLOT_FREE, SLOT_IN_FLIGHT, SLOT_ENDED /* its result is not recorded yet */ };

struct dispatch {
    CURLM *multi;
    char courier_id[ID_SIZE]; /* holder of the leases on events in flight */
    struct arena planning;    /* memory of one dispatch_exchange */
    size_t used;              /* all slots from this index on are free */
    enum slot slots[DISPATCH_SLOTS];
    struct attempt attempts[DISPATCH_SLOTS];
    struct in_flight flights[DISPATCH_SLOTS]; /* valid for slots in use */
    struct hosts hosts;
    struct arena listing; /* memory of `due` */
    const char **due;     /* the webhooks that had due events, in the order of their ids */
    size_t due_count;
    size_t next;        /* index in `due` of the webhook to plan next; 0: a pass begins */
    bool must_list;     /* the next pass begins with a new list */
    bool is_whole_pass; /* this pass began after dispatch_rescan or dispatch_revisit */
    bool has_seen_all;  /* all webhooks have been planned since then */
};

/* Returns how many slots the process has file descriptors for. First raises the soft limit of
 * descriptors as far as it is useful, which a confined process may not do. */
size_t dispatch_count_slots(void);

/* Initializes `*dispatch`, which must be all zeros, for at most `slots` attempts in flight.
 * Returns false when there is no memory. dispatch_close frees everything in either case. */
bool dispatch_open(struct dispatch *dispatch, size_t slots);
void dispatch_close(struct dispatch *dispatch);

/* Clears `has_seen_all`: other webhooks may have events that were inserted or became due. */
void dispatch_rescan(struct dispatch *dispatch);

/* Clears `has_seen_all`: more events of the listed webhooks may be delivered, since attempts have
 * ended. */
void dispatch_revisit(struct dispatch *dispatch);

/* Records the attempts that have ended and, if `may_take`, takes due events, as many as there are
 * slots for, and starts their attempts. On failure the attempts that have ended are kept for the
 * next call. While `has_seen_all` is false, another call may take more. */
enum store_result dispatch_exchange(struct dispatch *dispatch, struct store *store,
                                    struct resources *resources, bool may_take);

/* Whether another attempt can be started. */
bool dispatch_has_room(const struct dispatch *dispatch);

/* Makes progress on the transfers in flight, without blocking. Returns the number of attempts that
 * have ended. */
size_t dispatch_advance(struct dispatch *dispatch);

/* Aborts the attempts in flight and releases their events. With `store` NULL the events are due
 * again when their leases expire. */
void dispatch_abandon(struct dispatch *dispatch, struct store *store);

/* Returns the number of slots in this state. */
size_t dispatch_count(const struct dispatch *dispatch, enum slot slot);

#endif
