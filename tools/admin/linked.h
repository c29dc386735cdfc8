/* The libraries that are linked statically: a security update of Debian's package does not reach
 * them until the programs are built again. The table is written by tools/linked when the CLI is
 * built. */
#ifndef SWITCHBOARD_ADMIN_LINKED_H
#define SWITCHBOARD_ADMIN_LINKED_H

#include "base/arena.h"

struct linked {
    const char *name;
    const char *version; /* of the Debian package that it was linked from */
    const char *shared;  /* the package of the shared library, which has the same version */
};

extern const struct linked linked[]; /* ends with a NULL name */

/* Prints name and version of this program and, in a line each, those of `linked`. */
void linked_print(void);

/* Compares with the installed Debian packages. Returns text such as `libcurl 7.88.1-10 (Debian has
 * 7.88.1-11)`, separated by commas, of the libraries for which there is a newer one; "" when there
 * is none; NULL when this machine has no dpkg. The text is in the arena. */
const char *linked_outdated(struct arena *arena);

#endif
