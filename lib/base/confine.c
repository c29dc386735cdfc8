#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- files: Landlock --- */

enum { READ = 1, CHANGE = 2 }; /* CHANGE: write, make and remove files */

#define FILE_READ   LANDLOCK_ACCESS_FS_READ_FILE
#define FILE_CHANGE (LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE)
#define DIR_READ    LANDLOCK_ACCESS_FS_READ_DIR
#define DIR_CHANGE  (LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)

/* Later than Debian 12's header knows: ABI 3. */
#define ACCESS_TRUNCATE (1ULL << 14)

/* Everything that ABI 1 to 3 know; what is handled and not allowed is refused. */
static uint64_t handled_access(long abi) {
    uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
    if (abi >= 2)
        all |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3)
        all |= ACCESS_TRUNCATE;
    return all;
}

static void allow_path(int ruleset, uint64_t handled, const char *path, int access) {
    struct stat stat;
    if (!path || !*path)
        return;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) != 0)
        return; /* what is not there needs no permission */
    uint64_t wanted = FILE_READ | (access & CHANGE ? FILE_CHANGE : 0);
    if (S_ISDIR(stat.st_mode))
        wanted |= DIR_READ | (access & CHANGE ? DIR_CHANGE : 0);
    struct landlock_path_beneath_attr rule = {.allowed_access = wanted & handled, .parent_fd = fd};
    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(fd);
}

static void allow_directory_of(int ruleset, uint64_t handled, const char *path, int access) {
    char directory[4096];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (!slash)
        return;
    slash[slash == directory] = '\0';
    allow_path(ruleset, handled, directory, access);
}

/* Names and certificates: what the resolver and TLS read. */
static const char *const platform_paths[] = {
    "/etc/resolv.conf", "/etc/hosts",  "/etc/nsswitch.conf",    "/etc/host.conf", "/etc/gai.conf",
    "/etc/services",    "/etc/ssl",    "/run/systemd/resolve",  "/etc/ld.so.cache", "/usr/lib",
    "/lib",             "/etc/passwd", "/usr/share/ca-certificates", "/dev/urandom",
    "/usr/local/share/ca-certificates", NULL};

static const char *const type_paths[] = {"/usr/share/misc", "/usr/share/file", "/usr/lib/file",
                                         "/etc/magic", "/usr/lib", "/lib", NULL};

static void allow_all(int ruleset, uint64_t handled, const char *const *paths) {
    for (; *paths; paths++)
        allow_path(ruleset, handled, *paths, READ);
}

/* A file that others replace by a new one: a process that lives on must be able to read that too. */
static void allow_replaceable(int ruleset, uint64_t handled, const char *path, bool lives_on) {
    if (lives_on)
        allow_directory_of(ruleset, handled, path, READ);
    else
        allow_path(ruleset, handled, path, READ);
}

static bool restrict_files(unsigned needs, bool listens, const char *config_path,
                           const struct config *config) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return false;
    uint64_t handled = handled_access(abi);
    struct landlock_ruleset_attr attr = {.handled_access_fs = handled};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0)
        return false;
    allow_replaceable(ruleset, handled, config_path, listens);
    if (needs & (READS_DATABASE | WRITES_DATABASE)) {
        allow_directory_of(ruleset, handled, config->database, READ | CHANGE);
        allow_replaceable(ruleset, handled, config->secret_key_file, listens);
    }
    if (needs & CALLS_PLATFORM) {
        allow_all(ruleset, handled, platform_paths);
        allow_path(ruleset, handled, config->ca_path, READ);
        allow_path(ruleset, handled, config->ca_file, READ);
    }
    if (needs & SPOOLS_FILES) {
        allow_path(ruleset, handled, config->spool_dir, READ | CHANGE);
        allow_all(ruleset, handled, type_paths);
    }
    bool done = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return done;
}

/* --- system calls: seccomp --- */

/* Calls that newer machines do not have any more. */
#ifndef __NR_access
#define __NR_access -1
#endif
#ifndef __NR_lstat
#define __NR_lstat -1
#endif
#ifndef __NR_stat
#define __NR_stat -1
#endif
#ifndef __NR_open
#define __NR_open -1
#endif
#ifndef __NR_poll
#define __NR_poll -1
#endif
#ifndef __NR_readlink
#define __NR_readlink -1
#endif
#ifndef __NR_select
#define __NR_select -1
#endif
#ifndef __NR_unlink
#define __NR_unlink -1
#endif

enum {
    ALWAYS = 0,
    LISTENS = 1 << 8, /* a FastCGI process */
    DATABASE = READS_DATABASE | WRITES_DATABASE,
    FILES = DATABASE | CALLS_PLATFORM | SPOOLS_FILES,
};

/* A call that is allowed to who needs any of `needs` (ALWAYS: to all). With a mask only when the
 * argument, masked, is the value. */
struct allowed_call {
    int number;
    unsigned needs;
    uint8_t argument;
    uint32_t mask, value;
};

static const struct allowed_call allowed_calls[] = {
    /* answering, memory, time, ending */
    {.number = __NR_read},
    {.number = __NR_write},
    {.number = __NR_writev},
    {.number = __NR_close},
    {.number = __NR_fstat},
    {.number = __NR_newfstatat},
    {.number = __NR_stat},
    {.number = __NR_statx},
    {.number = __NR_lseek},
    {.number = __NR_mmap},
    {.number = __NR_munmap},
    {.number = __NR_mremap},
    {.number = __NR_mprotect, .argument = 2, .mask = 4 /* PROT_EXEC */, .value = 0},
    {.number = __NR_madvise},
    {.number = __NR_brk},
    {.number = __NR_clock_gettime},
    {.number = __NR_gettimeofday},
    {.number = __NR_getrandom},
    {.number = __NR_futex},
    {.number = __NR_rt_sigaction},
    {.number = __NR_rt_sigprocmask},
    {.number = __NR_rt_sigreturn},
    {.number = __NR_restart_syscall},
    {.number = __NR_getpid},
    {.number = __NR_gettid},
    {.number = __NR_tgkill},
    {.number = __NR_exit},
    {.number = __NR_exit_group},
    {.number = __NR_open},
    {.number = __NR_openat},
    /* the next FastCGI request */
    {.number = __NR_accept, .needs = LISTENS},
    {.number = __NR_accept4, .needs = LISTENS},
    {.number = __NR_getpeername, .needs = LISTENS | CALLS_PLATFORM},
    {.number = __NR_getsockname, .needs = LISTENS | CALLS_PLATFORM},
    {.number = __NR_shutdown, .needs = LISTENS | CALLS_PLATFORM},
    {.number = __NR_select, .needs = LISTENS | CALLS_PLATFORM},
    {.number = __NR_pselect6, .needs = LISTENS | CALLS_PLATFORM},
    {.number = __NR_poll, .needs = LISTENS | CALLS_PLATFORM | DATABASE},
    {.number = __NR_ppoll, .needs = LISTENS | CALLS_PLATFORM | DATABASE},
    {.number = __NR_readlink, .needs = FILES | LISTENS},
    {.number = __NR_readlinkat, .needs = FILES | LISTENS},
    /* SQLite's files */
    {.number = __NR_pread64, .needs = FILES},
    {.number = __NR_pwrite64, .needs = DATABASE | SPOOLS_FILES},
    {.number = __NR_fcntl, .needs = FILES | WAKES_COURIER},
    {.number = __NR_lstat, .needs = FILES},
    {.number = __NR_access, .needs = FILES},
    {.number = __NR_faccessat, .needs = FILES},
    {.number = __NR_getcwd, .needs = FILES},
    {.number = __NR_getuid, .needs = FILES},
    {.number = __NR_geteuid, .needs = FILES},
    {.number = __NR_getgid, .needs = FILES},
    {.number = __NR_getegid, .needs = FILES},
    {.number = __NR_fsync, .needs = DATABASE},
    {.number = __NR_fdatasync, .needs = DATABASE},
    {.number = __NR_ftruncate, .needs = DATABASE | SPOOLS_FILES},
    {.number = __NR_fallocate, .needs = DATABASE},
    {.number = __NR_unlink, .needs = DATABASE | SPOOLS_FILES},
    {.number = __NR_unlinkat, .needs = DATABASE | SPOOLS_FILES},
    {.number = __NR_fchmod, .needs = DATABASE},
    {.number = __NR_fchown, .needs = DATABASE},
    {.number = __NR_clock_nanosleep, .needs = DATABASE},
    {.number = __NR_nanosleep, .needs = DATABASE},
    {.number = __NR_uname, .needs = CALLS_PLATFORM},
    {.number = __NR_sysinfo, .needs = FILES},
    {.number = __NR_prlimit64, .needs = FILES},
    /* the platform: sockets of these families alone, threads but no processes */
    {.number = __NR_socket, .needs = CALLS_PLATFORM, .mask = ~0u, .value = AF_INET},
    {.number = __NR_socket, .needs = CALLS_PLATFORM, .mask = ~0u, .value = AF_INET6},
    {.number = __NR_socket, .needs = CALLS_PLATFORM, .mask = ~0u, .value = AF_NETLINK},
    {.number = __NR_socket, .needs = CALLS_PLATFORM | WAKES_COURIER, .mask = ~0u, .value = AF_UNIX},
    {.number = __NR_socketpair, .needs = CALLS_PLATFORM},
    {.number = __NR_connect, .needs = CALLS_PLATFORM | WAKES_COURIER},
    {.number = __NR_sendto, .needs = CALLS_PLATFORM | WAKES_COURIER},
    {.number = __NR_bind, .needs = CALLS_PLATFORM},
    {.number = __NR_getsockopt, .needs = CALLS_PLATFORM},
    {.number = __NR_setsockopt, .needs = CALLS_PLATFORM},
    {.number = __NR_recvfrom, .needs = CALLS_PLATFORM},
    {.number = __NR_recvmsg, .needs = CALLS_PLATFORM},
    {.number = __NR_sendmsg, .needs = CALLS_PLATFORM},
    {.number = __NR_sendmmsg, .needs = CALLS_PLATFORM},
    {.number = __NR_ioctl, .needs = CALLS_PLATFORM},
    {.number = __NR_pipe2, .needs = CALLS_PLATFORM},
    {.number = __NR_eventfd2, .needs = CALLS_PLATFORM},
    {.number = __NR_getdents64, .needs = CALLS_PLATFORM | SPOOLS_FILES},
    {.number = __NR_sched_getaffinity, .needs = CALLS_PLATFORM},
    {.number = __NR_sched_yield, .needs = CALLS_PLATFORM},
    {.number = __NR_set_robust_list, .needs = CALLS_PLATFORM},
    {.number = __NR_rseq, .needs = CALLS_PLATFORM},
    {.number = __NR_membarrier, .needs = CALLS_PLATFORM},
    {.number = __NR_clone, .needs = CALLS_PLATFORM, .mask = CLONE_THREAD, .value = CLONE_THREAD},
    /* the child that looks at a file: what fork() asks for, and no more */
    {.number = __NR_clone,
     .needs = SPOOLS_FILES,
     .mask = ~0u,
     .value = CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD},
    {.number = __NR_wait4, .needs = SPOOLS_FILES},
    /* shared libraries that are loaded late: the resolver's, libcurl's */
    {.number = __NR_mprotect, .needs = CALLS_PLATFORM | SPOOLS_FILES},
};

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef THIS_ARCH

enum {
    CALL_COUNT = sizeof allowed_calls / sizeof *allowed_calls,
    HIGHEST_CALL = 1023,
    LONGEST_FILTER = 16 + CALL_COUNT * 6,
};

struct filter {
    struct sock_filter code[LONGEST_FILTER];
    unsigned short length;
};

static void emit(struct filter *f, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false) {
    f->code[f->length++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(struct filter *f, size_t offset) {
    emit(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Allows a call whose argument is as it should be; any other call goes on to what comes next. */
static void allow_some(struct filter *f, const struct allowed_call *call) {
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->number, 0, 5);
    load(f, offsetof(struct seccomp_data, args) + call->argument * sizeof(uint64_t));
    emit(f, BPF_ALU | BPF_AND | BPF_K, call->mask, 0, 0);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, call->value, 0, 1);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    load(f, offsetof(struct seccomp_data, nr));
}

/* The numbers where allowed calls begin and where they end, in turn, rising. */
struct edges {
    uint32_t at[2 * CALL_COUNT];
    size_t count;
};

/* Searches the edges from `first` to before `end` for the call's number. Every way out ends at one
 * of two verdicts: allowed after an odd number of edges, at `verdicts`, else refused, right behind.
 * Sought, not walked through: installing a filter makes the kernel try it on every call there is,
 * and a CGI installs one for every request. */
static void search(struct filter *f, const struct edges *edges, size_t first, size_t end,
                   size_t verdicts) {
    size_t middle = first + (end - first) / 2, here = f->length;
    emit(f, BPF_JMP | BPF_JGE | BPF_K, edges->at[middle], 0, 0);
    if (first < middle)
        search(f, edges, first, middle, verdicts);
    else
        f->code[here].jf = (uint8_t)(verdicts + (first % 2 ? 0 : 1) - here - 1);
    if (middle + 1 < end) {
        f->code[here].jt = (uint8_t)(f->length - here - 1);
        search(f, edges, middle + 1, end, verdicts);
    } else {
        f->code[here].jt = (uint8_t)(verdicts + (end % 2 ? 0 : 1) - here - 1);
    }
}

/* Refused calls fail with EPERM; where tests ask for it they kill, so that none goes unnoticed. */
static uint32_t refusal(void) {
    if (!getauxval(AT_SECURE) && getenv("SWITCHBOARD_CONFINE_KILLS"))
        return SECCOMP_RET_KILL_PROCESS;
    return SECCOMP_RET_ERRNO | EPERM;
}

static bool is_granted(const struct allowed_call *call, unsigned needs) {
    return call->number >= 0 && (call->needs == ALWAYS || call->needs & needs);
}

static void find_edges(const bool *allowed, struct edges *edges) {
    edges->count = 0;
    for (uint32_t number = 0; number <= HIGHEST_CALL; number++)
        if (allowed[number] != (number && allowed[number - 1]))
            edges->at[edges->count++] = number;
}

static void build(struct filter *f, unsigned needs) {
    bool allowed[HIGHEST_CALL + 1] = {false};
    struct edges edges;
    load(f, offsetof(struct seccomp_data, arch));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    load(f, offsetof(struct seccomp_data, nr));
    for (const struct allowed_call *call = allowed_calls; call < allowed_calls + CALL_COUNT; call++)
        if (is_granted(call, needs) && !call->mask)
            allowed[call->number] = true;
    for (const struct allowed_call *call = allowed_calls; call < allowed_calls + CALL_COUNT; call++)
        if (is_granted(call, needs) && call->mask && !allowed[call->number])
            allow_some(f, call);
    /* its flags are out of a filter's sight: the C library falls back to clone */
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 0, 1);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
    find_edges(allowed, &edges);
    search(f, &edges, 0, edges.count, f->length + edges.count);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    emit(f, BPF_RET | BPF_K, refusal(), 0, 0);
}

static bool restrict_calls(unsigned needs) {
    struct filter filter = {.length = 0};
    build(&filter, needs);
    struct sock_fprog program = {.len = filter.length, .filter = filter.code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

#else

static bool restrict_calls(unsigned needs) {
    (void)needs;
    return false; /* no filter for this machine: said by `switchboard doctor` */
}

#endif

struct confinement confine_support(void) {
    return (struct confinement){
        .has_landlock =
            syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1,
#ifdef THIS_ARCH
        .has_seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0,
#endif
    };
}

struct confinement confine(unsigned needs, bool listens, const char *config_path,
                           const struct config *config) {
#if defined(__SANITIZE_ADDRESS__)
    (void)needs, (void)listens, (void)config_path, (void)config, (void)restrict_files,
        (void)restrict_calls;
    return (struct confinement){false, false};
#else
    struct confinement done = {false, false};
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* no core holds our secrets */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return done;
    done.has_landlock = restrict_files(needs, listens, config_path, config);
    done.has_seccomp = restrict_calls(needs | (listens ? LISTENS : 0));
    return done;
#endif
}
