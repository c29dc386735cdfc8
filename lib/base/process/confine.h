/* Least privilege: before a process reads a request's body, it drops every permission that its
 * executable does not declare (need.h). It sets no_new_privs, restricts files by Landlock where the
 * kernel has it, and system calls by a seccomp filter. Forbidden operations fail with EPERM or
 * EACCES.
 *
 * Sanitizer builds are not confined: their runtime makes system calls of its own.
 */
#ifndef SWITCHBOARD_CONFINE_H
#define SWITCHBOARD_CONFINE_H

#include "base/config.h"
#include "base/process/need.h"

/* Returns a description of one need, such as `call the platform`; a static string. */
const char *confine_meaning(enum need need);

/* What the running kernel supports. */
struct confinement {
    int landlock_abi; /* below 1: no Landlock, or disabled */
    bool has_seccomp;
};

struct confinement confine_support(void);

/* Protects the secrets in this process's memory: disables core dumps, and access by other processes
 * of the same user (PR_SET_DUMPABLE). Call it first in main. */
void confine_memory(void);

/* Confines this process permanently, as far as the kernel supports it, to `needs` (enum need).
 * `listens`: the process continues to accept FastCGI connections. A process that uses keys may read
 * the directory of the key file, and, if it listens or is resident, that of the configuration file,
 * because both are replaced by new files. Call it after opening files that must stay open, such as
 * the log. */
void confine(unsigned needs, bool listens, const char *config_path, const struct config *config);

/* Allows this process to remove the file `path` when it ends. Call it before confine; `path` is not
 * copied and must stay valid until then. */
void confine_removable(const char *path);

/* Confines the child process of a process with DETECTS_TYPES further: closes all descriptors but
 * `out`; the child can read the files of libmagic and `magic_file`, write to `out`, and exit. */
void confine_detector(int out, const char *magic_file);

#endif
