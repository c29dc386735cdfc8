/* GET /v2/ready: whether this installation can serve requests, and if not, what to do. For load
 * balancers and monitors. The route is public, so its answer contains no path, no version and no
 * secret; the log has the details.
 *
 * The disk, the key file and the pools are checked, and the database is opened, before the process
 * is confined, because a confined process cannot do that. Each process answers one request, so that
 * an answer is never older than its request: apache.conf runs this executable as a plain CGI. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/target.h"
#include "store/heartbeat.h"
#include "store/upkeep.h"
#include "web/request.h"
#include "web/transport.h"

/* The results of `prepare`. A problem is a text for the client: what is wrong and what to do; NULL:
 * there is none. */
static struct {
    struct store *store;
    enum store_result opened;
    const char *key_file, *disk;
    bool has_pools;     /* the web server passes requests to pools */
    char stopped[1024]; /* the names of those that do not run, after a space each */
} found;

/* Checks the key file without reading it, since this program decrypts nothing. */
static const char *check_key_file(const char *path) {
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_there = fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0;
    if (fd >= 0)
        close(fd);
    return is_there ? NULL
                    : "The key file is missing, empty or not readable for the service: restore it, "
                      "or correct its owner and mode; `switchboard doctor` names it.";
}

/* Returns the problem of the disk that holds `path`; `absent` when the path cannot be reached. */
static const char *check_disk(const char *path, const char *absent) {
    struct statvfs disk;
    if (statvfs(path, &disk) != 0)
        return absent;
    if (disk.f_flag & ST_RDONLY)
        return "The disk of the database or of the spool directory is mounted read-only.";
    bool has_room = disk.f_bavail * disk.f_frsize / (1024 * 1024) >= DISK_NONE_MIB;
    bool has_files = !disk.f_files || disk.f_favail;
    return !disk.f_blocks || (has_room && has_files)
               ? NULL
               : "The disk of the database or of the spool directory is full: make room.";
}

/* Whether a process listens on the socket of the pool. One whose queue is full does. */
static bool is_listening(const char *directory, const char *name, size_t length) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int n = snprintf(address.sun_path, sizeof address.sun_path, "%s/%.*s.sock", directory,
                           (int)length, name);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const bool is_heard =
        fd >= 0 && n < (int)sizeof address.sun_path &&
        (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN);
    if (fd >= 0)
        close(fd);
    return is_heard;
}

/* Finds the pools that do not run. apache.conf names them, if there are any; secure_getenv, since
 * the caller of a program with a group of its own may be any user. */
static void check_pools(void) {
    const char *directory = secure_getenv("SWITCHBOARD_RUN");
    const char *names = secure_getenv("SWITCHBOARD_POOLS");
    struct slice rest = slice_of(directory && names ? names : "");
    size_t used = 0;
    found.has_pools = rest.n > 0;
    while (rest.n) {
        const struct slice name = slice_cut(&rest, ' ');
        if (name.n && used + name.n + 2 < sizeof found.stopped &&
            !is_listening(directory, name.p, name.n))
            used += (size_t)snprintf(found.stopped + used, sizeof found.stopped - used, " %.*s",
                                     (int)name.n, name.p);
    }
}

static const char *pools_problem(struct request *rq) {
    return *found.stopped ? arena_printf(rq->arena, "Without a running pool:%s. Start it again.",
                                         found.stopped)
                          : NULL;
}

static void inspect(struct request *rq) {
    const struct config *config = rq->config;
    found.opened = store_open_for_reading(config->reader, &found.store);
    found.key_file = check_key_file(config->secret_key_file);
    const char *file = target_file(config->database);
    found.disk = file ? check_disk(file, NULL) : NULL; /* `database` reports a missing file */
    if (!found.disk)
        found.disk = check_disk(config->spool_dir,
                                "The spool directory is missing, or the service may not enter the "
                                "directories above it: `switchboard doctor` names it.");
    check_pools();
}

static const char *database_problem(enum store_result result) {
    switch (result) {
    case STORE_OK:
        return store_is_stuck(found.store)
                   ? "Its server answers no write: the synchronous standby is not there. "
                     "`switchboard doctor` says what to do."
                   : NULL;
    case STORE_BUSY: return "It was locked for more than 5 seconds: try again.";
    case STORE_CORRUPT: return "It is damaged: restore a backup.";
    default:
        return "It is missing, not readable for the service, or of another schema version: "
               "`switchboard doctor` says which.";
    }
}

static const char *courier_problem(struct request *rq, enum store_result result,
                                   const struct store_pulse *pulse) {
    if (result != STORE_OK)
        return "Not known, since the database cannot be read.";
    if (pulse->last == INT64_MIN)
        return "It has never run, so events are not delivered: start it.";
    if (heartbeat_is_running(pulse, rq->now))
        return NULL;
    const long long silent = (rq->now - pulse->last) / 1000;
    return arena_printf(rq->arena,
                        pulse->last == pulse->running
                            ? "It has been silent for %lld seconds, so events are not delivered: "
                              "start it again."
                            : "It was ended %lld seconds ago, so events are not delivered: start "
                              "it again.",
                        silent < 0 ? 0 : silent);
}

struct check {
    const char *name, *problem;
};

/* Returns {"ready":...,"checks":{NAME:"ok" or the problem, ...}}, in `arena`. */
static struct slice write_checks(struct arena *arena, const struct check *checks, size_t count,
                                 bool is_ready) {
    struct json_writer w;
    json_write_start_object(&w, arena);
    json_write_bool(&w, "ready", is_ready);
    json_write_object(&w, "checks");
    for (size_t i = 0; i < count; i++)
        json_write_text(&w, checks[i].name, checks[i].problem ? checks[i].problem : "ok");
    return json_written(&w);
}

static int reply_checks(struct request *rq, const struct check *checks, size_t count) {
    struct buffer failed = buffer_in(rq->arena);
    for (size_t i = 0; i < count; i++)
        if (checks[i].problem)
            buffer_printf(&failed, "%s%s", failed.n ? ", " : "", checks[i].name);
    struct slice report = write_checks(rq->arena, checks, count, !failed.n);
    if (!failed.n)
        return reply_data(rq, report);
    reply_header(rq, "Retry-After", "10");
    return fail_with_details(rq, UNAVAILABLE, report, "Not ready: %.*s. See details.",
                             (int)failed.n, buffer_slice(&failed).p);
}

static int get_ready(struct request *rq) {
    struct store_pulse pulse;
    enum store_result result = found.opened;
    if (result == STORE_OK)
        result = store_find_pulse(found.store, "courier", &pulse);
    if (result != STORE_OK)
        log_message(LOG_ERROR, "request %s: database %s: %s", rq->id, rq->config->reader_name,
                    store_reason(found.store));
    const char *database = database_problem(result);
    store_close(found.store);
    transport_stop();
    const struct check checks[] = {
        {"database", database},       {"keys", found.key_file},
        {"disk", found.disk},         {"courier", courier_problem(rq, result, &pulse)},
        {"pools", pools_problem(rq)},
    };
    return reply_checks(rq, checks, sizeof checks / sizeof *checks - !found.has_pools);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/ready",
     .handle = get_ready},
    {0},
};
/* clang-format on */

const struct service this_service = {
    .name = "ready", .routes = routes, .needs = READS_DATABASE, .prepare = inspect};
