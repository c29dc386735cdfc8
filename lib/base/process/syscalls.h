/* The system calls that a confined process may make: a table, and the seccomp filter built from it.
 * For confine.c and the audit. */
#ifndef SWITCHBOARD_SYSCALLS_H
#define SWITCHBOARD_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>

/* Needs that are not in need.h. */
enum {
    LISTENS = 1 << 9,      /* accepts FastCGI connections after its first request */
    IS_DETECTOR = 1 << 10, /* the child process that detects a file's type; it has no other need */
    HAS_SERVER = 1 << 11,  /* a connection to a database server, opened before the confinement */
    CONNECTS_LOCALLY = 1 << 12, /* may connect to a database server by a Unix socket */
};

/* Limits this process and its children to the calls of these needs. Other calls fail with EPERM; if
 * the environment has SWITCHBOARD_CONFINE_KILLS, they kill the process, so that tests detect them.
 * Returns false when the kernel has no seccomp. */
bool syscalls_restrict(unsigned needs);

/* Whether the kernel supports syscalls_restrict. */
bool syscalls_can_restrict(void);

/* Returns the name of the `i`th call, counted from 0, that these needs allow, in the order of the
 * table, each once; NULL when there are fewer. Calls that are allowed with certain arguments only
 * are included. */
const char *syscalls_name(unsigned needs, size_t i);

#endif
