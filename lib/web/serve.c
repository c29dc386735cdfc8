/* The processing of a request: route, guard, body, fields, handler, answer, log line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/id.h"
#include "base/log.h"
#include "base/process/confine.h"
#include "base/request_log.h"
#include "web/cpu_limit.h"
#include "web/crash.h"
#include "web/describe.h"
#include "web/prefer.h"
#include "web/prefork.h"
#include "web/reply.h"
#include "web/route.h"
#include "web/transport.h"

enum {
    REQUEST_MEMORY_CAP = 192 * 1024 * 1024,
    SLOW_BODY_MS = 1000, /* after a body that took longer, the guard is called again */
};

/* Ends the process, because the handler may have done a part of its work. */
static _Noreturn void on_exhausted(void) {
    crash_exit("out of memory");
}

ssize_t request_read_body(struct request *rq, void *bytes, size_t n) {
    request_release(rq);
    ssize_t got = transport_read(bytes, n);
    if (got > 0) {
        rq->body_read += (size_t)got;
        cpu_limit_start();
    }
    if (!transport_is_late())
        return got;
    fail(rq, TIMED_OUT,
         "The body arrived too slowly: send at least %d bytes a second, then try again.",
         TRANSPORT_LEAST_RATE);
    return -1;
}

bool request_body_is_complete(const struct request *rq) {
    return rq->content_length < 0 || (int64_t)rq->body_read == rq->content_length;
}

/* Reads the body up to one byte beyond the route's limit, or not at all when Content-Length exceeds
 * the limit; check_size refuses both. */
static void read_body(struct request *rq) {
    size_t limit = route_body_limit(rq->route);
    if (rq->content_length <= (int64_t)limit) {
        struct buffer body = buffer_in(rq->arena);
        size_t step = rq->content_length > 0 ? (size_t)rq->content_length + 1 : 16384;
        ssize_t got = 1;
        while (got > 0 && body.n <= limit) {
            size_t room = limit + 1 - body.n < step ? limit + 1 - body.n : step;
            got = request_read_body(rq, buffer_reserve(&body, room), room);
            body.n += got > 0 ? (size_t)got : 0;
        }
        rq->body = buffer_slice(&body);
    }
}

static int check_size(struct request *rq) {
    size_t limit = route_body_limit(rq->route);
    if (rq->failure.code) /* the body arrived too slowly */
        return -1;
    if (rq->content_length > (int64_t)limit || rq->body.n > limit)
        return fail(rq, TOO_LARGE, "The body is larger than %zu bytes; send less.", limit);
    if (!request_body_is_complete(rq))
        return fail(rq, INVALID,
                    "The body ended after %zu of the %lld bytes that Content-Length announced; "
                    "send it again.",
                    rq->body_read, (long long)rq->content_length);
    return 0;
}

/* Whether the type is application/json or ends with +json (RFC 6839 3.1), with any parameters. */
static bool is_json_type(const char *content_type) {
    struct slice rest = slice_of(content_type);
    struct slice type = slice_trim(slice_cut(&rest, ';'));
    if (slice_is_word(type, "application/json"))
        return true;
    return type.n > 5 && memchr(type.p, '/', type.n) &&
           strncasecmp(type.p + type.n - 5, "+json", 5) == 0;
}

/* Whether a header names a coding other than `plain`. With `plain` the gateway gets the original
 * bytes. */
static bool is_coded(const char *variable, const char *plain) {
    const char *coding = request_variable(variable);
    return coding && *coding && strcasecmp(coding, plain) != 0;
}

int request_check_encoding(struct request *rq) {
    if (is_coded("HTTP_CONTENT_ENCODING", "identity"))
        return fail(rq, UNSUPPORTED_TYPE,
                    "Content-Encoding is not supported: send the body as is.");
    if (is_coded("HTTP_TRANSFER_ENCODING", "chunked")) /* Apache decodes that */
        return fail(rq, UNSUPPORTED_TYPE,
                    "No Transfer-Encoding but chunked is supported: send the body as is.");
    return 0;
}

int request_read_object(struct request *rq, struct json *object) {
    struct json_error error;
    if (json_read(rq->arena, rq->body, object, &error))
        return fail(rq, INVALID, "The body is not valid JSON: %s, at line %zu, column %zu.",
                    error.reason, error.line, error.column);
    if (json_type(*object) != JSON_OBJECT)
        return fail(rq, INVALID, "The body must be a JSON object, not %s.",
                    json_type_name(json_type(*object)));
    return 0;
}

static int check_media_type(struct request *rq) {
    if (request_check_encoding(rq))
        return -1;
    const char *type = request_variable("CONTENT_TYPE");
    if (!type || !is_json_type(type))
        return fail(rq, UNSUPPORTED_TYPE,
                    "The body must be JSON: send the header Content-Type: application/json.");
    return 0;
}

static int read_json(struct request *rq) {
    if (!rq->body.n && !rq->route->fields[0].type) /* no fields declared, no body sent */
        return 0;
    if (check_media_type(rq))
        return -1;
    return request_read_object(rq, &rq->json);
}

/* Sets is_strict, by which unknown fields are issues (RFC 7240 4.4), if the route has fields. */
static void read_preference(struct request *rq) {
    rq->is_strict = (rq->route->query || rq->route->fields) &&
                    prefer_has(request_variable("HTTP_PREFER"), "handling", "strict");
    if (rq->is_strict)
        reply_header(rq, "Preference-Applied", "handling=strict");
}

static int check_fields(struct request *rq) {
    struct issues issues;
    read_preference(rq);
    request_start_issues(rq, &issues);
    if (rq->route->query)
        field_check_query(rq->route->query, &rq->query, &issues);
    if (rq->route->fields && json_is(rq->json) && !rq->route->write_kinds)
        field_check(rq->route->fields, rq->json, "", &issues);
    return fail_on_issues(rq, &issues);
}

static int read_query(struct request *rq) {
    const char *error;
    if (!rq->route->query)
        return 0;
    if (query_read(rq->arena, request_variable("QUERY_STRING"), &rq->query, &error))
        return fail(rq, INVALID, "%s", error);
    return 0;
}

/* Reads the whole body, unless the handler does. After a slow body it calls the guard again,
 * because the token may have been revoked in the meantime. */
static int take_body(struct request *rq, const struct guard *guard) {
    const enum body body = route_body(rq->route);
    if (body == BODY_NONE || body == BODY_STREAM)
        return 0;
    int64_t began = clock_monotonic();
    read_body(rq);
    if (guard && guard->before_body && clock_monotonic() - began > SLOW_BODY_MS &&
        !rq->failure.code && guard->before_body(rq))
        return -1;
    return check_size(rq);
}

/* Runs all steps from the guard to the handler. Clients may rely on the order of the checks. */
static int run_steps(struct request *rq, const struct guard *guard) {
    if (guard && guard->before_body && guard->before_body(rq))
        return -1;
    if (take_body(rq, guard))
        return -1;
    if (rq->route->fields && read_json(rq))
        return -1;
    if (guard && guard->before_fields && guard->before_fields(rq))
        return -1;
    if (read_query(rq) || check_fields(rq))
        return -1;
    return rq->route->handle(rq);
}

/* Returns the client's id if its characters are allowed, else the web server's, else a new one. */
static const char *request_id(struct request *rq) {
    static const char *const sources[] = {"HTTP_X_REQUEST_ID", "UNIQUE_ID"};
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    for (size_t i = 0; i < 2; i++) {
        const char *given = request_variable(sources[i]);
        size_t n = given ? strlen(given) : 0;
        if (n >= 1 && n <= 64 && strspn(given, allowed) == n)
            return arena_copy(rq->arena, (struct slice){given, n});
    }
    char *id = arena_alloc(rq->arena, ID_SIZE);
    id_make(id, "req_", rq->now);
    return id;
}

static int64_t content_length(void) {
    const char *text = request_variable("CONTENT_LENGTH");
    if (!text || !*text)
        return -1;
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    return errno || *end || n < 0 ? INT64_MAX : n;
}

/* The paths that the process was confined to, as one text; empty before the confinement. */
static char confined_to[6 * 4096];

static const char *list_paths(struct request *rq) {
    return config_paths(rq->config, ~0u, rq->arena);
}

static void (*prepare_database)(struct request *rq); /* NULL: the program opens none, or its own */

void serve_database_with(void (*prepare)(struct request *rq)) {
    prepare_database = prepare;
}

/* Confines the process at its first request. Opens the log first, because its path is not among
 * those that a confined process may use. */
static void confine_once(const struct service *service, struct request *rq) {
    if (confined_to[0])
        return;
    log_open();
    if (prepare_database && service->needs & (READS_DATABASE | WRITES_DATABASE))
        prepare_database(rq);
    if (service->load)
        service->load(); /* the first request that needs it reports a failure */
    if (service->prepare)
        service->prepare(rq);
    rq->now = clock_now(); /* the server of the database may have set the clock */
    confine(service->needs, transport_is_fastcgi(), config_find(), rq->config);
    snprintf(confined_to, sizeof confined_to, "%s", list_paths(rq));
}

/* A confined process cannot use the new paths of a changed configuration: it fails this request and
 * ends, and the next process starts with them. */
static int check_paths(struct request *rq) {
    if (!confined_to[0] || strncmp(list_paths(rq), confined_to, sizeof confined_to - 1) == 0)
        return 0;
    transport_stop();
    reply_header(rq, "Retry-After", "1");
    return fail(rq, INTERNAL,
                "The gateway is starting anew with another configuration; try again.");
}

/* Whether a route of the service authenticates a user. */
static bool has_callers(const struct service *service) {
    for (const struct route *route = service->routes; route->method; route++)
        if (route_has_caller(route))
            return true;
    return false;
}

/* Maps the table of the counters and the list of the last requests at the first request, before the
 * process is confined. A problem becomes a member of the request's log line, so that a CGI writes
 * no line more for each request. */
static void open_tables(const struct service *service, struct request *rq) {
    static bool are_tried;
    char problem[MAPPED_FILE_PROBLEM_SIZE];
    if (are_tried || !rq->config)
        return;
    are_tried = true;
    counters_open(rq->config->metrics_file, problem);
    if (*problem)
        json_write_text(&rq->log, "metrics", problem);
    if (transport_is_fastcgi())
        counters_add(COUNTERS_STARTS, service->name, 1);
    request_log_open(has_callers(service) ? rq->config->requests_file : "", problem);
    if (*problem)
        json_write_text(&rq->log, "requests", problem);
}

static int load_config(struct request *rq) {
    const char *error = NULL;
    /* Never from a parameter of a FastCGI request, because any program that can open the pool's
     * socket can set it. */
    rq->config = config_current(config_find(), &error);
    if (error && confined_to[0])
        transport_stop(); /* the file may have been replaced: only a new process can read that */
    if (!rq->config) {
        log_to(NULL);
        log_message(LOG_ERROR, "%s", error);
        return fail(rq, INTERNAL, "The gateway is not configured: its log says what is wrong.");
    }
    if (check_paths(rq))
        return -1;
    log_to(rq->config->log_file);
    log_host(config_log_host(rq->config));
    return 0;
}

/* Whether the path is that of the program in some directory. A path /NAME is one of its routes. */
static bool is_named(const char *script, const char *name) {
    const char *slash = script ? strrchr(script, '/') : NULL;
    return slash && slash != script && strcmp(slash + 1, name) == 0;
}

static void start(const struct service *service, struct request *rq) {
    rq->started = clock_monotonic_us();
    rq->now = clock_now();
    const char *method = request_variable("REQUEST_METHOD");
    rq->head = method && strcmp(method, "HEAD") == 0;
    rq->method = rq->head ? "GET" : method ? method : "";
    crash_set_request("unknown", rq->head);
    rq->id = request_id(rq);
    crash_set_request(rq->id, rq->head);
    rq->reply.headers = buffer_in(rq->arena);
    /* The web server has decoded these paths, merged slashes and resolved dot segments; REQUEST_URI
     * is unchanged (RFC 3875 4.1.5). */
    const char *script = request_variable("SCRIPT_NAME"), *info = request_variable("PATH_INFO");
    bool is_whole =
        service->is_catch_all || (service->takes_rewrites && info && strncmp(info, "/v2/", 4) == 0);
    bool is_rewritten = is_whole && is_named(script, service->name);
    rq->path =
        arena_printf(rq->arena, "%s%s", script && !is_rewritten ? script : "", info ? info : "");
    rq->content_length = content_length();
    rq->settle = service->settle;
    if (service->enter)
        service->enter(rq);
    log_start(&rq->log, rq->arena, LOG_INFO);
    json_write_text(&rq->log, "request_id", rq->id);
    json_write_string(&rq->log, "method", (struct slice){rq->method, strnlen(rq->method, 16)});
}

/* Counts the request. The labels are bounded: the template of the route, never the path, and the
 * methods of routes. */
static void count_request(const struct request *rq) {
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    char labels[COUNTERS_LABELS_SIZE];
    const char *method = "other", *route = rq->route ? rq->route->path : "none";
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(rq->method, methods[i]) == 0)
            method = methods[i];
    snprintf(labels, sizeof labels, "%s %s %d", method, route, rq->reply.status);
    counters_add(COUNTERS_REQUESTS, labels, 1);
    snprintf(labels, sizeof labels, "%s %s", method, route);
    counters_observe(COUNTERS_REQUEST_TIME, labels, clock_monotonic_us() - rq->started);
}

/* Records the request of an authenticated caller, for GET /v2/requests. Without a 304: the pages of
 * the dashboard poll, and what changes nothing would fill the ring. */
static void record_request(const struct request *rq) {
    struct request_record record = {.time = rq->now,
                                    .ms = (clock_monotonic_us() - rq->started) / 1000,
                                    .status = rq->reply.status,
                                    .is_session = rq->has_session,
                                    .is_scoped = rq->token_id != NULL};
    if (!rq->user_id || !rq->route || rq->reply.status == 304)
        return;
    snprintf(record.user_id, sizeof record.user_id, "%s", rq->user_id);
    snprintf(record.id, sizeof record.id, "%s", rq->id);
    snprintf(record.method, sizeof record.method, "%s", rq->head ? "HEAD" : rq->method);
    snprintf(record.route, sizeof record.route, "%s", rq->route->path);
    request_log_add(&record);
}

/* Also with a 304, because a program that polls uses its token. */
static void note_token_use(const struct request *rq) {
    struct token_use use = {.time = rq->now};
    if (!rq->token_id)
        return;
    snprintf(use.id, sizeof use.id, "%s", rq->token_id);
    request_log_note_use(&use);
}

static void log_request(struct request *rq) {
    struct json_writer *line = &rq->log;
    struct slice path = {rq->path, strnlen(rq->path, 200)};
    if (rq->route)
        json_write_text(line, "route", rq->route->path);
    else
        /* without a query whose ? the client has encoded by mistake: it may hold a token */
        json_write_string(line, "path", slice_cut(&path, '?'));
    json_write_integer(line, "status", rq->reply.status);
    json_write_integer(line, "ms", (clock_monotonic_us() - rq->started) / 1000);
    if (rq->upstream_calls) {
        json_write_integer(line, "upstream_calls", rq->upstream_calls);
        json_write_integer(line, "upstream_status", rq->upstream_status);
        json_write_integer(line, "upstream_ms", rq->upstream_ms);
    }
    json_write_integer(line, "bytes_in", (int64_t)rq->body_read);
    json_write_integer(line, "bytes_out", (int64_t)rq->reply.bytes);
    if (rq->failure.code) {
        json_write_text(line, "error", rq->failure.message);
        json_write_text(line, "at", rq->failure.site);
    }
    log_finish(line);
}

/* A change without a row is a defect of the program: the change is made, so the answer stays. */
static void check_trail(const struct request *rq) {
    if (rq->reply.status < 200 || rq->reply.status > 299 || rq->has_trail ||
        !route_leaves_row(rq->trail))
        return;
    log_message(LOG_ERROR, "request %s: %s %s left no row in the trail", rq->id, rq->method,
                rq->route->path);
#ifdef SWITCHBOARD_PROBE
    abort();
#endif
}

static void serve_one(const struct service *service, struct arena *arena) {
    struct request rq = {.arena = arena, .needs = service->needs};
    start(service, &rq);
    bool is_configured = load_config(&rq) == 0;
    open_tables(service, &rq);
    if (is_configured && route_choose(&rq, service->routes) == 0 && rq.route) {
        confine_once(service, &rq);
#ifdef SWITCHBOARD_PROBE
        probe_run(&rq);
#endif
        if (route_body(rq.route) == BODY_NONE)
            transport_drain(); /* before the reply: a web server may not read it while it sends */
        rq.trail = rq.route->trail;
        run_steps(&rq, rq.route->guard);
        request_release(&rq);
        check_trail(&rq);
        if (!rq.reply.status && !rq.failure.code)
            fail(&rq, INTERNAL, "The gateway gave no answer.");
    }
    transport_drain();
    if (!rq.reply.streamed)
        reply_settle(&rq);
    count_request(&rq); /* before the answer: a client that has it finds it counted */
    record_request(&rq);
    note_token_use(&rq);
    if (!rq.reply.streamed)
        rq.reply.bytes = reply_write(&rq);
    log_request(&rq);
    if (rq.forget)
        rq.forget();
    crash_set_request(NULL, false);
}

int serve(const struct service *service, int argc, char **argv) {
    request_limit_environment();
    if (!route_check_scopes(service->name, service->routes) ||
        !route_check_trails(service->name, service->routes))
        return EXIT_FAILURE;
    if (!getenv("GATEWAY_INTERFACE"))
        prefork(service->load);
    if (!getenv("GATEWAY_INTERFACE") && !transport_is_fastcgi())
        return describe(service, argc, argv);
    static struct arena arena;
    confine_memory();
    arena_init(&arena, REQUEST_MEMORY_CAP, on_exhausted);
    crash_watch(service->name, service->write_edges != NULL);
    while (transport_accept()) {
        serve_one(service, &arena);
        transport_finish();
        arena_reset(&arena);
    }
    arena_free(&arena);
    return 0;
}
