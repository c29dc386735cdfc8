#include "base/process/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process/need.h"

/* Calls that newer architectures do not have. */
#ifndef __NR_open
#define __NR_access   -1
#define __NR_lstat    -1
#define __NR_stat     -1
#define __NR_open     -1
#define __NR_poll     -1
#define __NR_readlink -1
#define __NR_unlink   -1
#endif
#ifndef __NR_select
#define __NR_select -1
#endif

enum {
    ALWAYS = 0,
    DATABASE = READS_DATABASE | WRITES_DATABASE,
    FILES = DATABASE | USES_NETWORK | SPOOLS_FILES | DETECTS_TYPES,
    WRITES_FILES = WRITES_DATABASE | SPOOLS_FILES,
    FOR_WRITING = O_ACCMODE | O_CREAT | O_TRUNC, /* of open(2): all 0 when it only reads */
};

/* A condition on an argument of a call: argument & mask == value. Mask 0: no condition. */
struct condition {
    uint8_t argument;
    uint32_t mask, value;
};

/* A call that is allowed to a process with any of `needs` (ALWAYS: to every process). With a mask
 * it is allowed only when argument & mask == value (or this process's id, is_own_pid), and when
 * `also` holds. The first row whose conditions hold decides. */
struct allowed_call {
    const char *name;
    int number;
    unsigned needs;
    uint8_t argument;
    bool is_own_pid;
    bool is_refused; /* fails with EPERM, never kills: a library tries it and works without it */
    uint32_t mask, value;
    struct condition also;
};

#define CALL(call) .name = #call, .number = __NR_##call

enum { SOCKET_TYPE = 0xf }; /* the type of socket(2) without its flags */

/* The permissions of new files: none to execute, no setuid or setgid bit. */
#define FILE_MODES 0666u

/* The permissions that an existing file may get: none for other users. */
#define SHARED_MODES 0660u

/* The permissions of new directories. */
#define DIRECTORY_MODES 0770u

static const struct allowed_call allowed_calls[] = {
    /* answer, memory, time, exit */
    {CALL(read)},
    {CALL(write)},
    {CALL(writev)},
    {CALL(close)},
    {CALL(fstat)},
    {CALL(newfstatat)},
    {CALL(stat)},
    {CALL(statx)},
    {CALL(lseek)},
    {CALL(mmap), .argument = 2, .mask = PROT_EXEC, .value = 0,
     .also = {.argument = 3, .mask = MAP_SHARED, .value = 0}},
    {CALL(munmap)},
    {CALL(mremap)},
    {CALL(mprotect), .argument = 2, .mask = PROT_EXEC, .value = 0},
    {CALL(madvise)},
    {CALL(brk)},
    {CALL(clock_gettime)},
    {CALL(gettimeofday)},
    {CALL(setitimer)},
    {CALL(getrandom)},
    {CALL(futex)},
    {CALL(shutdown)}, /* of standard input, which is a socket under mod_cgid */
    {CALL(rt_sigaction)},
    {CALL(rt_sigprocmask)},
    {CALL(rt_sigreturn)},
    {CALL(restart_syscall)},
    {CALL(getpid)},
    {CALL(gettid)},
    {CALL(tgkill), .argument = 0, .mask = ~0u, .is_own_pid = true},
    {CALL(exit)},
    {CALL(exit_group)},
    /* accept the next FastCGI request, or get its connection from the pool and give it back */
    {CALL(accept), .needs = LISTENS},
    {CALL(accept4), .needs = LISTENS},
    {CALL(epoll_ctl), .needs = LISTENS},
    {CALL(epoll_pwait), .needs = LISTENS},
    {CALL(getpeername), .needs = LISTENS | USES_NETWORK},
    {CALL(getsockname), .needs = LISTENS | USES_NETWORK},
    {CALL(select), .needs = LISTENS | USES_NETWORK},
    {CALL(pselect6), .needs = LISTENS | USES_NETWORK},
    {CALL(poll), .needs = LISTENS | USES_NETWORK | DATABASE},
    {CALL(ppoll), .needs = LISTENS | USES_NETWORK | DATABASE},
    {CALL(readlink), .needs = FILES | LISTENS},
    {CALL(readlinkat), .needs = FILES | LISTENS},
#ifdef SWITCHBOARD_COVERAGE
    /* gcov's counters, written at exit */
    {CALL(open)},
    {CALL(openat)},
    {CALL(fcntl)},
#endif
    /* files */
    {CALL(open), .needs = FILES | LISTENS | IS_DETECTOR, .argument = 1, .mask = FOR_WRITING,
     .value = O_RDONLY},
    {CALL(openat), .needs = FILES | LISTENS | IS_DETECTOR, .argument = 2, .mask = FOR_WRITING,
     .value = O_RDONLY},
    /* files of SQLite and of the spool directory */
    {CALL(open), .needs = WRITES_FILES, .argument = 2, .mask = ~FILE_MODES, .value = 0},
    {CALL(openat), .needs = WRITES_FILES, .argument = 3, .mask = ~FILE_MODES, .value = 0},
    {CALL(pread64), .needs = FILES},
    {CALL(pwrite64), .needs = WRITES_FILES},
    /* SQLite's wal-index */
    {CALL(mmap), .needs = WRITES_DATABASE, .argument = 2, .mask = PROT_EXEC, .value = 0},
    {CALL(mmap), .needs = READS_DATABASE, .argument = 2, .mask = PROT_EXEC | PROT_WRITE,
     .value = 0},
    {CALL(fcntl), .needs = FILES | NOTIFIES_COURIER},
    {CALL(lstat), .needs = FILES},
    {CALL(access), .needs = FILES | IS_DETECTOR},
    {CALL(faccessat), .needs = FILES | IS_DETECTOR},
    {CALL(getcwd), .needs = FILES},
    {CALL(getuid), .needs = FILES},
    {CALL(geteuid), .needs = FILES},
    {CALL(getgid), .needs = FILES},
    {CALL(getegid), .needs = FILES},
    {CALL(fsync), .needs = WRITES_DATABASE},
    {CALL(fdatasync), .needs = WRITES_DATABASE},
    {CALL(ftruncate), .needs = WRITES_FILES},
    {CALL(fallocate), .needs = WRITES_DATABASE},
    {CALL(linkat), .needs = KEEPS_RECORDS},
    {CALL(renameat), .needs = KEEPS_RECORDS | KEEPS_ARCHIVE},
    {CALL(mkdirat), .needs = KEEPS_ARCHIVE, .argument = 2, .mask = ~DIRECTORY_MODES, .value = 0},
    {CALL(fstatfs), .needs = KEEPS_ARCHIVE},
    {CALL(unlink), .needs = WRITES_FILES},
    {CALL(unlinkat), .needs = WRITES_FILES},
    /* SQLite gives its files the mode of the database; as root also its owner, and works without */
    {CALL(fchmod), .needs = WRITES_DATABASE, .argument = 1, .mask = ~SHARED_MODES, .value = 0},
    {CALL(fchown), .needs = WRITES_DATABASE, .mask = 1u << 31, .value = 0, .is_refused = true},
    {CALL(clock_nanosleep), .needs = DATABASE},
    {CALL(nanosleep), .needs = DATABASE},
    {CALL(uname), .needs = USES_NETWORK},
    {CALL(sysinfo), .needs = FILES},
    {CALL(prlimit64), .needs = FILES, .argument = 0, .mask = ~0u, .value = 0},
    /* the network: sockets of these families only, threads but no processes */
    {CALL(socket), .needs = USES_NETWORK, .mask = ~0u, .value = AF_INET},
    {CALL(socket), .needs = USES_NETWORK, .mask = ~0u, .value = AF_INET6},
    {CALL(socket), .needs = USES_NETWORK, .mask = ~0u, .value = AF_NETLINK},
    /* A seccomp filter cannot read the path of a Unix socket: datagrams only, for the courier's
     * wake socket; no stream to another service but a database server, where a process that uses
     * the network anyway connects to one. */
    {CALL(socket), .needs = NOTIFIES_COURIER | IS_RESIDENT, .mask = ~0u, .value = AF_UNIX,
     .also = {.argument = 1, .mask = SOCKET_TYPE, .value = SOCK_DGRAM}},
    {CALL(socket), .needs = CONNECTS_LOCALLY, .mask = ~0u, .value = AF_UNIX,
     .also = {.argument = 1, .mask = SOCKET_TYPE, .value = SOCK_STREAM}},
    /* caches of host names, which the resolver works without (nscd(8), nss-resolve(8)) */
    {CALL(socket), .needs = USES_NETWORK, .mask = ~0u, .value = AF_UNIX, .is_refused = true},
    {CALL(socketpair), .needs = USES_NETWORK, .mask = ~0u, .value = AF_UNIX,
     .also = {.argument = 1, .mask = SOCKET_TYPE, .value = SOCK_STREAM}},
    {CALL(connect), .needs = USES_NETWORK},
    {CALL(sendto), .needs = USES_NETWORK | NOTIFIES_COURIER | HAS_SERVER},
    {CALL(bind), .needs = USES_NETWORK},
    {CALL(umask), .needs = IS_RESIDENT},
    {CALL(signalfd4), .needs = IS_RESIDENT},
    {CALL(inotify_init1), .needs = WATCHES_LOG},
    {CALL(inotify_add_watch), .needs = WATCHES_LOG},
    {CALL(getsockopt), .needs = USES_NETWORK},
    {CALL(setsockopt), .needs = USES_NETWORK},
    {CALL(recvfrom), .needs = USES_NETWORK | HAS_SERVER},
    {CALL(recvmsg), .needs = USES_NETWORK | LISTENS},
    {CALL(sendmsg), .needs = USES_NETWORK | LISTENS},
    {CALL(sendmmsg), .needs = USES_NETWORK},
    {CALL(ioctl), .needs = USES_NETWORK, .argument = 1, .mask = ~0u, .value = FIONREAD},
    {CALL(ioctl), .needs = USES_NETWORK, .argument = 1, .mask = ~0u, .value = FIONBIO},
    {CALL(ioctl), .needs = USES_NETWORK, .argument = 1, .mask = ~0u, .value = TCGETS},
    /* interface names in link-local addresses, which a webhook URL may hold */
    {CALL(ioctl), .needs = IS_RESIDENT, .argument = 1, .mask = ~0u, .value = SIOCGIFINDEX},
    {CALL(ioctl), .needs = IS_RESIDENT, .argument = 1, .mask = ~0u, .value = SIOCGIFNAME},
    {CALL(pipe2), .needs = USES_NETWORK | DETECTS_TYPES},
    {CALL(eventfd2), .needs = USES_NETWORK},
    {CALL(getdents64), .needs = USES_NETWORK},
    {CALL(sched_getaffinity), .needs = USES_NETWORK},
    {CALL(sched_yield), .needs = USES_NETWORK},
    {CALL(set_robust_list), .needs = USES_NETWORK | DETECTS_TYPES},
    {CALL(rseq), .needs = USES_NETWORK},
    {CALL(membarrier), .needs = USES_NETWORK},
    {CALL(clone), .needs = USES_NETWORK, .mask = CLONE_THREAD, .value = CLONE_THREAD},
    {CALL(prctl), .needs = USES_NETWORK, .mask = ~0u, .value = PR_CAPBSET_READ}, /* systemd's */
    /* the child process that detects a file's type: fork(3), wait, and its own confinement */
    {CALL(clone), .needs = DETECTS_TYPES, .mask = ~0u,
     .value = CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD},
    {CALL(wait4), .needs = DETECTS_TYPES},
    {CALL(close_range), .needs = DETECTS_TYPES},
    {CALL(prctl), .needs = DETECTS_TYPES, .mask = ~0u, .value = PR_SET_NO_NEW_PRIVS},
    {CALL(landlock_create_ruleset), .needs = DETECTS_TYPES},
    {CALL(landlock_add_rule), .needs = DETECTS_TYPES},
    {CALL(landlock_restrict_self), .needs = DETECTS_TYPES},
    {CALL(seccomp), .needs = DETECTS_TYPES, .mask = ~0u, .value = SECCOMP_SET_MODE_FILTER},
};

enum { CALL_COUNT = sizeof allowed_calls / sizeof *allowed_calls };

static bool is_for(const struct allowed_call *call, unsigned needs) {
    return call->number >= 0 && (call->needs == ALWAYS || call->needs & needs);
}

/* Whether an earlier row allows the same call. */
static bool is_repeated(const struct allowed_call *call, unsigned needs) {
    for (const struct allowed_call *before = allowed_calls; before < call; before++)
        if (before->number == call->number && !before->is_refused && is_for(before, needs))
            return true;
    return false;
}

const char *syscalls_name(unsigned needs, size_t i) {
    for (const struct allowed_call *call = allowed_calls; call < allowed_calls + CALL_COUNT; call++)
        if (is_for(call, needs) && !call->is_refused && !is_repeated(call, needs) && i-- == 0)
            return call->name;
    return NULL;
}

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef THIS_ARCH

enum {
    HIGHEST_CALL = 1023,
    LONGEST_FILTER = 16 + CALL_COUNT * 9,
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

/* Emits a test that skips the next `skipped` instructions unless the condition holds. */
static void require(struct filter *f, struct condition condition, uint8_t skipped) {
    load(f, offsetof(struct seccomp_data, args) + condition.argument * sizeof(uint64_t));
    emit(f, BPF_ALU | BPF_AND | BPF_K, condition.mask, 0, 0);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, condition.value, 0, skipped);
}

/* Emits the verdict on a call whose arguments meet the row's conditions; any other call continues
 * after it. */
static void decide_some(struct filter *f, const struct allowed_call *call) {
    uint32_t value = call->is_own_pid ? (uint32_t)getpid() : call->value;
    bool has_second = call->also.mask != 0;
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->number, 0, has_second ? 8 : 5);
    require(f, (struct condition){call->argument, call->mask, value}, has_second ? 4 : 1);
    if (has_second)
        require(f, call->also, 1);
    uint32_t verdict = call->is_refused ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW;
    emit(f, BPF_RET | BPF_K, verdict, 0, 0);
    load(f, offsetof(struct seccomp_data, nr));
}

/* The bounds of the ranges of allowed call numbers, ascending: the first number of a range, then
 * the first number after it. */
struct edges {
    uint32_t at[2 * CALL_COUNT];
    size_t count;
};

/* Emits a binary search for the call's number in the edges `first` to `end` - 1. Each branch ends
 * with a jump to one of two verdicts: after an odd number of edges to the one at `verdicts`, which
 * allows the call, else to the next, which refuses it. Not a linear search, because the kernel runs
 * a new filter once for every call number, and a CGI installs one per request. */
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

/* Refused calls fail with EPERM; where tests set the variable, they kill the process. The variable
 * is ignored in setuid and setgid programs. */
static uint32_t refusal(void) {
    if (!getauxval(AT_SECURE) && getenv("SWITCHBOARD_CONFINE_KILLS"))
        return SECCOMP_RET_KILL_PROCESS;
    return SECCOMP_RET_ERRNO | EPERM;
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
        if (is_for(call, needs) && !call->mask)
            allowed[call->number] = true;
    for (const struct allowed_call *call = allowed_calls; call < allowed_calls + CALL_COUNT; call++)
        if (is_for(call, needs) && call->mask && !allowed[call->number])
            decide_some(f, call);
    /* clone3 takes its flags from memory, which a filter cannot read: with ENOSYS the C library
     * uses clone instead */
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 0, 1);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
    find_edges(allowed, &edges);
    search(f, &edges, 0, edges.count, f->length + edges.count);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    emit(f, BPF_RET | BPF_K, refusal(), 0, 0);
}

bool syscalls_restrict(unsigned needs) {
    struct filter filter = {.length = 0};
    build(&filter, needs);
    struct sock_fprog program = {.len = filter.length, .filter = filter.code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

bool syscalls_can_restrict(void) {
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

#else

bool syscalls_restrict(unsigned needs) {
    (void)needs;
    return false;
}

bool syscalls_can_restrict(void) {
    return false;
}

#endif
