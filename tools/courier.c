/* courier: delivers outbound events to the users' webhooks (spec 6).
 *
 *     courier [--config FILE] [--pid-file FILE] [--once | --for TIME]
 *
 * One resident process. It looks for due events when it is notified through the wake socket
 * (wake.h), and once a second. Several couriers may run at once: they share the work by leases in
 * the database. It also stores the records of sends that the database did not take
 * (kept_records.h) and the last uses of scoped tokens (token_uses.h), adds the events of queued
 * sends that have ended, tends the database (store_tend), and deletes old events that have ended
 * and old idempotency keys. See `courier --help`.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "delivery/dispatch.h"
#include "delivery/kept_records.h"
#include "delivery/resident.h"
#include "delivery/token_uses.h"
#include "delivery/wake.h"
#include "payload/event_body.h"
#include "store/deed.h"
#include "store/erasure.h"
#include "store/heartbeat.h"
#include "store/housekeeping.h"
#include "store/outgoing.h"
#include "store/retention.h"

enum {
    TICK_MS = 1000,
    BEAT_MS = 5 * 1000,
    PRUNE_MS = 60 * 60 * 1000,
    MEND_MS = 60 * 60 * 1000,
    ERASE_MS = 5 * 1000,
    USES_MS = 10 * 1000,
    KEPT_MS = 10 * 1000,      /* before a record of pending_dir that failed is tried again */
    BUSY_MS = 5 * 1000,       /* before a task that another courier did is looked at again */
    TASK_MS = 200,            /* of each tick, for prune and for mend */
    ONCE_TASK_MS = 60 * 1000, /* the same for --once, which runs each of them once */
    MEND_MEMORY = 64 * 1024,
    ONCE_TAKES_MS = 5 * 60 * 1000, /* --once takes no more events after that */
    ONCE_FAILING_MS = 30 * 1000,   /* --once exits when the database has failed for that long */
};

struct courier {
    struct resident resident;
    bool once;
    struct dispatch dispatch;
    struct wake_listener wake;
    bool may_be_due;                      /* there may be due events: exchange looks for them */
    char beaten_keys[KEYRING_NAMES_SIZE]; /* of the last heartbeat */
    /* monotonic times */
    int64_t next_tick, next_beat, next_prune, next_erase, next_mend, next_kept, next_uses,
        next_report;
};

/* --- maintenance of the database, a part of it at every tick --- */

/* Latches a failure of the database. Returns whether the store call succeeded. */
static bool latch(struct courier *courier, enum store_result result) {
    resources_latch(&courier->resident.resources, result);
    return result == STORE_OK;
}

/* A change of the key file is written at once: `switchboard key use` waits for it. */
static void beat(struct courier *courier, struct store *store, int64_t now) {
    const char *keys =
        resources_keys(&courier->resident.resources) ? courier->resident.resources.key_names : "";
    struct store_heartbeat heartbeat = resident_heartbeat(&courier->resident);
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
            store, now - config_days(courier->resident.resources.config.trail_days), removed);
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

/* Adds the events of the queued sends that have ended; this tick delivers them. */
static void report(struct courier *courier, struct store *store, int64_t now) {
    enum store_result result = STORE_OK;
    size_t reported = 1;
    if (now < courier->next_report)
        return;
    while (result == STORE_OK && reported && clock_monotonic() < task_end(courier, now))
        result = store_report_outgoing(store, clock_now(), event_body, &reported);
    schedule(courier, result, reported, now, 0, &courier->next_report);
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
    const char *directory = courier->resident.resources.config.pending_dir;
    bool left;
    if (now < courier->next_kept)
        return;
    latch(courier, kept_store(directory, store, task_end(courier, now), &left));
    courier->next_kept = left ? now + KEPT_MS : now;
}

/* Writes the last uses of scoped tokens (token_uses.h). */
static void store_uses(struct courier *courier, struct store *store, int64_t now) {
    if (now < courier->next_uses)
        return;
    if (latch(courier, token_uses_store(store, clock_now(), task_end(courier, now))))
        courier->next_uses = now + USES_MS;
}

/* A database that is busy is tended later; success is left to the other tasks to latch. */
static void tend(struct courier *courier, struct store *store, int64_t now) {
    enum store_result result = store_tend(store, now);
    if (result != STORE_OK && result != STORE_BUSY)
        latch(courier, result);
}

static void maintain(struct courier *courier, int64_t now) {
    static void (*const tasks[])(struct courier *, struct store *, int64_t) = {
        beat, store_kept, report, mend, prune, erase, store_uses, tend};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        struct store *store = resources_store(&courier->resident.resources);
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
    struct resources *resources = &courier->resident.resources;
    bool has_ended = dispatch_count(&courier->dispatch, SLOT_ENDED) > 0;
    if (has_ended)
        dispatch_revisit(&courier->dispatch); /* there are more free slots */
    bool may_take = !courier->resident.is_stopping && (courier->may_be_due || has_ended) &&
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
        dispatch_revisit(&courier->dispatch); /* the results may have made more events due */
    courier->may_be_due = !courier->dispatch.has_seen_all;
}

/* --- the main loop --- */

static void tick(struct courier *courier, int64_t now) {
    if (now < courier->next_tick)
        return;
    courier->next_tick = now + TICK_MS;
    rescan(courier);
    if (courier->once) {
        if (now - courier->resident.started >= ONCE_TAKES_MS)
            courier->resident.is_stopping = true;
        return;
    }
    resident_stop_in_time(&courier->resident, now);
    if (!courier->resident.is_stopping) {
        wake_listen(&courier->wake, &courier->resident.resources.config);
        maintain(courier, now);
    }
}

/* Whether --once must give up, because the database or the key file cannot be used. */
static bool has_failed(const struct courier *courier, int64_t now) {
    const struct resources *resources = &courier->resident.resources;
    if (!courier->once || resources->failure == STORE_OK)
        return courier->once && resources->keys_logged_at && !resources->keys.count;
    bool is_passing = resources->failure == STORE_BUSY || resources->failure == STORE_FULL;
    return now - resources->failing_since >= ONCE_FAILING_MS ||
           (!is_passing && !dispatch_count(&courier->dispatch, SLOT_ENDED));
}

/* Whether the main loop ends. */
static bool is_done(const struct courier *courier, int64_t now) {
    if (courier->dispatch.used)
        return (courier->resident.stop_at && now >= courier->resident.stop_at) ||
               has_failed(courier, now);
    return courier->resident.is_stopping || has_failed(courier, now) ||
           (courier->once && !courier->may_be_due &&
            courier->resident.resources.failure == STORE_OK);
}

/* Whether the next exchange has work to do, so that the loop need not wait. */
static bool has_work(const struct courier *courier) {
    const struct dispatch *dispatch = &courier->dispatch;
    return courier->resident.resources.failure == STORE_OK &&
           (dispatch_count(dispatch, SLOT_ENDED) ||
            (courier->may_be_due && !courier->resident.is_stopping && dispatch_has_room(dispatch)));
}

/* Waits for a transfer, a signal, a notification, the next tick or the end of the grace period. */
static void wait_for_work(struct courier *courier, int64_t now) {
    struct curl_waitfd descriptors[] = {
        {.fd = courier->resident.signals, .events = CURL_WAIT_POLLIN},
        {.fd = courier->wake.fd, .events = CURL_WAIT_POLLIN},
    };
    int64_t wait = courier->next_tick - now;
    if (courier->resident.stop_at && courier->resident.stop_at - now < wait)
        wait = courier->resident.stop_at - now;
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
        resident_take_signals(&courier->resident);
        if (wake_drain(&courier->wake))
            rescan(courier);
    }
}

/* Releases the leases and the wake socket, so that another courier need not wait for them. After a
 * signal records that this one has ended; with --once also runs the maintenance. Returns the exit
 * status. */
static int finish(struct courier *courier) {
    struct store *store = resources_store(&courier->resident.resources);
    int64_t now = clock_monotonic();
    dispatch_abandon(&courier->dispatch, store);
    if (store && courier->once)
        maintain(courier, now);
    else if (store && courier->resident.was_signalled) {
        const struct store_heartbeat heartbeat = resident_heartbeat(&courier->resident);
        latch(courier, store_end_heartbeat(store, &heartbeat));
    }
    wake_close(&courier->wake);
    return has_failed(courier, now)
               ? resident_fail(&courier->resident, "",
                               "database or key file cannot be used; see the log")
               : 0;
}

/* --- the command line --- */

#define MEMBER(name) offsetof(struct courier, name)

static const struct program_option rules[] = {
    RESIDENT_OPTIONS(MEMBER(resident)),
    {.name = "once", .member = MEMBER(once), .meaning = "deliver what is due, then exit"},
    RESIDENT_FOR(MEMBER(resident), "courier"),
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
    const int status = resident_read_options(&courier->resident, argc, argv, courier);
    if (status >= 0 || !courier->once || !courier->resident.lasts)
        return status;
    resident_fail(&courier->resident, "", "--once and --for exclude each other");
    return 2;
}

int main(int argc, char **argv) {
    static struct courier courier;
    struct resident *resident = &courier.resident;
    const unsigned needs =
        WRITES_DATABASE | USES_KEYS | CALLS_WEBHOOKS | IS_RESIDENT | KEEPS_RECORDS;
    resident->program = &program;
    int status = read_options(argc, argv, &courier);
    if (status >= 0)
        return status;
    courier.wake = wake_closed();
    const size_t slots = dispatch_count_slots(); /* it may raise a limit: before the confinement */
    resident->prepare = token_uses_open;
    if (resident_begin(resident, needs))
        return 1;
    if (!dispatch_open(&courier.dispatch, slots))
        return resident_fail(resident, "", "out of memory or descriptors");
    if (resident_is_ready(resident, courier.dispatch.courier_id))
        return 1;
    run(&courier);
    log_message(LOG_INFO, "courier %s ends", courier.dispatch.courier_id);
    status = finish(&courier);
    dispatch_close(&courier.dispatch);
    resident_end(resident);
    return status;
}
