/* What the sandbox knows from the start, and what --fixtures adds. */
#ifndef SANDBOX_BUILTIN_H
#define SANDBOX_BUILTIN_H

/* The fixtures file to load with the built-in state. */
void builtin_fixtures(const char *path);

/* Fills the empty state. 0, or -1 with a message on stderr. */
int builtin_load(void);

/* Prints accounts, media and templates there are, and the form of a fixtures file. */
void builtin_help(void);

#endif
