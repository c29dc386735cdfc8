#include "delivery/egress_guard.h"

#include <netdb.h>
#include <stdio.h>

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
