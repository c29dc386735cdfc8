/* The addresses to which events may be delivered. Every user chooses a webhook URL, so the address
 * is checked when a connection is made: at that point every name and every spelling is resolved. */
#ifndef SWITCHBOARD_EGRESS_H
#define SWITCHBOARD_EGRESS_H

#include <sys/socket.h>

#include "base/http_client.h"

enum egress {
    EGRESS_PUBLIC,  /* only the public internet */
    EGRESS_PRIVATE, /* also loopback and private networks */
};

/* Converts a value of the configuration key `webhook_egress`. */
enum egress egress_read(const char *value);

/* Whether a connection to the address is allowed. Link-local, cloud metadata, multicast and
 * reserved addresses are never allowed, nor are IPv6 ranges that tunnel or translate to IPv4. An
 * IPv4-mapped address is checked as the IPv4 address. Address families other than IP are refused.
 */
bool egress_allows(enum egress egress, const struct sockaddr *address);

/* The same for an address in text form ("::1"), as libcurl reports it. */
bool egress_allows_text(enum egress egress, const char *address);

/* The check of a transfer: no connection is made, and no request is sent, to an address that is not
 * allowed, however the URL spells its host. */
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
