/* GET /metrics: the counters and the state of this installation, for Prometheus.
 *
 * The answer holds no path of a request, no id and no secret, but it shows how much the gateway is
 * used: so it needs the token `metrics_token`, or, while none is configured, a client on this
 * machine.
 *
 * The files are measured and the database is opened before the process is confined. Each process
 * answers one request, as for `ready`. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/counters.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/product.h"
#include "base/target.h"
#include "delivery/kept_record.h"
#include "store/backlog.h"
#include "store/heartbeat.h"
#include "store/usage.h"
#include "web/request.h"
#include "web/transport.h"

/* --- Prometheus' text exposition format, version 0.0.4 --- */

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* A label of a sample; it is written escaped. */
struct exposition_label {
    const char *name;
    struct slice value;
};

/* Writes a text with `\`, a line feed and, where it is within quotes, `"` escaped. */
static void write_escaped(struct buffer *out, struct slice text, bool is_quoted) {
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\n')
            buffer_add_text(out, "\\n");
        else if (text.p[i] == '\\' || (is_quoted && text.p[i] == '"'))
            buffer_printf(out, "\\%c", text.p[i]);
        else
            buffer_add_char(out, text.p[i]);
}

/* Writes the lines HELP and TYPE of a metric; its samples must follow. `type`: counter, gauge or
 * histogram. */
static void exposition_start(struct buffer *out, const char *name, const char *type,
                             const char *help) {
    buffer_printf(out, "# HELP %s ", name);
    write_escaped(out, slice_of(help), false);
    buffer_printf(out, "\n# TYPE %s %s\n", name, type);
}

/* Starts a sample: NAME with `suffix` and the labels; a value must follow. */
static void exposition_sample(struct buffer *out, const char *name, const char *suffix,
                              const struct exposition_label *labels, size_t count) {
    buffer_printf(out, "%s%s", name, suffix);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%c%s=\"", i ? ',' : '{', labels[i].name);
        write_escaped(out, labels[i].value, true);
        buffer_add_char(out, '"');
    }
    buffer_add_text(out, count ? "} " : " ");
}

/* Writes the value of a sample and ends its line. */
static void exposition_integer(struct buffer *out, uint64_t value) {
    buffer_printf(out, "%" PRIu64 "\n", value);
}

/* The same for a duration, in seconds. */
static void exposition_seconds(struct buffer *out, uint64_t microseconds) {
    buffer_printf(out, "%" PRIu64 ".%06" PRIu64 "\n", microseconds / 1000000,
                  microseconds % 1000000);
}

/* --- what is measured before the confinement --- */

enum { UNKNOWN_SIZE = -1 };

static struct {
    struct store *store;
    enum store_result opened;
    int64_t database, write_ahead_log, log; /* bytes of the files */
    int64_t database_disk, spool_disk;      /* free bytes */
    bool has_pending;                       /* pending_dir can be read */
    struct kept_tally pending;
} found;

static int64_t size_of(const char *path) {
    struct stat file;
    return path && *path && stat(path, &file) == 0 ? (int64_t)file.st_size : UNKNOWN_SIZE;
}

static int64_t free_at(const char *path) {
    struct statvfs disk;
    return path && statvfs(path, &disk) == 0 ? (int64_t)(disk.f_bavail * disk.f_frsize)
                                             : UNKNOWN_SIZE;
}

static void measure(struct request *rq) {
    const char *file = target_file(rq->config->database);
    found.opened = store_open_for_reading(rq->config->reader, &found.store);
    found.database = size_of(file);
    found.write_ahead_log = file ? size_of(arena_printf(rq->arena, "%s-wal", file)) : UNKNOWN_SIZE;
    found.log = size_of(rq->config->log_file);
    found.database_disk = free_at(file);
    found.spool_disk = free_at(rq->config->spool_dir);
    found.has_pending = kept_count(rq->config->pending_dir, &found.pending) == 0;
}

/* --- who may read --- */

/* Whether the client is on this machine. A request that a proxy passed on is not: the proxy's own
 * address would make every client local. */
static bool is_local(void) {
    static const char *const forwarding[] = {"HTTP_VIA", /* of every proxy: RFC 9110 7.6.3 */
                                             "HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR",
                                             "HTTP_X_REAL_IP"};
    const char *address = request_variable("REMOTE_ADDR");
    for (size_t i = 0; i < sizeof forwarding / sizeof *forwarding; i++)
        if (request_variable(forwarding[i]))
            return false;
    return address && (strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 ||
                       strncmp(address, "::ffff:127.", 11) == 0);
}

static int check_token(struct request *rq) {
    struct slice wanted = slice_of(rq->config->metrics_token);
    struct slice given = slice_trim(slice_of(request_variable("HTTP_AUTHORIZATION")));
    if (!wanted.n && is_local())
        return 0;
    if (!wanted.n)
        return fail(rq, FORBIDDEN,
                    "Without a token only clients on this machine may read the metrics, and not "
                    "through a proxy: set metrics_token in the configuration, and send it as "
                    "Authorization: Bearer TOKEN.");
    if (given.n > 7 && strncasecmp(given.p, "Bearer ", 7) == 0 &&
        crypto_equal(slice_trim(slice_skip(given, 7)), wanted))
        return 0;
    reply_header(rq, "WWW-Authenticate", "Bearer realm=\"switchboard metrics\"");
    return fail(rq, UNAUTHORIZED,
                "Send the value of metrics_token, from the configuration of the gateway, as "
                "Authorization: Bearer TOKEN.");
}

static const struct guard token_guard = {.before_body = check_token};

/* --- the counters --- */

enum { MOST_LABELS = 3 };

/* clang-format off */
/* The metrics that the table of base/counters.h holds. `known`: the values of the only label that
 * are written even when they were not counted yet, so that their rates have a beginning. */
static const struct family {
    const char *name, *type, *help;
    const char *labels[MOST_LABELS];
    const char *known[8];
} families[COUNTERS_FAMILIES] = {
    [COUNTERS_REQUESTS] =
        {"switchboard_requests_total", "counter",
         "Requests that were answered, by the template of their route. none: no route matched.",
         {"method", "route", "status"}, {NULL}},
    [COUNTERS_REQUEST_TIME] =
        {"switchboard_request_duration_seconds", "histogram",
         "Time from the start of the program, or of the request in a pool, to the answer.",
         {"method", "route"}, {NULL}},
    [COUNTERS_CRASHES] =
        {"switchboard_crashes_total", "counter",
         "Requests that ended a program; they are not among switchboard_requests_total.",
         {"program"}, {NULL}},
    [COUNTERS_STARTS] =
        {"switchboard_process_starts_total", "counter",
         "Starts of the courier and of the processes of pools.",
         {"program"}, {NULL}},
    [COUNTERS_UPSTREAM_CALLS] =
        {"switchboard_upstream_calls_total", "counter",
         "Calls of the platform. success: 2xx; refused: 3xx, 4xx; failed: 5xx; unanswered: sent, "
         "without an answer; unreached: not sent.",
         {"outcome"}, {"success", "refused", "failed", "unanswered", "unreached"}},
    [COUNTERS_UPSTREAM_TIME] =
        {"switchboard_upstream_call_duration_seconds", "histogram",
         "Duration of the calls of the platform.",
         {NULL}, {""}},
    [COUNTERS_INBOUND_UPDATES] =
        {"switchboard_inbound_updates_total", "counter",
         "Updates of the platform that were read. not_ours: of another gateway's line or account; "
         "no_contact: they name no contact; refused: they violate a rule of the database.",
         {"outcome"}, {"stored", "duplicate", "not_ours", "no_contact", "refused"}},
    [COUNTERS_INBOUND_REFUSALS] =
        {"switchboard_inbound_refusals_total", "counter",
         "Payloads of the platform that were stored and not processed.",
         {NULL}, {""}},
    [COUNTERS_ATTEMPTS] =
        {"switchboard_delivery_attempts_total", "counter",
         "Attempts to deliver an event. retry: another attempt follows; dead: it was the last one; "
         "gone: the webhook answered 410.",
         {"outcome"}, {"delivered", "retry", "dead", "gone"}},
    [COUNTERS_ATTEMPT_TIME] =
        {"switchboard_delivery_attempt_duration_seconds", "histogram",
         "Duration of the attempts to deliver an event.",
         {NULL}, {""}},
    [COUNTERS_REPEATS] =
        {"switchboard_database_repeats_total", "counter",
         "Transactions and reads that a database server made a program repeat. connection: the "
         "connection was lost.",
         {"reason"}, {"deadlock", "serialization", "connection"}},
    [COUNTERS_RECORDS] =
        {"switchboard_pending_records_total", "counter",
         "Records of accepted calls that the database did not take. kept: in a file of "
         "pending_dir; stored: by the courier since; refused: by the database, set aside; lost: "
         "neither the database nor the disk took them.",
         {"outcome"}, {"kept", "stored", "refused", "lost"}},
    [COUNTERS_COPIES] =
        {"switchboard_media_copies_total", "counter",
         "Outcomes of copies of attachments for media_archive. same: the file was there; retry: "
         "another attempt follows; gone: the platform does not know it any more; removed: with its "
         "message.",
         {"outcome"}, {"done", "same", "retry", "gone", "failed", "removed"}},
    [COUNTERS_SENDS] =
        {"switchboard_outgoing_sends_total", "counter",
         "Outcomes of queued sends. retry: the send waits for another attempt; unknown: without "
         "those of a sender that was killed; suppressed: it was not allowed any more.",
         {"outcome"}, {"accepted", "retry", "failed", "unknown", "expired", "suppressed"}},
};
/* clang-format on */

/* Splits the labels of a series. False: their number is not that of the family, which happens only
 * in a damaged file. */
static bool read_labels(const struct family *family, const char *text,
                        struct exposition_label labels[MOST_LABELS + 1], size_t *count) {
    struct slice rest = slice_of(text);
    for (*count = 0; *count < MOST_LABELS && family->labels[*count]; ++*count) {
        if (!rest.n)
            return false;
        labels[*count] = (struct exposition_label){family->labels[*count], slice_cut(&rest, ' ')};
    }
    return !rest.n;
}

static void write_histogram(struct buffer *out, const char *name, const uint64_t *values,
                            struct exposition_label *labels, size_t count) {
    uint64_t total = 0;
    char bound[32];
    for (size_t i = 0; i <= COUNTERS_BOUNDS; i++) {
        if (i < COUNTERS_BOUNDS)
            snprintf(bound, sizeof bound, "%g", (double)counters_bounds[i] / 1e6);
        labels[count] =
            (struct exposition_label){"le", i < COUNTERS_BOUNDS ? slice_of(bound) : SLICE("+Inf")};
        exposition_sample(out, name, "_bucket", labels, count + 1);
        exposition_integer(out, total += values[i]);
    }
    exposition_sample(out, name, "_sum", labels, count);
    exposition_seconds(out, values[COUNTERS_SUM]);
    exposition_sample(out, name, "_count", labels, count);
    exposition_integer(out, total);
}

static void write_series(struct buffer *out, const struct family *family, const char *text,
                         const uint64_t *values) {
    struct exposition_label labels[MOST_LABELS + 1];
    size_t count;
    if (!read_labels(family, text, labels, &count))
        return;
    if (strcmp(family->type, "histogram") == 0) {
        write_histogram(out, family->name, values, labels, count);
        return;
    }
    exposition_sample(out, family->name, "", labels, count);
    exposition_integer(out, values[0]);
}

/* Writes the known values that have not been counted. */
static void write_missing(struct buffer *out, const struct family *family,
                          const struct counters_series *series, size_t count) {
    static const uint64_t zero[COUNTERS_VALUES];
    for (const char *const *known = family->known; *known; known++) {
        size_t i = 0;
        while (i < count &&
               (&families[series[i].family] != family || strcmp(series[i].labels, *known) != 0))
            i++;
        if (i == count)
            write_series(out, family, *known, zero);
    }
}

static void write_counters(struct buffer *out) {
    struct buffer rows = buffer_in(out->arena);
    struct counters_series row;
    for (size_t at = 0; counters_next(&at, &row);)
        buffer_add(&rows, &row, sizeof row);
    const struct counters_series *series = (const struct counters_series *)(void *)rows.p;
    const size_t count = rows.n / sizeof *series;
    for (const struct family *family = families + 1; family < families + COUNTERS_FAMILIES;
         family++) {
        exposition_start(out, family->name, family->type, family->help);
        for (size_t i = 0; i < count; i++)
            if (&families[series[i].family] == family)
                write_series(out, family, series[i].labels, series[i].values);
        write_missing(out, family, series, count);
    }
    exposition_start(out, "switchboard_metrics_dropped_total", "counter",
                     "Additions that were not counted because metrics_file is full.");
    exposition_sample(out, "switchboard_metrics_dropped_total", "", NULL, 0);
    exposition_integer(out, counters_dropped());
}

/* --- the state --- */

static void write_gauge(struct buffer *out, const char *name, const char *help, int64_t value) {
    if (value < 0)
        return;
    exposition_start(out, name, "gauge", help);
    exposition_sample(out, name, "", NULL, 0);
    exposition_integer(out, (uint64_t)value);
}

/* Writes the time from `since` to now; none when it is INT64_MIN or INT64_MAX. */
static void write_age(struct buffer *out, const char *name, const char *help, int64_t now,
                      int64_t since) {
    if (since == INT64_MIN || since == INT64_MAX)
        return;
    exposition_start(out, name, "gauge", help);
    exposition_sample(out, name, "", NULL, 0);
    exposition_seconds(out, now > since ? (uint64_t)(now - since) * 1000 : 0);
}

/* A value of a gauge with one label; below 0: unknown. */
struct labelled {
    const char *label;
    int64_t value;
};

static void write_gauges(struct buffer *out, const char *name, const char *help, const char *label,
                         const struct labelled *values, size_t count) {
    exposition_start(out, name, "gauge", help);
    for (size_t i = 0; i < count; i++) {
        const struct exposition_label of = {label, slice_of(values[i].label)};
        if (values[i].value < 0)
            continue;
        exposition_sample(out, name, "", &of, 1);
        exposition_integer(out, (uint64_t)values[i].value);
    }
}

static void write_files(struct buffer *out) {
    const struct labelled disks[] = {{"database", found.database_disk},
                                     {"spool", found.spool_disk}};
    write_gauge(out, "switchboard_database_size_bytes", "Size of the database's file.",
                found.database);
    write_gauge(out, "switchboard_write_ahead_log_size_bytes",
                "Size of the write-ahead log of the database.", found.write_ahead_log);
    write_gauge(out, "switchboard_log_size_bytes", "Size of log_file.", found.log);
    write_gauges(out, "switchboard_disk_free_bytes",
                 "Free space on the disk of the database and of spool_dir.", "of", disks,
                 sizeof disks / sizeof *disks);
}

static void write_pending(struct request *rq, struct buffer *out) {
    if (!found.has_pending)
        return;
    write_gauge(out, "switchboard_pending_records", "Records that wait in pending_dir.",
                (int64_t)found.pending.waiting);
    write_gauge(out, "switchboard_pending_records_refused",
                "Records in pending_dir that cannot be stored.", (int64_t)found.pending.refused);
    write_age(out, "switchboard_pending_records_oldest_age_seconds",
              "Age of the oldest record that waits; missing: none waits.", rq->now,
              found.pending.waiting ? found.pending.since : INT64_MAX);
}

static void write_outgoing(struct request *rq, struct buffer *out, const struct store_pulse *pulse,
                           const struct store_outgoing_backlog *backlog) {
    const struct labelled states[] = {
        {"due", backlog->due}, {"scheduled", backlog->scheduled}, {"sending", backlog->sending}};
    write_gauges(out, "switchboard_outgoing_waiting",
                 "Queued sends that have not ended, by state; at most 10000 are counted. due: they "
                 "wait for their turn; scheduled: for their time.",
                 "state", states, sizeof states / sizeof *states);
    write_age(out, "switchboard_outgoing_oldest_due_age_seconds",
              "Since when the oldest of the counted sends is due; missing: none is.", rq->now,
              backlog->oldest_at);
    write_age(out, "switchboard_sender_heartbeat_age_seconds",
              "Time since the last heartbeat of a sender; missing: it has never run.", rq->now,
              pulse->last);
}

static void write_copies(struct request *rq, struct buffer *out,
                         const struct store_media_backlog *backlog) {
    const struct labelled states[] = {{"queued", backlog->queued}, {"removed", backlog->removed}};
    write_gauges(out, "switchboard_media_copies_waiting",
                 "What the archive of media has to do, at most 10000 are counted. queued: "
                 "attachments to copy; removed: files of deleted messages to remove.",
                 "state", states, sizeof states / sizeof *states);
    write_age(out, "switchboard_media_copies_oldest_age_seconds",
              "Age of the oldest of the counted attachments to copy; missing: there is none.",
              rq->now, backlog->oldest_at);
}

/* Reads the database. Without it the metrics that need it are left out. */
static bool write_database(struct request *rq, struct buffer *out) {
    struct store_pulse pulse, sender;
    struct store_backlog backlog;
    struct store_outgoing_backlog sends;
    struct store_media_backlog copies;
    int64_t messages;
    enum store_result result = found.opened;
    if (result == STORE_OK)
        result = store_find_pulse(found.store, "courier", &pulse);
    if (result == STORE_OK)
        result = store_find_pulse(found.store, "sender", &sender);
    if (result == STORE_OK)
        result = store_count_backlog(found.store, &backlog);
    if (result == STORE_OK)
        result = store_count_outgoing(found.store, rq->now, &sends);
    if (result == STORE_OK)
        result = store_count_media_copies(found.store, &copies);
    if (result == STORE_OK)
        result = store_count_messages(found.store, rq->now, &messages);
    if (result != STORE_OK) {
        log_message(LOG_ERROR, "request %s: database %s: %s", rq->id, rq->config->reader_name,
                    store_reason(found.store));
        return false;
    }
    write_age(out, "switchboard_courier_heartbeat_age_seconds",
              "Time since the last heartbeat of a courier; missing: it has never run.", rq->now,
              pulse.last);
    write_gauge(out, "switchboard_events_pending",
                "Events that wait for delivery; at most 10000 are counted.", backlog.count);
    write_age(out, "switchboard_events_oldest_pending_age_seconds",
              "Age of the oldest of the counted events; missing: there is none.", rq->now,
              backlog.oldest_at);
    write_outgoing(rq, out, &sender, &sends);
    write_copies(rq, out, &copies);
    write_gauge(out, "switchboard_messages_last_day",
                "Messages in and out of all lines in the last 24 hours.", messages);
    write_gauge(out, "switchboard_database_growth_bytes_per_day",
                "Bytes by which they make the database grow, about.",
                messages * USAGE_MESSAGE_BYTES);
    return true;
}

static int get_metrics(struct request *rq) {
    struct buffer out = buffer_in(rq->arena);
    write_gauges(&out, "switchboard_build_info", "The version of the program.", "version",
                 &(struct labelled){SWITCHBOARD_VERSION, 1}, 1);
    bool is_up = write_database(rq, &out);
    store_close(found.store);
    transport_stop();
    write_gauge(&out, "switchboard_database_up", "1: the database can be read.", is_up);
    write_files(&out);
    write_pending(rq, &out);
    write_gauge(&out, "switchboard_metrics_up", "1: metrics_file can be used; 0: no counters.",
                counters_are_kept());
    write_counters(&out);
    return reply_body(rq, 200, EXPOSITION_TYPE, buffer_slice(&out));
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/metrics",
     .guard = &token_guard, .handle = get_metrics},
    {0},
};
/* clang-format on */

const struct service this_service = {
    .name = "metrics", .routes = routes, .needs = READS_DATABASE, .prepare = measure};
