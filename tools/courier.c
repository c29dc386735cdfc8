/* courier: delivers outbound events to the users' webhooks (spec 6).
 *
 *     courier [--config FILE] [--pid-file FILE] [--once]
 *
 * One resident process, woken by a bell (wake.h) and by a timer. Several may run at once: they
 * share the work by leases in the database. It also keeps the database's write-ahead log short and
 * removes events that ended long ago. `courier --help` tells the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confine.h"
#include "base/log.h"
#include "base/names.h"
#include "delivery/dispatch.h"
#include "delivery/resources.h"
#include "store/housekeeping.h"
#include "base/product.h"
#include "delivery/wake.h"

enum {
    TICK_MS = 1000,
    BEAT_MS = 5 * 1000,
    CHECKPOINT_BUSY_MS = 10 * 1000, /* after somebody was in the way of one */
    PRUNE_MS = 60 * 60 * 1000,
    MEND_MS = 60 * 60 * 1000,
    CHORE_MS = 200,            /* of a tick, for each of the two */
    ONCE_CHORE_MS = 60 * 1000, /* the same for --once, which has one */
    MEND_MEMORY = 64 * 1024,
    GRACE_MS = 14 * 1000,          /* service managers commonly kill after 15 s */
    ONCE_TAKES_MS = 5 * 60 * 1000, /* --once takes no more events after that */
    ONCE_TROUBLE_MS = 30 * 1000,   /* --once gives up on the database after that */
};

struct courier {
    const char *pid_file; /* NULL: none */
    int pid_fd;
    bool once;
    struct resources resources;
    struct dispatch dispatch;
    struct wake_listener bell;
    int signals; /* signalfd */
    bool is_stopping;
    bool may_be_due; /* look for events to take */
    /* all times are monotonic */
    int64_t started, stop_at, next_tick, next_beat, next_prune, next_mend, next_checkpoint;
    int64_t data_version; /* at the last checkpoint */
    bool has_written;     /* since the last checkpoint */
    bool has_log;         /* the last checkpoint did not empty the log's file */
};

static int fail(const char *what, const char *detail) {
    fprintf(stderr, "courier: %s%s\n", what, detail);
    return 1;
}

/* --- looking after the database, a little at every tick --- */

static bool note(struct courier *courier, enum store_result result) {
    resources_note(&courier->resources, result);
    return result == STORE_OK;
}

static void beat(struct courier *courier, struct store *store, int64_t now) {
    if (now < courier->next_beat)
        return;
    if (note(courier, store_beat(store, "courier", getpid(), clock_now()))) {
        courier->next_beat = now + BEAT_MS;
        courier->has_written = true;
    }
}

/* Until when a chore of many short transactions, between which others write, may go on. */
static int64_t chore_end(const struct courier *courier, int64_t now) {
    return now + (courier->once ? ONCE_CHORE_MS : CHORE_MS);
}

static void prune(struct courier *courier, struct store *store, int64_t now) {
    size_t removed = 1;
    if (now < courier->next_prune)
        return;
    while (removed && clock_monotonic() < chore_end(courier, now)) {
        if (!note(courier, store_prune_events(store, clock_now(), &removed)))
            return;
        courier->has_written = courier->has_written || removed;
    }
    if (!removed)
        courier->next_prune = now + PRUNE_MS;
}

static void mend(struct courier *courier, struct store *store, int64_t now) {
    size_t mended = 1;
    bool ok = true;
    struct arena arena;
    if (now < courier->next_mend)
        return;
    arena_init(&arena, MEND_MEMORY, NULL);
    while (ok && mended && clock_monotonic() < chore_end(courier, now)) {
        ok = note(courier, store_mend_times(store, &arena, clock_now(), &mended));
        courier->has_written = courier->has_written || mended;
        arena_reset(&arena);
    }
    arena_free(&arena);
    if (ok && !mended)
        courier->next_mend = now + MEND_MS;
}

/* While others write the log is kept, to be written over; when they are done, it is emptied. */
static void checkpoint(struct courier *courier, struct store *store, int64_t now) {
    int64_t version = store_data_version(store);
    bool is_calm = version == courier->data_version && !courier->has_written;
    if (now < courier->next_checkpoint || (is_calm && !courier->has_log))
        return;
    enum store_result result = store_checkpoint(store, is_calm);
    if (result == STORE_BUSY) {
        courier->next_checkpoint = now + CHECKPOINT_BUSY_MS;
        return;
    }
    if (!note(courier, result))
        return;
    courier->data_version = version;
    courier->has_written = false;
    courier->has_log = !is_calm;
}

static void look_after(struct courier *courier, int64_t now) {
    static void (*const chores[])(struct courier *, struct store *, int64_t) = {beat, mend, prune,
                                                                                checkpoint};
    for (size_t i = 0; i < sizeof chores / sizeof *chores; i++) {
        struct store *store = resources_store(&courier->resources);
        if (store)
            chores[i](courier, store, now);
    }
}

/* --- deliveries --- */

static void look(struct courier *courier) {
    courier->may_be_due = true;
    dispatch_look(&courier->dispatch);
}

/* Hands in what has ended and takes what is due, where there is room. */
static void exchange(struct courier *courier) {
    struct resources *resources = &courier->resources;
    bool has_ended = dispatch_count(&courier->dispatch, PLACE_ENDED) > 0;
    if (has_ended)
        dispatch_look(&courier->dispatch); /* there is more room */
    bool may_take = !courier->is_stopping && (courier->may_be_due || has_ended) &&
                    dispatch_has_room(&courier->dispatch);
    size_t taken;
    if (!may_take && !has_ended)
        return;
    courier->may_be_due = false; /* until the next tick, where it fails */
    struct store *store = resources_store(resources);
    may_take = may_take && resources_keys(resources);
    if (!store ||
        !note(courier, dispatch_exchange(&courier->dispatch, store, resources, may_take, &taken)))
        return;
    if (has_ended)
        dispatch_look(&courier->dispatch); /* what was recorded may have made more due */
    courier->may_be_due = !courier->dispatch.has_seen_all;
    courier->has_written = courier->has_written || has_ended || taken;
}

/* --- its life --- */

static void configure(struct courier *courier) {
    const char *error;
    if (resources_configure(&courier->resources, &error))
        log_message(LOG_ERROR, "%s; the configuration stays as it was", error);
    else
        log_message(LOG_INFO, "the configuration was read again");
}

/* Takes no more events; what is under way may end. Asked twice, it does not wait for that. */
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
    }
}

static void tick(struct courier *courier, int64_t now) {
    if (now < courier->next_tick)
        return;
    courier->next_tick = now + TICK_MS;
    look(courier);
    if (courier->once) {
        if (now - courier->started >= ONCE_TAKES_MS)
            courier->is_stopping = true;
        return;
    }
    if (!courier->is_stopping) {
        wake_listen(&courier->bell, courier->resources.config.database);
        look_after(courier, now);
    }
}

/* Whether --once cannot do its work. */
static bool is_hopeless(const struct courier *courier, int64_t now) {
    const struct resources *resources = &courier->resources;
    if (!courier->once || resources->trouble == STORE_OK)
        return courier->once && resources->keys_complained_at && !resources->keys.count;
    bool is_passing = resources->trouble == STORE_BUSY || resources->trouble == STORE_FULL;
    return now - resources->trouble_since >= ONCE_TROUBLE_MS ||
           (!is_passing && !dispatch_count(&courier->dispatch, PLACE_ENDED));
}

static bool is_over(const struct courier *courier, int64_t now) {
    if (courier->dispatch.used)
        return (courier->stop_at && now >= courier->stop_at) || is_hopeless(courier, now);
    return courier->is_stopping || is_hopeless(courier, now) ||
           (courier->once && !courier->may_be_due && courier->resources.trouble == STORE_OK);
}

/* Whether there is something to do that needs no waiting for. */
static bool can_go_on(const struct courier *courier) {
    const struct dispatch *dispatch = &courier->dispatch;
    return courier->resources.trouble == STORE_OK &&
           (dispatch_count(dispatch, PLACE_ENDED) ||
            (courier->may_be_due && !courier->is_stopping && dispatch_has_room(dispatch)));
}

static void wait_for_something(struct courier *courier, int64_t now) {
    struct curl_waitfd descriptors[] = {
        {.fd = courier->signals, .events = CURL_WAIT_POLLIN},
        {.fd = courier->bell.fd, .events = CURL_WAIT_POLLIN},
    };
    int64_t wait = courier->next_tick - now;
    if (courier->stop_at && courier->stop_at - now < wait)
        wait = courier->stop_at - now;
    if (can_go_on(courier))
        wait = 0;
    curl_multi_poll(courier->dispatch.multi, descriptors, courier->bell.fd >= 0 ? 2 : 1,
                    wait > 0 ? (int)wait : 0, NULL);
}

static void run(struct courier *courier) {
    for (;;) {
        int64_t now = clock_monotonic();
        tick(courier, now);
        exchange(courier);
        if (is_over(courier, now))
            return;
        if (!dispatch_advance(&courier->dispatch))
            wait_for_something(courier, now);
        take_signals(courier);
        if (wake_drain(&courier->bell))
            look(courier);
    }
}

/* Leaves nothing behind that another courier would have to wait for. */
static int finish(struct courier *courier) {
    struct store *store = resources_store(&courier->resources);
    int64_t now = clock_monotonic();
    dispatch_abandon(&courier->dispatch, store);
    if (store && courier->once)
        look_after(courier, now);
    wake_close(&courier->bell);
    return is_hopeless(courier, now) ? fail("", "database or key file cannot be used; see the log")
                                     : 0;
}

/* --- the command line --- */

static void print_help(void) {
    puts(
        "usage: courier [--config FILE] [--pid-file FILE] [--once]\n"
        "\n"
        "Delivers outbound events to the users' webhooks, until SIGTERM: then it takes no more\n"
        "events, lets deliveries that are under way end, 14 s at most, and exits with status 0.\n"
        "SIGHUP makes it read the configuration again, but one that names other files needs a new\n"
        "courier: this one is confined to its own. Several couriers may run at once.\n"
        "\n"
        "  --config FILE    the configuration file; default: $SWITCHBOARD_CONFIG, then\n"
        "                   " CONFIG_DEFAULT_PATH "\n"
        "  --pid-file FILE  write the process id there; removed at the end\n"
        "  --once           deliver what is due, then exit: for cron\n"
        "  --help           print this text\n"
        "  --version        print name and version");
}

/* Returns -1 to go on, else the exit status. */
static int read_options(int argc, char **argv, struct courier *courier) {
    static const struct option table[] = {
        {"config", required_argument, NULL, 'c'}, {"pid-file", required_argument, NULL, 'p'},
        {"once", no_argument, NULL, 'o'},         {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},      {NULL, 0, NULL, 0},
    };
    const char *from_environment = getenv("SWITCHBOARD_CONFIG");
    courier->resources.config_path =
        from_environment && *from_environment ? from_environment : CONFIG_DEFAULT_PATH;
    for (int name; (name = getopt_long(argc, argv, "", table, NULL)) != -1;)
        switch (name) {
        case 'c':
            courier->resources.config_path = optarg;
            break;
        case 'p':
            courier->pid_file = optarg;
            break;
        case 'o':
            courier->once = true;
            break;
        case 'h':
            print_help();
            return 0;
        case 'v':
            puts(SWITCHBOARD_NAME " " SWITCHBOARD_VERSION);
            return 0;
        default:
            return 2;
        }
    if (optind == argc)
        return -1;
    fail("see --help; unexpected argument: ", argv[optind]);
    return 2;
}

/* Made before it is confined, and empty until it heeds signals. */
static int make_pid_file(struct courier *courier) {
    courier->pid_fd = -1;
    if (!courier->pid_file)
        return 0;
    courier->pid_fd = open(courier->pid_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    confine_removable(courier->pid_file);
    return courier->pid_fd < 0 ? -1 : 0;
}

static int write_pid(struct courier *courier) {
    if (courier->pid_fd < 0)
        return 0;
    int failed = dprintf(courier->pid_fd, "%ld\n", (long)getpid()) < 0;
    return close(courier->pid_fd) != 0 || failed ? -1 : 0;
}

/* Gives up all that delivering does not need. */
static void give_up(struct courier *courier) {
    const unsigned needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM | IS_RESIDENT;
    struct resources *resources = &courier->resources;
    log_open();
    names_prepare();
    confine(needs, false, resources->config_path, &resources->config);
    resources->is_confined = true;
#ifdef SWITCHBOARD_PROBE
    probe_process(needs, &resources->config, resources->config_path);
#endif
}

/* From here on signals are read from a descriptor, in all threads there will be. */
static int block_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int main(int argc, char **argv) {
    static struct courier courier;
    const char *error;
    int status = read_options(argc, argv, &courier);
    if (status >= 0)
        return status;
    confine_memory();
    courier.bell = wake_closed();
    courier.started = clock_monotonic();
    if (resources_configure(&courier.resources, &error))
        return fail("", error);
    const size_t places = dispatch_count_places();
    if (make_pid_file(&courier))
        return fail("cannot write the pid file: ", strerror(errno));
    bool has_curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    give_up(&courier);
    courier.signals = block_signals();
    if (!has_curl || courier.signals < 0 || !dispatch_open(&courier.dispatch, places))
        return fail("", "out of memory or descriptors");
    if (write_pid(&courier))
        return fail("cannot write the pid file: ", strerror(errno));
    log_message(LOG_INFO, "courier %s begins, pid %ld", courier.dispatch.owner, (long)getpid());
    run(&courier);
    log_message(LOG_INFO, "courier %s ends", courier.dispatch.owner);
    status = finish(&courier);
    dispatch_close(&courier.dispatch);
    resources_free(&courier.resources);
    curl_global_cleanup();
    if (courier.pid_file)
        unlink(courier.pid_file);
    return status;
}
