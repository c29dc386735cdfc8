/* lib/delivery/hosts.h: which host may have another attempt, with the calls that the courier
 * makes. */
#include "delivery/hosts.h"

#include <stdlib.h>

#include "check.h"

enum { USERS_MAX = 2000, HANG_MS = 15000, SLOTS = 512 };

/* A model of the courier: webhooks in a ring, attempts that end after a fixed time. Each webhook
 * has a user of its own, if not said otherwise. */
static struct hosts hosts;
static struct user {
    char id[ID_SIZE], host[64], owner[ID_SIZE];
    int64_t takes; /* duration of an attempt in ms; HANG_MS: it times out */
    size_t load, begun;
    int64_t began; /* start of the last attempt; -1: none */
} users[USERS_MAX];
static size_t user_count, flying;
static struct {
    struct in_flight flight;
    struct user *user;
} attempts[SLOTS];

static void reset(size_t slots) {
    hosts_init(&hosts, slots);
    user_count = flying = 0;
}

/* Adds a user with unlimited pending events. */
static struct user *add_user(const char *host, int64_t takes) {
    struct user *user = &users[user_count];
    *user = (struct user){.takes = takes, .began = -1};
    snprintf(user->id, sizeof user->id, "usr_%04zu", user_count++);
    memcpy(user->owner, user->id, sizeof user->owner);
    snprintf(user->host, sizeof user->host, "%s", host);
    return user;
}

static void end_attempts(int64_t now) {
    for (size_t i = 0; i < flying; i++) {
        struct user *user = attempts[i].user;
        if (now - attempts[i].flight.started < user->takes)
            continue;
        hosts_end(attempts[i].flight.host, attempts[i].flight.started, user->takes < HANG_MS, now);
        user->load--;
        attempts[i--] = attempts[--flying];
    }
}

static void count_attempts(void) {
    static struct in_flight flights[SLOTS];
    for (size_t i = 0; i < flying; i++)
        flights[i] = attempts[i].flight;
    hosts_count(&hosts, flights, flying);
}

static void try_attempt(struct user *user, int64_t now, size_t most) {
    struct host *host = hosts_find(&hosts, user->host, now);
    struct host_user *owner = hosts_find_user(&hosts, user->owner);
    const enum host_class class = hosts_class(host, now);
    if (user->load >= most || flying == SLOTS ||
        !hosts_admit(&hosts, host, owner, user->id, user->load, now))
        return;
    attempts[flying].flight = (struct in_flight){host, owner, class, now};
    attempts[flying++].user = user;
    user->load++;
    user->begun++;
    user->began = now;
}

/* One pass over all users, each with at most `most` attempts. */
static void run_lap(int64_t now, size_t most) {
    end_attempts(now);
    count_attempts();
    for (size_t i = 0; i < user_count; i++)
        try_attempt(&users[i], now, most);
    hosts.pass++;
}

static void add_hanging(size_t count) {
    char name[64];
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "hang%zu:80", i);
        add_user(name, HANG_MS);
    }
}

static void check_hanging_hosts_delay_no_other(size_t count) {
    reset(SLOTS);
    add_hanging(count);
    struct user *quick = add_user("quick:80", 1);
    for (int64_t now = 1; now < 120 * 1000; now += 100) {
        size_t before = quick->begun;
        run_lap(now, 8);
        check(quick->begun > before, "%zu hosts hang; at %lld ms the quick one has to wait", count,
              (long long)now);
    }
}

/* 600 hosts hang and use all slots that they may. A host that is known as quick still gets one. */
static void check_slots_are_kept_for_quick_hosts(void) {
    reset(SLOTS);
    struct user *quick = add_user("quick:80", 1);
    run_lap(1, 8);
    add_hanging(599);
    for (int64_t now = 1001; now < 120 * 1000; now += 100) {
        size_t before = quick->begun;
        run_lap(now, 8);
        check(quick->begun > before, "at %lld ms the quick host has to wait", (long long)now);
    }
    for (size_t i = 1; i < user_count; i++)
        check(users[i].begun >= 1, "hanging host %zu was never tried", i);
}

/* --- the hosts of one user do not delay those of another ---
 *
 * The webhooks of the first user have a host each. */

static size_t in_flight_of(const struct user *first, size_t count) {
    size_t load = 0;
    for (size_t i = 0; i < count; i++)
        load += first[i].load;
    return load;
}

static struct user *add_hosts_of_one_user(size_t count, const char *owner, int64_t takes) {
    struct user *first = &users[user_count];
    char name[64];
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s-%zu:80", owner, i);
        snprintf(add_user(name, takes)->owner, sizeof first->owner, "%s", owner);
    }
    return first;
}

/* Adds a webhook that wants one attempt at a time, and expects that it never waits for a slot. */
static void check_never_waits(struct user *user, int64_t now, const char *what) {
    check(user->load > 0 || user->began == now, "at %lld ms the %s host has to wait",
          (long long)now, what);
}

/* `count` hosts of one user hang, from their first attempt on. Beside them another user has a quick
 * host, one that takes 1.3 s, one that takes 5 s, and a new one every 4 s. */
static void check_hanging_hosts_of_one_user(size_t count) {
    reset(SLOTS);
    struct user *hanging = add_hosts_of_one_user(count, "hanging", HANG_MS);
    struct user *others = &users[user_count];
    static const int64_t takes[] = {20, 1300, 5000};
    static const char *const names[] = {"quick:80", "slow:80", "slower:80"};
    for (size_t i = 0; i < 3; i++)
        snprintf(add_user(names[i], takes[i])->owner, sizeof others->owner, "other");
    for (int64_t now = 1; now < 400 * 1000; now += 500) {
        char name[64];
        if (now % 4000 == 1) {
            snprintf(name, sizeof name, "new%lld:80", (long long)now);
            snprintf(add_user(name, 20)->owner, sizeof others->owner, "other");
        }
        run_lap(now, 1);
        for (size_t i = 0; i < 3; i++)
            check_never_waits(&others[i], now, names[i]);
        check_never_waits(&users[user_count - 1], now, "new");
        const size_t load = in_flight_of(hanging, count);
        check(load <= SLOTS / 6 + 1, "at %lld ms %zu attempts hang", (long long)now, load);
    }
    check(hanging[count - 1].begun && hanging[0].begun, "a host that hangs was never tried");
}

/* All hosts of one user answer at once, so that each may have 8 attempts, and then hang. */
static void check_hosts_that_begin_to_hang(void) {
    reset(SLOTS);
    struct user *changing = add_hosts_of_one_user(1000, "changing", 1);
    for (int64_t now = 1; now < 20 * 1000; now += 100)
        run_lap(now, 8);
    for (size_t i = 0; i < 1000; i++)
        changing[i].takes = HANG_MS;
    struct user *slow = add_hosts_of_one_user(1, "slow", 1300);
    for (int64_t now = 20 * 1000; now < 60 * 1000; now += 100) {
        struct user *new = now % 5000 == 0 ? add_user("", 1) : NULL;
        if (new)
            snprintf(new->host, sizeof new->host, "new%lld:80", (long long)now);
        run_lap(now, 8);
        check_never_waits(slow, now, "slow");
        if (new)
            check_never_waits(new, now, "new");
        check(in_flight_of(changing, 1000) <= SLOTS / 2, "more than half of the slots hang");
    }
}

/* Several such users share the limits, and leave room for one more. */
static void check_hanging_hosts_of_many_users(size_t count) {
    reset(SLOTS);
    char owner[32];
    for (size_t i = 0; i < count; i++) {
        snprintf(owner, sizeof owner, "hanging%zu", i);
        add_hosts_of_one_user(100, owner, HANG_MS);
    }
    struct user *quick = add_hosts_of_one_user(1, "quick", 20);
    for (int64_t now = 1; now < 60 * 1000; now += 100) {
        run_lap(now, 8);
        check_never_waits(quick, now, "quick");
    }
}

/* Each host of the user gets its turn, though the user may use only a part of the slots. */
static void check_hosts_of_one_user_take_turns(size_t count, int64_t takes, int64_t step) {
    size_t least = SIZE_MAX, most = 0;
    reset(SLOTS);
    struct user *first = add_hosts_of_one_user(count, "hanging", takes);
    for (int64_t now = 1; now < 2000 * 1000; now += step)
        run_lap(now, 1);
    for (size_t i = 0; i < count; i++) {
        least = first[i].begun < least ? first[i].begun : least;
        most = first[i].begun > most ? first[i].begun : most;
    }
    check(least > 0 && most - least <= 2,
          "of %zu hosts of a user one had %zu attempts, another %zu", count, least, most);
}

/* There are few slots, so that the hosts wait for each other. */
static void check_hanging_hosts_take_turns(void) {
    size_t least = SIZE_MAX, most = 0;
    reset(16);
    add_hanging(100);
    for (int64_t now = 1; now < 3000 * 1000; now += 1000)
        run_lap(now, 1);
    for (size_t i = 0; i < user_count; i++) {
        least = users[i].begun < least ? users[i].begun : least;
        most = users[i].begun > most ? users[i].begun : most;
    }
    check(least > 0 && most - least <= 2, "of 100 hosts one had %zu attempts, another %zu", least,
          most);
}

/* For any relation of the laps to the ends of attempts. */
static void check_users_of_one_host_take_turns(int64_t takes, int64_t step) {
    size_t least = SIZE_MAX, most = 0;
    reset(SLOTS);
    for (size_t i = 0; i < 100; i++)
        add_user("shared:443", takes);
    for (int64_t now = 1; now < takes * 300; now += step)
        run_lap(now, 8);
    for (size_t i = 0; i < user_count; i++) {
        least = users[i].begun < least ? users[i].begun : least;
        most = users[i].begun > most ? users[i].begun : most;
    }
    check(least > 0 && most - least <= most / 5 + 2,
          "of 100 users of a host one had %zu attempts, another %zu", least, most);
}

/* A pass visits a few users at a time, and attempts end in between. */
static void check_users_take_turns_over_partial_laps(void) {
    enum { USERS = 300, AT_ONCE = 64 };
    size_t least = SIZE_MAX, most = 0, at = 0;
    reset(SLOTS);
    for (size_t i = 0; i < USERS; i++)
        add_user("shared:443", 1);
    for (int64_t now = 1; now < 20000; now += 2) {
        end_attempts(now);
        count_attempts();
        for (size_t i = 0; i < AT_ONCE && at < USERS; i++, at++)
            try_attempt(&users[at], now, 8);
        if (at == USERS) {
            hosts.pass++;
            at = 0;
        }
    }
    for (size_t i = 0; i < user_count; i++) {
        least = users[i].begun < least ? users[i].begun : least;
        most = users[i].begun > most ? users[i].begun : most;
    }
    check(least > 10 && most - least <= 2,
          "of 300 users of a host one had %zu attempts, another %zu", least, most);
}

/* One host with a user whose URL hangs and one whose URL does not. */
static void check_hanging_user_does_not_block_its_host(void) {
    reset(SLOTS);
    struct user *hanging = add_user("shared:443", HANG_MS);
    struct user *quick = add_user("shared:443", 1);
    for (int64_t now = 1; now < 120 * 1000; now += 100) {
        size_t before = quick->begun;
        run_lap(now, 2);
        check(quick->begun > before, "at %lld ms the quick user has to wait", (long long)now);
    }
    check(hanging->begun >= 8, "the hanging user had %zu attempts", hanging->begun);
}

static void check_window(void) {
    reset(SLOTS);
    struct user *user = add_user("slow:80", 4000);
    static const size_t loads[] = {1, 2, 4, 8, 8};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        int64_t now = 1 + (int64_t)i * 4000;
        for (int round = 0; round < 10; round++)
            run_lap(now, 8);
        check(user->load == loads[i], "round %zu: %zu attempts", i, user->load);
        for (int64_t later = now + 1500; later < now + 4000; later += 500)
            run_lap(later, 8);
        check(user->load == loads[i], "round %zu, later: %zu attempts", i, user->load);
    }
    user->takes = HANG_MS;
    for (int64_t now = 30001; now < 61000; now += 1000)
        run_lap(now, 8);
    check(user->load == 1, "after timeouts: %zu attempts", user->load);
}

/* A user who was refused and has no more events does not block others. */
static void check_removed_user_blocks_no_other(void) {
    reset(SLOTS);
    for (size_t i = 0; i < 9; i++)
        add_user("full:80", 5000);
    run_lap(1, 1);
    check(users[8].begun == 0, "a ninth attempt to one host");
    user_count = 8; /* the ninth is removed */
    for (int64_t now = 5001; now < 5004; now++)
        run_lap(now, 1);
    check(flying == 8, "%zu attempts after the refused user was removed", flying);
}

static void check_unused_hosts_are_removed(void) {
    char name[64];
    reset(SLOTS);
    struct host *busy = hosts_find(&hosts, "busy:80", 1);
    const struct in_flight flight = {busy, hosts_find_user(&hosts, "usr_busy"), HOST_UNKNOWN, 1};
    hosts_count(&hosts, &flight, 1);
    for (int i = 0; i < HOSTS_KNOWN + 1000; i++) {
        snprintf(name, sizeof name, "host%d:80", i);
        check(strcmp(hosts_find(&hosts, name, 1)->entry.name, name) == 0, "host %d", i);
    }
    check(hosts.table.count == HOSTS_KNOWN, "%zu hosts in the table", hosts.table.count);
    check(hosts_find(&hosts, "busy:80", 1) == busy, "a host with an attempt was removed");
}

int main(void) {
    check_hanging_hosts_delay_no_other(5);
    check_hanging_hosts_delay_no_other(50);
    check_hanging_hosts_delay_no_other(200);
    check_slots_are_kept_for_quick_hosts();
    check_hanging_hosts_of_one_user(257);
    check_hanging_hosts_of_one_user(600);
    check_hanging_hosts_of_one_user(1000);
    check_hosts_that_begin_to_hang();
    check_hanging_hosts_of_many_users(1);
    check_hanging_hosts_of_many_users(10);
    check_hosts_of_one_user_take_turns(600, HANG_MS, 1000);
    check_hosts_of_one_user_take_turns(1000, 5000, 700);
    check_hanging_hosts_take_turns();
    check_users_of_one_host_take_turns(15000, 1000);
    check_users_of_one_host_take_turns(15000, 5000);
    check_users_of_one_host_take_turns(15000, 15000);
    check_users_of_one_host_take_turns(100, 30);
    check_users_take_turns_over_partial_laps();
    check_hanging_user_does_not_block_its_host();
    check_window();
    check_removed_user_blocks_no_other();
    check_unused_hosts_are_removed();
    return check_failures();
}
