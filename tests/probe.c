/* Tests what a confined process can do: a table of trials, each with the needs that permit it (make
 * audit). The table is a second, independent definition of what the needs of confine.h permit.
 * Built with PROBE_CONTROL it is a program that runs the same trials without confinement. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_alg.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/file_identity.h"
#include "base/process/syscalls.h"
#include "base/request_log.h"
#include "base/target.h"
#include "web/request.h"
#include "web/transport.h"

enum {
    NONE = 0,
    DATABASE = READS_DATABASE | WRITES_DATABASE,
};

/* A trial. `try` returns 0 when the operation was possible, else errno. */
struct trial {
    const char *name;
    unsigned may; /* the needs any of which permits it */
    int (*try)(const struct trial *trial);
    const char *path; /* {name} stands for a file of the configuration */
    unsigned also;    /* one of these needs is required too; 0: none is */
    int landlock;     /* the Landlock version that refuses it; 0: seccomp refuses it */
    long call, first, second, third;
};

static int failure(long result) {
    return result < 0 ? errno : 0;
}

/* Returns 0 when a call with invalid arguments was not refused by the confinement: it succeeded, or
 * failed with an error other than those of seccomp and Landlock. */
static int was_let_through(long result) {
    return result >= 0 || (errno != EPERM && errno != EACCES && errno != ENOSYS) ? 0 : errno;
}

static int try_call(const struct trial *t) {
    return was_let_through(syscall(t->call, t->first, t->second, t->third, 0, 0, 0));
}

/* --- files --- */

static int try_open(const struct trial *t) {
    int fd = open(t->path, (int)t->first | O_CLOEXEC, 0600);
    int result = failure(fd);
    if (fd >= 0)
        close(fd);
    return result;
}

/* Checks for a writable descriptor of the file, including one that was opened before the
 * confinement. */
static int try_hold(const struct trial *t) {
    struct stat wanted, found;
    if (stat(t->path, &wanted) != 0)
        return errno;
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
        if (fstat(fd, &found) == 0 && file_is_same(&found, &wanted) &&
            (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
            return 0;
    return try_open(&(struct trial){.path = t->path, .first = O_RDWR});
}

/* Sets the mode of a file that is opened for writing. */
static int try_mode(const struct trial *t) {
    int fd = open(t->path, O_RDWR | O_CLOEXEC);
    int result = fd < 0 ? errno : failure(fchmod(fd, (mode_t)t->first));
    if (fd >= 0)
        close(fd);
    return result;
}

/* Makes a file with a mode. */
static int try_create(const struct trial *t) {
    int fd = open(t->path, O_RDWR | O_CREAT | O_CLOEXEC, (mode_t)t->first);
    int result = failure(fd);
    if (fd >= 0)
        close(fd);
    return result;
}

static int try_list(const struct trial *t) {
    char entries[4096];
    int fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd < 0 ? errno : failure(syscall(SYS_getdents64, fd, entries, sizeof entries));
    if (fd >= 0)
        close(fd);
    return result;
}

static int try_remove(const struct trial *t) {
    return failure(unlink(t->path));
}

/* A call that takes a directory and a path, such as fchmodat(2). */
static int try_at(const struct trial *t) {
    return failure(syscall(t->call, AT_FDCWD, t->path, t->first, t->second, t->third));
}

/* --- processes --- */

static int try_execve(const struct trial *t) {
    char *none[] = {NULL};
    return was_let_through(execve(t->path, none, none));
}

static int try_fork(const struct trial *t) {
    (void)t;
    pid_t child = fork();
    int result = failure(child);
    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid(child, NULL, 0);
    return result;
}

static void *do_nothing(void *argument) {
    return argument;
}

static int try_thread(const struct trial *t) {
    pthread_t thread;
    (void)t;
    int result = pthread_create(&thread, NULL, do_nothing, NULL);
    if (!result)
        pthread_join(thread, NULL);
    return result;
}

/* A call whose first argument is the process that started this one. */
static int try_parent(const struct trial *t) {
    long parent = getppid();
    return was_let_through(
        syscall(t->call, parent, t->first < 0 ? parent : t->first, t->second, t->third, 0, 0));
}

static int try_ptrace(const struct trial *t) {
    (void)t;
    return was_let_through(ptrace(PTRACE_PEEKDATA, getppid(), NULL, NULL));
}

/* --- memory --- */

static int try_map(const struct trial *t) {
    int file = t->path ? open(t->path, O_RDONLY | O_CLOEXEC) : -1;
    if (t->path && file < 0)
        return errno;
    void *map =
        mmap(NULL, 4096, (int)t->first, MAP_PRIVATE | (t->path ? 0 : MAP_ANONYMOUS), file, 0);
    int result = map == MAP_FAILED ? errno : 0;
    if (!result)
        munmap(map, 4096);
    if (file >= 0)
        close(file);
    return result;
}

static int try_share(const struct trial *t) {
    (void)t;
    void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return errno;
    munmap(map, 4096);
    return 0;
}

static int try_protect(const struct trial *t) {
    void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return errno;
    int result = failure(mprotect(map, 4096, (int)t->first));
    munmap(map, 4096);
    return result;
}

/* --- the network --- */

static int try_socket(const struct trial *t) {
    int fd = socket((int)t->first, (int)t->second | SOCK_CLOEXEC, (int)t->third);
    int result = fd < 0 && (errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT) ? 0 : failure(fd);
    if (fd >= 0)
        close(fd);
    return result;
}

static int try_address(const struct trial *t) {
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)t->first),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int result = was_let_through(syscall(t->call, fd, &address, sizeof address));
    close(fd);
    return result;
}

/* Connects to an abstract socket of another process. */
static int try_abstract(const struct trial *t) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t n = strnlen(t->path, sizeof address.sun_path - 1);
    memcpy(address.sun_path + 1, t->path, n);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    n += offsetof(struct sockaddr_un, sun_path) + 1;
    int result = was_let_through(connect(fd, (struct sockaddr *)&address, (socklen_t)n));
    close(fd);
    return result;
}

static struct sockaddr_un path_address(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

/* Connects to a socket by its path. The path does not exist; ENOENT means that the kernel has
 * resolved it. */
static int try_path(const struct trial *t) {
    struct sockaddr_un address = path_address(t->path);
    int fd = socket(AF_UNIX, (int)t->first | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int result = was_let_through(connect(fd, (struct sockaddr *)&address, sizeof address));
    close(fd);
    return result;
}

static int try_pair(const struct trial *t) {
    struct sockaddr_un address = path_address(t->path);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    int result = was_let_through(connect(ends[0], (struct sockaddr *)&address, sizeof address));
    close(ends[0]);
    close(ends[1]);
    return result;
}

#define READ(file)       try_open, file, .first = O_RDONLY, .landlock = 1
#define WRITE(file)      try_open, file, .first = O_RDWR, .landlock = 1
#define MAKE(file)       try_open, file, .first = O_RDWR | O_CREAT, .landlock = 1
#define NAMELESS(dir)    try_open, dir, .first = O_RDWR | O_TMPFILE, .landlock = 1
#define HOLD(file)       try_hold, file, .landlock = 1
#define LIST(dir)        try_list, dir, .landlock = 1
#define REMOVE(file)     try_remove, file, .landlock = 1
#define NONSENSE(number) try_call, .call = SYS_##number

/* clang-format off */
static const struct trial trials[] = {
    {"read the configuration", DATABASE | LISTENS, READ("{config}")},
    {"read beside the configuration", USES_KEYS, READ("{config}-probe")}, /* the keys are there */
    {"write the configuration", NONE, WRITE("{config}")},
    {"read the key file", USES_KEYS, READ("{keys}")},
    {"read beside the key file", USES_KEYS, READ("{keys}-probe")},
    {"write the key file", NONE, WRITE("{keys}")},
    {"reopen the log", IS_RESIDENT, WRITE("{log}")},
    {"open the database for reading", WRITES_DATABASE, READ("{database}")},
    {"open the database for writing", WRITES_DATABASE, WRITE("{database}")},
    {"have the database open for writing", WRITES_DATABASE, HOLD("{database}")},
    {"have the write-ahead log open for writing", WRITES_DATABASE, HOLD("{database}-wal")},
    {"have the wal-index open for writing", WRITES_DATABASE, HOLD("{database}-shm")},
    {"write at an offset of a file", WRITES_DATABASE | SPOOLS_FILES, NONSENSE(pwrite64),
     .first = -1},
    {"map shared memory for writing", WRITES_DATABASE, .try = try_share},
    {"make a file beside the configuration", NONE, MAKE("{config}-made")},
    {"remove a file beside the configuration", NONE, REMOVE("{config}-probe")},
    {"make a file beside the key file", NONE, MAKE("{keys}-made")},
    {"remove a file beside the key file", NONE, REMOVE("{keys}-probe")},
    {"write a program", NONE, WRITE("{program}")},
    {"make a file beside the programs", NONE, MAKE("{program}-made")},
    {"remove a file beside the programs", NONE, REMOVE("{program}-probe")},
    {"read the log", IS_RESIDENT, READ("{log}")},
    {"make a file beside the log", IS_RESIDENT, MAKE("{log}-made")},
    {"read a file in run_dir", NONE, READ("{run}/probe")},
    {"make a file in run_dir", NONE, MAKE("{run}/made")},
    {"remove a file in run_dir", IS_RESIDENT, REMOVE("{run}/probe")},
    {"make a file beside the database", WRITES_DATABASE, MAKE("{database}-made")},
    {"make a setuid file beside the database", NONE,
     try_create, "{database}-setuid", .first = 06660},
    {"make a program beside the database", NONE,
     try_create, "{database}-setuid", .first = 0770},
    {"give the database to all users", NONE, try_mode, "{database}", .first = 0666},
    {"set the setgid bit of the database", NONE, try_mode, "{database}", .first = 02660},
    {"set the mode of the database", WRITES_DATABASE,
     try_mode, "{database}", .first = 0660, .landlock = 1},
    {"change the owner of an open file", NONE, NONSENSE(fchown), .first = -1},
    {"remove a file beside the database", WRITES_DATABASE, REMOVE("{database}-probe")},
    {"read the counters' file", NONE, READ("{metrics}")},
    {"write the counters' file", NONE, WRITE("{metrics}")},
    {"have the counters' file open for writing", NONE, HOLD("{metrics}")},
    {"read the list of the requests", NONE, READ("{requests}")},
    {"write the list of the requests", NONE, WRITE("{requests}")},
    {"have the list of the requests open for writing", NONE, HOLD("{requests}")},
    {"make a file beside the counters", NONE, MAKE("{metrics}-made")},
    {"remove a file beside the counters", NONE, REMOVE("{metrics}-probe")},
    {"list the directory of the database", USES_NETWORK, LIST("{state}"),
     .also = WRITES_DATABASE},
    {"make a nameless file in the spool", SPOOLS_FILES, NAMELESS("{spool}")},
    {"make a file in the spool", SPOOLS_FILES, MAKE("{spool}/made")},
    {"remove a file in the spool", SPOOLS_FILES, REMOVE("{spool}/probe")},
    {"make a file in pending_dir", KEEPS_RECORDS, try_open, "{pending}/made",
     .first = O_WRONLY | O_CREAT, .landlock = 1},
    {"make a nameless file in pending_dir", KEEPS_RECORDS, try_open, "{pending}",
     .first = O_WRONLY | O_TMPFILE, .landlock = 1},
    {"read a file in pending_dir", KEEPS_RECORDS, READ("{pending}/probe"), .also = IS_RESIDENT},
    {"list pending_dir", KEEPS_RECORDS, LIST("{pending}")},
    {"remove a file in pending_dir", KEEPS_RECORDS, REMOVE("{pending}/probe")},
    {"linkat", KEEPS_RECORDS, NONSENSE(linkat), .first = -1},
    {"renameat", KEEPS_RECORDS, NONSENSE(renameat), .first = -1},
    {"make a file in /tmp", NONE, NAMELESS("/tmp")},
    {"make a file in /var/tmp", NONE, NAMELESS("/var/tmp")},
    {"make a file in /dev/shm", NONE, NAMELESS("/dev/shm")},
    {"make a file in the working directory", NONE, MAKE("./probe-made")},
    {"read a file in the working directory", NONE, READ("./probe-there")},
    {"list the working directory", NONE, LIST(".")},
    {"list /", NONE, LIST("/")},
    {"list /etc", NONE, LIST("/etc")},
    {"read /etc/passwd", NONE, READ("/etc/passwd")},
    {"read /etc/shadow", NONE, READ("/etc/shadow")},
    {"read its own executable", NONE, READ("/proc/self/exe")},
    {"read its own environment", NONE, READ("/proc/self/environ")},
    {"write its own memory", NONE, WRITE("/proc/self/mem")},
    {"read the processes' list", NONE, LIST("/proc")},
    {"read /proc/1/cmdline", NONE, READ("/proc/1/cmdline")},
    {"read /etc/hosts", USES_NETWORK, READ("/etc/hosts")},
    {"list the certificates", USES_NETWORK, LIST("{certificates}")},
    {"read shared libraries", USES_NETWORK, READ("/usr/lib/os-release")},
    {"read what libmagic reads", DETECTS_TYPES | IS_DETECTOR | USES_NETWORK,
     READ("/usr/share/misc/magic.mgc")},
    {"open /dev/tty", NONE, WRITE("/dev/tty")},
    {"change a mode", NONE, try_at, "{database}", .call = SYS_fchmodat, .first = 0660},
    {"change an owner", NONE,
     try_at, "{database}", .call = SYS_fchownat, .first = -1, .second = -1},
    {"change times", NONE, try_at, "{database}", .call = SYS_utimensat},
    {"make a directory", NONE,
     try_at, "{database}-directory", .call = SYS_mkdirat, .first = 0700},
    {"make a pipe in the file system", NONE,
     try_at, "{database}-pipe", .call = SYS_mknodat, .first = S_IFIFO | 0600},
    {"make a symbolic link", NONE, NONSENSE(symlinkat)},
    {"make a hard link", KEEPS_RECORDS, NONSENSE(linkat)},
    {"rename a file", NONE, NONSENSE(renameat2)},
    {"truncate a file by its name", NONE, NONSENSE(truncate)},
    {"set an extended attribute", NONE, NONSENSE(setxattr)},
    {"watch files", WATCHES_LOG, NONSENSE(inotify_init1)},
    {"open by handle", NONE, NONSENSE(open_by_handle_at), .first = -1},
    {"openat2", NONE, NONSENSE(openat2), .first = AT_FDCWD},

    {"execve", NONE, .try = try_execve, .path = "/nowhere/probe"},
    {"execveat", NONE, NONSENSE(execveat), .first = -1},
    {"fork", DETECTS_TYPES, .try = try_fork},
    {"clone", NONE, NONSENSE(clone), .first = CLONE_SIGHAND | SIGCHLD},
    {"clone3", NONE, NONSENSE(clone3)},
    {"clone into new namespaces", NONE, NONSENSE(clone), .first = CLONE_NEWUSER | CLONE_FS},
    {"start a thread", USES_NETWORK, .try = try_thread},
    {"signal the parent", NONE, try_parent, .call = SYS_kill},
    {"signal the parent's thread", NONE, try_parent, .call = SYS_tgkill, .first = -1},
    {"queue a signal", NONE, try_parent, .call = SYS_rt_sigqueueinfo},
    {"ptrace", NONE, .try = try_ptrace},
    {"read a process's memory", NONE, try_parent, .call = SYS_process_vm_readv},
    {"write a process's memory", NONE, try_parent, .call = SYS_process_vm_writev},
    {"limit another process", NONE, try_parent, .call = SYS_prlimit64, .first = RLIMIT_NOFILE},
    {"open a process", NONE, try_parent, .call = SYS_pidfd_open},
    {"become dumpable", NONE, NONSENSE(prctl), .first = PR_SET_DUMPABLE, .second = 1},
    {"ask which capabilities there are", USES_NETWORK, NONSENSE(prctl), .first = PR_CAPBSET_READ},
    {"change its user", NONE, NONSENSE(setresuid), .first = -1, .second = -1, .third = -1},
    {"change its group", NONE, NONSENSE(setresgid), .first = -1, .second = -1, .third = -1},
    {"change its groups", NONE, NONSENSE(setgroups), .first = -1},
    {"change its capabilities", NONE, NONSENSE(capset)},
    {"leave its session", NONE, NONSENSE(setsid)},
    {"change its root", NONE, NONSENSE(chroot), .first = (long)"/nowhere"},
    {"change its directory", NONE, NONSENSE(chdir), .first = (long)"/"},
    {"enter a namespace", NONE, NONSENSE(setns), .first = -1},
    {"new namespaces", NONE, NONSENSE(unshare), .first = 1},

    {"map empty memory as code", NONE, try_map, .first = PROT_READ | PROT_EXEC},
    {"map writable and executable memory", NONE,
     try_map, .first = PROT_READ | PROT_WRITE | PROT_EXEC},
    {"make memory executable", NONE, try_protect, .first = PROT_READ | PROT_EXEC},
    {"map a library as code", NONE,
     try_map, "/usr/lib/os-release", .first = PROT_READ | PROT_EXEC},
    {"map a file that it may write as code", NONE,
     try_map, "{database}", .first = PROT_READ | PROT_EXEC},
    {"map a file as writable code", NONE,
     try_map, "/etc/hosts", .first = PROT_READ | PROT_WRITE | PROT_EXEC},
    {"memfd_create", NONE, NONSENSE(memfd_create), .first = (long)"probe"},
    {"share memory", NONE, NONSENSE(shmget)},
    {"handle page faults", NONE, NONSENSE(userfaultfd)},
    {"lock memory", NONE, NONSENSE(mlockall)},

    {"socket AF_INET, TCP", USES_NETWORK, try_socket, .first = AF_INET, .second = SOCK_STREAM},
    {"socket AF_INET, UDP", USES_NETWORK, try_socket, .first = AF_INET, .second = SOCK_DGRAM},
    {"socket AF_INET6, TCP", USES_NETWORK, try_socket, .first = AF_INET6, .second = SOCK_STREAM},
    {"socket AF_NETLINK", USES_NETWORK, try_socket, .first = AF_NETLINK, .second = SOCK_RAW},
    {"socket AF_UNIX, datagrams", NOTIFIES_COURIER | IS_RESIDENT,
     try_socket, .first = AF_UNIX, .second = SOCK_DGRAM},
    {"socket AF_UNIX, stream", NONE, try_socket, .first = AF_UNIX, .second = SOCK_STREAM},
    {"socket AF_UNIX, packets", NONE, try_socket, .first = AF_UNIX, .second = SOCK_SEQPACKET},
    {"connect to a stream socket by its path", NONE,
     try_path, "/run/nowhere.sock", .first = SOCK_STREAM},
    {"connect to a datagram socket by its path", NOTIFIES_COURIER | IS_RESIDENT,
     try_path, "/run/nowhere.sock", .first = SOCK_DGRAM, .also = USES_NETWORK},
    {"connect one of a pair of sockets to a path", NONE,
     .try = try_pair, .path = "/run/nowhere.sock"},
    {"socket AF_PACKET", NONE, try_socket, .first = AF_PACKET, .second = SOCK_RAW},
    {"socket AF_ALG", NONE, try_socket, .first = AF_ALG, .second = SOCK_SEQPACKET},
    {"socket AF_VSOCK", NONE, try_socket, .first = AF_VSOCK, .second = SOCK_STREAM},
    {"socket AF_BLUETOOTH", NONE, try_socket, .first = AF_BLUETOOTH, .second = SOCK_RAW},
    {"connect to loopback TCP", USES_NETWORK, try_address, .call = SYS_connect, .first = 9},
    {"bind a TCP port", NONE, try_address, .call = SYS_bind, .first = 0, .landlock = 4},
    {"reach another's abstract socket", NONE, try_abstract, "{socket}", .landlock = 6},
    {"listen", NONE, NONSENSE(listen), .first = -1},
    {"accept", LISTENS, try_call, .call = SYS_accept, .first = -1},

    {"io_uring_setup", NONE, NONSENSE(io_uring_setup)},
    {"bpf", NONE, NONSENSE(bpf), .first = -1},
    {"perf_event_open", NONE, NONSENSE(perf_event_open)},
    {"add_key", NONE, NONSENSE(add_key)},
    {"keyctl", NONE, NONSENSE(keyctl)},
    {"mount", NONE, NONSENSE(mount)},
    {"umount", NONE, NONSENSE(umount2)},
    {"load a kernel module", NONE, NONSENSE(finit_module), .first = -1},
    {"ioctl of a terminal (TIOCSTI)", NONE, NONSENSE(ioctl), .second = 0x5412},
    {"set the host's name", NONE, NONSENSE(sethostname), .second = -1},
    {"set the clock", NONE, NONSENSE(clock_settime), .first = -1},
    {"change the scheduling", NONE, NONSENSE(sched_setscheduler), .first = -1},
    {"change the personality", NONE, NONSENSE(personality), .first = 0xffffffff},
    {"loosen seccomp", NONE, NONSENSE(seccomp), .first = -1},
};
/* clang-format on */

/* The process that runs the trials. */
struct subject {
    unsigned needs;
    const struct config *config;
    const char *config_path, *socket_name;
    const char *program; /* one of the programs of the installation */
    const char *prefix;  /* of the trials' names in the output */
};

/* Copies `path` to `out` and replaces a name in braces at its start. */
static void expand(const char *path, const struct subject *subject, char *out, size_t size) {
    const struct config *config = subject->config;
    char state[PATH_MAX];
    const char *slash = strrchr(config->database, '/');
    snprintf(state, sizeof state, "%.*s", (int)(slash - config->database), config->database);
    const struct {
        const char *name, *value;
    } names[] = {
        {"{config}", subject->config_path},
        {"{keys}", config->secret_key_file},
        {"{log}", config->log_file},
        {"{database}", config->database},
        {"{spool}", config->spool_dir},
        {"{pending}", config->pending_dir},
        {"{certificates}", config->ca_path},
        {"{metrics}", config->metrics_file},
        {"{requests}", config->requests_file},
        {"{state}", state},
        {"{run}", config->run_dir},
        {"{program}", subject->program},
        {"{socket}", subject->socket_name},
    };
    snprintf(out, size, "%s", path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(path, names[i].name, strlen(names[i].name)) == 0)
            snprintf(out, size, "%s%s", names[i].value, path + strlen(names[i].name));
}

static int landlock_abi;

/* A constructor, because a confined process cannot query the Landlock version. */
__attribute__((constructor)) static void query_landlock(void) {
    landlock_abi = confine_support().landlock_abi;
}

static bool may(const struct trial *trial, unsigned needs) {
    return trial->may & needs && (!trial->also || trial->also & needs);
}

/* Runs all trials; adds a line `trial OUTCOME VERDICT ERROR NAME` for each, separated by tabs. */
static void try_all(const struct subject *subject, struct buffer *out) {
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct trial trial = trials[i];
        if (trial.path) {
            expand(trial.path, subject, path, sizeof path);
            trial.path = path;
        }
        int error = trial.try(&trial);
        bool is_wanted = may(&trial, subject->needs);
        const char *verdict = is_wanted == !error                       ? "declared"
                              : !error && landlock_abi < trial.landlock ? "unproven"
                                                                        : "SURPRISE";
        buffer_printf(out, "trial\t%s\t%s\t%s\t%s%s\n", error ? "refused" : "possible", verdict,
                      error ? strerrorname_np(error) : "-", subject->prefix, trial.name);
    }
}

#ifdef PROBE_CONTROL

int main(int argc, char **argv) {
    struct arena arena;
    struct config config;
    const char *error;
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    if (argc != 4 || config_read(argv[1], &arena, &config, &error)) {
        fprintf(stderr, "usage: control CONFIG SOCKET PROGRAM\n");
        return 2;
    }
    struct buffer out = buffer_in(&arena);
    try_all(&(struct subject){INT_MAX, &config, argv[1], argv[2], argv[3], ""}, &out);
    return fwrite(out.p, 1, out.n, stdout) == out.n ? 0 : 1;
}

#else

static void list_calls(unsigned needs, struct buffer *out) {
    const char *name;
    for (size_t i = 0; (name = syscalls_name(needs, i)); i++)
        buffer_printf(out, "call\t%s\n", name);
}

/* Runs the trials in a child that is confined like the one that detects a file's type. */
static void try_detector(const struct subject *subject, struct buffer *out) {
    struct subject child = *subject;
    int ends[2];
    child.needs = IS_DETECTOR;
    child.prefix = "detector: ";
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        struct buffer own = buffer_in(out->arena);
        confine_detector(ends[1], NULL);
        try_all(&child, &own);
        _exit(write(ends[1], own.p, own.n) == (ssize_t)own.n ? 0 : 1);
    }
    close(ends[1]);
    for (ssize_t n = 1; n > 0;) {
        n = read(ends[0], buffer_reserve(out, 4096), 4096);
        out->n += n > 0 ? (size_t)n : 0;
    }
    close(ends[0]);
    waitpid(pid, NULL, 0);
}

/* Adds how the process has the file open already, for each descriptor that is another way. */
static void add_held(const char *path, struct buffer *rights) {
    static const char *const modes[] = {[O_RDONLY] = "open for reading",
                                        [O_WRONLY] = "open for writing",
                                        [O_RDWR] = "open for reading and writing"};
    struct stat wanted, found;
    bool is_named[sizeof modes / sizeof *modes] = {false};
    for (int fd = STDERR_FILENO + 1; stat(path, &wanted) == 0 && fd < 256; fd++) {
        const int flags =
            fstat(fd, &found) == 0 && file_is_same(&found, &wanted) ? fcntl(fd, F_GETFL) : -1;
        if (flags < 0 || is_named[flags & O_ACCMODE])
            continue;
        is_named[flags & O_ACCMODE] = true;
        buffer_printf(rights, "%s%s", rights->n ? ", " : "",
                      flags & O_APPEND ? "open for appending" : modes[flags & O_ACCMODE]);
    }
}

/* Adds a right, if the path can be opened with the flags. */
static void add_right(const char *path, int flags, const char *right, struct buffer *rights) {
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0)
        return;
    close(fd);
    buffer_printf(rights, "%s%s", rights->n ? ", " : "", right);
}

/* Lists the keys of the configuration whose files the process may open, each with what it can do
 * with the file: by descriptors of before the confinement, and by opening it now. */
static void list_files(const struct subject *subject, struct buffer *out) {
    for (const struct config_key *key = config_keys; key->name; key++) {
        struct buffer rights = buffer_in(out->arena);
        if ((key->kind != CONFIG_PATH && key->kind != CONFIG_TARGET) ||
            (key->needs && !(key->needs & subject->needs)))
            continue;
        const char *value = config_value(subject->config, key);
        const char *path = key->kind == CONFIG_TARGET && value ? target_file(value) : value;
        if (!path || !*path) {
            buffer_add_text(&rights, "not set");
        } else {
            add_held(path, &rights);
            add_right(path, O_RDONLY, "may be opened for reading", &rights);
            add_right(path, O_WRONLY, "may be opened for writing", &rights);
            add_right(path, O_WRONLY | O_TMPFILE, "new files", &rights);
        }
        buffer_printf(out, "file\t%s: %s\n", key->name,
                      rights.n ? arena_copy(out->arena, buffer_slice(&rights)) : "no access now");
    }
    if (counters_are_kept())
        buffer_add_text(out, "mapped\tmetrics_file: reading and writing\n");
    if (request_log_is_kept())
        buffer_add_text(out, "mapped\trequests_file: reading and writing\n");
}

static void report_limits(struct request *rq) {
    unsigned listens = transport_is_fastcgi() ? LISTENS : 0;
    struct subject subject = {rq->needs | listens,
                              rq->config,
                              getenv("SWITCHBOARD_CONFIG"),
                              request_variable("HTTP_X_PROBE_SOCKET"),
                              request_variable("HTTP_X_PROBE_PROGRAM"),
                              ""};
    struct buffer out = buffer_in(rq->arena);
    buffer_add_text(&out, "Content-Type: text/plain\r\n\r\n");
    list_calls(subject.needs, &out);
    list_files(&subject, &out);
    try_all(&subject, &out);
    if (rq->needs & DETECTS_TYPES)
        try_detector(&subject, &out);
    struct slice answer = buffer_slice(&out);
    transport_write(&answer, 1);
    transport_finish();
    _exit(0);
}

void probe_process(unsigned needs, const struct config *config, const char *config_path) {
    struct arena arena;
    const char *socket_name = getenv("HTTP_X_PROBE_SOCKET");
    if (!socket_name)
        return;
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    struct buffer out = buffer_in(&arena);
    for (unsigned need = 1; need <= needs; need <<= 1)
        if (needs & need)
            buffer_printf(&out, "may\t%s\n", confine_meaning(need));
    list_calls(needs, &out);
    struct subject subject = {
        needs, config, config_path, socket_name, getenv("HTTP_X_PROBE_PROGRAM"), ""};
    list_files(&subject, &out);
    try_all(&subject, &out);
    _exit(write(STDOUT_FILENO, out.p, out.n) == (ssize_t)out.n ? 0 : 1);
}

static int overflow(volatile int depth) {
    volatile char room[4096] = {(char)depth};
    return depth < 0 ? room[0] : overflow(depth + 1) + room[0];
}

void probe_run(struct request *rq) {
    const char *action = request_variable("HTTP_X_PROBE");
    if (!action)
        return;
    if (strcmp(action, "limits") == 0)
        report_limits(rq);
    if (strcmp(action, "abort") == 0)
        abort();
    if (strcmp(action, "fault") == 0)
        *(volatile int *)(uintptr_t)rq->head = 0;
    if (strcmp(action, "loop") == 0)
        for (volatile unsigned turn = 0;; turn++)
            ;
    if (strcmp(action, "overflow") == 0)
        overflow(0);
    if (strcmp(action, "exhaust") == 0)
        arena_alloc(rq->arena, SIZE_MAX / 2);
}

#endif
