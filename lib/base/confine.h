/* Least privilege: before a process touches a request's body it gives up all that its executable did
 * not declare. no_new_privs always; Landlock for files, where the kernel has it; a seccomp filter
 * for system calls. What is tried nevertheless fails with EPERM or EACCES.
 *
 * Sanitizer builds are not confined: their runtime needs calls of its own.
 */
#ifndef SWITCHBOARD_CONFINE_H
#define SWITCHBOARD_CONFINE_H

#include "base/config.h"
#include "base/need.h"

/* One need in words, such as `call the platform`. */
const char *confine_meaning(enum need need);

/* What the kernel can do for us. */
struct confinement {
    int landlock_abi; /* below 1: it has no Landlock, or it is switched off */
    bool has_seccomp;
};

struct confinement confine_support(void);

/* What this process holds in memory, secrets too, stays there: it leaves no core, and no other process
 * of its user may look into it. First thing in main. */
void confine_memory(void);

/* Confines this process for good, as far as the kernel can. `listens`: it goes on accepting FastCGI
 * connections, and where it uses keys it may read the directories of the key file and of the
 * configuration, for both are replaced by new files. Open what must stay open, such as the log,
 * before. */
void confine(unsigned needs, bool listens, const char *config_path, const struct config *config);

/* One more file, which this process will remove at its end. Before confine; `path` must stay. */
void confine_removable(const char *path);

/* Confines a child of a process with DETECTS_TYPES even more: it keeps the descriptor `out` alone,
 * may read what libmagic reads, write to `out`, and end. */
void confine_detector(int out);

#endif
