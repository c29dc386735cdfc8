#include "hosts.h"

#include <stdio.h>
#include <string.h>

enum {
    SLOW_MS = 1000,
    WINDOW_MS = 60 * 1000, /* what was answered longer ago opens no window */
};

void hosts_init(struct hosts *hosts, size_t places) {
    hosts->count = 0; /* entries are set when they come into use: until then they cost no memory */
    hosts->places = places;
    hosts->lookups = hosts->lap = 0;
    memset(hosts->trusted, 0, sizeof hosts->trusted);
}

/* --- which hosts there are --- */

static uint32_t hash_of(const char *name) { /* FNV-1a */
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* Where a new one goes: a free entry, else the one without attempts that was unused for longest. */
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
    snprintf(key, sizeof key, "%s", name); /* names of hosts are shorter; what is none may be cut */
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

/* --- what becomes of attempts --- */

void hosts_end(struct host *host, int64_t started, bool answered, int64_t now) {
    host->has_ended = true;
    host->is_slow = !answered || now - started > SLOW_MS;
    if (answered) {
        host->last_answer = now;
        host->window += host->window < HOST_PLACES;
    } else if (host->last_answer < started) {
        host->window = 1;
    }
}

/* Nothing was answered since its oldest attempt began, and that is long ago. */
static bool is_stuck(const struct host *host, int64_t now) {
    return host->gate.load && now - host->oldest > SLOW_MS && host->last_answer < host->oldest;
}

static enum trust trust(const struct host *host, int64_t now) {
    return host->is_slow || is_stuck(host, now) ? HOST_SLOW
           : host->has_ended                    ? HOST_QUICK
                                                : HOST_UNKNOWN;
}

static void add(struct hosts *hosts, enum trust trusted) {
    for (size_t i = trusted; i < HOST_TRUSTS; i++)
        hosts->trusted[i].load++;
}

void hosts_count(struct hosts *hosts, const struct flight *flights, size_t count, int64_t now) {
    for (size_t i = 0; i < HOST_TRUSTS; i++)
        hosts->trusted[i].load = 0;
    for (size_t i = 0; i < hosts->count; i++) {
        hosts->known[i].gate.load = 0;
        hosts->known[i].oldest = INT64_MAX;
    }
    for (size_t i = 0; i < count; i++) {
        struct host *host = flights[i].host;
        host->gate.load++;
        if (flights[i].started < host->oldest)
            host->oldest = flights[i].started;
    }
    for (size_t i = 0; i < count; i++)
        add(hosts, trust(flights[i].host, now));
}

/* --- who may have one more --- */

/* Whether others, who were refused, come before this user. */
static bool is_out_of_turn(const struct hosts *hosts, const struct gate *gate,
                           const char *user_id) {
    return strcmp(user_id, gate->last) <= 0 && strcmp(gate->last, gate->until) < 0 &&
           hosts->lap - gate->refused_in <= 1;
}

static bool pass(const struct hosts *hosts, struct gate *gate, size_t limit, const char *user_id) {
    if (is_out_of_turn(hosts, gate, user_id))
        return false;
    if (gate->load < limit)
        return true;
    if (strcmp(user_id, gate->last) > 0) {
        gate->refused_in = hosts->lap;
        if (strcmp(user_id, gate->until) > 0)
            snprintf(gate->until, sizeof gate->until, "%s", user_id);
    }
    return false;
}

/* The user's turn; a new round begins with it when it is not behind the last one. */
static void enter(struct gate *gate, const char *user_id) {
    if (strcmp(user_id, gate->last) <= 0)
        *gate->until = '\0';
    snprintf(gate->last, sizeof gate->last, "%s", user_id);
    gate->load++;
}

bool hosts_admit(struct hosts *hosts, struct host *host, const char *user_id, size_t load,
                 int64_t now) {
    const size_t limits[HOST_TRUSTS] = {hosts->places / 2, hosts->places * 3 / 4, hosts->places};
    const enum trust trusted = trust(host, now);
    if (load && (host->gate.load >= host->window || is_stuck(host, now)))
        return false;
    if (!pass(hosts, &host->gate, HOST_PLACES, user_id))
        return false;
    for (size_t i = trusted; i < HOST_TRUSTS; i++)
        if (!pass(hosts, &hosts->trusted[i], limits[i], user_id))
            return false;
    for (size_t i = trusted; i < HOST_TRUSTS; i++)
        enter(&hosts->trusted[i], user_id);
    enter(&host->gate, user_id);
    if (now < host->oldest)
        host->oldest = now;
    return true;
}
