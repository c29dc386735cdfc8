/* without_landlock: runs a program as on a kernel without Landlock.
 *
 *     without_landlock PROGRAM [ARGUMENT...]
 *
 * Runs PROGRAM and its descendants under a seccomp filter that makes landlock_create_ruleset(2)
 * fail with EOPNOTSUPP, as it does on a kernel where Landlock is disabled.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
    if (argc < 2) {
        fputs("usage: without_landlock PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0)
        execvp(argv[1], argv + 1);
    fprintf(stderr, "without_landlock: %s: %s\n", argv[1], strerror(errno));
    return 127;
}
