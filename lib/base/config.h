/* The configuration file: `key = value` lines, `#` comments. One table (config_keys) holds every
 * key with its kind, default and meaning; nothing else in the code knows them. */
#ifndef SWITCHBOARD_CONFIG_H
#define SWITCHBOARD_CONFIG_H

#include "base/arena.h"

#define CONFIG_DEFAULT_PATH "/etc/switchboard/switchboard.conf"

/* All values, as strings that live as long as the config; never NULL, empty when unset. */
struct config {
    const char *database;
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
};

/* What a value must look like. */
enum config_kind {
    CONFIG_TEXT,    /* anything */
    CONFIG_SECRET,  /* anything, never shown */
    CONFIG_PATH,    /* an absolute path, or empty where the default is empty */
    CONFIG_URL,     /* http:// or https://, no trailing slash kept */
    CONFIG_VERSION, /* vMAJOR.MINOR */
    CONFIG_HOSTS,   /* host names separated by spaces, `*.` in front allowed */
    CONFIG_EGRESS,  /* public | private */
};

struct config_key {
    const char *name;
    size_t member; /* offset of the `const char *` in struct config */
    enum config_kind kind;
    const char *preset; /* the default */
    const char *meaning;
};

extern const struct config_key config_keys[]; /* ends with a NULL name */

/* Reads the file at `path` into `config`, whose strings live in `arena`. Returns 0, or -1 with
 * `*error` saying what is wrong in which line and what is allowed there (in `arena` too). */
int config_read(const char *path, struct arena *arena, struct config *config, const char **error);

/* The value of one key. */
const char *config_value(const struct config *config, const struct config_key *key);

/* This process's configuration, read from `path` at the first call and again whenever the file
 * has changed since. NULL and `*error` when it cannot be used; where it was replaced by a file that
 * this process may not read, `*error` and the one read before. The strings live until the next call.
 * For long-lived processes: a CGI calls it once. */
const struct config *config_current(const char *path, const char **error);

#endif
