#include <string.h>

#include "store/member.h"

const char *const role_names[] = {"viewer", "agent", "admin", "owner", NULL};

const char *role_name(enum role role) {
    return role_names[role - ROLE_VIEWER];
}

enum role role_find(const char *name) {
    for (int i = 0; name && role_names[i]; i++)
        if (strcmp(role_names[i], name) == 0)
            return (enum role)(ROLE_VIEWER + i);
    return ROLE_NONE;
}

bool role_may_give(enum role own, enum role given) {
    return own >= ROLE_ADMIN && given <= own;
}
