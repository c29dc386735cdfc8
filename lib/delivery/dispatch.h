/* The courier's attempts: which events are taken, those under way, and recording what came of
 * them. At most 512 at a time, fewer where the process may have few descriptors; how many of them
 * a host may have, so that one that hangs delays only itself, is in hosts.h. A user has at most 2
 * where nothing has arrived since a failure.
 *
 * Of the users who wait at most 128 are looked at in one exchange, in the order of their ids, and
 * the next exchange goes on behind them or before the first that found no place free.
 */
#ifndef SWITCHBOARD_DELIVERY_DISPATCH_H
#define SWITCHBOARD_DELIVERY_DISPATCH_H

#include "delivery/attempt.h"
#include "delivery/hosts.h"
#include "delivery/resources.h"

enum { DISPATCH_PLACES = 512, DISPATCH_PER_FAILING = 2 };

enum place { PLACE_FREE, PLACE_FLYING, PLACE_ENDED /* not recorded yet */ };

struct dispatch {
    CURLM *multi;
    char owner[ID_SIZE];   /* the name that leases are held under */
    struct arena planning; /* for one dispatch_exchange */
    size_t used;           /* no place from there on is in use */
    enum place places[DISPATCH_PLACES];
    struct attempt attempts[DISPATCH_PLACES];
    struct host *host_of[DISPATCH_PLACES]; /* of places in use */
    struct hosts hosts;
    char after[ID_SIZE]; /* the user who was looked at last; "" at the beginning of a lap */
    bool is_whole_lap;   /* this lap began after dispatch_look */
    bool has_seen_all;   /* who waited at dispatch_look */
};

/* How many attempts the process has descriptors for; first it asks for as many as it can use, which
 * a confined process may not. */
size_t dispatch_count_places(void);

/* For at most `places` attempts at a time; `*dispatch` is all zeros. False when there is no memory;
 * dispatch_close takes it all back. */
bool dispatch_open(struct dispatch *dispatch, size_t places);
void dispatch_close(struct dispatch *dispatch);

/* There may be events that were not there, or not due, when the users were looked at last. */
void dispatch_look(struct dispatch *dispatch);

/* Records the attempts that have ended and, where `may_take`, takes events that are due, as many as
 * there is room for, and sends them on their way: `*taken` is their number. On failure attempts
 * that have ended are kept for the next call. Until `has_seen_all` more may be found by calling it
 * again. */
enum store_result dispatch_exchange(struct dispatch *dispatch, struct store *store,
                                    struct resources *resources, bool may_take, size_t *taken);

/* Whether one more could begin. */
bool dispatch_has_room(const struct dispatch *dispatch);

/* Moves what is under way. Returns how many attempts have ended by it. */
size_t dispatch_advance(struct dispatch *dispatch);

/* Breaks off what is under way and gives its events back; `store` NULL: the leases run out. */
void dispatch_abandon(struct dispatch *dispatch, struct store *store);

size_t dispatch_count(const struct dispatch *dispatch, enum place place);

#endif
