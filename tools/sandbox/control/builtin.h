/* The built-in state of the sandbox, and the fixtures file of --fixtures. */
#ifndef SANDBOX_BUILTIN_H
#define SANDBOX_BUILTIN_H

#include <stdbool.h>

/* Sets the path of the fixtures file that builtin_load loads. The path is not copied. */
void builtin_fixtures(const char *path);

/* Loads the built-in state and the fixtures file. Returns false after a message on stderr. */
bool builtin_load(void);

/* Prints the built-in accounts, media, templates and flows, and the form of a fixtures file. */
void builtin_help(void);

#endif
