/* sender: sends the messages that clients have handed over (`Prefer: respond-async`, sendAt).
 *
 *     sender [--config FILE] [--pid-file FILE] [--for TIME]
 *
 * One resident process. It looks for due rows of `outgoing` twice a second, and as often as the
 * pace of their lines allows while there are some. Several senders may run at once: one has the
 * lease of the database and sends; the others wait until it ends. See `sender --help`.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config_path.h"
#include "base/log.h"
#include "base/process/confine.h"
#include "base/process/program.h"
#include "base/process/signals.h"
#include "delivery/resident.h"
#include "delivery/resources.h"
#include "sending/posting.h"
#include "store/heartbeat.h"

enum {
    TICK_MS = 500,
    PACE_MS = 25, /* between two looks at a line that waits for its pace */
    BEAT_MS = 5 * 1000,
    GRACE_MS = 14 * 1000, /* many service managers send SIGKILL after 15 s */
};

struct sender {
    struct pid_file pid_file;
    const char *duration; /* --for; NULL: none */
    int64_t lasts;        /* ms after which it stops by itself; 0: it does not */
    struct resources resources;
    struct posting posting;
    int signals; /* signalfd */
    bool is_stopping;
    bool was_signalled; /* it is stopping, and no next sender of cron begins */
    bool has_lease;
    int64_t started, stop_at, next_tick, next_beat; /* monotonic */
};

static int fail(const char *what, const char *detail) {
    fprintf(stderr, "sender: %s%s\n", what, detail);
    return 1;
}

static bool latch(struct sender *sender, enum store_result result) {
    resources_latch(&sender->resources, result);
    return result == STORE_OK;
}

static struct store_heartbeat heartbeat_of(const struct sender *sender) {
    return (struct store_heartbeat){.name = "sender",
                                    .host = sender->resources.config.host,
                                    .pid = getpid(),
                                    .at = clock_now(),
                                    .keys = "",
                                    .clock_ahead_ms = clock_ahead()};
}

/* --- the regular work --- */

/* Extends the lease with each heartbeat, and looks for one that has ended at each tick. */
static void beat(struct sender *sender, struct store *store, int64_t now) {
    const struct store_heartbeat heartbeat = heartbeat_of(sender);
    const bool had_lease = sender->has_lease;
    if (now < sender->next_beat && had_lease)
        return;
    if (!latch(sender, store_hold_sender_lease(store, sender->posting.owner, clock_now(),
                                               &sender->has_lease)))
        return;
    if (sender->has_lease != had_lease)
        log_message(LOG_INFO, "sender %s %s the lease", sender->posting.owner,
                    sender->has_lease ? "has" : "has lost");
    if (now >= sender->next_beat && latch(sender, store_upsert_heartbeat(store, &heartbeat)))
        sender->next_beat = now + BEAT_MS;
}

static void expire(struct sender *sender, struct store *store) {
    size_t expired;
    latch(sender, store_expire_outgoing(store, clock_now(), &expired));
}

static void record_confirmed(struct sender *sender, struct store *store) {
    size_t count;
    latch(sender, posting_record_confirmed(&sender->posting, store, &count));
}

static void stop(struct sender *sender) {
    const int64_t now = clock_monotonic();
    sender->stop_at = sender->is_stopping ? now : now + GRACE_MS;
    sender->is_stopping = true;
}

static void tick(struct sender *sender, int64_t now) {
    static void (*const tasks[])(struct sender *, struct store *) = {expire, record_confirmed};
    struct store *store;
    if (now < sender->next_tick)
        return;
    sender->next_tick = now + TICK_MS;
    posting_rescan(&sender->posting);
    if (sender->lasts && !sender->is_stopping && now - sender->started >= sender->lasts)
        stop(sender);
    if ((store = resources_store(&sender->resources)))
        beat(sender, store, now);
    for (size_t i = 0; sender->has_lease && i < sizeof tasks / sizeof *tasks; i++)
        if ((store = resources_store(&sender->resources)))
            tasks[i](sender, store);
}

/* Records what has ended, and takes what is due. */
static void exchange(struct sender *sender) {
    struct posting *posting = &sender->posting;
    struct resources *resources = &sender->resources;
    if (posting_count(posting, POSTING_ENDED) > 0) {
        struct store *store = resources_store(resources);
        const enum store_result result = posting_record(posting, store, &resources->config);
        if (store)
            latch(sender, result);
    }
    if (sender->is_stopping || !sender->has_lease || !posting_may_take(posting))
        return;
    struct store *store = resources_store(resources);
    if (store && resources_keys(resources))
        latch(sender, posting_take(posting, store, resources));
}

/* --- the main loop --- */

static void configure(struct sender *sender) {
    const char *error;
    if (resources_configure(&sender->resources, &error))
        log_message(LOG_ERROR, "%s; the configuration stays as it was", error);
    else
        log_message(LOG_INFO, "the configuration was read again");
}

static void take_signals(struct sender *sender) {
    struct signalfd_siginfo caught;
    while (read(sender->signals, &caught, sizeof caught) == sizeof caught) {
        if (caught.ssi_signo == SIGHUP)
            configure(sender);
        else
            stop(sender);
        sender->was_signalled = sender->is_stopping;
    }
}

static bool is_done(const struct sender *sender, int64_t now) {
    const size_t busy = POSTING_SLOTS - posting_count(&sender->posting, POSTING_FREE);
    return sender->is_stopping && (!busy || now >= sender->stop_at);
}

static int wait_of(const struct sender *sender, int64_t now) {
    const struct posting *posting = &sender->posting;
    int64_t wait = sender->next_tick - now;
    if (sender->resources.failure == STORE_OK && sender->has_lease && !sender->is_stopping) {
        if (posting_may_take(posting))
            wait = 0;
        else if (posting->is_pace_full && wait > PACE_MS)
            wait = PACE_MS;
    }
    if (sender->stop_at && sender->stop_at - now < wait)
        wait = sender->stop_at - now;
    return wait > 0 ? (int)wait : 0;
}

static void run(struct sender *sender) {
    for (;;) {
        const int64_t now = clock_monotonic();
        struct curl_waitfd signals = {.fd = sender->signals, .events = CURL_WAIT_POLLIN};
        tick(sender, now);
        exchange(sender);
        if (is_done(sender, now))
            return;
        if (!posting_advance(&sender->posting)) {
            const int wait = wait_of(sender, now);
            curl_multi_poll(sender->posting.multi, &signals, 1, wait, NULL);
            if (sender->posting.is_pace_full)
                posting_rescan(&sender->posting);
        }
        take_signals(sender);
    }
}

/* Ends the lease, so that another sender need not wait for its end. */
static void finish(struct sender *sender) {
    struct store *store = resources_store(&sender->resources);
    const struct store_heartbeat heartbeat = heartbeat_of(sender);
    posting_abandon(&sender->posting, store, &sender->resources.config);
    if (!(store = resources_store(&sender->resources)))
        return;
    latch(sender, store_end_sender_lease(store, sender->posting.owner, clock_now()));
    if (sender->was_signalled)
        latch(sender, store_end_heartbeat(store, &heartbeat));
}

/* --- the command line --- */

#define MEMBER(name) offsetof(struct sender, name)

static const struct program_option rules[] = {
    {.name = "config",
     .value = "FILE",
     .member = MEMBER(resources.config_path),
     .meaning = "the configuration file"},
    {.name = "pid-file",
     .value = "FILE",
     .member = MEMBER(pid_file.path),
     .meaning = "write the process id there; removed at the end"},
    {.name = "for",
     .value = "TIME",
     .member = MEMBER(duration),
     .meaning = "end after TIME, such as 60s, as by SIGTERM. By cron, once a minute:\n"
                "the next sender begins when this one ends"},
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
            "confined to the files it started with. Of several senders one sends; another takes\n"
            "over when it ends.",
        .environment = config_path_environment,
        .files = config_path_files,
        .statuses = statuses,
        .see_also = "switchboard(8), switchboard-courier(8), switchboard.conf(5)",
    }};

/* Returns -1 to go on, else the exit status. */
static int read_options(int argc, char **argv, struct sender *sender) {
    int operand, status = program_read_options(&program, argc, argv, sender, &operand);
    if (status >= 0)
        return status;
    sender->resources.config_path = config_path_of(sender->resources.config_path);
    if (sender->duration && !(sender->lasts = resident_read_duration(sender->duration)))
        return fail("--for takes 1s to 86400s, not ", sender->duration), 2;
    if (operand == argc)
        return -1;
    fail("see --help; unexpected argument: ", argv[operand]);
    return 2;
}

/* Confines the process to what sending needs: it opens platform tokens, and calls the platform
 * alone, never an address that a user has chosen. */
static void confine_sender(struct sender *sender) {
    const unsigned needs =
        WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM | IS_RESIDENT | KEEPS_RECORDS;
    struct resources *resources = &sender->resources;
    resident_open_log(&resources->config, "sender");
    confine(needs, false, resources->config_path, &resources->config);
    resources->needs = needs;
#ifdef SWITCHBOARD_PROBE
    probe_process(needs, &resources->config, resources->config_path);
#endif
}

int main(int argc, char **argv) {
    static struct sender sender;
    const char *error;
    int status = read_options(argc, argv, &sender);
    if (status >= 0)
        return status;
    confine_memory();
    sender.started = clock_monotonic();
    if (resources_configure(&sender.resources, &error))
        return fail("", error);
    if (pid_file_create(&sender.pid_file))
        return fail("cannot write the pid file: ", strerror(errno));
    bool has_curl = http_prepare();
    confine_sender(&sender);
    signal(SIGPIPE, SIG_IGN);
    sender.signals = signals_open((const int[]){SIGTERM, SIGINT, SIGHUP, 0});
    if (!has_curl || sender.signals < 0 || !posting_open(&sender.posting))
        return fail("", "out of memory or descriptors");
    if (pid_file_write(&sender.pid_file))
        return fail("cannot write the pid file: ", strerror(errno));
    log_message(LOG_INFO, "sender %s begins on host %s, pid %ld", sender.posting.owner,
                sender.resources.config.host, (long)getpid());
    run(&sender);
    finish(&sender);
    log_message(LOG_INFO, "sender %s ends", sender.posting.owner);
    posting_close(&sender.posting);
    resources_free(&sender.resources);
    curl_global_cleanup();
    pid_file_remove(&sender.pid_file);
    return 0;
}
