#include "base/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file_identity.h"
#include "base/target.h"
#include "base/url.h"

enum { LARGEST_FILE = 1024 * 1024, DAYS_MOST = 36500, MB_MOST = 1024 };

#define CONFIG_VARIABLE "SWITCHBOARD_CONFIG"

#define KEY(name, kind, preset, meaning)                                                           \
    { #name, offsetof(struct config, name), kind, preset, meaning, NEEDS_NOTHING }
#define PATH(name, preset, needs, meaning)                                                         \
    { #name, offsetof(struct config, name), CONFIG_PATH, preset, meaning, needs }

/* Beside the directory of the database, unless the key is set. That directory holds the database
 * alone, because a program that writes the database may read and replace every file in it. */
#define RUN_DIR       "/var/lib/switchboard/run"
#define PENDING_DIR   "/var/lib/switchboard/pending"
#define METRICS_FILE  "/var/lib/switchboard/metrics"
#define REQUESTS_FILE "/var/lib/switchboard/requests"

const struct config_key config_keys[] = {
    {"database", offsetof(struct config, database), CONFIG_TARGET,
     "/var/lib/switchboard/data/switchboard.db", "the SQLite database, in a directory of its own",
     READS_DATABASE | WRITES_DATABASE},
    {"database_reader", offsetof(struct config, database_reader), CONFIG_TARGET, "",
     "the same database for the programs that only read, with a role that cannot write; empty: the "
     "value of database",
     READS_DATABASE},
    PATH(secret_key_file, "/etc/switchboard/secret.key", USES_KEYS,
         "the keys that encrypt platform tokens and webhook codes at rest"),
    KEY(graph_base_url, CONFIG_URL, "https://graph.facebook.com", "base URL of the platform's API"),
    KEY(graph_version, CONFIG_VERSION, "v26.0", "version of the Graph API"),
    KEY(app_secret, CONFIG_SECRET, "", "the platform app's secret; signs its webhooks"),
    KEY(verify_token, CONFIG_SECRET, "", "the token that verifies the webhook URL at the platform"),
    KEY(environment, CONFIG_TEXT, "production", "nodeEnv of GET /v2/version"),
    PATH(ca_path, "/etc/ssl/certs", USES_NETWORK, "hashed directory of trusted certificates"),
    PATH(ca_file, "", USES_NETWORK, "file of trusted certificates, used when set"),
    KEY(media_hosts, CONFIG_HOSTS, "*.fbsbx.com *.fbcdn.net",
        "hosts other than the platform's own that receive its token for a media download"),
    KEY(webhook_egress, CONFIG_EGRESS, "public",
        "where events may be delivered: public, or private for loopback and private networks too"),
    PATH(log_file, "", NEEDS_NOTHING, "the log; empty: standard error"),
    PATH(spool_dir, "/var/lib/switchboard/spool", SPOOLS_FILES,
         "directory of the temporary files of multipart uploads"),
    PATH(pending_dir, PENDING_DIR, KEEPS_RECORDS,
         "directory of the records of accepted sends that the database did not take, until the "
         "courier of this host has stored them; the default is beside the directory of the "
         "database; not shared by hosts"),
    PATH(media_archive, "", READS_ARCHIVE | KEEPS_ARCHIVE,
         "directory of the copies of the files of messages, which the sender makes; empty: none "
         "are made; shared by hosts"),
    KEY(media_archive_max_mb, CONFIG_MB, "100",
        "a file that is larger, in megabytes, is not copied"),
    {"metrics_file", offsetof(struct config, metrics_file), CONFIG_OPTION, METRICS_FILE,
     "the counters of GET /metrics; the default is beside the directory of the database; empty: "
     "none are kept",
     NEEDS_NOTHING},
    {"requests_file", offsetof(struct config, requests_file), CONFIG_OPTION, REQUESTS_FILE,
     "the last requests, for GET /v2/requests; the default is beside the directory of the "
     "database; empty: none are kept",
     NEEDS_NOTHING},
    KEY(metrics_token, CONFIG_SECRET, "",
        "the token that GET /metrics requires; without one it answers local clients only"),
    PATH(magic_file, "", DETECTS_TYPES, "libmagic's database of file types; empty: the system's"),
    KEY(public_url, CONFIG_URL, "",
        "the URL under which clients reach the gateway; for login links, links in answers, and "
        "doctor"),
    KEY(graph_destructive, CONFIG_SWITCH, "no",
        "whether destructive calls are passed on, which deregister lines, set their PIN, delete "
        "templates and flows, and deprecate flows: yes or no"),
    KEY(trail_days, CONFIG_DAYS, "365", "how many days a row of the trail is kept"),
    KEY(document_root, CONFIG_FOR_CLI, "",
        "the directory that the web server serves as public_url; for doctor"),
    KEY(host, CONFIG_NAME, "",
        "the name of this host among several on one database; empty: the system's host name"),
    PATH(run_dir, RUN_DIR, NOTIFIES_COURIER | IS_RESIDENT,
         "directory of the courier's wake socket; the default is beside the directory of the "
         "database; not shared by hosts"),
    {0},
};

static const char *const kind_rules[] = {
    [CONFIG_TEXT] = "any text",
#ifdef SWITCHBOARD_POSTGRESQL
    [CONFIG_TARGET] = "an absolute path, or postgresql://USER@HOST:PORT/NAME",
#else
    [CONFIG_TARGET] = "an absolute path",
#endif
    [CONFIG_SECRET] = "any text",
    [CONFIG_PATH] = "an absolute path",
    [CONFIG_OPTION] = "an absolute path, or to nothing",
    [CONFIG_FOR_CLI] = "an absolute path, or to nothing",
    [CONFIG_URL] = "a URL that begins with http:// or https:// and has no query",
    [CONFIG_VERSION] = "a Graph API version such as v26.0",
    [CONFIG_HOSTS] = "host names separated by spaces",
    [CONFIG_EGRESS] = "public or private",
    [CONFIG_SWITCH] = "yes or no",
    [CONFIG_DAYS] = "a number from 1 to 36500",
    [CONFIG_MB] = "a number from 1 to 1024",
    [CONFIG_NAME] = "at most 64 letters, digits, dots, hyphens and underscores, or to nothing",
};

const char *config_form(const struct config_key *key) {
    return kind_rules[key->kind];
}

/* Opens the configuration file without waiting, if it were a pipe, and checks its owner and mode.
 */
static bool is_trusted(const char *path, const struct stat *program) {
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_found = fd >= 0 && fstat(fd, &file) == 0;
    if (fd >= 0)
        close(fd);
    return is_found && S_ISREG(file.st_mode) && file.st_uid == program->st_uid &&
           !(file.st_mode & (S_IWGRP | S_IWOTH));
}

/* Writes the path of the configuration file beside the program. Returns false if there is none. */
static bool find_beside(char *path, size_t size) {
    static const char *const places[] = {"../conf/switchboard.conf",
                                         "../../switchboard/conf/switchboard.conf",
                                         "../.switchboard/conf/switchboard.conf"};
    char program[PATH_MAX], found[PATH_MAX];
    struct stat file;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0 || stat("/proc/self/exe", &file) != 0)
        return false;
    program[n] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, size, "%s%s", program, places[i]) < (int)size &&
            is_trusted(path, &file) && realpath(path, found))
            return snprintf(path, size, "%s", found) > 0;
    *path = '\0';
    return false;
}

const char *config_find(void) {
    static char beside[PATH_MAX + 64];
    if (getauxval(AT_SECURE))
        return CONFIG_DEFAULT_PATH;
    const char *path = getenv(CONFIG_VARIABLE);
    if (path && *path)
        return path;
    if (!*beside && !find_beside(beside, sizeof beside))
        snprintf(beside, sizeof beside, "%s", CONFIG_DEFAULT_PATH);
    return beside;
}

const char *config_path_of(const char *option) {
    return option ? option : config_find();
}

const struct manual_item config_path_environment[] = {
    {CONFIG_VARIABLE, "the configuration file, without --config"},
    {0},
};

const struct manual_item config_path_files[] = {
    {"../conf/switchboard.conf",
     "the configuration file beside the program, without --config and\n" CONFIG_VARIABLE},
    {CONFIG_DEFAULT_PATH, "the configuration file without any of these"},
    {0},
};

static const char **member_of(struct config *config, const struct config_key *key) {
    return (const char **)(void *)((char *)config + key->member);
}

const char *config_value(const struct config *config, const struct config_key *key) {
    return *(const char *const *)(const void *)((const char *)config + key->member);
}

const char *config_paths(const struct config *config, unsigned needs, struct arena *arena) {
    struct buffer paths = buffer_in(arena);
    for (const struct config_key *key = config_keys; key->name; key++)
        if ((key->kind == CONFIG_PATH || key->kind == CONFIG_OPTION ||
             key->kind == CONFIG_TARGET) &&
            (!key->needs || key->needs & needs))
            buffer_printf(&paths, "%s\n", config_value(config, key));
    return paths.p;
}

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

static bool is_version(const char *value) {
    size_t major, minor;
    if (*value++ != 'v' || !(major = strspn(value, "0123456789")) || value[major] != '.')
        return false;
    value += major + 1;
    minor = strspn(value, "0123456789");
    return minor > 0 && value[minor] == '\0';
}

static bool is_number(const char *value, long long most) {
    return *value >= '1' && *value <= '9' && value[strspn(value, "0123456789")] == '\0' &&
           strtoll(value, NULL, 10) <= most; /* a number that is too large is LLONG_MAX */
}

static bool is_valid(const struct config_key *key, const char *value) {
    switch (key->kind) {
    case CONFIG_TEXT:
    case CONFIG_SECRET: return true;
    case CONFIG_TARGET:
        return target_file(value) || target_scheme(value) || (!value[0] && !key->preset[0]);
    case CONFIG_PATH: return value[0] == '/' || (!value[0] && !key->preset[0]);
    case CONFIG_OPTION:
    case CONFIG_FOR_CLI: return value[0] == '/' || !value[0];
    case CONFIG_URL:
        return (!value[0] && !key->preset[0]) ||
               (!url_check(slice_of(value)) && !strpbrk(value, "?#"));
    case CONFIG_VERSION: return is_version(value);
    case CONFIG_HOSTS:
        return value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789.-*: ")] == '\0';
    case CONFIG_EGRESS: return strcmp(value, "public") == 0 || strcmp(value, "private") == 0;
    case CONFIG_SWITCH: return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
    case CONFIG_DAYS: return is_number(value, DAYS_MOST);
    case CONFIG_MB: return is_number(value, MB_MOST);
    case CONFIG_NAME:
        return strlen(value) <= CONFIG_NAME_MAX && value[strspn(value, NAME_CHARACTERS)] == '\0';
    }
    return false;
}

bool config_is_on(const char *value) {
    return strcmp(value, "yes") == 0;
}

int64_t config_days(const char *value) {
    return strtoll(value, NULL, 10) * 24 * 60 * 60 * 1000;
}

const char *config_log_host(const struct config *config) {
    return target_file(config->database) ? "" : config->host;
}

int64_t config_bytes(const char *value) {
    return strtoll(value, NULL, 10) * 1024 * 1024;
}

static const struct config_key *find_key(struct slice name) {
    for (const struct config_key *key = config_keys; key->name; key++)
        if (slice_equal(slice_of(key->name), name))
            return key;
    return NULL;
}

/* Reads one line into `config`. Returns NULL or the problem, to follow "line N" in the error. */
static const char *read_line(struct slice line, struct arena *arena, struct config *config) {
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    line = slice_trim(line);
    if (!line.n || line.p[0] == '#')
        return NULL;
    if (memchr(line.p, '\0', line.n))
        return "holds a NUL byte";
    if (!memchr(line.p, '=', line.n))
        return "is not of the form `key = value`";
    struct slice name = slice_trim(slice_cut(&line, '='));
    const struct config_key *key = find_key(name);
    if (!key)
        return arena_printf(arena, "has the unknown key `%.*s`", (int)(name.n < 64 ? name.n : 64),
                            name.p);
    char *value = arena_copy(arena, slice_trim(line));
    if (key->kind == CONFIG_URL)
        for (size_t n = strlen(value); n && value[n - 1] == '/'; n--)
            value[n - 1] = '\0';
    if (!is_valid(key, value))
        return arena_printf(arena, "must set `%s` to %s", key->name, kind_rules[key->kind]);
    *member_of(config, key) = value;
    return NULL;
}

static int read_file(const char *path, struct buffer *text) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n;
    do {
        n = read(fd, buffer_reserve(text, 4096), 4096);
        text->n += n > 0 ? (size_t)n : 0;
    } while ((n > 0 && text->n <= LARGEST_FILE) || (n < 0 && errno == EINTR));
    int failed = n < 0 ? errno : n > 0 ? EFBIG : 0;
    close(fd);
    errno = failed;
    return failed ? -1 : 0;
}

/* Returns the number of bytes of the directory part of a path, without slashes at its end. */
static int directory_length(const char *path, int n) {
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 0 && path[n - 1] == '/')
        n--;
    return n;
}

/* Returns the file that is named so beside the directory of the database, if `value` is not set and
 * the database is. */
static const char *place(const struct config *config, struct arena *arena, const char *value,
                         const char *preset, const char *name) {
    const char *database = target_file(config->database);
    if (!database || strcmp(value, preset) != 0)
        return value;
    int directory = directory_length(database, (int)strlen(database));
    return arena_printf(arena, "%.*s/%s", directory_length(database, directory), database, name);
}

static void place_tables(struct config *config, struct arena *arena) {
    config->pending_dir = place(config, arena, config->pending_dir, PENDING_DIR, "pending");
    config->metrics_file = place(config, arena, config->metrics_file, METRICS_FILE, "metrics");
    config->requests_file = place(config, arena, config->requests_file, REQUESTS_FILE, "requests");
}

static void place_socket(struct config *config, struct arena *arena) {
    const char *database = target_file(config->database);
    config->run_dir = place(config, arena, config->run_dir, RUN_DIR, "run");
    size_t n = strlen(config->run_dir);
    while (n > 1 && config->run_dir[n - 1] == '/')
        n--;
    config->run_dir = arena_printf(arena, "%.*s", (int)n, config->run_dir);
    config->wake_socket = arena_printf(arena, "%s/%s.wake", config->run_dir,
                                       database ? strrchr(database, '/') + 1 : "courier");
}

/* Returns the system's host name, in the form of CONFIG_NAME. It is read once, because a confined
 * process may not. */
static const char *system_host(void) {
    static char name[CONFIG_NAME_MAX + 1];
    if (*name)
        return name;
    if (gethostname(name, sizeof name) != 0 || !*name)
        snprintf(name, sizeof name, "localhost");
    name[CONFIG_NAME_MAX] = '\0';
    for (char *p = name; *(p += strspn(p, NAME_CHARACTERS));)
        *p = '-';
    return name;
}

int config_read(const char *path, struct arena *arena, struct config *config, const char **error) {
    for (const struct config_key *key = config_keys; key->name; key++)
        *member_of(config, key) = key->preset;
    struct buffer text = buffer_in(arena);
    if (read_file(path, &text)) {
        *error =
            arena_printf(arena, "cannot read the configuration file %s: %s", path, strerror(errno));
        return -1;
    }
    struct slice rest = buffer_slice(&text);
    for (int number = 1; rest.n; number++) {
        const char *wrong = read_line(slice_cut(&rest, '\n'), arena, config);
        if (wrong) {
            *error = arena_printf(arena, "%s: line %d %s", path, number, wrong);
            return -1;
        }
    }
    config->reader = *config->database_reader ? config->database_reader : config->database;
    config->database_name = target_name(arena, config->database);
    config->reader_name = target_name(arena, config->reader);
    place_tables(config, arena);
    place_socket(config, arena);
    if (!*config->host)
        config->host = system_host();
    return 0;
}

static bool is_forbidden(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd < 0 && errno == EACCES;
}

const struct config *config_current(const char *path, const char **error) {
    static struct arena arena;
    static struct config config;
    static struct stat read_stat;
    static char read_path[4096];
    struct stat now;
    if (stat(path, &now) != 0)
        memset(&now, 0, sizeof now); /* config_read fails too and sets *error */
    else if (strcmp(path, read_path) == 0 && file_is_unchanged(&read_stat, &now))
        return &config;
    else if (strcmp(path, read_path) == 0 && is_forbidden(path)) {
        *error = "the configuration was replaced by a file that this process may not read";
        return &config;
    }
    read_path[0] = '\0';
    if (!arena.cap)
        arena_init(&arena, 4 * 1024 * 1024, NULL);
    arena_reset(&arena);
    if (config_read(path, &arena, &config, error))
        return NULL;
    read_stat = now;
    snprintf(read_path, sizeof read_path, "%s", path);
    return &config;
}
