#include "delivery/hosts.h"

#include <stdio.h>
#include <string.h>

enum {
    SLOW_MS = 1000,
    WINDOW_MS = 60 * 1000, /* after that long without an answer the window is 1 again */
};

void hosts_init(struct hosts *hosts, size_t slots) {
    hosts->count = 0; /* `known` is not cleared, so that unused entries take no memory */
    hosts->slots = slots;
    hosts->lookups = hosts->lap = 0;
    memset(hosts->by_speed, 0, sizeof hosts->by_speed);
}

/* --- the table of hosts --- */

static uint32_t hash_of(const char *name) { /* FNV-1a */
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* A free entry; else the least recently used one that has no attempts in flight. */
static struct host *new_entry(struct hosts *hosts) {
    struct host *oldest = NULL;
    if (hosts->count < HOSTS_KNOWN)
        return &hosts->known[hosts->count++];
    for (size_t i = 0; i < HOSTS_KNOWN; i++) {
        struct host *host = &hosts->known[i];
        if (!host->gate.load && (!oldest || host->used < oldest->used))
            oldest = host;
    }
    return oldest;
}

struct host *hosts_find(struct hosts *hosts, const char *name, int64_t now) {
    char key[HOST_NAME_SIZE];
    snprintf(key, sizeof key, "%s", name); /* cuts only a name that is too long for a host */
    uint32_t hash = hash_of(key);
    struct host *host = NULL;
    for (size_t i = 0; i < hosts->count && !host; i++)
        if (hosts->hashes[i] == hash && strcmp(hosts->known[i].name, key) == 0)
            host = &hosts->known[i];
    if (!host) {
        host = new_entry(hosts);
        *host = (struct host){.window = 1};
        hosts->hashes[host - hosts->known] = hash;
        memcpy(host->name, key, sizeof key);
    }
    host->used = ++hosts->lookups;
    if (!host->gate.load && now - host->last_answer > WINDOW_MS)
        host->window = 1;
    return host;
}

/* --- the results of attempts --- */

void hosts_end(struct host *host, int64_t started, bool answered, int64_t now) {
    host->has_ended = true;
    host->is_slow = !answered || now - started > SLOW_MS;
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
    return host->gate.load && now - host->oldest > SLOW_MS && host->last_answer < host->oldest;
}

static enum speed speed_of(const struct host *host, int64_t now) {
    return host->is_slow || is_stuck(host, now) ? HOST_SLOW
           : host->has_ended                    ? HOST_QUICK
                                                : HOST_UNKNOWN;
}

static void add(struct hosts *hosts, enum speed speed) {
    for (size_t i = speed; i < HOST_SPEEDS; i++)
        hosts->by_speed[i].load++;
}

void hosts_count(struct hosts *hosts, const struct in_flight *attempts, size_t count, int64_t now) {
    for (size_t i = 0; i < HOST_SPEEDS; i++)
        hosts->by_speed[i].load = 0;
    for (size_t i = 0; i < hosts->count; i++) {
        hosts->known[i].gate.load = 0;
        hosts->known[i].oldest = INT64_MAX;
    }
    for (size_t i = 0; i < count; i++) {
        struct host *host = attempts[i].host;
        host->gate.load++;
        if (attempts[i].started < host->oldest)
            host->oldest = attempts[i].started;
    }
    for (size_t i = 0; i < count; i++)
        add(hosts, speed_of(attempts[i].host, now));
}

/* --- admission --- */

/* Whether `webhook_id` is after `last` and before `next` in the circular order of all ids. */
static bool is_between(const char *last, const char *webhook_id, const char *next) {
    bool is_behind = strcmp(webhook_id, last) > 0, is_before = strcmp(webhook_id, next) < 0;
    return strcmp(last, next) < 0 ? is_behind && is_before : is_behind || is_before;
}

/* Whether the gate admits one more attempt of the webhook. One that has no attempt in flight and is
 * refused gets the next turn, unless another webhook has it. */
static bool pass(const struct hosts *hosts, struct gate *gate, size_t limit, const char *webhook_id,
                 size_t load) {
    bool has_next = *gate->next && hosts->lap - gate->refused_in <= 1;
    bool is_turn = !has_next || strcmp(gate->next, webhook_id) == 0 ||
                   (!load && is_between(gate->last, webhook_id, gate->next));
    if (is_turn && gate->load < limit)
        return true;
    if (is_turn && !load) {
        snprintf(gate->next, sizeof gate->next, "%s", webhook_id);
        gate->refused_in = hosts->lap;
    }
    return false;
}

static void enter(struct gate *gate, const char *webhook_id, size_t load) {
    gate->load++;
    if (strcmp(gate->next, webhook_id) == 0)
        *gate->next = '\0';
    if (!load)
        snprintf(gate->last, sizeof gate->last, "%s", webhook_id);
}

bool hosts_admit(struct hosts *hosts, struct host *host, const char *webhook_id, size_t load,
                 int64_t now) {
    const size_t limits[HOST_SPEEDS] = {hosts->slots / 2, hosts->slots * 3 / 4, hosts->slots};
    const enum speed speed = speed_of(host, now);
    if (load && (host->gate.load >= host->window || is_stuck(host, now)))
        return false;
    if (!pass(hosts, &host->gate, HOST_SLOTS, webhook_id, load))
        return false;
    for (size_t i = speed; i < HOST_SPEEDS; i++)
        if (!pass(hosts, &hosts->by_speed[i], limits[i], webhook_id, load))
            return false;
    for (size_t i = speed; i < HOST_SPEEDS; i++)
        enter(&hosts->by_speed[i], webhook_id, load);
    enter(&host->gate, webhook_id, load);
    if (now < host->oldest)
        host->oldest = now;
    return true;
}
