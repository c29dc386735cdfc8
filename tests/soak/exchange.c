#include "exchange.h"

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <strings.h>

#include "history.h"

/* Apache ends a program after 60 s, so no request takes longer than this. */
enum { PATIENCE_MS = 100 * 1000, HOSTS_MAX = 16 };

static struct slice hosts[HOSTS_MAX];
static unsigned host_count;
static atomic_uint turn; /* of the hosts */
static int exchanges;

struct answer {
    struct buffer head, body;
};

void exchange_start(const char *bases, const char *dir) {
    struct slice rest = slice_of(bases);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        give_up("curl");
    while (rest.n && host_count < HOSTS_MAX)
        hosts[host_count++] = slice_cut(&rest, ' ');
    exchanges = history_open(dir, "exchange");
}

static size_t keep(char *bytes, size_t size, size_t count, void *buffer) {
    buffer_add(buffer, bytes, size * count);
    return size * count;
}

/* The value of a header; empty when it is absent. */
static struct slice header(const struct answer *answer, const char *name) {
    struct slice rest = buffer_slice(&answer->head);
    size_t n = strlen(name);
    while (rest.n) {
        struct slice line = slice_cut(&rest, '\n');
        if (line.n > n + 1 && line.p[n] == ':' && strncasecmp(line.p, name, n) == 0) {
            line.n -= line.p[line.n - 1] == '\r';
            return slice_trim(slice_skip(line, n + 1));
        }
    }
    return SLICE("");
}

/* --- checks of every answer --- */

/* The valid pairs of status and code. */
static bool is_known_error(long status, struct json code) {
    static const struct {
        long status;
        const char *code;
    } known[] = {
        {400, "VALIDATION_ERROR"}, {401, "UNAUTHORIZED"},     {403, "FORBIDDEN"},
        {404, "NOT_FOUND"},        {408, "VALIDATION_ERROR"}, {409, "VALIDATION_ERROR"},
        {422, "VALIDATION_ERROR"}, {500, "INTERNAL_ERROR"},   {502, "INTERNAL_ERROR"},
        {503, "INTERNAL_ERROR"},   {504, "INTERNAL_ERROR"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == status && json_equals(code, known[i].code))
            return true;
    return false;
}

static const char *problem_of_members(const struct exchange *exchange, struct arena *arena) {
    struct json answer = exchange->answer, message = json_get(answer, "message");
    size_t members = json_count(answer), details = json_is(json_get(answer, "details")) ? 1 : 0;
    if (exchange->status == 200)
        return json_type(json_get(answer, "success")) == JSON_TRUE &&
                       json_is(json_get(answer, "data")) && members == 2
                   ? NULL
                   : "not the envelope of a success";
    if (json_type(json_get(answer, "success")) != JSON_FALSE || members != 3 + details)
        return "not the envelope of an error";
    if (!is_known_error(exchange->status, json_get(answer, "error")))
        return "a status with a code that is not its own";
    return json_string(message, arena).n ? NULL : "no message";
}

/* NULL when there is none. */
static const char *problem_of(struct exchange *exchange, struct arena *arena,
                              const struct answer *answer) {
    struct json_error error;
    if (!header(answer, "X-Request-Id").n)
        return "no X-Request-Id";
    if (!slice_equal(header(answer, "Content-Type"), SLICE("application/json; charset=utf-8")))
        return "another Content-Type";
    if (!slice_equal(header(answer, "Cache-Control"), SLICE("no-store")))
        return "another Cache-Control";
    if (json_read(arena, buffer_slice(&answer->body), &exchange->answer, &error))
        return error.reason;
    return problem_of_members(exchange, arena);
}

/* --- the request --- */

static void add_header(struct curl_slist **list, struct arena *arena, const char *name,
                       const char *value) {
    if (value)
        *list = curl_slist_append(*list, arena_printf(arena, "%s: %s", name, value));
}

static void set_up(CURL *curl, struct arena *arena, const struct exchange *exchange,
                   struct answer *answer, struct curl_slist **headers) {
    *headers = curl_slist_append(NULL, "Expect:");
    add_header(headers, arena, "X-API-Token", exchange->token);
    add_header(headers, arena, "Idempotency-Key", exchange->key);
    add_header(headers, arena, "X-Hub-Signature-256", exchange->signature);
    add_header(headers, arena, "Content-Type",
               !exchange->body.p ? NULL
               : exchange->type  ? exchange->type
                                 : "application/json");
    struct slice host = hosts[(exchange->host ? exchange->host : turn++) % host_count];
    curl_easy_setopt(curl, CURLOPT_URL,
                     arena_printf(arena, "%.*s%s", (int)host.n, host.p, exchange->path));
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)PATIENCE_MS);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, *headers);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer->head);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer->body);
    if (exchange->body.p) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, exchange->body.p);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->body.n);
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, exchange->method);
}

void exchange_make(struct arena *arena, struct exchange *exchange) {
    struct answer answer = {buffer_in(arena), buffer_in(arena)};
    struct curl_slist *headers;
    const char *problem = NULL;
    CURL *curl = curl_easy_init();
    if (!curl)
        give_up("curl");
    set_up(curl, arena, exchange, &answer, &headers);
    int64_t begin = history_now();
    exchange->failure = (int)curl_easy_perform(curl);
    exchange->answer = (struct json){0};
    exchange->file = exchange->takes_file ? buffer_slice(&answer.body) : SLICE("");
    exchange->status = 0;
    if (!exchange->failure) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &exchange->status);
        exchange->is_replayed = header(&answer, "Idempotent-Replayed").n > 0;
        if (!exchange->takes_file || exchange->status != 200)
            problem = problem_of(exchange, arena, &answer);
    }
    history_line(exchanges, "%lld\t%lld\t%s\t%s\t%d\t%ld\t%.*s\t%s", (long long)begin,
                 (long long)history_now(), exchange->who, exchange->what, exchange->failure,
                 exchange->status, (int)header(&answer, "X-Request-Id").n,
                 header(&answer, "X-Request-Id").p, problem ? problem : "");
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
}

bool exchange_is_unknown(const struct exchange *exchange) {
    return exchange->failure || exchange->status >= 500;
}
