/* switchboard doctor: prints the configuration and checks the installation. Each check of the table
 * adds its lines to the report; a check that needs the database adds none when it is not open. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/process/confine.h"
#include "base/seal.h"
#include "base/target.h"
#include "command.h"
#include "doctor/doctor.h"
#include "linked.h"
#include "nouns.h"
#include "output.h"
#include "platform_call.h"
#include "store/heartbeat.h"
#include "store/refusal.h"
#include "store/seal_context.h"
#include "store/upkeep.h"

static const int64_t mib = 1024 * 1024;

enum {
    DISK_LOW_MIB = 512, /* less free space is a warning */
    FOREIGN_SHOWN_DAYS = 30,
};

static const char *const level_words[] = {[OK] = "ok", [WARN] = "warn", [FAIL] = "FAIL"};

void report_add_row(struct report *report, const struct report_row *row) {
    struct arena *arena = &report->call->arena;
    table_cell(&report->table, level_words[row->level]);
    table_cell(&report->table, row->what);
    table_cell(&report->table,
               !row->account_id ? row->detail
                                : arena_printf(arena, "%s: %s%s%s", row->account_id, row->detail,
                                               row->todo ? ": " : "", row->todo ? row->todo : ""));
    json_write_object(&report->json, NULL);
    json_write_text(&report->json, "status", row->level == FAIL ? "fail" : level_words[row->level]);
    json_write_text(&report->json, "check", row->what);
    json_write_text(&report->json, "detail", row->detail);
    if (row->account_id) {
        json_write_text(&report->json, "accountId", row->account_id);
        json_write_text(&report->json, "todo", row->todo);
    }
    json_write_end(&report->json);
    if (row->level > report->worst)
        report->worst = row->level;
}

void report_add(struct report *report, enum level level, const char *what, const char *format,
                ...) {
    char detail[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    report_add_row(report, &(struct report_row){level, what, NULL, detail, NULL});
}

static bool is_set(const char *value) {
    return *value != '\0';
}

static void check_config(struct report *report) {
    struct invocation *call = report->call;
    const struct config *config = &call->config;
    struct stat file;
    report_add(report, OK, "config", "%s", call->config_path);
    if ((is_set(config->app_secret) || is_set(config->verify_token) ||
         is_set(config->metrics_token) || !target_file(config->database)) &&
        stat(call->config_path, &file) == 0 && file.st_mode & S_IRWXO)
        report_add(report, WARN, "config mode",
                   "it holds secrets and all users may read it: chmod o= %s", call->config_path);
    for (const struct config_key *key = config_keys; key->name; key++) {
        const char *value = config_value(config, key), *what;
        what = arena_printf(&call->arena, "config.%s", key->name);
        const char *shown = key->kind == CONFIG_SECRET ? (is_set(value) ? "set" : "unset")
                            : key->kind == CONFIG_TARGET && is_set(value)
                                ? target_name(&call->arena, value)
                                : value;
        report_add(report, OK, what, "%s%s", shown,
                   strcmp(value, key->preset) ? ""
                   : is_set(shown)            ? " (default)"
                                              : "(default)");
    }
    if (!is_set(config->app_secret))
        report_add(report, WARN, "app_secret", "unset: webhooks of the platform are refused");
    if (!is_set(config->verify_token))
        report_add(report, WARN, "verify_token",
                   "unset: the platform cannot verify the webhook URL");
}

/* Checks that other users have no access to the file. Returns false if there is no file. */
static bool check_mode(struct report *report, const char *what, const char *path) {
    struct stat file;
    if (stat(path, &file) != 0) {
        report_add(report, FAIL, what, "%s: %s; `switchboard init` creates it", path,
                   strerror(errno));
        return false;
    }
    unsigned mode = file.st_mode & 07777;
    if (mode & S_IRWXO)
        report_add(report, FAIL, what, "%s has mode %04o, open to all users: chmod o= %s", path,
                   mode, path);
    else
        report_add(report, OK, what, "%s has mode %04o", path, mode);
    return true;
}

static void check_keys(struct report *report) {
    struct invocation *call = report->call;
    const char *error;
    if (!check_mode(report, "key file mode", call->config.secret_key_file))
        return;
    report->has_keys =
        keyring_read(call->config.secret_key_file, &call->arena, &report->keys, &error) == 0;
    if (report->has_keys)
        report_add(report, OK, "key file", "%zu key%s", report->keys.count,
                   report->keys.count == 1 ? "" : "s");
    else
        report_add(report, FAIL, "key file", "%s", error);
}

void report_add_findings(struct report *report, const struct store_finding *findings,
                         size_t count) {
    static const enum level levels[] = {
        [FINDING_OK] = OK, [FINDING_WARNING] = WARN, [FINDING_FAULT] = FAIL};
    for (size_t i = 0; i < count; i++)
        report_add(report, levels[findings[i].level], findings[i].what, "%s", findings[i].detail);
}

static void check_unopened(struct report *report) {
    struct invocation *call = report->call;
    struct store_finding *findings;
    size_t count;
    store_examine(call->config.database, &call->arena, &findings, &count);
    report_add_findings(report, findings, count);
}

static void check_open(struct report *report) {
    struct invocation *call = report->call;
    const char *file = target_file(call->config.database);
    if (file && !check_mode(report, "database mode", file))
        return;
    const enum store_result result = store_open(call->config.database, &call->store);
    call->now = clock_now(); /* a server of the database has set the clock */
    if (result == STORE_OK)
        return;
    report_add(report, FAIL, "database", "%s", store_reason(call->store));
    store_close(call->store);
    call->store = NULL;
}

static void check_courier(struct report *report, const struct store_pulse *pulse) {
    if (pulse->last == INT64_MIN) {
        report_add(report, WARN, "courier",
                   "it has never run: events are not delivered; start switchboard-courier, or let "
                   "cron start `courier --for 60s` each minute");
        return;
    }
    const int64_t now = report->call->now;
    const bool is_running = heartbeat_is_running(pulse, now);
    long long silent = (now - (is_running ? pulse->running : pulse->last)) / 1000;
    if (!is_running && pulse->last != pulse->running)
        report_add(report, WARN, "courier",
                   "ended in order %lld s ago: events are not delivered; start switchboard-courier",
                   silent < 0 ? 0 : silent);
    else if (!is_running)
        report_add(report, WARN, "courier",
                   "silent for %lld s: events are not delivered; start switchboard-courier, or "
                   "correct the line of cron",
                   silent);
    else
        report_add(report, OK, "courier", "alive %lld s ago", silent < 0 ? 0 : silent);
}

static void check_database(struct report *report) {
    struct invocation *call = report->call;
    struct store_finding *findings;
    size_t count;
    struct store_pulse pulse;
    if (!call->store)
        return;
    bool is_full = call->options[OPTION_FULL] != NULL;
    if (store_find_pulse(call->store, "courier", &pulse) != STORE_OK ||
        store_inspect(call->store, &call->arena, is_full, &findings, &count) != STORE_OK) {
        report_add(report, FAIL, "database", "%s", store_reason(call->store));
        return;
    }
    report_add_findings(report, findings, count);
    check_courier(report, &pulse);
}

/* Checks that the platform tokens open with the key file, which may have been restored from another
 * backup than the database. */
static void check_tokens(struct report *report) {
    struct invocation *call = report->call;
    struct store_account *accounts;
    size_t count, sealed = 0, opened = 0;
    if (!call->store || !report->has_keys ||
        store_list_accounts(call->store, &call->arena, NULL, &accounts, &count) != STORE_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!accounts[i].sealed_token.n)
            continue;
        struct slice token = seal_open(&report->keys, &call->arena, accounts[i].sealed_token,
                                       account_token_context(&call->arena, accounts[i].id));
        sealed++;
        opened += token.p != NULL;
    }
    report_add(report, opened == sealed ? OK : FAIL, "platform tokens",
               "%zu of %zu open with the key file", opened, sealed);
}

/* Reports the payloads of the platform that exceed a limit. */
static void check_refusals(struct report *report) {
    struct invocation *call = report->call;
    struct store_refusal *refusals;
    size_t count;
    if (!call->store)
        return;
    if (store_list_refusals(call->store, &call->arena, &refusals, &count) != STORE_OK)
        report_add(report, FAIL, "refused payloads", "%s", store_reason(call->store));
    else if (!count)
        report_add(report, OK, "refused payloads", "none");
    else
        report_add(
            report, WARN, "refused payloads",
            "payloads of the platform that were kept and not processed: %zu, the last at %s: %s; "
            "see `switchboard refusal list`, then retry or drop them",
            count, time_text(&call->arena, refusals[0].last_at), refusals[0].reason);
}

/* Reports the updates of the last 30 days that named a line of this gateway and another account
 * than the line's. */
static void check_foreign(struct report *report) {
    struct invocation *call = report->call;
    struct store_foreign *foreign;
    size_t count = 0;
    int64_t since = call->now - FOREIGN_SHOWN_DAYS * INT64_C(24 * 60 * 60 * 1000);
    if (!call->store)
        return;
    if (store_list_foreign_wabas(call->store, &call->arena, since, &foreign, &count) != STORE_OK)
        report_add(report, FAIL, "foreign WABA id", "%s", store_reason(call->store));
    for (size_t i = 0; i < count; i++)
        report_add(
            report, WARN, "foreign WABA id",
            "line %s of account %s: %lld update%s named account %s and %s skipped, the last at %s; "
            "has the line moved to that account?",
            foreign[i].phone_number_id, foreign[i].own_waba_id, (long long)foreign[i].count,
            foreign[i].count == 1 ? "" : "s", foreign[i].waba_id,
            foreign[i].count == 1 ? "was" : "were", time_text(&call->arena, foreign[i].last_at));
}

static void check_space(struct report *report, const char *what, const char *path) {
    struct statvfs disk;
    if (statvfs(path, &disk) != 0)
        return; /* check_mode or check_spool reports the missing file */
    int64_t room = (int64_t)(disk.f_bavail * disk.f_frsize) / mib;
    report_add(report,
               room < DISK_NONE_MIB  ? FAIL
               : room < DISK_LOW_MIB ? WARN
                                     : OK,
               what, "%lld MiB free around %s", (long long)room, path);
}

static void check_disk(struct report *report) {
    const char *file = target_file(report->call->config.database);
    if (file)
        check_space(report, "disk of database", file);
    check_space(report, "disk of spool", report->call->config.spool_dir);
}

static void check_spool(struct report *report) {
    const char *path = report->call->config.spool_dir;
    struct stat found;
    if (stat(path, &found) != 0)
        report_add(report, FAIL, "spool", "%s: %s; `switchboard init` creates it", path,
                   strerror(errno));
    else if (!S_ISDIR(found.st_mode))
        report_add(report, FAIL, "spool", "%s is not a directory", path);
    else if (access(path, W_OK | X_OK) != 0)
        report_add(report, FAIL, "spool", "%s: %s", path, strerror(errno));
    else
        report_add(report, OK, "spool", "%s is writable", path);
}

static void check_upstream(struct report *report) {
    struct invocation *call = report->call;
    const char *peer;
    const char *wrong = platform_probe(&call->arena, &call->config, &peer);
    if (wrong)
        report_add(report, FAIL, "upstream", "%s: %s", peer, wrong);
    else
        report_add(report, OK, "upstream", "%s accepts connections", peer);
}

/* Reports which means of confinement the kernel has (confine.h). */
static void check_confinement(struct report *report) {
    struct confinement kernel = confine_support();
    if (kernel.has_seccomp)
        report_add(report, OK, "seccomp", "each program is confined to the system calls it needs");
    else
        report_add(report, WARN, "seccomp",
                   "not in this kernel: programs may make any system call");
    if (kernel.landlock_abi >= 1)
        report_add(report, OK, "landlock",
                   "version %d: each program is confined to the files it needs%s",
                   kernel.landlock_abi, kernel.landlock_abi >= 4 ? ", and to its use of TCP" : "");
    else
        report_add(
            report, WARN, "landlock",
            "not in this kernel, or switched off: programs may read every file that their user "
            "may, and programs that write files may change every such file");
}

/* --- access rights of the service's user; for root every access(2) would succeed --- */

static struct verdict try_files(const struct store_file *files, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (access(files[i].path, files[i].access) != 0 &&
            !(errno == ENOENT && files[i].may_be_missing))
            return (struct verdict){(int)i, errno};
    return (struct verdict){-1, 0};
}

/* Tries the files in a child process that becomes the user. Returns false if that is impossible. */
static bool try_as(uid_t user, gid_t group, const struct store_file *files, size_t count,
                   struct verdict *verdict) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 ||
            setresuid(user, user, user) != 0)
            _exit(1);
        *verdict = try_files(files, count);
        _exit(write(ends[1], verdict, sizeof *verdict) == sizeof *verdict ? 0 : 1);
    }
    close(ends[1]);
    bool done = child > 0 && read(ends[0], verdict, sizeof *verdict) == sizeof *verdict;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return done;
}

enum { ANOTHER_USER = 65534 }; /* in the group only, as a setgid program of the web server */

/* Returns the files that the service opens, those of the database included. */
static const struct store_file *list_files(struct invocation *call, size_t *count) {
    const struct config *config = &call->config;
    const struct store_file before[] = {
        {call->config_path, R_OK, false},
        {config->secret_key_file, R_OK, true}, /* check_keys reports a missing one */
    };
    const struct store_file after[] = {
        {config->spool_dir, W_OK | X_OK, true},
        {config->pending_dir, R_OK | W_OK | X_OK, true},
    };
    struct buffer rows = buffer_in(&call->arena);
    struct store_file *files;
    store_list_files(config->database, &call->arena, &files, count);
    buffer_add(&rows, before, sizeof before);
    buffer_add(&rows, files, *count * sizeof *files);
    buffer_add(&rows, after, sizeof after);
    *count = rows.n / sizeof *after;
    return (const struct store_file *)(const void *)rows.p;
}

/* Returns the directory of the database, whose owner and group are the service's; for a database
 * that is not a file, the spool directory. */
static const char *directory_of_service(struct invocation *call) {
    const char *file = target_file(call->config.database);
    return file ? arena_printf(&call->arena, "%.*s", (int)(strrchr(file, '/') - file) + 1, file)
                : call->config.spool_dir;
}

/* If the group may write to the service's directory, the group's rights alone must be enough. */
bool doctor_try(const struct stat *owner, const struct store_file *files, size_t count,
                struct verdict *verdict) {
    bool is_shared = owner->st_mode & S_IWGRP;
    if (geteuid() != 0) {
        *verdict = try_files(files, count);
        return true;
    }
    return try_as(is_shared ? ANOTHER_USER : owner->st_uid, owner->st_gid, files, count, verdict) &&
           (verdict->file >= 0 || try_as(owner->st_uid, owner->st_gid, files, count, verdict));
}

bool doctor_find_service(struct invocation *call, struct stat *owner) {
    return stat(directory_of_service(call), owner) == 0;
}

static void check_access(struct report *report) {
    struct invocation *call = report->call;
    size_t count;
    const struct store_file *files = list_files(call, &count);
    struct stat owner;
    struct verdict verdict;
    if (!doctor_find_service(call, &owner))
        return; /* check_mode or check_spool reports it */
    if (!doctor_try(&owner, files, count, &verdict)) {
        report_add(report, WARN, "access", "cannot check the rights of user %ld",
                   (long)owner.st_uid);
        return;
    }
    if (verdict.file < 0)
        report_add(report, OK, "access", "the service's user %ld and group %ld may use their files",
                   (long)owner.st_uid, (long)owner.st_gid);
    else
        report_add(
            report, FAIL, "access",
            "the service's user %ld and group %ld, the owners of the %s directory, cannot use %s: "
            "%s; give it the owner, group and mode of the other files",
            (long)owner.st_uid, (long)owner.st_gid,
            target_file(call->config.database) ? "database's" : "spool", files[verdict.file].path,
            strerror(verdict.error));
}

size_t doctor_read_start(const char *path, void *bytes, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, size);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

static bool is_type_database(const char *path) {
    static const unsigned char magic[] = {0x1c, 0x04, 0x1e, 0xf1}; /* magic(5), little-endian */
    unsigned char found[sizeof magic];
    return doctor_read_start(path, found, sizeof found) == sizeof found &&
           memcmp(found, magic, sizeof found) == 0;
}

/* Checks libmagic's database. Without it an upload without a type is application/octet-stream. */
static void check_types(struct report *report) {
    /* the path that libmagic opens, and the path of Debian's file */
    static const char *const usual[] = {"/usr/share/misc/magic.mgc", "/usr/lib/file/magic.mgc"};
    const char *own = report->call->config.magic_file;
    const char *const *paths = *own ? &own : usual;
    const char *found = NULL;
    for (size_t i = 0; !found && i < (*own ? 1 : sizeof usual / sizeof *usual); i++)
        found = is_type_database(paths[i]) ? paths[i] : NULL;
    if (found)
        report_add(report, OK, "file types", "libmagic's database is %s", found);
    else
        report_add(
            report, WARN, "file types",
            "%s is missing or not a database of libmagic: files uploaded without a type become "
            "application/octet-stream; %s",
            paths[0], *own ? "correct magic_file" : "install libmagic-mgc");
}

/* Compares the libraries that are linked statically with the installed packages. */
static void check_linked(struct report *report) {
    struct linked_comparison found = linked_compare(&report->call->arena);
    if (found.obstacle)
        report_add(report, OK, "libraries",
                   "those linked into the programs were not compared, "
                   "because %s: %s",
                   found.obstacle, *found.unknown ? found.unknown : "unknown");
    else if (*found.older)
        report_add(report, WARN, "libraries",
                   "those linked into the programs are older than this machine's packages: build "
                   "and install the programs again: %s",
                   found.older);
    else
        report_add(report, OK, "libraries", "those linked into the programs are up to date%s%s",
                   *found.unknown ? "; not compared, because no package of them is installed: "
                                  : "",
                   found.unknown);
}

static void (*const checks[])(struct report *report) = {
    check_config,          check_keys,          check_unopened,       check_open,
    check_database,        doctor_check_hosts,  doctor_check_reader,  doctor_check_connections,
    check_tokens,          check_disk,          check_spool,          check_upstream,
    check_confinement,     doctor_check_layout, check_access,         check_types,
    doctor_check_counters, doctor_check_wake,   doctor_check_pending, check_refusals,
    doctor_check_growth,   check_foreign,       check_linked,         doctor_check_site,
    doctor_check_online,   doctor_check_sender, doctor_check_archive,
};

int doctor_run(struct invocation *call) {
    struct report report = {.call = call};
    const char *error;
    report.json = list_start(call);
    report.table = table_start(&call->arena, 3, NULL);
    if (config_read(call->config_path, &call->arena, &call->config, &error) != 0)
        report_add(&report, FAIL, "config", "%s", error);
    else
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
            checks[i](&report);
    crypto_wipe(&report.keys, sizeof report.keys);
    list_print(call, &report.json, &report.table);
    return report.worst == FAIL ? fail("something is wrong; see the lines that begin with FAIL")
                                : EXIT_DONE;
}
