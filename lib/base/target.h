/* The target of a database, as the configuration names it: the path of a file, or the URL of a
 * server, which may hold a password. */
#ifndef SWITCHBOARD_TARGET_H
#define SWITCHBOARD_TARGET_H

#include "base/arena.h"

/* Returns the length of the URL's scheme without `://`; 0: the target is not a URL. */
size_t target_scheme(const char *target);

/* Returns the path of the file; NULL: the database is not a file. All other files of the database
 * are in the same directory. */
const char *target_file(const char *target);

/* Copies the value of a parameter of the URL, decoded; false: it has none, or it does not fit. The
 * value is "" then. */
bool target_parameter(const char *target, const char *name, char *value, size_t size);

/* Whether a host of the URL is the directory of a Unix socket, or none is named. */
bool target_has_socket(const char *target);

/* Whether the target is a URL that has a password, before an @ or as a parameter. */
bool target_has_password(const char *target);

/* Returns the form of the target that may be printed and logged: a path as it is; of a URL its
 * scheme, hosts, ports and the name of the database, without user, password, parameters and
 * fragment. A part that may hold a piece of a password is replaced by `...`. In `arena`, or
 * `target` itself. */
const char *target_name(struct arena *arena, const char *target);

#endif
