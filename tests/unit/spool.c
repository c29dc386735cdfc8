/* lib/base/spool.h: a file without a name, also on a file system without O_TMPFILE. */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

static char dir[4096];
static const char *when = "with O_TMPFILE";

/* The file can be written and read back, and is in no directory. */
static void check_file(void) {
    char text[8] = "";
    struct stat stat;
    int file = spool_open(dir);
    check(file >= 0, "%s", when);
    check(write(file, "kettle", 6) == 6 && lseek(file, 0, SEEK_SET) == 0, "%s", when);
    check(read(file, text, sizeof text) == 6 && strcmp(text, "kettle") == 0, "%s", when);
    check(fstat(file, &stat) == 0 && stat.st_nlink == 0 && (stat.st_mode & 0777) == 0600, "%s",
          when);
    check(fcntl(file, F_GETFD) == FD_CLOEXEC, "%s", when);
    close(file);
}

static void check_refusals(void) {
    char deep[5000];
    memset(deep, 'x', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    check(spool_open("/nonexistent/place") == -1 && errno == ENOENT, "%s", when);
    check(spool_open(deep) == -1 && errno == ENAMETOOLONG, "%s", when);
}

/* Installs a filter by which O_TMPFILE fails with `error`, as on a file system without it. */
static void forget_tmpfile(int error) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_TMPFILE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_TMPFILE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "%s", when);
    check(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0, "%s", when);
}

int main(void) {
    const char *parent = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/spool-XXXXXX", parent ? parent : "/tmp");
    check(mkdtemp(dir) != NULL, "%s", when);
    check_file();
    check_refusals();
    when = "without O_TMPFILE";
    forget_tmpfile(EOPNOTSUPP);
    check_file();
    check_refusals();
    when = "before O_TMPFILE";
    forget_tmpfile(EISDIR); /* kernels before 3.11 */
    check_file();
    check(rmdir(dir) == 0, "%s", when); /* nothing is left in it */
    return check_failures();
}
