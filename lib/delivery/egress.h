/* The addresses to which events may be delivered. Every user chooses a webhook URL, so the address
 * is checked when a connection is made: at that point every name and every spelling is resolved. */
#ifndef SWITCHBOARD_EGRESS_H
#define SWITCHBOARD_EGRESS_H

#include <stdbool.h>
#include <sys/socket.h>

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

#endif
