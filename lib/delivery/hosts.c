#include "delivery/hosts.h"

#include <stdio.h>
#include <string.h>

enum {
    SLOW_MS = 1000,
    WINDOW_MS = 60 * 1000, /* after that long without an answer the window is 1 again */
};

void hosts_init(struct hosts *hosts, size_t slots) {
    memset(hosts, 0, offsetof(struct hosts, known)); /* unused entries take no memory */
    hosts->slots = slots;
    hosts->table = TABLE_OF(hosts->known, hosts->hashes);
    hosts->users = TABLE_OF(hosts->known_users, hosts->user_hashes);
}

struct host *hosts_find(struct hosts *hosts, const char *name, int64_t now) {
    bool is_new;
    struct host *host = table_find(&hosts->table, name, &is_new);
    if (is_new)
        host->class = HOST_UNKNOWN;
    if (is_new || (!host->entry.load && now - host->last_answer > WINDOW_MS))
        host->window = 1;
    return host;
}

struct host_user *hosts_find_user(struct hosts *hosts, const char *user_id) {
    bool is_new;
    return table_find(&hosts->users, user_id, &is_new);
}

/* --- the results of attempts --- */

void hosts_end(struct host *host, int64_t started, bool answered, int64_t now) {
    host->class = !answered ? HOST_HANGING : now - started > SLOW_MS ? HOST_SLOW : HOST_QUICK;
    if (answered) {
        host->last_answer = now;
        host->window += host->window < HOST_SLOTS;
    } else if (host->last_answer < started) {
        host->window = 1;
    }
}

/* Whether the host has not answered since its oldest attempt in flight began, more than SLOW_MS
 * ago. */
static bool is_stuck(const struct host *host, int64_t now) {
    return host->entry.load && now - host->oldest > SLOW_MS && host->last_answer < host->oldest;
}

enum host_class hosts_class(const struct host *host, int64_t now) {
    return host->class == HOST_QUICK && is_stuck(host, now) ? HOST_UNKNOWN : host->class;
}

/* --- the attempts in flight --- */

/* The part of all slots that attempts to hosts of some classes may use. */
static const struct {
    size_t eighths;
    unsigned classes; /* bits */
} limits[LIMITS] = {
    [LIMIT_HANGING] = {2, 1U << HOST_HANGING},
    [LIMIT_UNPROVEN] = {4, 1U << HOST_HANGING | 1U << HOST_UNKNOWN},
    [LIMIT_SLOW] = {3, 1U << HOST_SLOW},
    [LIMIT_ALL] = {8, ~0U},
};

static bool is_limited(enum limit limit, enum host_class class) {
    return limits[limit].classes >> class & 1;
}

static void add(struct hosts *hosts, const struct in_flight *attempt) {
    struct host *host = attempt->host;
    struct host_user *user = attempt->user;
    if (!host->entry.load++ || attempt->started < host->oldest)
        host->oldest = attempt->started;
    user->entry.load++;
    for (enum limit i = 0; i < LIMITS; i++)
        if (is_limited(i, attempt->class)) {
            hosts->loads[i]++;
            user->loads[i]++;
        }
}

void hosts_count(struct hosts *hosts, const struct in_flight *attempts, size_t count) {
    memset(hosts->loads, 0, sizeof hosts->loads);
    for (size_t i = 0; i < hosts->table.count; i++)
        hosts->known[i].entry.load = 0;
    for (size_t i = 0; i < hosts->users.count; i++) {
        hosts->known_users[i].entry.load = 0;
        memset(hosts->known_users[i].loads, 0, sizeof hosts->known_users[i].loads);
    }
    for (size_t i = 0; i < count; i++)
        add(hosts, &attempts[i]);
}

/* --- turns --- */

/* Whether `webhook_id` is after `last` and before `next` in the circular order of all ids. */
static bool is_between(const char *last, const char *webhook_id, const char *next) {
    bool is_behind = strcmp(webhook_id, last) > 0, is_before = strcmp(webhook_id, next) < 0;
    return strcmp(last, next) < 0 ? is_behind && is_before : is_behind || is_before;
}

/* Returns whether the webhook, which has `load` attempts in flight, may have one more; `has_room`:
 * the limit allows one more. One that has no attempt in flight and is refused gets the next turn,
 * unless another webhook has it. `pass` is the number of the pass over all waiting webhooks. */
static bool gate_admits(struct gate *gate, bool has_room, const char *webhook_id, size_t load,
                        uint64_t pass) {
    bool has_next = *gate->next && pass - gate->refused_in <= 1;
    bool is_turn = !has_next || strcmp(gate->next, webhook_id) == 0 ||
                   (!load && is_between(gate->last, webhook_id, gate->next));
    if (is_turn && has_room)
        return true;
    if (is_turn && !load) {
        snprintf(gate->next, sizeof gate->next, "%s", webhook_id);
        gate->refused_in = pass;
    }
    return false;
}

/* Ends the turn of the webhook, which another limit refuses, so that it keeps nothing from others.
 */
static void gate_forgo(struct gate *gate, const char *webhook_id) {
    if (strcmp(gate->next, webhook_id) == 0)
        *gate->next = '\0';
}

/* Ends the turn of the webhook, which got its attempt. */
static void gate_enter(struct gate *gate, const char *webhook_id, size_t load) {
    gate_forgo(gate, webhook_id);
    if (!load)
        snprintf(gate->last, sizeof gate->last, "%s", webhook_id);
}

/* --- admission --- */

/* A gate that an attempt must pass. */
struct passage {
    struct gate *gate;
    bool has_room;
};

/* The slots of a limit that a user with `load` of them may have beside those of the others. A
 * user's part of all slots is larger, since quick hosts give theirs back soon. */
static bool has_share(enum limit limit, size_t load, size_t left) {
    return limit == LIMIT_ALL ? load < left : load < (left + 1) / 2;
}

/* Lists the gates of an attempt: of the host, of all users, of the user. Returns their number. */
static size_t passages_of(struct hosts *hosts, const struct in_flight *attempt,
                          struct passage list[1 + 2 * LIMITS]) {
    struct host *host = attempt->host;
    struct host_user *user = attempt->user;
    size_t count = 0;
    list[count++] = (struct passage){&host->gate, host->entry.load < HOST_SLOTS};
    for (enum limit i = 0; i < LIMITS; i++) {
        const size_t most = hosts->slots * limits[i].eighths / 8, load = hosts->loads[i];
        const size_t left = load < most ? most - load : 0;
        if (!is_limited(i, attempt->class))
            continue;
        list[count++] = (struct passage){&hosts->gates[i], left > 0};
        list[count++] = (struct passage){&user->gates[i], has_share(i, user->loads[i], left)};
    }
    return count;
}

/* Returns whether all gates admit the attempt. If one refuses it, the webhook keeps no turn at
 * those that have room, which others can use. */
static bool pass(const struct hosts *hosts, const struct passage *list, size_t count,
                 const char *webhook_id, size_t load) {
    size_t passed = 0;
    while (passed < count &&
           gate_admits(list[passed].gate, list[passed].has_room, webhook_id, load, hosts->pass))
        passed++;
    for (size_t i = 0; i < count; i++) {
        if (passed == count)
            gate_enter(list[i].gate, webhook_id, load);
        else if (i != passed && list[i].has_room)
            gate_forgo(list[i].gate, webhook_id);
    }
    return passed == count;
}

bool hosts_admit(struct hosts *hosts, struct host *host, struct host_user *user,
                 const char *webhook_id, size_t load, int64_t now) {
    const struct in_flight attempt = {host, user, hosts_class(host, now), now};
    struct passage list[1 + 2 * LIMITS];
    if (load && (host->entry.load >= host->window || is_stuck(host, now)))
        return false;
    if (!pass(hosts, list, passages_of(hosts, &attempt, list), webhook_id, load))
        return false;
    add(hosts, &attempt);
    return true;
}
