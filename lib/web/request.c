/* The variables of a request, and the locks that it holds. */
#include "web/request.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "web/transport.h"

const char *request_variable(const char *name) {
    return transport_variable(name);
}

/* Prefixes of the variables to keep: the CGI variables of a request (RFC 3875 4.1), the status of
 * an error for which Apache calls `root` (REDIRECT_STATUS), and the programs' own. Libraries do not
 * read them. */
static const char *const kept_names[] = {
    "CONTENT_",   "GATEWAY_INTERFACE=", "HTTPS=",   "HTTP_",        "PATH_INFO=", "QUERY_STRING=",
    "REMOTE_",    "REDIRECT_STATUS=",   "REQUEST_", "SCRIPT_NAME=", "SERVER_",    "SWITCHBOARD_",
    "UNIQUE_ID=",
#ifdef SWITCHBOARD_COVERAGE
    "GCOV_",
#endif
};

static bool begins_with(const char *variable, const char *prefix) {
    return strncmp(variable, prefix, strlen(prefix)) == 0;
}

/* The request header `Proxy` becomes HTTP_PROXY, which some libraries read as a setting
 * (CVE-2016-5385): it is removed. */
static bool is_kept(const char *variable) {
    if (begins_with(variable, "HTTP_PROXY="))
        return false;
    for (size_t i = 0; i < sizeof kept_names / sizeof *kept_names; i++)
        if (begins_with(variable, kept_names[i]))
            return true;
    return false;
}

void request_limit_environment(void) {
    char **kept = environ;
    for (char **next = environ; next && *next; next++)
        if (is_kept(*next))
            *kept++ = *next;
    if (kept)
        *kept = NULL;
}

const char *request_client(struct request *rq) {
    const char *address = request_variable("REMOTE_ADDR");
    struct in6_addr bytes;
    if (address && inet_pton(AF_INET6, address, &bytes) == 1 && IN6_IS_ADDR_V4MAPPED(&bytes)) {
        char text[INET_ADDRSTRLEN];
        return arena_copy(rq->arena,
                          slice_of(inet_ntop(AF_INET, bytes.s6_addr + 12, text, sizeof text)));
    }
    return address && *address ? arena_copy(rq->arena, slice_of(address)) : "unknown";
}

void request_release(struct request *rq) {
    if (rq->release)
        rq->release();
    rq->release = NULL;
}

const char *request_segment(struct request *rq) {
    return arena_copy(rq->arena, rq->parameters[0]);
}
