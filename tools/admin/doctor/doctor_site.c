/* The checks of doctor that ask the web server: whether programs answer, whether the token reaches
 * them, whether private files are served, and whether suEXEC would refuse the programs. */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/target.h"
#include "doctor_site.h"

enum {
    TIMEOUT_MS = 10000, /* of a request */
    TOTAL_MS = 60000,   /* of all requests */
    COMPARED = 64,
};

static size_t on_body(char *bytes, size_t size, size_t n, void *context) {
    struct site *site = context;
    size_t given = size * n, room = SITE_BODY_LIMIT - site->length;
    memcpy(site->body + site->length, bytes, given < room ? given : room);
    site->length += given < room ? given : room;
    return given;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *context) {
    (void)bytes, (void)context;
    return size * n;
}

static void describe(struct site *site, const struct site_question *question) {
    http_set(&site->http, CURLOPT_CUSTOMREQUEST, question->method ? question->method : "GET");
    if (question->body) {
        http_set(&site->http, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)question->length);
        http_set(&site->http, CURLOPT_POSTFIELDS, question->body);
    }
    for (size_t i = 0; i < SITE_HEADERS && question->headers[i]; i++)
        http_add_header(&site->http, question->headers[i]);
}

long site_ask(struct site *site, const struct site_question *question) {
    static const struct http_use use = {.on_header = on_header, .on_body = on_body};
    const int64_t left = site->ends - clock_monotonic();
    long status = 0;
    const char *location = NULL;
    site->length = 0;
    site->location = NULL;
    site->is_silent = site->is_silent || left <= 0;
    if (site->is_silent)
        return 0;
    http_start(&site->http, &site->report->call->config, &use, site);
    http_set(&site->http, CURLOPT_URL,
             arena_printf(site->arena, "%s%s", site->url, question->path));
    http_set(&site->http, CURLOPT_TIMEOUT_MS, (long)(left < TIMEOUT_MS ? left : TIMEOUT_MS));
    describe(site, question);
    CURLcode code = http_ready(&site->http);
    if (code == CURLE_OK)
        code = curl_easy_perform(site->http.curl);
    curl_easy_getinfo(site->http.curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(site->http.curl, CURLINFO_REDIRECT_URL, &location);
    if (code == CURLE_OPERATION_TIMEDOUT)
        status = 0; /* an answer that is not complete in time is none */
    if (location)
        site->location = arena_printf(site->arena, "%s", location);
    if (code != CURLE_OK && !status)
        site->length =
            (size_t)snprintf(site->body, sizeof site->body, "%s", http_reason(&site->http, code));
    site->body[site->length] = '\0';
    site->is_silent = !status;
    http_finish(&site->http);
    return status;
}

static long get(struct site *site, const char *path, const char *header) {
    return site_ask(site, &(struct site_question){.path = path, .headers = {header}});
}

/* What to do about a status of a program that does not answer. */
static const char *advice(const struct site *site, long status) {
    switch (status) {
    case 0: return "";
    case 301:
    case 302:
    case 307:
    case 308:
        return arena_printf(site->arena, ": it redirects to %s: give that URL, in public_url too",
                            site->location ? site->location : "nowhere");
    case 403:
        return ": the web server, or a firewall before it, refuses the request, and its error log "
               "names the reason: a rule of the firewall, the mode of the program, or Options "
               "ExecCGI";
    case 404: return ": it is not there: is this the URL of the document root?";
    case 500:
        return ": the error log of the web server names the reason; suEXEC refuses programs and "
               "directories that the group or others may write";
    default: return ": no program of the gateway answered";
    }
}

/* `*status` is 0 when the web server does not answer. */
static bool check_health(struct site *site, long *status) {
    *status = get(site, "/v2/health", NULL);
    bool answers = *status == 200 && strstr(site->body, "\"success\":true");
    if (answers)
        report_add(site->report, OK, "site", "%s/v2/health answers", site->url);
    else if (!*status)
        report_add(site->report, FAIL, "site", "%s/v2/health: %s", site->url, site->body);
    else
        report_add(site->report, FAIL, "site", "%s/v2/health answers %ld%s", site->url, *status,
                   advice(site, *status));
    return answers;
}

/* Whether a token in this header reaches the program, which refuses it as unknown. */
static bool passes(struct site *site, const char *header) {
    return get(site, "/v2/me", header) == 401 && strstr(site->body, "Invalid API token");
}

static void check_token_headers(struct site *site) {
    bool bearer = passes(site, "Authorization: Bearer of-doctor");
    bool plain = passes(site, "X-API-Token: of-doctor");
    if (site->is_silent)
        report_add(site->report, FAIL, "token headers", "GET /v2/me: no answer in time");
    else if (bearer && plain)
        report_add(site->report, OK, "token headers", "Authorization and X-API-Token arrive");
    else if (plain)
        report_add(site->report, WARN, "token headers",
                   "only X-API-Token arrives: clients must use it, or .htaccess needs `CGIPassAuth "
                   "On`");
    else if (bearer)
        report_add(site->report, FAIL, "token headers",
                   "only Authorization arrives: GET /v2/me does not answer 401 to an unknown "
                   "X-API-Token");
    else
        report_add(site->report, FAIL, "token headers",
                   "no token arrives: GET /v2/me does not answer 401 to an unknown one");
}

/* Whether the last answer begins as the file does. An empty file is not recognized. */
static bool is_content_of(const struct site *site, const char *path) {
    char beginning[COMPARED];
    size_t n = doctor_read_start(path, beginning, sizeof beginning);
    return n && site->length >= n && memcmp(site->body, beginning, n) == 0;
}

/* Fetches the file under each URL that a directory on its path could have as its document root.
 * Returns false after adding a failure. */
static bool is_private(struct site *site, const char *path) {
    for (const char *rest = strchr(path, '/'); rest; rest = strchr(rest + 1, '/'))
        if (get(site, rest, NULL) == 200 && is_content_of(site, path)) {
            report_add(site->report, FAIL, "private files",
                       "%s%s serves %s to the world: move it out of the served directory, replace "
                       "all keys and tokens",
                       site->url, rest, path);
            return false;
        }
    return true;
}

static void check_private_files(struct site *site) {
    const struct invocation *call = site->report->call;
    const char *database = target_file(call->config.database);
    const char *const files[] = {
        database ? database : "", database ? arena_printf(site->arena, "%s-wal", database) : "",
        call->config.secret_key_file, call->config_path, call->config.log_file};
    bool all = true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        all = is_private(site, files[i]) && all;
    if (site->is_silent)
        report_add(site->report, WARN, "private files",
                   "the web server stopped answering: run doctor again to see whether it serves "
                   "database, keys, configuration or log");
    else if (all)
        report_add(site->report, OK, "private files",
                   "the web server serves none of database, keys, configuration and log");
}

static void check_owner_alone(struct site *site, const char *path) {
    struct stat file;
    if (stat(path, &file) == 0 && file.st_mode & (S_IWGRP | S_IWOTH))
        report_add(site->report, WARN, "suEXEC",
                   "%s has mode %04o: suEXEC starts no program there: chmod go-w %s", path,
                   (unsigned)(file.st_mode & 07777), path);
}

static void check_modes(struct site *site) {
    static const char *const directories[] = {"v2", "platform"};
    const char *root = site->report->call->config.document_root;
    for (size_t i = 0; *root && i < sizeof directories / sizeof *directories; i++) {
        const char *path = arena_printf(site->arena, "%s/%s", root, directories[i]);
        DIR *directory = opendir(path);
        check_owner_alone(site, path);
        for (struct dirent *entry; directory && (entry = readdir(directory));)
            if (entry->d_name[0] != '.')
                check_owner_alone(site, arena_printf(site->arena, "%s/%s", path, entry->d_name));
        if (directory)
            closedir(directory);
    }
}

void doctor_check_site(struct report *report) {
    struct invocation *call = report->call;
    const char *given = call->options[OPTION_URL];
    struct site *site = arena_alloc(&call->arena, sizeof *site);
    *site = (struct site){
        .report = report, .arena = &call->arena, .ends = clock_monotonic() + TOTAL_MS};
    site->url = given ? given : call->config.public_url;
    if (!*site->url)
        return;
    check_modes(site);
    site->http.curl = http_prepare() ? curl_easy_init() : NULL;
    if (!site->http.curl) {
        report_add(report, FAIL, "site", "out of memory");
        return;
    }
    long status;
    const bool answers = check_health(site, &status);
    if (answers)
        check_token_headers(site);
    if (status) /* without an answer nothing is known about the files */
        check_private_files(site);
    if (answers)
        site_check_front(site);
    curl_easy_cleanup(site->http.curl);
}
