/* Least privilege: before a process touches a request's body it gives up all that its executable did
 * not declare. no_new_privs always; Landlock for files, where the kernel has it; a seccomp filter
 * for system calls. What is tried nevertheless fails with EPERM or EACCES.
 *
 * Sanitizer builds are not confined: their runtime needs calls of its own.
 */
#ifndef SWITCHBOARD_CONFINE_H
#define SWITCHBOARD_CONFINE_H

#include "base/config.h"

/* What an executable may need. Reading its own configuration, writing its log and answering are
 * always possible. */
enum need {
    NEEDS_NOTHING = 0,
    READS_DATABASE = 1 << 0,  /* the database and the key file; writing is refused by SQLite */
    WRITES_DATABASE = 1 << 1, /* the same, and writing */
    CALLS_PLATFORM = 1 << 2,  /* sockets to the network, threads that resolve names */
    SPOOLS_FILES = 1 << 3,    /* files in spool_dir; a child with the database of file types */
    WAKES_COURIER = 1 << 4,   /* a unix datagram */
};

/* What the kernel could do for us. */
struct confinement {
    bool has_landlock, has_seccomp;
};

/* Confines this process for good. `listens`: it goes on accepting FastCGI connections. Open what
 * must stay open, such as the log, before. Returns what was put in force. */
struct confinement confine(unsigned needs, bool listens, const char *config_path,
                           const struct config *config);

/* What confine would find, without confining. */
struct confinement confine_support(void);

#endif
