/* Which system calls a confined process may make: a table, and the seccomp filter made of it. Inside
 * of confine.c and for the audit. */
#ifndef SWITCHBOARD_SYSCALLS_H
#define SWITCHBOARD_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>

/* Besides the needs of confine.h. */
enum {
    LISTENS = 1 << 8, /* goes on accepting FastCGI connections */
    LOOKS = 1 << 9,   /* the child that looks at a file's type, and needs nothing else */
};

/* Confines this process, and its children, to the calls that somebody with these needs makes. Others
 * fail with EPERM, or kill where the environment has SWITCHBOARD_CONFINE_KILLS, so that tests notice
 * them. False where there is no seccomp. */
bool syscalls_restrict(unsigned needs);

/* Whether syscalls_restrict works here. */
bool syscalls_can_restrict(void);

/* The name of the `i`th call that these needs allow, in the order of the table, each once; NULL when
 * there are not so many. A call that is allowed with some arguments only counts too. */
const char *syscalls_name(unsigned needs, size_t i);

#endif
