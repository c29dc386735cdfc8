#include "base/http_client.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <features.h>
#include <stdio.h>
#include <unistd.h>

#include "base/product.h"

enum { CONNECT_TIMEOUT_MS = 5000 };

/* --- host names in a confined process --- */

#ifdef SWITCHBOARD_STATIC

/* A static program resolves host names by c-ares, which has no modules. */
static void prepare_resolver(void) {
}

#else

enum { LONGEST_FILE = 16 * 1024 };

/* Whether the module is part of the C library: `files` and `dns` are since glibc 2.34. */
static bool is_built_in(struct slice module) {
#if __GLIBC_PREREQ(2, 34)
    return slice_equal(module, SLICE("files")) || slice_equal(module, SLICE("dns"));
#else
    (void)module;
    return false;
#endif
}

static struct slice next_word(struct slice *line) {
    struct slice word = *line = slice_trim(*line);
    word.n = 0;
    while (word.n < line->n && word.p[word.n] != ' ' && word.p[word.n] != '\t')
        word.n++;
    *line = slice_skip(*line, word.n);
    return word;
}

/* Loads the modules of a line such as `hosts: files resolve [!UNAVAIL=return] dns`, without its
 * `hosts:`. They stay loaded. */
static void load_modules(struct slice line) {
    bool is_action = false;
    for (struct slice word = next_word(&line); word.n; word = next_word(&line)) {
        char file[64];
        is_action = is_action || word.p[0] == '[';
        if (!is_action && !is_built_in(word) &&
            snprintf(file, sizeof file, "libnss_%.*s.so.2", (int)word.n, word.p) < (int)sizeof file)
            dlopen(file, RTLD_NOW);
        is_action = is_action && word.p[word.n - 1] != ']';
    }
}

/* Loads the modules that nsswitch.conf(5) names for hosts. The C library would load them at the
 * first look-up, but a confined process cannot map executable memory. When all modules are part of
 * the C library, it only reads that file. */
static void prepare_resolver(void) {
    static char text[LONGEST_FILE]; /* static, so it is not cleared on each call */
    int fd = open("/etc/nsswitch.conf", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    for (struct slice rest = {text, n > 0 ? (size_t)n : 0}; rest.n;) {
        struct slice line = slice_cut(&rest, '\n'), comment = line;
        line = slice_cut(&comment, '#');
        struct slice database = slice_trim(slice_cut(&line, ':'));
        if (slice_equal(database, SLICE("hosts")))
            load_modules(line);
    }
}

#endif

/* --- a client --- */

bool http_prepare(void) {
    prepare_resolver();
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK; /* OpenSSL reads openssl.cnf(5) */
}

void http_latch(struct http_client *client, CURLcode code) {
    if (!client->failed)
        client->failed = code;
}

static void set_limits(struct http_client *client, const struct http_use *use) {
    http_set(client, CURLOPT_NOSIGNAL, 1L);
    http_set(client, CURLOPT_QUICK_EXIT, 1L); /* does not wait for a name server that hangs */
    http_set(client, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    http_set(client, CURLOPT_MAXAGE_CONN, use->idle_seconds);
}

static void set_protocol(struct http_client *client) {
    http_set(client, CURLOPT_PROTOCOLS_STR, "http,https");
    http_set(client, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    http_set(client, CURLOPT_FOLLOWLOCATION, 0L);
    http_set(client, CURLOPT_PROXY, "");
    http_set(client, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    http_set(client, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    http_set(client, CURLOPT_USERAGENT, SWITCHBOARD_NAME "/" SWITCHBOARD_VERSION);
}

/* By default the certificates are in a hashed directory: to load one large file takes 20 ms of CPU
 * per process. */
static void set_tls(struct http_client *client, const struct config *config) {
    http_set(client, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    http_set(client, CURLOPT_SSL_VERIFYPEER, 1L);
    http_set(client, CURLOPT_SSL_VERIFYHOST, 2L);
    http_set(client, CURLOPT_CAPATH, *config->ca_path ? config->ca_path : NULL);
    http_set(client, CURLOPT_CAINFO, *config->ca_file ? config->ca_file : NULL);
}

static void set_callbacks(struct http_client *client, const struct http_use *use, void *context) {
    http_set(client, CURLOPT_ERRORBUFFER, client->detail);
    http_set(client, CURLOPT_HEADERFUNCTION, use->on_header);
    http_set(client, CURLOPT_HEADERDATA, context);
    http_set(client, CURLOPT_WRITEFUNCTION, use->on_body);
    http_set(client, CURLOPT_WRITEDATA, context);
    http_set(client, CURLOPT_PREREQFUNCTION, use->on_request);
    http_set(client, CURLOPT_PREREQDATA, context);
}

void http_start(struct http_client *client, const struct config *config, const struct http_use *use,
                void *context) {
    *client = (struct http_client){.curl = client->curl};
    if (!client->curl) {
        http_latch(client, CURLE_OUT_OF_MEMORY);
        return;
    }
    curl_easy_reset(client->curl);
    set_limits(client, use);
    set_protocol(client);
    set_tls(client, config);
    set_callbacks(client, use, context);
    http_add_header(client, "Expect:"); /* else libcurl waits a second for 100 Continue */
}

void http_add_header(struct http_client *client, const char *line) {
    struct curl_slist *longer = curl_slist_append(client->headers, line);
    if (longer)
        client->headers = longer;
    else
        http_latch(client, CURLE_OUT_OF_MEMORY);
}

CURLcode http_ready(struct http_client *client) {
    http_set(client, CURLOPT_HTTPHEADER, client->headers);
    return client->failed;
}

void http_finish(struct http_client *client) {
    curl_easy_setopt(client->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(client->headers);
    client->headers = NULL;
}

bool http_header_is(struct slice line, const char *name, struct slice *value) {
    while (line.n && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == '\n'))
        line.n--;
    struct slice found = slice_cut(&line, ':');
    if (!slice_is_word(found, name))
        return false;
    *value = slice_trim(line);
    return true;
}

const char *http_reason(const struct http_client *client, CURLcode code) {
    return *client->detail ? client->detail : curl_easy_strerror(code);
}

const char *http_url_part(struct arena *arena, CURLU *url, CURLUPart part) {
    char *text = NULL;
    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
        return "";
    char *copy = arena_copy(arena, slice_of(text));
    curl_free(text);
    for (char *p = copy; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    return copy;
}
