/* The configuration file: every key, its default, invalid values, and the line of an error. */
#include "base/config.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "compare.h"

static struct arena arena;
static char path[] = "/tmp/switchboard-unit-XXXXXX";

static void write_file(struct slice text) {
    FILE *file = fopen(path, "we");
    CHECK(file && fwrite(text.p, 1, text.n, file) == text.n && fclose(file) == 0);
}

static int read_text(struct slice text, struct config *config, const char **error) {
    write_file(text);
    *error = NULL;
    return config_read(path, &arena, config, error);
}

/* For each key a valid value and an invalid one. */
static const struct {
    const char *key, *preset, *good, *bad;
} keys[] = {
    {"database", "/var/lib/switchboard/data/switchboard.db", "/a b/c.db", "relative.db"},
    {"database_reader", "", "/a b/c.db", "relative.db"},
    {"secret_key_file", "/etc/switchboard/secret.key", "/k", ""},
    {"graph_base_url", "https://graph.facebook.com", "http://127.0.0.1:8081/x",
     "graph.facebook.com"},
    {"graph_version", "v26.0", "v125.10", "26.0"},
    {"app_secret", "", "with = and # inside", NULL},
    {"verify_token", "", "t", NULL},
    {"environment", "production", "staging", NULL},
    {"ca_path", "/etc/ssl/certs", "/certs", "certs"},
    {"ca_file", "", "/certs/ca.pem", "ca.pem"},
    {"media_hosts", "*.fbsbx.com *.fbcdn.net", "a.example *.b.example:8080", "a/b"},
    {"webhook_egress", "public", "private", "Public"},
    {"log_file", "", "/var/log/x", "x.log"},
    {"spool_dir", "/var/lib/switchboard/spool", "/spool", "./spool"},
    {"pending_dir", "/var/lib/switchboard/pending", "/pending", "pending"},
    {"media_archive", "", "/archive", "archive"},
    {"media_archive_max_mb", "100", "1024", "1025"},
    {"metrics_file", "/var/lib/switchboard/metrics", "", "metrics"},
    {"requests_file", "/var/lib/switchboard/requests", "", "requests"},
    {"metrics_token", "", "secret", NULL},
    {"magic_file", "", "/magic.mgc", "magic.mgc"},
    {"public_url", "", "https://api.example.org", "api.example.org"},
    {"graph_destructive", "no", "yes", "on"},
    {"trail_days", "365", "30", "0"},
    {"document_root", "", "/srv/www", "www"},
    {"host", "", "Web-1.example_2", "web 1"},
    {"run_dir", "/var/lib/switchboard/run", "/run/x", "run"},
};

/* Whether the value depends on the database or on the system. */
static bool is_derived(const char *name) {
    return strstr(name, "s_file") || strcmp(name, "run_dir") == 0 ||
           strcmp(name, "pending_dir") == 0 || strcmp(name, "host") == 0;
}

static void check_keys(void) {
    struct config config;
    const char *error;
    size_t count = 0;
    for (const struct config_key *key = config_keys; key->name; key++, count++) {
        CHECK_TEXT(key->name, keys[count].key);
        CHECK_TEXT_AS(key->name, key->preset, keys[count].preset);
        CHECK_INTEGER(read_text(SLICE(""), &config, &error), 0);
        if (strcmp(key->name, "host") != 0)
            CHECK_TEXT_AS(key->name, config_value(&config, key), keys[count].preset);

        const char *line = arena_printf(&arena, "# first\n%s = %s\n", key->name, keys[count].good);
        CHECK_INTEGER_AS(key->name, read_text(slice_of(line), &config, &error), 0);
        CHECK_TEXT_AS(key->name, config_value(&config, key), keys[count].good);
        for (const struct config_key *other = config_keys; other->name; other++)
            if (other != key && !is_derived(other->name))
                CHECK_TEXT_AS(other->name, config_value(&config, other), other->preset);

        if (!keys[count].bad)
            continue;
        line = arena_printf(&arena, "\n\n%s=%s\n", key->name, keys[count].bad);
        CHECK_INTEGER_AS(line, read_text(slice_of(line), &config, &error), -1);
        CHECK_HOLDS_AS(line, error, path);
        CHECK_HOLDS_AS(line, error, ": line 3 ");
        CHECK_HOLDS_AS(line, error, key->name);
    }
    CHECK_INTEGER(count, sizeof keys / sizeof *keys);
}

static void check_urls(void) {
    static const char *const bad[] = {
        "http://",    "https://",   "ftp://a",       "http:/a",        "http:///a",   "http://a b",
        "http://a?b", "http://a#b", "http://user@a", "http://a:99999", "http://[::g]"};
    static const char *const good[][2] = {{"HTTP://A/", "HTTP://A"},
                                          {"https://a.example//", "https://a.example"},
                                          {"http://[::1]:8080", "http://[::1]:8080"},
                                          {"http://127.0.0.1:1/base/", "http://127.0.0.1:1/base"}};
    struct config config;
    const char *error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *line = arena_printf(&arena, "graph_base_url = %s", bad[i]);
        CHECK_INTEGER_AS(line, read_text(slice_of(line), &config, &error), -1);
        CHECK_HOLDS_AS(line, error, ": line 1 must set `graph_base_url`");
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *line = arena_printf(&arena, "graph_base_url = %s", good[i][0]);
        CHECK_INTEGER_AS(line, read_text(slice_of(line), &config, &error), 0);
        CHECK_TEXT_AS(line, config.graph_base_url, good[i][1]);
    }
}

static void check_versions(void) {
    static const char *const bad[] = {"",      "v",       "v26",     "v26.",  "v.0",
                                      "V26.0", "v26.0.0", "v26.0 x", "v26.0/"};
    struct config config;
    const char *error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *line = arena_printf(&arena, "graph_version = %s", bad[i]);
        CHECK_INTEGER_AS(line, read_text(slice_of(line), &config, &error), -1);
        CHECK_HOLDS_AS(line, error, "such as v26.0");
    }
}

static void check_lines(void) {
    struct config config;
    const char *error;
    CHECK_INTEGER(read_text(SLICE("  \t\r\n# c\r\n\t# c\r\n environment\t=\tone\r\n"
                                  "environment = two words \r\nlog_file =\n"),
                            &config, &error),
                  0);
    CHECK_TEXT(config.environment, "two words"); /* the last one counts */
    CHECK_TEXT(config.log_file, "");
    static const struct {
        struct slice text;
        const char *error;
    } bad[] = {
        {SLICE("environment = a\nnonsense\n"), ": line 2 is not of the form"},
        {SLICE("databse = /x\n"), ": line 1 has the unknown key `databse`"},
        {SLICE("Database = /x\n"), ": line 1 has the unknown key `Database`"},
        {SLICE("= /x\n"), ": line 1 has the unknown key ``"},
        {SLICE("\n\nenvironment = a\0b\n"), ": line 3 holds a NUL byte"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INTEGER_AS(bad[i].error, read_text(bad[i].text, &config, &error), -1);
        CHECK_HOLDS_AS(bad[i].error, error, bad[i].error);
    }
    struct buffer large = buffer_in(&arena);
    for (int i = 0; i < 40000; i++)
        buffer_add_text(&large, "# a comment that says nothing\n");
    buffer_add_text(&large, "nonsense\n");
    /* no part of a file that is too large is used */
    CHECK_INTEGER(read_text(buffer_slice(&large), &config, &error), -1);
    CHECK(error && strstr(error, path));
    CHECK_INTEGER(config_read("/nonexistent/switchboard.conf", &arena, &config, &error), -1);
    CHECK_HOLDS(error, "/nonexistent/switchboard.conf");
    CHECK_INTEGER(config_read("/tmp", &arena, &config, &error), -1);
}

/* A process that serves many requests reads a changed file again; an invalid one is an error. */
static void check_current(void) {
    const char *error = NULL;
    write_file(SLICE("environment = one\n"));
    const struct config *config = config_current(path, &error);
    CHECK_TEXT(config ? config->environment : NULL, "one");
    CHECK(config_current(path, &error) == config);
    write_file(SLICE("environment = three\n"));
    config = config_current(path, &error);
    CHECK_TEXT(config ? config->environment : NULL, "three");
    write_file(SLICE("environment three\n"));
    CHECK(!config_current(path, &error));
    CHECK_HOLDS(error, ": line 1 ");
    CHECK(!config_current(path, &error));
    write_file(SLICE("environment = four\n"));
    config = config_current(path, &error);
    CHECK_TEXT(config ? config->environment : NULL, "four");
    unlink(path);
    CHECK(!config_current(path, &error));
    CHECK_HOLDS(error, "cannot read");
}

/* Whether two configurations that differ in one key have the same paths for processes with the
 * needs. */
static bool has_same_paths(const char *key, unsigned needs) {
    struct config before, after;
    const char *error;
    CHECK_INTEGER(read_text(SLICE(""), &before, &error), 0);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].key, key) == 0)
            CHECK_INTEGER(read_text(slice_of(arena_printf(&arena, "%s = %s", key, keys[i].good)),
                                    &after, &error),
                          0);
    return strcmp(config_paths(&before, needs, &arena), config_paths(&after, needs, &arena)) == 0;
}

static void check_paths(void) {
    static const struct {
        const char *key;
        unsigned needs;
    } rows[] = {{"secret_key_file", USES_KEYS},
                {"ca_path", USES_NETWORK},
                {"ca_file", USES_NETWORK},
                {"spool_dir", SPOOLS_FILES},
                {"pending_dir", KEEPS_RECORDS}};
    const unsigned others = NOTIFIES_COURIER | DETECTS_TYPES | IS_RESIDENT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_INTEGER_AS(rows[i].key, has_same_paths(rows[i].key, rows[i].needs), false);
        CHECK_INTEGER_AS(rows[i].key, has_same_paths(rows[i].key, others), true);
    }
    CHECK_INTEGER(has_same_paths("log_file", NEEDS_NOTHING), false);
    CHECK_INTEGER(has_same_paths("metrics_file", NEEDS_NOTHING), false);
    CHECK_INTEGER(has_same_paths("requests_file", NEEDS_NOTHING), false);
    CHECK_INTEGER(has_same_paths("database", NEEDS_NOTHING),
                  false); /* metrics_file depends on it */
    CHECK_INTEGER(has_same_paths("app_secret", ~0u), true);
    CHECK_INTEGER(has_same_paths("graph_base_url", ~0u), true);
}

/* The counters, the list of the requests and the wake socket are beside the directory of the
 * database, unless the key says where. */
static void check_places(void) {
    struct config config;
    const char *error;
    CHECK_INTEGER(read_text(SLICE("database = /v w/a b/c.db\n"), &config, &error), 0);
    CHECK_TEXT(config.metrics_file, "/v w/metrics");
    CHECK_TEXT(config.requests_file, "/v w/requests");
    CHECK_TEXT(config.run_dir, "/v w/run");
    CHECK_TEXT(config.wake_socket, "/v w/run/c.db.wake");
    CHECK_INTEGER(read_text(SLICE("database = /v//d///c.db\n"), &config, &error), 0);
    CHECK_TEXT(config.metrics_file, "/v/metrics");
    CHECK_INTEGER(read_text(SLICE("database = /d/c.db\n"), &config, &error), 0);
    CHECK_TEXT(config.metrics_file, "/metrics");
    CHECK_INTEGER(read_text(SLICE("database = /c.db\n"), &config, &error), 0);
    CHECK_TEXT(config.metrics_file, "/metrics");
    CHECK_INTEGER(read_text(SLICE("metrics_file = /m/x\ndatabase = /a/c.db\n"), &config, &error),
                  0);
    CHECK_TEXT(config.metrics_file, "/m/x");
    CHECK_INTEGER(read_text(SLICE("database = /a/c.db\nmetrics_file =\n"), &config, &error), 0);
    CHECK_TEXT(config.metrics_file, "");
    CHECK_INTEGER(read_text(SLICE("database = /a/c.db\nrequests_file =\n"), &config, &error), 0);
    CHECK_TEXT(config.requests_file, "");
    CHECK_INTEGER(read_text(SLICE("database = postgresql://h/d\n"), &config, &error), 0);
    CHECK_TEXT(config.metrics_file, "/var/lib/switchboard/metrics");
}

int main(void) {
    int fd = mkstemp(path);
    close(fd);
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    check_keys();
    check_urls();
    check_versions();
    check_lines();
    check_current();
    check_paths();
    check_places();
    arena_free(&arena);
    unlink(path);
    return check_failures();
}
