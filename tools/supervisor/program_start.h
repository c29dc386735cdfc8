/* The start of a program by the pool. */
#ifndef SWITCHBOARD_PROGRAM_START_H
#define SWITCHBOARD_PROGRAM_START_H

#include <sys/types.h>

/* What a program gets from the pool. */
struct program_sockets {
    int listener;    /* its standard input, which shows it that it is a FastCGI program */
    int connections; /* CONNECTIONS_SOCKET of web/next_connection.h */
};

/* Starts `program` (its path and arguments, as execv(3) takes them), without blocked signals. It
 * gets SIGTERM when the pool ends. `orders`: the socket of a parent (web/prefork.h), -1: the
 * program is not one. Returns the process id, or -1 with errno. A program that cannot be run is
 * logged. */
pid_t program_start(char **program, const struct program_sockets *sockets, int orders);

/* Raises the limit of open files of this process to its hard limit; programs get the former one.
 * Returns the new limit. */
long program_raise_files(void);

#endif
