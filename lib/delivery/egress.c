#include "delivery/egress.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

/* Address ranges that are not public. The first row that contains an address decides.
 * `is_private`: allowed with EGRESS_PRIVATE; the others are never allowed. */
struct range {
    const char *network;
    int prefix;
    bool is_private;
};

static const struct range ranges_v4[] = {
    {"0.0.0.0", 8, false}, /* this network: reaches the host itself */
    {"10.0.0.0", 8, true},
    {"100.100.100.200", 32, false}, /* metadata, Alibaba Cloud */
    {"100.64.0.0", 10, true},       /* shared address space, RFC 6598 */
    {"127.0.0.0", 8, true},
    {"168.63.129.16", 32, false}, /* metadata, Azure */
    {"169.254.0.0", 16, false},   /* link-local, metadata of most clouds */
    {"172.16.0.0", 12, true},
    {"192.0.0.0", 24, false},   /* protocol assignments; metadata, Oracle */
    {"192.0.2.0", 24, false},   /* documentation */
    {"192.88.99.0", 24, false}, /* 6to4 relays */
    {"192.168.0.0", 16, true},
    {"198.18.0.0", 15, false},   /* benchmarks */
    {"198.51.100.0", 24, false}, /* documentation */
    {"203.0.113.0", 24, false},  /* documentation */
    {"224.0.0.0", 4, false},     /* multicast */
    {"240.0.0.0", 4, false},     /* reserved, broadcast */
    {NULL, 0, false},
};

static const struct range ranges_v6[] = {
    {"::1", 128, true},
    {"::", 96, false},             /* unspecified, IPv4-compatible */
    {"::ffff:0:0:0", 96, false},   /* IPv4-translated */
    {"64:ff9b::", 96, false},      /* NAT64 */
    {"64:ff9b:1::", 48, false},    /* NAT64, local */
    {"100::", 64, false},          /* discard */
    {"2001::", 32, false},         /* Teredo */
    {"2001:db8::", 32, false},     /* documentation */
    {"2002::", 16, false},         /* 6to4 */
    {"3fff::", 20, false},         /* documentation */
    {"5f00::", 16, false},         /* segment routing */
    {"fd00:ec2::254", 128, false}, /* metadata, AWS */
    {"fd20:ce::254", 128, false},  /* metadata, Google Cloud */
    {"fc00::", 7, true},
    {"fe80::", 10, false}, /* link-local */
    {"fec0::", 10, false}, /* site-local, deprecated */
    {"ff00::", 8, false},  /* multicast */
    {NULL, 0, false},
};

enum egress egress_read(const char *value) {
    return strcmp(value, "private") == 0 ? EGRESS_PRIVATE : EGRESS_PUBLIC;
}

/* Whether the first `prefix` bits are equal. */
static bool is_inside(const unsigned char *address, const unsigned char *network, int prefix) {
    int whole = prefix / 8, rest = prefix % 8;
    unsigned mask = 0xffu << (8 - rest) & 0xffu;
    return memcmp(address, network, (size_t)whole) == 0 &&
           (rest == 0 || ((address[whole] ^ network[whole]) & mask) == 0);
}

static bool allows(enum egress egress, int family, const unsigned char *address,
                   const struct range *ranges) {
    unsigned char network[sizeof(struct in6_addr)];
    for (const struct range *range = ranges; range->network; range++)
        if (inet_pton(family, range->network, network) == 1 &&
            is_inside(address, network, range->prefix))
            return range->is_private && egress == EGRESS_PRIVATE;
    return true;
}

static bool allows_v6(enum egress egress, const struct in6_addr *address) {
    if (IN6_IS_ADDR_V4MAPPED(address))
        return allows(egress, AF_INET, address->s6_addr + 12, ranges_v4);
    return allows(egress, AF_INET6, address->s6_addr, ranges_v6);
}

bool egress_allows(enum egress egress, const struct sockaddr *address) {
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    switch (address->sa_family) {
    case AF_INET:
        memcpy(&v4, address, sizeof v4);
        return allows(egress, AF_INET, (const unsigned char *)&v4.sin_addr, ranges_v4);
    case AF_INET6: memcpy(&v6, address, sizeof v6); return allows_v6(egress, &v6.sin6_addr);
    default: return false;
    }
}

bool egress_allows_text(enum egress egress, const char *address) {
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1)
        return allows(egress, AF_INET, (const unsigned char *)&v4, ranges_v4);
    return inet_pton(AF_INET6, address, &v6) == 1 && allows_v6(egress, &v6);
}

/* --- the check of a transfer --- */

/* libcurl calls this for every connection, with the address that the URL's host resolved to. */
static curl_socket_t on_open_socket(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address) {
    struct egress_guard *guard = context;
    (void)purpose;
    if (egress_allows(guard->egress, &address->addr))
        return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (getnameinfo(&address->addr, address->addrlen, guard->refused, sizeof guard->refused, NULL,
                    0, NI_NUMERICHOST) != 0)
        snprintf(guard->refused, sizeof guard->refused, "unknown");
    return CURL_SOCKET_BAD;
}

void egress_guard_start(struct egress_guard *guard, const struct config *config,
                        struct http_client *http) {
    *guard = (struct egress_guard){.egress = egress_read(config->webhook_egress)};
    http_set(http, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    http_set(http, CURLOPT_OPENSOCKETDATA, guard);
}

int egress_guard_check(struct egress_guard *guard, const char *peer) {
    guard->is_connected = egress_allows_text(guard->egress, peer);
    if (guard->is_connected)
        return CURL_PREREQFUNC_OK;
    snprintf(guard->refused, sizeof guard->refused, "%s", peer);
    return CURL_PREREQFUNC_ABORT;
}

const char *egress_guard_reason(const struct egress_guard *guard, struct arena *arena) {
    if (!*guard->refused || guard->is_connected)
        return NULL;
    return arena_printf(arena, "blocked_address: %s is not allowed with webhook_egress = %s",
                        guard->refused, guard->egress == EGRESS_PUBLIC ? "public" : "private");
}
