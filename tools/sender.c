/* sender: sends the messages that clients have handed over (`Prefer: respond-async`, sendAt), and
 * copies attachments into the archive of media.
 *
 *     sender [--config FILE] [--pid-file FILE] [--for TIME]
 *
 * One resident process. It looks for due rows of `outgoing` twice a second; when the next one is
 * due; when another process has written to the database, if that is a file (wake.h); and as
 * often as the pace of their lines allows while there are some. Several senders may run at once:
 * one has the lease of the database and sends; the others wait until it ends. See `sender --help`.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "archive/copying.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/counters.h"
#include "base/log.h"
#include "base/target.h"
#include "delivery/resident.h"
#include "delivery/wake.h"
#include "sending/looks.h"
#include "sending/posting.h"
#include "store/heartbeat.h"

enum {
    TICK_MS = 500,
    BEAT_MS = 5 * 1000,
    SET_BACK_MS = 60 * 1000, /* the clock, by more than this: rows are corrected */
};

struct sender {
    struct resident resident;
    struct posting posting;
    struct copying copying;
    struct wake_listener log;
    struct looks looks;
    bool has_lease;
    int64_t next_tick, next_beat; /* monotonic */
    int64_t clock_base;           /* clock_now when clock_boot was 0: falls when it is set back */
    bool has_corrected;
};

static bool latch(struct sender *sender, enum store_result result) {
    resources_latch(&sender->resident.resources, result);
    return result == STORE_OK;
}

/* --- the regular work --- */

/* Extends the lease with each heartbeat, and looks for one that has ended at each tick. */
static void beat(struct sender *sender, struct store *store, int64_t now) {
    const struct store_heartbeat heartbeat = resident_heartbeat(&sender->resident);
    const bool had_lease = sender->has_lease;
    if (now < sender->next_beat && had_lease)
        return;
    if (!latch(sender, store_hold_sender_lease(store, sender->posting.owner, clock_now(),
                                               &sender->has_lease)))
        return;
    if (sender->has_lease && !had_lease)
        sender->has_lease = latch(sender, posting_take_over(&sender->posting, store));
    if (sender->has_lease != had_lease)
        log_message(LOG_INFO, "sender %s %s the lease", sender->posting.owner,
                    sender->has_lease ? "has" : "has lost");
    if (now >= sender->next_beat && latch(sender, store_upsert_heartbeat(store, &heartbeat)))
        sender->next_beat = now + BEAT_MS;
}

/* At the start and when the clock was set back. */
static void correct(struct sender *sender, struct store *store) {
    const int64_t base = clock_now() - clock_boot();
    const bool is_set_back = base < sender->clock_base - SET_BACK_MS;
    if (!sender->has_corrected || is_set_back) {
        if (!latch(sender, store_correct_outgoing(store, clock_now())))
            return;
        sender->has_corrected = true;
        sender->clock_base = base;
    }
    sender->clock_base = base > sender->clock_base ? base : sender->clock_base;
}

static void expire(struct sender *sender, struct store *store) {
    size_t expired;
    if (latch(sender, store_expire_outgoing(store, clock_now(), &expired)) && expired)
        counters_add(COUNTERS_SENDS, "expired", expired);
}

static void record_confirmed(struct sender *sender, struct store *store) {
    size_t count;
    latch(sender, posting_record_confirmed(&sender->posting, store,
                                           &sender->resident.resources.config, &count));
}

static void feed(struct sender *sender, struct store *store) {
    if (!sender->resident.is_stopping)
        latch(sender, posting_feed(&sender->posting, store));
}

static void watch(struct sender *sender) {
    static bool is_logged;
    const struct config *config = &sender->resident.resources.config;
    if (log_watch_open(&sender->log, target_file(config->database)) || is_logged)
        return;
    is_logged = true;
    log_message(LOG_WARN, "the log of %s cannot be watched: %s; what is queued waits up to %d ms",
                config->database_name, strerror(errno), TICK_MS);
}

static void tick(struct sender *sender, int64_t now) {
    static void (*const tasks[])(struct sender *, struct store *) = {correct, expire,
                                                                     record_confirmed, feed};
    struct store *store;
    if (now < sender->next_tick)
        return;
    sender->next_tick = now + TICK_MS;
    posting_rescan(&sender->posting);
    resident_stop_in_time(&sender->resident, now);
    watch(sender);
    if ((store = resources_store(&sender->resident.resources)))
        beat(sender, store, now);
    for (size_t i = 0; sender->has_lease && i < sizeof tasks / sizeof *tasks; i++)
        if ((store = resources_store(&sender->resident.resources)))
            tasks[i](sender, store);
}

/* --- looks between the ticks --- */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Looks again when a row has become due, or may have by a write of another process. */
static void look(struct sender *sender, int64_t now) {
    struct posting *posting = &sender->posting;
    if (log_watch_drain(&sender->log))
        looks_after_write(&sender->looks, now);
    if (looks_take(&sender->looks, now) || posting->next_due_at <= clock_now() ||
        posting->room_at <= now)
        posting_rescan(posting);
}

/* Returns the processor time of this thread, in microseconds. */
static int64_t processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* How long until the next look or the next known row. */
static int64_t look_wait(const struct sender *sender, int64_t now) {
    const int64_t due_at = sender->posting.next_due_at;
    return least(looks_wait(&sender->looks, now),
                 due_at == INT64_MAX ? due_at : due_at - clock_now());
}

/* --- exchanges with the store --- */

static void record(struct sender *sender) {
    struct resources *resources = &sender->resident.resources;
    struct store *store = resources_store(resources);
    const enum store_result result = posting_record(&sender->posting, store, &resources->config);
    if (store)
        latch(sender, result);
}

/* Returns whether rows were taken. */
static bool take(struct sender *sender) {
    struct posting *posting = &sender->posting;
    struct resources *resources = &sender->resident.resources;
    const size_t free = posting_count(posting, POSTING_FREE);
    struct store *store = resources_store(resources);
    if (!store || !resources_keys(resources))
        return false;
    const int64_t began = processor_time();
    latch(sender, posting_take(posting, store, resources));
    const bool has_taken = posting_count(posting, POSTING_FREE) != free;
    looks_rest(&sender->looks, clock_monotonic(), has_taken ? 0 : processor_time() - began,
               posting->has_seen_all);
    return has_taken;
}

/* Records what has ended, and takes what is due. */
static void exchange(struct sender *sender, int64_t now) {
    struct posting *posting = &sender->posting;
    bool has_written = posting_count(posting, POSTING_ENDED) > 0;
    if (has_written)
        record(sender);
    if (sender->has_lease)
        latch(sender, copying_go_on(&sender->copying, &sender->resident.resources,
                                    sender->resident.is_stopping));
    if (!sender->resident.is_stopping && sender->has_lease && posting_may_take(posting) &&
        take(sender))
        has_written = true;
    if (has_written) {
        log_watch_drain(&sender->log);
        looks_after_own_write(&sender->looks, now);
    }
}

/* --- the main loop --- */

static bool is_done(const struct sender *sender, int64_t now) {
    const size_t busy = POSTING_SLOTS - posting_count(&sender->posting, POSTING_FREE);
    return sender->resident.is_stopping && (!busy || now >= sender->resident.stop_at);
}

static int wait_of(const struct sender *sender, int64_t now) {
    const struct posting *posting = &sender->posting;
    int64_t wait = sender->next_tick - now;
    if (sender->resident.resources.failure == STORE_OK && sender->has_lease &&
        !sender->resident.is_stopping) {
        if (posting_may_take(posting) || copying_may_go_on(&sender->copying))
            wait = 0;
        else
            wait = least(least(wait, look_wait(sender, now)), posting->room_at - now);
    }
    if (sender->resident.stop_at && sender->resident.stop_at - now < wait)
        wait = sender->resident.stop_at - now;
    return wait > 0 ? (int)wait : 0;
}

static void run(struct sender *sender) {
    for (;;) {
        const int64_t now = clock_monotonic();
        struct curl_waitfd files[] = {
            {.fd = sender->resident.signals, .events = CURL_WAIT_POLLIN},
            {.fd = sender->log.fd, .events = CURL_WAIT_POLLIN},
        };
        tick(sender, now);
        look(sender, now);
        exchange(sender, now);
        if (is_done(sender, now))
            return;
        if (!graph_owners_advance(sender->posting.multi)) {
            const bool watches =
                sender->log.fd >= 0 && sender->has_lease && looks_watch(&sender->looks, now);
            const int64_t began = clock_monotonic();
            curl_multi_poll(sender->posting.multi, files, watches ? 2 : 1, wait_of(sender, now),
                            NULL);
            pace_wait(&sender->posting.pace, clock_monotonic() - began);
        }
        resident_take_signals(&sender->resident);
    }
}

/* Ends the lease, so that another sender need not wait for its end. */
static void finish(struct sender *sender) {
    struct store *store = resources_store(&sender->resident.resources);
    const struct store_heartbeat heartbeat = resident_heartbeat(&sender->resident);
    copying_abandon(&sender->copying);
    posting_abandon(&sender->posting, store, &sender->resident.resources.config);
    if (!(store = resources_store(&sender->resident.resources)))
        return;
    latch(sender, store_end_sender_lease(store, sender->posting.owner, clock_now()));
    if (sender->resident.was_signalled)
        latch(sender, store_end_heartbeat(store, &heartbeat));
}

/* --- the command line --- */

#define MEMBER(name) offsetof(struct sender, name)

static const struct program_option rules[] = {
    RESIDENT_OPTIONS(MEMBER(resident)),
    RESIDENT_FOR(MEMBER(resident), "sender"),
    {0},
};

static const struct manual_item statuses[] = {
    {"0", "ended by a signal or after --for"},
    {"1", "it cannot begin: standard error has the reason"},
    {"2", "wrong usage"},
    {0},
};

static const struct program program = {
    .name = "sender",
    .options = rules,
    .manual = {
        .page = "switchboard-sender",
        .section = "8",
        .summary = "sends the messages that wait in Switchboard",
        .synopsis = "sender [--config FILE] [--pid-file FILE] [--for TIME]",
        .description =
            "Sends the messages that clients have handed over with `Prefer: respond-async` or\n"
            "sendAt, each at most once, until SIGTERM: then it takes no more, waits at most 14 s\n"
            "for answers of the platform, and exits with status 0. On SIGHUP it reads the\n"
            "configuration again; if that names other files, restart the sender, since it is\n"
            "confined to the files it started with. With the key media_archive it also copies the\n"
            "files of messages. Of several senders one sends; another takes\n"
            "over when it ends.",
        .environment = config_path_environment,
        .files = config_path_files,
        .statuses = statuses,
        .see_also = "switchboard(8), switchboard-courier(8), switchboard.conf(5)",
    }};

int main(int argc, char **argv) {
    static struct sender sender;
    struct resident *resident = &sender.resident;
    /* It opens platform tokens, and calls the platform alone, never an address that a user has
     * chosen. */
    const unsigned needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM | IS_RESIDENT |
                           KEEPS_RECORDS | KEEPS_ARCHIVE | WATCHES_LOG;
    resident->program = &program;
    const int status = resident_read_options(resident, argc, argv, &sender);
    if (status >= 0)
        return status;
    if (resident_begin(resident, needs))
        return 1;
    if (!posting_open(&sender.posting))
        return resident_fail(resident, "", "out of memory or descriptors");
    sender.log = wake_closed();
    copying_open(&sender.copying, sender.posting.multi, sender.posting.owner);
    if (resident_is_ready(resident, sender.posting.owner))
        return 1;
    run(&sender);
    finish(&sender);
    log_message(LOG_INFO, "sender %s ends", sender.posting.owner);
    log_watch_close(&sender.log);
    copying_close(&sender.copying);
    posting_close(&sender.posting);
    resident_end(resident);
    return 0;
}
