/* The start of a program by the pool. */
#ifndef SWITCHBOARD_PROGRAM_START_H
#define SWITCHBOARD_PROGRAM_START_H

#include <sys/types.h>

/* Starts `program` (its path and arguments, as execv(3) takes them), with the socket `listener` as
 * standard input and without blocked signals. It gets SIGTERM when the pool ends. `orders`: the
 * socket of a parent (web/prefork.h), -1: the program is not one. Returns the process id, or -1
 * with errno. A program that cannot be run is logged. */
pid_t program_start(char **program, int listener, int orders);

#endif
