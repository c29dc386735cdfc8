/* courier: delivers outbound events to the users' webhooks (spec 6).
 *
 *     courier [--config FILE] [--pid-file FILE] [--once | --for TIME]
 *
 * One resident process. It looks for due events when it is notified through the wake socket
 * (wake.h), and once a second. Several couriers may run at once: they share the work by leases in
 * the database. It also stores the records of sends that the database did not take
 * (kept_records.h), tends the database (store_tend), and deletes old events that have ended and old
 * idempotency keys. See `courier --help`.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config_path.h"
#include "base/log.h"
#include "base/process/confine.h"
#include "base/process/program.h"
#include "base/process/signals.h"
#include "delivery/dispatch.h"
#include "delivery/kept_records.h"
#include "delivery/resident.h"
#include "delivery/resources.h"
#include "delivery/wake.h"
#include "payload/event_body.h"
#include "store/deed.h"
#include "store/erasure.h"
#include "store/heartbeat.h"
#include "store/housekeeping.h"
#include "store/retention.h"

enum {
    TICK_MS = 1000,
    BEAT_MS = 5 * 1000,
    PRUNE_MS = 60 * 60 * 1000,
    MEND_MS = 60 * 60 * 1000,
    ERASE_MS = 5 * 1000,
    KEPT_MS = 10 * 1000,      /* before a record of pending_dir that failed is tried again */
    BUSY_MS = 5 * 1000,       /* before a task that another courier did is looked at again */
    TASK_MS = 200,            /* of each tick, for prune and for mend */
    ONCE_TASK_MS = 60 * 1000, /* the same for --once, which runs each of them once */
    MEND_MEMORY = 64 * 1024,
    GRACE_MS = 14 * 1000,          /* many service managers send SIGKILL after 15 s */
    ONCE_TAKES_MS = 5 * 60 * 1000, /* --once takes no more events after that */
    ONCE_FAILING_MS = 30 * 1000,   /* --once exits when the database has failed for that long */
};

struct courier {
    struct pid_file pid_file;
    bool once;
    const char *duration; /* --for; NULL: none */
    int64_t lasts;        /* ms after which it stops by itself; 0: it does not */
    struct resources resources;
    struct dispatch dispatch;
    struct wake_listener wake;
    int signals; /* signalfd */
    bool is_stopping;
    bool was_signalled;                   /* it is stopping, and no next courier of cron begins */
    bool may_be_due;                      /* there may be due events: exchange looks for them */
    char beaten_keys[KEYRING_NAMES_SIZE]; /* of the last heartbeat */
    /* monotonic times */
    int64_t started, stop_at, next_tick, next_beat, next_prune, next_erase, next_mend, next_kept;
};

static int fail(const char *what, const char *detail) {
    fprintf(stderr, "courier: %s%s\n", what, detail);
    return 1;
}

/* --- maintenance of the database, a part of it at every tick --- */

/* Latches a failure of the database. Returns whether the store call succeeded. */
static bool latch(struct courier *courier, enum store_result result) {
    resources_latch(&courier->resources, result);
    return result == STORE_OK;
}

static struct store_heartbeat heartbeat_of(const struct courier *courier) {
    const struct resources *resources = &courier->resources;
    return (struct store_heartbeat){.name = "courier",
                                    .host = resources->config.host,
                                    .pid = getpid(),
                                    .at = clock_now(),
                                    .clock_ahead_ms = clock_ahead()};
}

/* A change of the key file is written at once: `switchboard key use` waits for it. */
static void beat(struct courier *courier, struct store *store, int64_t now) {
    const char *keys = resources_keys(&courier->resources) ? courier->resources.key_names : "";
    struct store_heartbeat heartbeat = heartbeat_of(courier);
    heartbeat.keys = keys;
    if (now < courier->next_beat && strcmp(keys, courier->beaten_keys) == 0)
        return;
    if (!latch(courier, store_upsert_heartbeat(store, &heartbeat)))
        return;
    courier->next_beat = now + BEAT_MS;
    snprintf(courier->beaten_keys, sizeof courier->beaten_keys, "%s", keys);
}

/* The time limit of a task. A task is a loop of short transactions, so that other processes can
 * write between them. */
static int64_t task_end(const struct courier *courier, int64_t now) {
    return now + (courier->once ? ONCE_TASK_MS : TASK_MS);
}

/* Sets when a task is done again: now if rows are left; soon after STORE_BUSY, since the process
 * that does the work may end before it is done; otherwise `pause` later. A failure is latched. */
static void schedule(struct courier *courier, enum store_result result, size_t changed, int64_t now,
                     int64_t pause, int64_t *next) {
    if (result == STORE_BUSY)
        *next = now + BUSY_MS;
    else if (latch(courier, result) && !changed)
        *next = now + pause;
}

static enum store_result delete_old(struct courier *courier, struct store *store, int64_t now,
                                    size_t *removed) {
    enum store_result result = store_delete_old_rows(store, now, removed);
    if (result == STORE_OK && !*removed)
        result = store_delete_old_trail(
            store, now - config_days(courier->resources.config.trail_days), removed);
    if (result == STORE_OK && !*removed)
        result = store_prune(store, now, removed);
    return result;
}

static void prune(struct courier *courier, struct store *store, int64_t now) {
    enum store_result result = STORE_OK;
    size_t removed = 1;
    if (now < courier->next_prune)
        return;
    while (result == STORE_OK && removed && clock_monotonic() < task_end(courier, now))
        result = delete_old(courier, store, clock_now(), &removed);
    schedule(courier, result, removed, now, PRUNE_MS, &courier->next_prune);
}

/* Goes on with erasures; what they end is reported by an event. */
static void erase(struct courier *courier, struct store *store, int64_t now) {
    enum store_result result = STORE_OK;
    size_t done = 1;
    if (now < courier->next_erase)
        return;
    while (result == STORE_OK && done && clock_monotonic() < task_end(courier, now))
        result = store_erase_part(store, event_body, clock_now(), &done);
    schedule(courier, result, done, now, ERASE_MS, &courier->next_erase);
}

static void mend(struct courier *courier, struct store *store, int64_t now) {
    enum store_result result = STORE_OK;
    size_t mended = 1;
    struct arena arena;
    if (now < courier->next_mend)
        return;
    arena_init(&arena, MEND_MEMORY, NULL);
    while (result == STORE_OK && mended && clock_monotonic() < task_end(courier, now)) {
        result = store_repair_times(store, &arena, clock_now(), &mended);
        arena_reset(&arena);
    }
    arena_free(&arena);
    schedule(courier, result, mended, now, MEND_MS, &courier->next_mend);
}

/* Stores the records of sends that the database did not take (kept_records.h). */
static void store_kept(struct courier *courier, struct store *store, int64_t now) {
    const char *directory = courier->resources.config.pending_dir;
    bool left;
    if (now < courier->next_kept)
        return;
    latch(courier, kept_store(directory, store, task_end(courier, now), &left));
    courier->next_kept = left ? now + KEPT_MS : now;
}

/* A database that is busy is tended later; success is left to the other tasks to latch. */
static void tend(struct courier *courier, struct store *store, int64_t now) {
    enum store_result result = store_tend(store, now);
    if (result != STORE_OK && result != STORE_BUSY)
        latch(courier, result);
}

static void maintain(struct courier *courier, int64_t now) {
    static void (*const tasks[])(struct courier *, struct store *,
                                 int64_t) = {beat, store_kept, mend, prune, erase, tend};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        struct store *store = resources_store(&courier->resources);
        if (store)
            tasks[i](courier, store, now);
    }
}

/* --- deliveries --- */

static void rescan(struct courier *courier) {
    courier->may_be_due = true;
    dispatch_rescan(&courier->dispatch);
}

/* Records the attempts that have ended and takes due events, if there are free slots. */
static void exchange(struct courier *courier) {
    struct resources *resources = &courier->resources;
    bool has_ended = dispatch_count(&courier->dispatch, SLOT_ENDED) > 0;
    if (has_ended)
        dispatch_rescan(&courier->dispatch); /* there are more free slots */
    bool may_take = !courier->is_stopping && (courier->may_be_due || has_ended) &&
                    dispatch_has_room(&courier->dispatch);
    if (!may_take && !has_ended)
        return;
    courier->may_be_due = false; /* if the exchange fails, the next tick sets it again */
    struct store *store = resources_store(resources);
    may_take = may_take && resources_keys(resources);
    if (!store ||
        !latch(courier, dispatch_exchange(&courier->dispatch, store, resources, may_take)))
        return;
    if (has_ended)
        dispatch_rescan(&courier->dispatch); /* the results may have made more events due */
    courier->may_be_due = !courier->dispatch.has_seen_all;
}

/* --- the main loop --- */

static void configure(struct courier *courier) {
    const char *error;
    if (resources_configure(&courier->resources, &error))
        log_message(LOG_ERROR, "%s; the configuration stays as it was", error);
    else
        log_message(LOG_INFO, "the configuration was read again");
}

/* Stops taking events. Attempts in flight have GRACE_MS to end; the second signal aborts them. */
static void stop(struct courier *courier) {
    int64_t now = clock_monotonic();
    courier->stop_at = courier->is_stopping ? now : now + GRACE_MS;
    courier->is_stopping = true;
}

static void take_signals(struct courier *courier) {
    struct signalfd_siginfo caught;
    while (read(courier->signals, &caught, sizeof caught) == sizeof caught) {
        if (caught.ssi_signo == SIGHUP)
            configure(courier);
        else
            stop(courier);
        courier->was_signalled = courier->is_stopping;
    }
}

static void tick(struct courier *courier, int64_t now) {
    if (now < courier->next_tick)
        return;
    courier->next_tick = now + TICK_MS;
    rescan(courier);
    if (courier->once) {
        if (now - courier->started >= ONCE_TAKES_MS)
            courier->is_stopping = true;
        return;
    }
    if (courier->lasts && !courier->is_stopping && now - courier->started >= courier->lasts)
        stop(courier);
    if (!courier->is_stopping) {
        wake_listen(&courier->wake, &courier->resources.config);
        maintain(courier, now);
    }
}

/* Whether --once must give up, because the database or the key file cannot be used. */
static bool has_failed(const struct courier *courier, int64_t now) {
    const struct resources *resources = &courier->resources;
    if (!courier->once || resources->failure == STORE_OK)
        return courier->once && resources->keys_logged_at && !resources->keys.count;
    bool is_passing = resources->failure == STORE_BUSY || resources->failure == STORE_FULL;
    return now - resources->failing_since >= ONCE_FAILING_MS ||
           (!is_passing && !dispatch_count(&courier->dispatch, SLOT_ENDED));
}

/* Whether the main loop ends. */
static bool is_done(const struct courier *courier, int64_t now) {
    if (courier->dispatch.used)
        return (courier->stop_at && now >= courier->stop_at) || has_failed(courier, now);
    return courier->is_stopping || has_failed(courier, now) ||
           (courier->once && !courier->may_be_due && courier->resources.failure == STORE_OK);
}

/* Whether the next exchange has work to do, so that the loop need not wait. */
static bool has_work(const struct courier *courier) {
    const struct dispatch *dispatch = &courier->dispatch;
    return courier->resources.failure == STORE_OK &&
           (dispatch_count(dispatch, SLOT_ENDED) ||
            (courier->may_be_due && !courier->is_stopping && dispatch_has_room(dispatch)));
}

/* Waits for a transfer, a signal, a notification, the next tick or the end of the grace period. */
static void wait_for_work(struct courier *courier, int64_t now) {
    struct curl_waitfd descriptors[] = {
        {.fd = courier->signals, .events = CURL_WAIT_POLLIN},
        {.fd = courier->wake.fd, .events = CURL_WAIT_POLLIN},
    };
    int64_t wait = courier->next_tick - now;
    if (courier->stop_at && courier->stop_at - now < wait)
        wait = courier->stop_at - now;
    if (has_work(courier))
        wait = 0;
    curl_multi_poll(courier->dispatch.multi, descriptors, courier->wake.fd >= 0 ? 2 : 1,
                    wait > 0 ? (int)wait : 0, NULL);
}

static void run(struct courier *courier) {
    for (;;) {
        int64_t now = clock_monotonic();
        tick(courier, now);
        exchange(courier);
        if (is_done(courier, now))
            return;
        if (!dispatch_advance(&courier->dispatch))
            wait_for_work(courier, now);
        take_signals(courier);
        if (wake_drain(&courier->wake))
            rescan(courier);
    }
}

/* Releases the leases and the wake socket, so that another courier need not wait for them. After a
 * signal records that this one has ended; with --once also runs the maintenance. Returns the exit
 * status. */
static int finish(struct courier *courier) {
    struct store *store = resources_store(&courier->resources);
    int64_t now = clock_monotonic();
    dispatch_abandon(&courier->dispatch, store);
    if (store && courier->once)
        maintain(courier, now);
    else if (store && courier->was_signalled) {
        const struct store_heartbeat heartbeat = heartbeat_of(courier);
        latch(courier, store_end_heartbeat(store, &heartbeat));
    }
    wake_close(&courier->wake);
    return has_failed(courier, now) ? fail("", "database or key file cannot be used; see the log")
                                    : 0;
}

/* --- the command line --- */

#define MEMBER(name) offsetof(struct courier, name)

static const struct program_option rules[] = {
    {.name = "config",
     .value = "FILE",
     .member = MEMBER(resources.config_path),
     .meaning = "the configuration file"},
    {.name = "pid-file",
     .value = "FILE",
     .member = MEMBER(pid_file.path),
     .meaning = "write the process id there; removed at the end"},
    {.name = "once", .member = MEMBER(once), .meaning = "deliver what is due, then exit"},
    {.name = "for",
     .value = "TIME",
     .member = MEMBER(duration),
     .meaning = "end after TIME, such as 60s, as by SIGTERM. By cron, once a minute:\n"
                "the next courier begins when this one ends"},
    {0},
};

static const struct manual_item statuses[] = {
    {"0", "ended by a signal or after --for, or with --once, nothing is due any more\n"
          "or 5 minutes are over"},
    {"1", "it cannot begin: standard error has the reason; or with --once, the\n"
          "database or the key file cannot be used: the log has the reason"},
    {"2", "wrong usage"},
    {0},
};

static const struct program program = {
    .name = "courier",
    .options = rules,
    .manual = {
        .page = "switchboard-courier",
        .section = "8",
        .summary = "delivers the outbound events of Switchboard",
        .synopsis = "courier [--config FILE] [--pid-file FILE] [--once | --for TIME]",
        .description =
            "Delivers outbound events to the users' webhooks, until SIGTERM: then it takes no "
            "more\n"
            "events, waits at most 14 s for deliveries in flight, and exits with status 0. On "
            "SIGHUP\n"
            "it reads the configuration again; if that names other files, restart the courier, "
            "since\n"
            "it is confined to the files it started with. Several couriers may run at once.",
        .environment = config_path_environment,
        .files = config_path_files,
        .statuses = statuses,
        .see_also = "switchboard(8), switchboard-pool(8), switchboard.conf(5)",
    }};

/* Returns -1 to go on, else the exit status. */
static int read_options(int argc, char **argv, struct courier *courier) {
    int operand, status = program_read_options(&program, argc, argv, courier, &operand);
    if (status >= 0)
        return status;
    courier->resources.config_path = config_path_of(courier->resources.config_path);
    if (courier->duration && !(courier->lasts = resident_read_duration(courier->duration)))
        return fail("--for takes 1s to 86400s, not ", courier->duration), 2;
    if (courier->once && courier->lasts)
        return fail("", "--once and --for exclude each other"), 2;
    if (operand == argc)
        return -1;
    fail("see --help; unexpected argument: ", argv[operand]);
    return 2;
}

/* Confines the process to what delivering needs. */
static void confine_courier(struct courier *courier) {
    const unsigned needs =
        WRITES_DATABASE | USES_KEYS | CALLS_WEBHOOKS | IS_RESIDENT | KEEPS_RECORDS;
    struct resources *resources = &courier->resources;
    resident_open_log(&resources->config, "courier");
    confine(needs, false, resources->config_path, &resources->config);
    resources->needs = needs;
#ifdef SWITCHBOARD_PROBE
    probe_process(needs, &resources->config, resources->config_path);
#endif
}

int main(int argc, char **argv) {
    static struct courier courier;
    const char *error;
    int status = read_options(argc, argv, &courier);
    if (status >= 0)
        return status;
    confine_memory();
    courier.wake = wake_closed();
    courier.started = clock_monotonic();
    if (resources_configure(&courier.resources, &error))
        return fail("", error);
    const size_t slots = dispatch_count_slots();
    if (pid_file_create(&courier.pid_file))
        return fail("cannot write the pid file: ", strerror(errno));
    bool has_curl = http_prepare();
    confine_courier(&courier);
    signal(SIGPIPE, SIG_IGN);
    courier.signals = signals_open((const int[]){SIGTERM, SIGINT, SIGHUP, 0});
    if (!has_curl || courier.signals < 0 || !dispatch_open(&courier.dispatch, slots))
        return fail("", "out of memory or descriptors");
    if (pid_file_write(&courier.pid_file))
        return fail("cannot write the pid file: ", strerror(errno));
    log_message(LOG_INFO, "courier %s begins on host %s, pid %ld", courier.dispatch.courier_id,
                courier.resources.config.host, (long)getpid());
    run(&courier);
    log_message(LOG_INFO, "courier %s ends", courier.dispatch.courier_id);
    status = finish(&courier);
    dispatch_close(&courier.dispatch);
    resources_free(&courier.resources);
    curl_global_cleanup();
    pid_file_remove(&courier.pid_file);
    return status;
}
