#include "delivery/hosts.h"

#include <string.h>

enum {
    SLOW_MS = 1000,
    WINDOW_MS = 60 * 1000, /* after that long without an answer the window is 1 again */
};

void hosts_init(struct hosts *hosts, size_t slots) {
    memset(hosts, 0, offsetof(struct hosts, known)); /* unused entries take no memory */
    hosts->slots = slots;
    hosts->table = (struct table){.entries = hosts->known,
                                  .size = sizeof *hosts->known,
                                  .most = HOSTS_KNOWN,
                                  .hashes = hosts->hashes};
    hosts->users = (struct table){.entries = hosts->known_users,
                                  .size = sizeof *hosts->known_users,
                                  .most = HOSTS_USERS,
                                  .hashes = hosts->user_hashes};
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

/* Whether a limit counts the attempts to hosts of a class. */
static bool is_limited(enum limit limit, enum host_class class) {
    switch (limit) {
    case LIMIT_HANGING: return class == HOST_HANGING;
    case LIMIT_UNPROVEN: return class == HOST_HANGING || class == HOST_UNKNOWN;
    case LIMIT_SLOW: return class == HOST_SLOW;
    default: return true;
    }
}

static size_t most_of(const struct hosts *hosts, enum limit limit) {
    switch (limit) {
    case LIMIT_HANGING: return hosts->slots / 4;
    case LIMIT_UNPROVEN: return hosts->slots / 2;
    case LIMIT_SLOW: return hosts->slots * 3 / 8;
    default: return hosts->slots;
    }
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
        const size_t most = most_of(hosts, i), load = hosts->loads[i];
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
