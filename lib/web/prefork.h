/* The start of a pool's processes by fork(2): the pool starts a program once (`pool --fork`), and
 * that process, the parent, forks a new process at each order of the pool. The processes share the
 * memory that the parent has written: the addresses that the dynamic linker relocated, and what
 * libraries initialized. The parent reads no configuration and no request. */
#ifndef SWITCHBOARD_PREFORK_H
#define SWITCHBOARD_PREFORK_H

#include <stdbool.h>

/* The variable with the number of the parent's descriptor: a socket of type SOCK_SEQPACKET. The
 * pool sends one byte for each process that it wants, and gets its id as a pid_t; a negative one
 * when fork(2) failed. The parent ends when the pool closes the socket, or instead of a fork when
 * its executable was replaced. */
#define PREFORK_SOCKET "SWITCHBOARD_FORK_SOCKET"

/* The name of the parent in the list of processes, instead of the program's (comm in proc(5)). */
#define PREFORK_NAME "parent"

/* Returns in each process that the parent forks, as a child process of the pool, which must be a
 * subreaper (PR_SET_CHILD_SUBREAPER). The process gets SIGTERM when the pool ends. `load`, which
 * may be NULL, is called in the parent before the first fork; its result is ignored, because each
 * process calls it too and finds the same failure. Without the variable it returns at once and
 * calls nothing. */
void prefork(bool (*load)(void));

#endif
