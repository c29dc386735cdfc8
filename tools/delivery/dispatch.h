/* The courier's attempts: which events are taken, those under way, and recording what came of
 * them. At most 32 at a time, 8 to one host and port, 2 where nothing has arrived since a failure;
 * free places go to whoever has fewest under way, so that a receiver that hangs delays only itself.
 */
#ifndef SWITCHBOARD_DELIVERY_DISPATCH_H
#define SWITCHBOARD_DELIVERY_DISPATCH_H

#include "attempt.h"
#include "resources.h"

enum { DISPATCH_PLACES = 32, DISPATCH_PER_DESTINATION = 8, DISPATCH_PER_FAILING = 2 };

enum place { PLACE_FREE, PLACE_FLYING, PLACE_ENDED /* not recorded yet */ };

struct dispatch {
    CURLM *multi;
    char owner[ID_SIZE];   /* the name that leases are held under */
    struct arena planning; /* for one dispatch_exchange */
    enum place places[DISPATCH_PLACES];
    struct attempt attempts[DISPATCH_PLACES];
};

/* False when there is no memory; dispatch_close takes it all back. */
bool dispatch_open(struct dispatch *dispatch);
void dispatch_close(struct dispatch *dispatch);

/* Records the attempts that have ended and, where `may_take`, takes events that are due, as many as
 * there is room for, and sends them on their way: `*taken` is their number. On failure attempts
 * that have ended are kept for the next call. */
enum store_result dispatch_exchange(struct dispatch *dispatch, struct store *store,
                                    struct resources *resources, bool may_take, size_t *taken);

/* Moves what is under way. Returns how many attempts have ended by it. */
size_t dispatch_advance(struct dispatch *dispatch);

/* Breaks off what is under way and gives its events back; `store` NULL: the leases run out. */
void dispatch_abandon(struct dispatch *dispatch, struct store *store);

size_t dispatch_count(const struct dispatch *dispatch, enum place place);

#endif
