/* Where events may be delivered. Anybody with a token may choose a webhook URL, so the address is
 * checked when a connection is made, after every spelling and every name has become one. */
#ifndef SWITCHBOARD_EGRESS_H
#define SWITCHBOARD_EGRESS_H

#include <stdbool.h>
#include <sys/socket.h>

enum egress {
    EGRESS_PUBLIC,  /* the public internet alone */
    EGRESS_PRIVATE, /* loopback and private networks too */
};

/* The value of the configuration key `webhook_egress`. */
enum egress egress_named(const char *value);

/* Whether a connection to the address may be made. Refused in either case: link-local and cloud
 * metadata addresses, multicast, and what is reserved or leads to IPv4 by another way. An
 * IPv4-mapped address counts as the IPv4 address inside. Other families than IP are refused. */
bool egress_allows(enum egress egress, const struct sockaddr *address);

/* The same for an address in text form ("::1"), as libcurl reports it. */
bool egress_allows_text(enum egress egress, const char *address);

#endif
