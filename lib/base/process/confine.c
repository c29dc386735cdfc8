#include "base/process/confine.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process/syscalls.h"
#include "base/target.h"

/* --- files: Landlock --- */

/* CHANGE: write, create, remove. LIST: read directories, and no files. */
enum { READ = 1, CHANGE = 2, MAKE_SOCKETS = 4, REMOVE = 8, LIST = 16, MAKE_DIRECTORIES = 32 };

#define FILE_READ   LANDLOCK_ACCESS_FS_READ_FILE
#define FILE_CHANGE (LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE)
#define DIR_READ    LANDLOCK_ACCESS_FS_READ_DIR
#define DIR_REMOVE  LANDLOCK_ACCESS_FS_REMOVE_FILE
#define DIR_CHANGE  (LANDLOCK_ACCESS_FS_MAKE_REG | DIR_REMOVE)

/* Not in the kernel headers of Debian 12. */
#define ACCESS_TRUNCATE            (1ULL << 14) /* ABI 3 */
#define ACCESS_IOCTL_DEV           (1ULL << 15) /* ABI 5 */
#define NET_BIND_TCP               (1ULL << 0)  /* ABI 4 */
#define NET_CONNECT_TCP            (1ULL << 1)
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0) /* ABI 6 */
#define SCOPE_SIGNAL               (1ULL << 1)

struct ruleset {
    int fd; /* -1: no Landlock */
    struct {
        uint64_t files, net, scoped; /* an older kernel takes only the first one or two */
    } handled;                       /* operations that are refused unless a rule allows them */
};

/* Refuses bind(2) of TCP sockets always, and connect(2) unless the process USES_NETWORK; also
 * signals and connections to abstract Unix sockets outside of this Landlock domain. */
static struct ruleset ruleset_start(unsigned needs) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct ruleset rules = {.fd = -1};
    uint64_t files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
    if (abi < 1)
        return rules;
    if (abi >= 2)
        files |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3)
        files |= ACCESS_TRUNCATE;
    if (abi >= 5)
        files |= ACCESS_IOCTL_DEV;
    rules.handled.files = files;
    rules.handled.net = needs & USES_NETWORK ? NET_BIND_TCP : NET_BIND_TCP | NET_CONNECT_TCP;
    rules.handled.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
    size_t known = abi >= 6 ? 3 : abi >= 4 ? 2 : 1;
    rules.fd = (int)syscall(SYS_landlock_create_ruleset, &rules.handled, known * sizeof files, 0);
    return rules;
}

/* The Landlock rights of each kind of access: on every path, and on directories in addition. */
static const struct {
    int access;
    uint64_t file, directory;
} grants[] = {
    {READ, FILE_READ, DIR_READ},
    {CHANGE, FILE_CHANGE, DIR_CHANGE},
    {MAKE_SOCKETS, 0, LANDLOCK_ACCESS_FS_MAKE_SOCK},
    {REMOVE, 0, DIR_REMOVE},
    {LIST, 0, DIR_READ},
    {MAKE_DIRECTORIES, 0, LANDLOCK_ACCESS_FS_MAKE_DIR},
};

static void allow_path(struct ruleset *rules, const char *path, int access) {
    struct stat stat;
    if (rules->fd < 0 || !path || !*path)
        return;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) != 0)
        return; /* a missing file needs no rule */
    uint64_t wanted = 0;
    for (size_t i = 0; i < sizeof grants / sizeof *grants; i++)
        if (access & grants[i].access)
            wanted |= grants[i].file | (S_ISDIR(stat.st_mode) ? grants[i].directory : 0);
    struct landlock_path_beneath_attr rule = {.allowed_access = wanted & rules->handled.files,
                                              .parent_fd = fd};
    syscall(SYS_landlock_add_rule, rules->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(fd);
}

static void ruleset_enforce(struct ruleset *rules) {
    if (rules->fd < 0)
        return;
#ifdef SWITCHBOARD_COVERAGE
    allow_path(rules, SWITCHBOARD_COVERAGE, READ | CHANGE); /* gcov's counters, written at exit */
#endif
    syscall(SYS_landlock_restrict_self, rules->fd, 0);
    close(rules->fd);
}

/* NULL: no path. */
static void allow_directory_of(struct ruleset *rules, const char *path, int access) {
    char directory[PATH_MAX];
    if (!path)
        return;
    if (!realpath(path, directory)) /* the file may not exist yet */
        snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (!slash)
        return;
    slash[slash == directory] = '\0';
    allow_path(rules, directory, access);
}

/* The files that the resolver and TLS read. */
static const char *const network_paths[] = {"/etc/resolv.conf",
                                            "/etc/hosts",
                                            "/etc/nsswitch.conf",
                                            "/etc/host.conf",
                                            "/etc/gai.conf",
                                            "/etc/services",
                                            "/etc/ssl",
                                            "/run/systemd/resolve",
                                            "/etc/ld.so.cache",
                                            "/usr/lib",
                                            "/lib",
                                            "/usr/share/ca-certificates",
                                            "/usr/local/share/ca-certificates",
                                            "/dev/urandom",
                                            NULL};

/* The files that libmagic reads. */
static const char *const type_paths[] = {"/usr/share/misc", "/usr/share/file", "/usr/lib/file",
                                         "/etc/magic", NULL};

static void allow_all(struct ruleset *rules, const char *const *paths) {
    for (; *paths; paths++)
        allow_path(rules, *paths, READ);
}

/* --- the whole process --- */

const char *confine_meaning(enum need need) {
    switch (need) {
    case NEEDS_NOTHING: break;
    case READS_DATABASE: return "read the database";
    case WRITES_DATABASE: return "read and write the database";
    case CALLS_PLATFORM: return "call the platform";
    case CALLS_WEBHOOKS: return "call the URLs of webhooks";
    case USES_NETWORK: break; /* of both */
    case SPOOLS_FILES: return "write files in the spool directory";
    case KEEPS_RECORDS: return "write files in pending_dir";
    case READS_ARCHIVE: return "read media_archive";
    case KEEPS_ARCHIVE: return "write, read and remove files in media_archive";
    case READS_ZONES: return "read the files of time zones";
    case WATCHES_LOG: return "see when the database is written";
    case NOTIFIES_COURIER: return "notify the courier";
    case DETECTS_TYPES: return "fork a child process that detects the type of a file";
    case IS_RESIDENT: return "keep running while its files are replaced";
    case USES_KEYS: return "read the key file";
    }
    return "nothing";
}

#if defined(__SANITIZE_ADDRESS__)
static const bool is_supported = false;
#else
static const bool is_supported = true;
#endif

struct confinement confine_support(void) {
    return (struct confinement){
        .landlock_abi =
            (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION),
        .has_seccomp = syscalls_can_restrict(),
    };
}

void confine_memory(void) {
    const struct rlimit none = {0, 0};
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &none);
}

static const char *removable;

void confine_removable(const char *path) {
    removable = path;
}

/* The needs of syscalls.h for a database on a server. A process that uses the network connects
 * again when it has lost the connection; another one keeps the connection that it has. */
static unsigned calls_of_server(unsigned needs, const char *database) {
    if (!(needs & (READS_DATABASE | WRITES_DATABASE)) || target_file(database))
        return 0;
    return HAS_SERVER |
           (needs & USES_NETWORK && target_has_socket(database) ? CONNECTS_LOCALLY : 0);
}

/* The files that a new connection to the server reads. */
static void allow_files_of_server(struct ruleset *rules, const char *database) {
    static const char *const names[] = {"sslrootcert", "sslcert", "sslkey", "sslcrl", "passfile"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (target_parameter(database, names[i], path, sizeof path))
            allow_path(rules, path, READ);
}

void confine(unsigned needs, bool listens, const char *config_path, const struct config *config) {
    if (!is_supported || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    struct ruleset rules = ruleset_start(needs);
    const char *const database = needs & WRITES_DATABASE ? config->database : config->reader;
    const unsigned server_calls = calls_of_server(needs, database);
    bool is_long_lived = listens || needs & IS_RESIDENT;
    /* only for a process that may read the keys: they are often in the configuration's directory */
    if (is_long_lived && needs & USES_KEYS)
        allow_directory_of(&rules, config_path, READ);
    allow_path(&rules, config_path, READ);
    if (needs & WRITES_DATABASE)
        allow_directory_of(&rules, target_file(config->database), READ | CHANGE);
    if (needs & USES_KEYS) {
        /* a rotation replaces the file, also while one request is processed */
        allow_directory_of(&rules, config->secret_key_file, READ);
        allow_path(&rules, config->secret_key_file, READ);
    }
    if (needs & USES_NETWORK) {
        allow_all(&rules, network_paths);
        allow_path(&rules, config->ca_path, READ);
        allow_path(&rules, config->ca_file, READ);
        if (server_calls)
            allow_files_of_server(&rules, database);
    }
    if (needs & SPOOLS_FILES)
        allow_path(&rules, config->spool_dir, READ | CHANGE);
    if (needs & KEEPS_RECORDS) /* to synchronize the directory, it must be opened */
        allow_path(&rules, config->pending_dir, (needs & IS_RESIDENT ? READ : LIST) | CHANGE);
    if (needs & (READS_ARCHIVE | KEEPS_ARCHIVE))
        allow_path(&rules, config->media_archive,
                   needs & KEEPS_ARCHIVE ? READ | CHANGE | MAKE_DIRECTORIES : READ);
    if (needs & READS_ZONES)
        allow_path(&rules, ZONE_DIRECTORY, READ);
    if (needs & DETECTS_TYPES) {
        allow_all(&rules, type_paths);
        allow_path(&rules, config->magic_file, READ);
    }
    if (needs & IS_RESIDENT) {
        allow_path(&rules, config->run_dir, MAKE_SOCKETS | REMOVE);
        allow_directory_of(&rules, config->log_file, READ | CHANGE);
    }
    if (removable)
        allow_directory_of(&rules, removable, REMOVE);
    ruleset_enforce(&rules);
    syscalls_restrict(needs | (listens ? LISTENS : 0) | server_calls);
}

void confine_detector(int out, const char *magic_file) {
    if (!is_supported)
        return;
    if (out > 0)
        close_range(0, (unsigned)out - 1, 0);
    close_range((unsigned)out + 1, ~0u, 0);
    struct ruleset rules = ruleset_start(NEEDS_NOTHING);
    allow_all(&rules, type_paths);
    allow_path(&rules, magic_file, READ);
    ruleset_enforce(&rules);
    syscalls_restrict(IS_DETECTOR);
}
