/* The libraries that are linked statically: a security update of Debian's package does not reach
 * them until the programs are built again. The table is written by tools/linked when the CLI is
 * built. */
#ifndef SWITCHBOARD_ADMIN_LINKED_H
#define SWITCHBOARD_ADMIN_LINKED_H

#include "base/arena.h"

struct linked {
    const char *name;
    const char *version; /* of the Debian source package that it was linked from */
    const char *source;  /* that package */
};

extern const struct linked linked[]; /* ends with a NULL name */
extern const char linked_system[];   /* ID and VERSION_ID of os-release(5), such as `debian 12` */

/* Prints name and version of this program and, in a line each, those of `linked`. */
void linked_print(void);

/* A comparison with the packages that are installed on this machine. The lists are separated by
 * commas, and in the arena. */
struct linked_comparison {
    const char *obstacle; /* why nothing was compared; NULL: it was */
    const char *older;    /* such as `libcurl 7.88.1-10 (installed: 7.88.1-11)`; "": none */
    const char *unknown;  /* those of which this machine has no package; all with an obstacle */
};

/* Compares the versions by dpkg. It needs no network. */
struct linked_comparison linked_compare(struct arena *arena);

#endif
