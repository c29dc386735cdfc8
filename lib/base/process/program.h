/* The command line of a program, described once: the program reads its options by this table, and
 * prints --help and its manual page from it. */
#ifndef SWITCHBOARD_PROGRAM_H
#define SWITCHBOARD_PROGRAM_H

#include <stddef.h>

#include "base/process/manual.h"

/* An option. --help, --version and --man belong to every program and have no row. */
struct program_option {
    const char *name;  /* without its dashes */
    const char *value; /* the name of its value; NULL: a flag */
    size_t member;     /* the offset, in the values, of a bool (flag), a long (`most` is not 0), or
                          else a const char * */
    long least, most;  /* of a number */
    long preset;       /* the value of a number without the option */
    const char *meaning;
};

struct program {
    const char *name; /* begins its errors */
    struct manual manual;
    const struct program_option *options; /* ends with a NULL name */
};

/* Reads the options into `values`, after setting the presets of numbers; *operand is the index of
 * the first other argument. Returns -1 to go on, else the exit status, after printing what --help,
 * --version or --man asks for, or the error. */
int program_read_options(const struct program *program, int argc, char **argv, void *values,
                         int *operand);

/* Prints an error, unless `what` is NULL, and the usage line. Returns the exit status. */
int program_fail_usage(const struct program *program, const char *what);

/* Prints items as a part of --help, below the title, which may be NULL; nothing without items. */
void program_print_items(const char *title, const struct manual_item *items);

#endif
