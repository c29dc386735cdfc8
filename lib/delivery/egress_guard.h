/* The check of a transfer's addresses: no connection is made, and no request is sent, to an address
 * that the egress rules do not allow, however the URL spells its host. */
#ifndef SWITCHBOARD_DELIVERY_EGRESS_GUARD_H
#define SWITCHBOARD_DELIVERY_EGRESS_GUARD_H

#include "base/http_client.h"
#include "delivery/egress.h"

struct egress_guard {
    enum egress egress;
    char refused[64];  /* the address that was refused; "": none */
    bool is_connected; /* to an address that is allowed */
};

/* Starts the check for a transfer that http_start began. `guard` must stay valid until http_finish.
 */
void egress_guard_start(struct egress_guard *guard, const struct config *config,
                        struct http_client *http);

/* To be called by the transfer's `on_request` with the address of the peer: the connection may be
 * an open one that is older than the present configuration. Returns what that callback must return.
 */
int egress_guard_check(struct egress_guard *guard, const char *peer);

/* Returns the reason of the refusal for people, in `arena`; NULL when no address was refused, or
 * another address of the host was connected. */
const char *egress_guard_reason(const struct egress_guard *guard, struct arena *arena);

#endif
