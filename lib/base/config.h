/* The configuration file: lines `key = value`, comments begin with `#`. The table config_keys holds
 * every key with its kind, default and meaning. */
#ifndef SWITCHBOARD_CONFIG_H
#define SWITCHBOARD_CONFIG_H

#include <stdint.h>

#include "base/arena.h"
#include "base/process/manual.h"
#include "base/process/need.h"

#define CONFIG_DEFAULT_PATH "/etc/switchboard/switchboard.conf"

/* The values of all keys. The strings live as long as the arena of config_read; they are never
 * NULL, and empty when unset. */
struct config {
    const char *database;
    const char *database_reader; /* "": `database` */
    const char *secret_key_file;
    const char *graph_base_url;
    const char *graph_version;
    const char *app_secret;
    const char *verify_token;
    const char *environment;
    const char *ca_path;
    const char *ca_file;
    const char *media_hosts;
    const char *webhook_egress;
    const char *log_file;
    const char *spool_dir;
    const char *pending_dir;
    const char *media_archive; /* "": attachments are not copied */
    const char *media_archive_max_mb;
    const char *metrics_file;  /* "": nothing is counted */
    const char *requests_file; /* "": requests are not recorded */
    const char *metrics_token;
    const char *magic_file;
    const char *public_url;
    const char *graph_destructive;
    const char *trail_days;
    const char *document_root;
    const char *host;
    const char *run_dir;
    const char *reader; /* the target of programs that only read */
    /* of `database` and `reader`, to be printed and logged instead of them (target.h) */
    const char *database_name, *reader_name;
    const char *wake_socket; /* the path of the courier's wake socket, in run_dir */
};

enum { CONFIG_NAME_MAX = 64 };

/* The form that a value must have. */
enum config_kind {
    CONFIG_TEXT,    /* anything */
    CONFIG_TARGET,  /* an absolute path, or a URL, which may hold a password (target.h); empty
                       where the default is empty */
    CONFIG_SECRET,  /* anything; never printed */
    CONFIG_PATH,    /* an absolute path, or empty where the default is empty */
    CONFIG_OPTION,  /* an absolute path, or empty */
    CONFIG_FOR_CLI, /* an absolute path, or empty; only the CLI uses it */
    CONFIG_URL,     /* http:// or https://; trailing slashes are removed */
    CONFIG_VERSION, /* vMAJOR.MINOR */
    CONFIG_HOSTS,   /* host names separated by spaces; each may begin with `*.` */
    CONFIG_EGRESS,  /* public | private */
    CONFIG_SWITCH,  /* yes | no */
    CONFIG_DAYS,    /* a number from 1 to 36500 */
    CONFIG_MB,      /* a number from 1 to 1024 */
    CONFIG_NAME,    /* letters, digits, `.`, `-` and `_`, at most CONFIG_NAME_MAX, or empty */
};

struct config_key {
    const char *name;
    size_t member; /* offset of the `const char *` in struct config */
    enum config_kind kind;
    const char *preset; /* the default */
    const char *meaning;
    unsigned needs; /* of a path: processes with one of them use it; NEEDS_NOTHING: all do */
};

extern const struct config_key config_keys[]; /* ends with a NULL name */

/* Returns the path of this process's configuration file: the environment's SWITCHBOARD_CONFIG; else
 * the file beside the program; else CONFIG_DEFAULT_PATH. The file beside the program, in directory
 * D, is the first that exists of D/../conf/switchboard.conf,
 * D/../../switchboard/conf/switchboard.conf and D/../.switchboard/conf/switchboard.conf, and is
 * used only if it has the owner of the program and no other user may write it. A setuid or setgid
 * process always uses CONFIG_DEFAULT_PATH, because any user can set its environment and link to the
 * program. The text is static. */
const char *config_find(void);

/* The path given by --config; NULL: that of config_find. */
const char *config_path_of(const char *option);

/* The same for the manual pages and --help of programs that have this option. */
extern const struct manual_item config_path_environment[], config_path_files[];

/* Reads the file at `path` into `config`, whose strings live in `arena`. Returns 0, or -1 with
 * `*error` (in `arena`) naming the line, what is wrong with it and what is allowed there. */
int config_read(const char *path, struct arena *arena, struct config *config, const char **error);

/* Returns the form that a key's value must have, to follow "must be"; a static string. */
const char *config_form(const struct config_key *key);

/* Whether the value of a CONFIG_SWITCH is yes. */
bool config_is_on(const char *value);

/* The number of a CONFIG_DAYS, in milliseconds. */
int64_t config_days(const char *value);

/* The number of a CONFIG_MB, in bytes. */
int64_t config_bytes(const char *value);

/* Returns the value of one key. */
const char *config_value(const struct config *config, const struct config_key *key);

/* Returns the name that log lines have as `host`; "": none, because a database that is a file has
 * one host. */
const char *config_log_host(const struct config *config);

/* Returns the paths that a process with `needs` uses, as one text in `arena`. A confined process
 * can use only the files of the configuration that it was confined to; those of two configurations
 * are the same when the texts are equal. Never print it: the target of the database may hold a
 * password. */
const char *config_paths(const struct config *config, unsigned needs, struct arena *arena);

/* Returns the configuration of this process, read from `path` at the first call and again at each
 * call after the file has changed. Its strings live until the next call. Returns NULL with `*error`
 * when the file cannot be read or is invalid. When the file was replaced by one that this process
 * has no permission to read, sets `*error` and returns the previous configuration. For processes
 * that serve many requests: a CGI calls it once. */
const struct config *config_current(const char *path, const char **error);

#endif
