/* The scopes of route tables: a program whose table lacks one neither serves nor describes it. */
#include <stdlib.h>

#include "web/route.h"

#include "compare.h"

static const struct guard either = {.requires = REQUIRES_EITHER},
                          session = {.requires = REQUIRES_SESSION},
                          token = {.requires = REQUIRES_TOKEN},
                          signature = {.requires = REQUIRES_SIGNATURE};

#define GET .method = "GET", .path = "/"

static const struct {
    const char *name;
    struct route routes[2];
    bool is_valid;
} cases[] = {
    {"public", {{GET}}, true},
    {"signed", {{GET, .guard = &signature}}, true},
    {"token or session", {{GET, .guard = &either, .scope = SCOPE_READ}}, true},
    {"session", {{GET, .guard = &session, .scope = SCOPE_SELF}}, true},
    {"by edge", {{GET, .guard = &token, .scope = SCOPE_BY_EDGE}}, true},
    {"public with a scope", {{GET, .scope = SCOPE_READ}}, false},
    {"signed with a scope", {{GET, .guard = &signature, .scope = SCOPE_READ}}, false},
    {"token or session without", {{GET, .guard = &either}}, false},
    {"session without", {{GET, .guard = &session}}, false},
    {"token without", {{GET, .guard = &token}}, false},
    {"two scopes", {{GET, .guard = &either, .scope = SCOPE_READ | SCOPE_SEND}}, false},
    {"no caller", {{GET, .guard = &either, .scope = SCOPE_NONE}}, false},
};

int main(void) {
    static char *arguments[] = {"scope", "--describe", NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct service service = {.name = "scope", .routes = cases[i].routes};
        CHECK_INTEGER_AS(cases[i].name, route_check_scopes("scope", cases[i].routes),
                         cases[i].is_valid);
        if (!cases[i].is_valid)
            CHECK_INTEGER_AS(cases[i].name, serve(&service, 2, arguments), EXIT_FAILURE);
    }
    CHECK_INTEGER(SCOPES_OF_OWNER, SCOPE_SELF * 2 - 1);
    for (unsigned scope = 1; scope <= SCOPE_SELF; scope <<= 1)
        CHECK_INTEGER_AS("name", scope_name(scope) != NULL, true);
    return check_failures();
}
