/* world: simulates days of the gateway's life in seconds, from a seed (world.h).
 *
 *     world [--seed N] [--seconds N] [--worlds N] [--verbose]
 */

#include "world.h"

#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process/program.h"
#include "disk.h"
#include "store/retention.h"

enum {
    MOST_EVENTS = 20000,

    CRON_SECONDS = 60,
    ARENA_SIZE = 512 * 1024 * 1024
};

static const int64_t FIRST_DAY = INT64_C(1790000000000); /* ms since 1970 */

struct world world;

static struct {
    struct event list[MOST_EVENTS]; /* a heap by time and number */
    size_t count;
    uint64_t added;
} events;

enum { CALM_WORLDS = 24 };      /* one of so many is calm */
enum { ERASING_WORLDS = 7 };    /* in one of so many people are erased */
enum { QUEUEING_WORLDS = 6 };   /* in one of so many most sends are queued */
enum { RETAINING_WORLDS = 5 };  /* in one of so many messages are kept for days alone */
enum { CAMPAIGNS_OF_100 = 10 }; /* acts that would be sends in such a world */
enum { KILLED_OF_100 = 12 };    /* callers of the platform in such a world */

static const char *const act_names[ACT_KINDS] = {"send",  "write", "fail",    "outage",  "power",
                                                 "full",  "clock", "courier", "move",    "keys",
                                                 "token", "crowd", "erase",   "campaign"};

/* --- texts --- */

const char *world_print(const char *format, ...) {
    va_list values;
    char *text = NULL;
    va_start(values, format);
    const int n = vasprintf(&text, format, values);
    va_end(values);
    if (n < 0)
        abort();
    const char *copy = arena_copy(&world.arena, (struct slice){text, (size_t)n});
    free(text);
    return copy;
}

void world_violate(const char *format, ...) {
    va_list values;
    char *text = NULL;
    if (world.violation)
        return;
    va_start(values, format);
    const int n = vasprintf(&text, format, values);
    va_end(values);
    if (n < 0)
        abort();
    world.violation = arena_copy(&world.arena, (struct slice){text, (size_t)n});
    free(text);
    if (world.verbose)
        printf("%14.6f  VIOLATION: %s\n", (double)world_now() / (double)SECOND, world.violation);
}

void world_check_answer(const char *what, int status, const char *text) {
    const bool is_full = world_now() <= world.full_until + SECOND;
    if (status == 500 && !(is_full && strstr(text, "disk is full")))
        world_violate("%s was answered with 500: %s", what, text);
}

void world_command(const char *const *arguments) {
    extern char **environ;
    pid_t child;
    int status = 1;
    if (posix_spawnp(&child, arguments[0], NULL, NULL, (char *const *)(size_t)arguments, environ) ==
        0)
        waitpid(child, &status, 0);
    if (status) {
        fprintf(stderr, "world: %s fails\n", arguments[0]);
        exit(2);
    }
}

void world_note(const char *format, ...) {
    va_list values;
    if (!world.verbose)
        return;
    printf("%14.6f  ", (double)world_now() / (double)SECOND);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("\n");
}

/* --- events --- */

int64_t world_now(void) {
    return world_shared->now;
}

static int64_t platform_clock; /* ms since 1970, when the world began */

int64_t world_clock(void) {
    return platform_clock + world_shared->now / 1000;
}

int64_t world_host_clock(void) {
    return world_shared->clock + world_shared->now / 1000;
}

static bool is_before(const struct event *a, const struct event *b) {
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void exchange(size_t a, size_t b) {
    const struct event event = events.list[a];
    events.list[a] = events.list[b];
    events.list[b] = event;
}

void world_at(int64_t at, void (*happen)(struct event *), void *subject, int64_t value) {
    if (events.count == MOST_EVENTS) {
        world_violate("the world has too many events for the simulator");
        return;
    }
    size_t i = events.count++;
    events.list[i] = (struct event){at, events.added++, happen, subject, value};
    for (; i && is_before(&events.list[i], &events.list[(i - 1) / 2]); i = (i - 1) / 2)
        exchange(i, (i - 1) / 2);
}

static struct event next_event(void) {
    const struct event first = events.list[0];
    events.list[0] = events.list[--events.count];
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < events.count; child++)
            if (is_before(&events.list[child], &events.list[least]))
                least = child;
        if (least == i)
            return first;
        exchange(i, least);
        i = least;
    }
}

/* --- the network --- */

static void return_answer(struct event *event) {
    struct call *call = event->subject;
    if (call->number == (uint64_t)event->value)
        call->state = call->owner < 0 ? CALL_FREE : CALL_ANSWERED;
}

/* A call arrives at its receiver, whose answer is on its way back then. Where sends are queued some
 * callers die meanwhile, which few would do at a random step. */
static void arrive(struct event *event) {
    struct call *call = event->subject;
    uint64_t random = random_of(world.seed, (uint64_t)event->value + (UINT64_C(1) << 40));
    int64_t wait = 0;
    const bool is_platform = strstr(call->url, "platform.test");
    if (is_platform)
        platform_receive(call, &random, &wait);
    else
        receivers_receive(call, &random, &wait);
    world_at(world_now() + wait, return_answer, call, (int64_t)call->number);
    if (world.queues && is_platform && call->owner >= 0 && world_now() < world.quiet_at &&
        random_chance(&random, KILLED_OF_100)) {
        world_note("process %d is killed while the platform answers", call->owner);
        world.kills++;
        gateway_kill(call->owner);
    }
}

static void route_calls(void) {
    for (struct call *call = world_shared->calls;
         call < world_shared->calls + world_shared->calls_used; call++)
        if (call->state == CALL_ASKED) {
            call->state = CALL_ON_ITS_WAY;
            world_at(world_now() + SECOND / 1000, arrive, call, (int64_t)call->number);
        }
}

/* --- the loop --- */

static bool has_answer(int process) {
    for (int i = 0; i < world_shared->calls_used; i++)
        if (world_shared->calls[i].state == CALL_ANSWERED &&
            world_shared->calls[i].owner == process)
            return true;
    return false;
}

static bool is_ready(int process) {
    const struct process *p = &world_shared->processes[process];
    return p->state == PROCESS_WAITS &&
           (p->until <= world_now() || (p->awaits_call && has_answer(process)));
}

/* Returns a process that can run, by chance one of several; -1: there is none. */
static int choose(uint64_t *random) {
    int found = -1, count = 0;
    for (int i = 0; i < PROCESSES; i++)
        if (is_ready(i) && random_below(random, (unsigned)++count) == 0)
            found = i;
    return found;
}

static int64_t next_time(void) {
    int64_t next = events.count ? events.list[0].at : INT64_MAX;
    for (int i = 0; i < PROCESSES; i++)
        if (world_shared->processes[i].state == PROCESS_WAITS &&
            world_shared->processes[i].until < next)
            next = world_shared->processes[i].until;
    return next;
}

static void fail_power(void) {
    world_note("the power fails");
    world_shared->has_power_failed = false;
    gateway_fail_power(random_of(world.seed, 5 + world.power_failures));
}

static void end_full(struct event *event) {
    (void)event;
    world_shared->is_disk_full = false;
}

/* The disk has become full at a step of a process. */
static void note_full(uint64_t *random) {
    world.full_until = world_now() + (1 + random_below(random, 60)) * SECOND;
    world_note("the disk is full");
    world_at(world.full_until, end_full, NULL, 0);
}

/* Runs until the condition holds, or until the time. Returns whether it holds. */
static bool run_until(bool (*is_done)(void), int64_t end) {
    uint64_t random = random_of(world.seed, 3);
    while (!world.violation && world_now() < end) {
        int status;
        route_calls();
        const int process = choose(&random);
        if (process >= 0) {
            const bool goes_on = process_run(process, &status);
            if (world_shared->is_disk_full && world.full_until < world_now())
                note_full(&random);
            if (!goes_on)
                gateway_ended(process, status);
            if (world_shared->has_power_failed)
                fail_power();
            continue;
        }
        if (is_done && is_done())
            return true;
        const int64_t next = next_time();
        if (next == INT64_MAX)
            return false;
        if (next > world_now())
            world_shared->now = next;
        if (events.count && events.list[0].at <= world_now()) {
            struct event event = next_event();
            event.happen(&event);
        }
    }
    return false;
}

/* --- acts --- */

static void perform(const struct act *act, size_t number) {
    uint64_t random = act->random;
    world_note("act %zu: %s", number, act_names[act->kind]);
    switch (act->kind) {
    case ACT_SEND: clients_send(act, number); break;
    case ACT_WRITE: people_write(act); break;
    case ACT_FAIL: receivers_disturb(act); break;
    case ACT_OUTAGE: platform_disturb(act); break;
    case ACT_POWER: world_shared->power_fails_in = 1 + (long)random_below(&random, 300); break;
    case ACT_FULL: world_shared->disk_fills_in = 1 + (long)random_below(&random, 300); break;
    case ACT_CLOCK: world_shared->clock += (int64_t)random_below(&random, 240000) - 120000; break;
    case ACT_COURIER: gateway_run_courier((1 + random_below(&random, 90)) * SECOND, random); break;
    case ACT_MOVE: people_move(act); break;
    case ACT_KEYS: gateway_rotate_key(random); break;
    case ACT_TOKEN: gateway_replace_token(random); break;
    case ACT_CROWD: people_write_crowd(act); break;
    case ACT_ERASE: erasures_request(act); break;
    case ACT_CAMPAIGN:
        campaigns_make(act);
        opt_outs_add(act);
        break;
    case ACT_KINDS: break;
    }
}

static void happen(struct event *event) {
    perform(event->subject, (size_t)event->value);
}

enum { CHOSEN_KINDS = ACT_ERASE }; /* those before it */

/* Each world has more of some kinds of acts, and none of others. */
static unsigned weigh(uint64_t *random, unsigned weights[CHOSEN_KINDS]) {
    static const unsigned char usual[CHOSEN_KINDS] = {30, 31, 8, 6, 5, 4, 1, 10, 8, 1, 1, 0};
    static const unsigned char factors[] = {0, 1, 1, 5};
    unsigned sum = 0;
    for (int i = 0; i < CHOSEN_KINDS; i++) {
        const unsigned factor = factors[random_below(random, sizeof factors)];
        weights[i] = usual[i] * (i == ACT_WRITE && !factor ? 1 : factor);
        sum += weights[i];
    }
    return sum;
}

/* In a calm world people write, and nothing fails but the crowd's receivers. */
static void make_calm_acts(uint64_t *random) {
    int64_t at = SECOND;
    world.act_count = 10 + random_below(random, 8);
    for (size_t i = 0; i < world.act_count; i++) {
        const bool is_crowd = i % 6 == 0 && i < 12;
        at += (1 + random_below(random, 12)) * SECOND;
        world.acts[i] = (struct act){
            .at = at, .kind = is_crowd ? ACT_CROWD : ACT_WRITE, .random = random_next(random)};
    }
    world.quiet_at = at + MINUTE;
}

/* Most acts come in bursts. */
static void make_acts(uint64_t seed) {
    uint64_t random = random_of(seed, 1);
    int64_t at = SECOND;
    world.is_calm = seed % CALM_WORLDS == 5;
    world.erases = !world.is_calm && seed % ERASING_WORLDS == 3;
    world.queues = !world.is_calm && seed % QUEUEING_WORLDS == 4;
    world.retains = !world.is_calm && seed % RETAINING_WORLDS == 2;
    if (world.is_calm) {
        make_calm_acts(&random);
        return;
    }
    unsigned weights[CHOSEN_KINDS];
    const unsigned sum = weigh(&random, weights);
    world.act_count = 10 + random_below(&random, 60);
    for (size_t i = 0; i < world.act_count; i++) {
        unsigned share = random_below(&random, sum), kind = 0;
        while (share >= weights[kind])
            share -= weights[kind++];
        if (kind == ACT_MOVE && world.erases)
            kind = ACT_ERASE;
        if (kind == ACT_SEND && world.queues && random_chance(&random, CAMPAIGNS_OF_100))
            kind = ACT_CAMPAIGN;
        at += random_chance(&random, 70) ? random_below(&random, 2000) * (SECOND / 1000)
                                         : random_below(&random, 3600) * SECOND;
        if (world.retains && random_chance(&random, 12))
            at += random_below(&random, 3 * 86400) * SECOND;
        world.acts[i] =
            (struct act){.at = at, .kind = (enum act_kind)kind, .random = random_next(&random)};
    }
    world.quiet_at = at + MINUTE + SECOND; /* the acts begin after a minute */
}

static int64_t first_of(int64_t a, int64_t b) {
    return b < 0 || (a >= 0 && a < b) ? a : b;
}

/* cron starts a courier when it has work, and a sender when it has work or a client waits for one.
 */
static void cron(struct event *event) {
    uint64_t random = random_of(world.seed, (uint64_t)event->value + (UINT64_C(1) << 41));
    const int64_t courier = gateway_next_work(COURIER), sender = gateway_next_work(SENDER);
    const bool is_awaited = clients_await_sender() || campaigns_await_sender();
    const int64_t next = is_awaited ? 0 : first_of(courier, sender);
    const int64_t now = world_host_clock();
    int64_t pause = CRON_SECONDS * SECOND;
    if (courier >= 0 && courier <= now)
        gateway_run_courier(0, random);
    if (is_awaited || (sender >= 0 && sender <= now))
        gateway_run_sender((1 + random_below(&random, 90)) * SECOND, random);
    if (next > now + 10 * 60000 && world_now() > world.quiet_at)
        pause = (next - now) * 1000;
    world_at(world_now() + (pause < 3 * HOUR ? pause : 3 * HOUR), cron, NULL, event->value + 1);
}

/* --- a world --- */

static bool all_is_done(void) {
    return world_now() > world.quiet_at && gateway_token && clients_are_done() &&
           platform_is_done() && erasures_are_done() && campaigns_are_done() && gateway_is_idle() &&
           gateway_next_work(COURIER) < 0 && gateway_next_work(SENDER) < 0;
}

static void begin(uint64_t seed) {
    world.seed = seed;
    world.violation = NULL;
    world.full_until = -DAY;
    events.count = 0;
    events.added = 0;
    memset(world_shared->processes, 0, sizeof world_shared->processes);
    for (int i = 0; i < world_shared->calls_used; i++)
        world_shared->calls[i].state = CALL_FREE;
    world_shared->calls_used = 0;
    world_shared->calls_made = world_shared->programs_started = 0;
    world_shared->now = MINUTE;
    world_shared->clock = platform_clock;
    world_shared->is_disk_full = false;
    world_shared->disk_fills_in = 0;
    world_shared->power_fails_in = 0;
    world_shared->has_power_failed = false;
    gateway_begin();
    platform_begin();
    people_begin();
    erasures_begin();
    receivers_begin();
    clients_begin();
    queue_begin();
    campaigns_begin();
    opt_outs_begin();
}

/* Lets the time pass in which webhooks are repeated and messages are kept; then nothing of them is
 * left. */
static void outlive(void) {
    world_shared->power_fails_in = world_shared->disk_fills_in = 0; /* acts at the very end */
    world_shared->is_disk_full = false;
    run_until(NULL, world_now() + (RETENTION_LEAST_DAYS + 1) * DAY);
    gateway_run_courier(MINUTE, random_of(world.seed, 12));
    run_until(gateway_is_idle, INT64_MAX);
    rules_check_retention();
}

/* Returns what was violated, in memory of its own; NULL: nothing. */
static char *play(uint64_t seed) {
    begin(seed);
    for (size_t i = 0; i < world.act_count; i++)
        if (!world.acts[i].is_left_out)
            world_at(world.acts[i].at + MINUTE, happen, &world.acts[i], (int64_t)i);
    if (world.is_calm)
        gateway_run_courier(world.quiet_at, random_of(seed, 11));
    world_at(world.is_calm ? world.quiet_at : MINUTE, cron, NULL, 0);
    if (!run_until(all_is_done, world.quiet_at + 12 * DAY) && !world.violation)
        world_violate("after %" PRId64 " hours there is still work: clients %s, webhooks %s, "
                      "deliveries that wait %" PRId64,
                      world_now() / HOUR, clients_are_done() ? "done" : "wait",
                      platform_is_done() ? "done" : "wait",
                      gateway_number("SELECT count(*) FROM delivery WHERE state = 'pending'"));
    if (!world.violation) {
        people_check();
        clients_check();
        queue_check();
        campaigns_check();
        erasures_check();
        rules_check();
        if (world.retains)
            outlive();
    }
    gateway_end();
    char *violation = world.violation ? strdup(world.violation) : NULL;
    arena_reset(&world.arena);
    return violation;
}

/* --- the shortest history --- */

static bool fails_without(uint64_t seed, size_t first, size_t count) {
    bool before[ACTS];
    for (size_t i = 0; i < world.act_count; i++) {
        before[i] = world.acts[i].is_left_out;
        if (i >= first && i < first + count)
            world.acts[i].is_left_out = true;
    }
    char *violation = play(seed);
    const bool fails = violation != NULL;
    free(violation);
    for (size_t i = 0; !fails && i < world.act_count; i++)
        world.acts[i].is_left_out = before[i];
    return fails;
}

static double real_seconds(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void shorten(uint64_t seed, double seconds) {
    const double began = real_seconds();
    for (size_t part = world.act_count / 2; part; part /= 2)
        for (size_t first = 0; first < world.act_count; first += part)
            if (real_seconds() - began < seconds)
                fails_without(seed, first, part);
}

static void report(uint64_t seed, double seconds) {
    shorten(seed, seconds);
    char *still = play(seed);
    printf("world: the shortest history that was found: %s\n", still ? still : "none");
    for (size_t i = 0; i < world.act_count; i++)
        if (!world.acts[i].is_left_out)
            printf("    act %zu at %.3f s: %s\n", i, (double)world.acts[i].at / (double)SECOND,
                   act_names[world.acts[i].kind]);
    free(still);
}

/* --- the command line --- */

struct options {
    long seed, seconds, worlds, shorten;
    bool verbose, keep, lying_disk;
};

#define MEMBER(name) offsetof(struct options, name)

static const struct program_option rules[] = {
    {.name = "seed",
     .value = "N",
     .member = MEMBER(seed),
     .most = INT32_MAX,
     .meaning = "the seed of the first world; 0: a new one"},
    {.name = "seconds",
     .value = "N",
     .member = MEMBER(seconds),
     .most = 1000000,
     .preset = 30,
     .meaning = "begin no world after this time"},
    {.name = "worlds",
     .value = "N",
     .member = MEMBER(worlds),
     .most = INT32_MAX,
     .preset = INT32_MAX,
     .meaning = "play at most so many"},
    {.name = "shorten",
     .value = "SECONDS",
     .member = MEMBER(shorten),
     .most = 1000000,
     .preset = 60,
     .meaning = "look for a shorter history so long"},
    {.name = "verbose", .member = MEMBER(verbose), .meaning = "print what happens"},
    {.name = "keep",
     .member = MEMBER(keep),
     .meaning = "play a world that breaks a rule once: its files stay as they were then"},
    {.name = "lying-disk",
     .member = MEMBER(lying_disk),
     .meaning = "a power failure loses what was synced too: a rule must break"},
    {0},
};

static const struct manual_item statuses[] = {
    {"0", "no rule was broken"},
    {"1", "a world broke a rule"},
    {"2", "wrong usage, or the worlds cannot be prepared"},
    {0},
};

static const struct program program = {
    .name = "world",
    .options = rules,
    .manual = {
        .page = "world",
        .section = "1",
        .summary = "simulates days of the life of Switchboard in seconds",
        .synopsis = "world [--seed N] [--seconds N] [--worlds N] [--verbose]",
        .description =
            "Plays worlds, each with its own seed, one after the other: clients, people, the\n"
            "platform, receivers, couriers, crashes, power failures. The first world that\n"
            "breaks a rule is played again with parts left out, as long as the rule is\n"
            "broken; then the seed and the shortest history are printed.",
        .statuses = statuses}};

/* In TMPDIR, else in memory if possible: every write is a system call. */
static const char *make_directory(void) {
    static char paths[2][4096];
    const char *given = getenv("TMPDIR"), *parents[] = {given ? given : "/dev/shm", "/tmp"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/switchboard-world-XXXXXX", parents[i]);
        if (mkdtemp(paths[i]))
            return paths[i];
    }
    return NULL;
}

/* Returns whether no rule was broken. */
static bool play_all(const struct options *options) {
    const double began = real_seconds();
    uint64_t seed = (uint64_t)options->seed, first = seed;
    int64_t lived = 0;
    long played = 0;
    for (; played < options->worlds && real_seconds() - began < (double)options->seconds; seed++) {
        make_acts(seed);
        char *violation = play(seed);
        lived += world_now();
        played++;
        if (violation) {
            printf("world: seed %" PRIu64 " breaks a rule: %s\n", seed, violation);
            if (!options->keep)
                report(seed, (double)options->shorten);
            free(violation);
            return false;
        }
    }
    printf("worlds played %ld from seed %" PRIu64 ", days %.1f, requests %zu, deliveries %zu, "
           "programs killed %zu, power failures %zu, writes lost %zu, rules broken 0\n",
           played, first, (double)lived / (double)DAY, world.requests, world.deliveries,
           world.kills, world.power_failures, world.lost_writes);
    return true;
}

int main(int argc, char **argv) {
    struct options options = {0};
    int operand;
    const int status = program_read_options(&program, argc, argv, &options, &operand);
    if (status >= 0)
        return status;
    if (operand != argc)
        return program_fail_usage(&program, "it takes no arguments");
    if (!options.seed)
        options.seed = (long)(real_seconds() * 1000) % 1000000 + 1;
    const char *directory = make_directory();
    if (!directory)
        return perror("world"), 2;
    world.verbose = options.verbose;
    arena_init(&world.arena, ARENA_SIZE, NULL);
    process_prepare();
    disk_lies(options.lying_disk);
    platform_clock = FIRST_DAY;
    world_shared->clock = platform_clock;
    world.directory = strdup(world_print("%s/world", directory));
    gateway_prepare(world_print("%s/prepared", directory));
    const bool holds = play_all(&options);
    arena_free(&world.arena);
    if (holds)
        world_command((const char *const[]){"rm", "-rf", directory, NULL});
    else
        printf("world: the files of the last world are in %s\n", directory);
    return !holds;
}
