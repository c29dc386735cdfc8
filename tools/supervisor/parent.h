/* The parent of a pool's processes: the program, started once, which forks them (web/prefork.h). */
#ifndef SWITCHBOARD_PARENT_H
#define SWITCHBOARD_PARENT_H

#include <sys/types.h>

#include "program_start.h"

/* All zero: it does not run. */
struct parent {
    pid_t pid;
    int orders; /* the pool's end of its socket */
};

/* Makes the processes that the parent forks children of this process. Returns 0, or -1 with errno.
 */
int parent_prepare(void);

/* Has the parent fork a process; starts the parent if it does not run. Arguments as in
 * program_start. Returns the id of the process, or -1: then the caller tries again later. */
pid_t parent_fork(struct parent *parent, char **program, const struct program_sockets *sockets);

/* Ends the parent, if it runs: the next parent_fork starts another one. */
void parent_end(struct parent *parent);

#endif
