/* A courier's table of the hosts that it delivers to; it decides whether a host may have one more
 * attempt in flight (spec 6).
 *
 * Each host and port has at most 8 attempts in flight. A webhook without an attempt in flight gets
 * one while the host has fewer than 8. A webhook gets a second and later ones only while the host
 * has fewer than its window. The window of an unknown host is 1; it grows by 1 with every answer,
 * and is 1 again after an attempt timed out during which the host answered nothing. A webhook gets
 * no second attempt while the host's oldest attempt is more than 1 s old and the host has not
 * answered since that began. Slow hosts may use half of all slots, slow and unknown hosts together
 * three quarters, so that a quick host gets a slot even if many other hosts hang.
 *
 * When more webhooks want slots than there are, they take turns in the order of their ids, and the
 * one that was refused first is the next. So a webhook of a busy host, or of a slow one, waits for
 * at most one attempt of each other webhook.
 */
#ifndef SWITCHBOARD_DELIVERY_HOSTS_H
#define SWITCHBOARD_DELIVERY_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

enum {
    HOSTS_KNOWN = 1024, /* more than all slots and the webhooks planned in one exchange */
    HOST_NAME_SIZE = 280,
    HOST_SLOTS = 8,
};

/* A limit on the attempts in flight, with turns for the webhooks that want one. */
struct gate {
    size_t load;         /* attempts in flight */
    char last[ID_SIZE];  /* the webhook that had the last turn */
    char next[ID_SIZE];  /* the first webhook after `last` that was refused; "": none */
    uint64_t refused_in; /* the lap of that refusal; a whole lap later the turn is lost */
};

struct host {
    char name[HOST_NAME_SIZE]; /* HOST:PORT */
    uint64_t used;             /* the number of the last lookup of it */
    struct gate gate;
    size_t window;
    bool has_ended;      /* at least one attempt has ended */
    bool is_slow;        /* the last one that ended was slow or timed out */
    int64_t oldest;      /* when the oldest attempt in flight began; monotonic */
    int64_t last_answer; /* monotonic */
};

enum speed { HOST_SLOW, HOST_UNKNOWN, HOST_QUICK, HOST_SPEEDS };

struct hosts {
    struct host known[HOSTS_KNOWN];
    uint32_t hashes[HOSTS_KNOWN]; /* of their names */
    size_t count;                 /* entries in use */
    size_t slots;                 /* of all hosts together */
    uint64_t lookups;
    uint64_t lap;                      /* number of the pass over all waiting webhooks */
    struct gate by_speed[HOST_SPEEDS]; /* for the attempts to hosts of that speed or slower */
};

/* An attempt in flight. */
struct in_flight {
    struct host *host;
    int64_t started; /* monotonic */
};

/* Makes an empty table for at most `slots` attempts in flight. */
void hosts_init(struct hosts *hosts, size_t slots);

/* Returns the entry of the host with that name (HOST:PORT). A new entry replaces the least recently
 * used one that has no attempts when the table is full. The pointer is valid while the host has
 * attempts in flight, and for 500 more lookups. `now` is monotonic, here and below. */
struct host *hosts_find(struct hosts *hosts, const char *name, int64_t now);

/* Records the end of an attempt that began at `started`. `answered` is false after a timeout. */
void hosts_end(struct host *host, int64_t started, bool answered, int64_t now);

/* Begins an exchange: counts the attempts in flight. */
void hosts_count(struct hosts *hosts, const struct in_flight *attempts, size_t count, int64_t now);

/* Returns whether the webhook, which has `load` attempts in flight, may have one more to the host.
 * If so, it is counted as in flight until the next exchange. */
bool hosts_admit(struct hosts *hosts, struct host *host, const char *webhook_id, size_t load,
                 int64_t now);

#endif
