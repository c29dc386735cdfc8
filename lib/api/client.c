#include "api/client.h"

#include <arpa/inet.h>

const char *client_address(struct request *rq) {
    const char *address = request_variable("REMOTE_ADDR");
    struct in6_addr bytes;
    if (address && inet_pton(AF_INET6, address, &bytes) == 1 && IN6_IS_ADDR_V4MAPPED(&bytes)) {
        char text[INET_ADDRSTRLEN];
        return arena_copy(rq->arena,
                          slice_of(inet_ntop(AF_INET, bytes.s6_addr + 12, text, sizeof text)));
    }
    return address && *address ? arena_copy(rq->arena, slice_of(address)) : "unknown";
}
