/* A courier's tables of the hosts that it delivers to and of the users whose events it delivers;
 * they decide whether a webhook may have one more attempt in flight (spec 6).
 *
 * Each host and port has at most 8 attempts in flight. A webhook without an attempt in flight gets
 * one while the host has fewer than 8. A webhook gets a second and later ones only while the host
 * has fewer than its window. The window of an unknown host is 1; it grows by 1 with every answer,
 * and is 1 again after an attempt timed out during which the host answered nothing. A webhook gets
 * no second attempt while the host's oldest attempt is more than 1 s old and the host has not
 * answered since that began.
 *
 * The last attempt that ended gives the host its class: it timed out (hanging), took more than 1 s
 * (slow), or less (quick); a host without one is unknown. So is a quick host that has not answered
 * for more than 1 s. An attempt belongs to the class that its host had when it began. Of all slots,
 * hanging hosts may use a quarter, hanging and unknown hosts together half, and slow hosts three
 * eighths. So a slow host shares no slot with one that hangs, an unknown host has a quarter that
 * known hanging hosts cannot take, and a quick one an eighth that no other can take.
 *
 * One user may use at most as many slots of each of these limits, and of all slots, as are free: a
 * user alone gets half of them, the second user half of the rest, or both a third each. So a user
 * with any number of hosts that hang leaves slots for the hosts of the others, whatever class these
 * have; the classes need not be known before.
 *
 * When more webhooks want slots than a limit allows, they take turns in the order of their ids, and
 * the one that was refused first is the next. So a webhook of a busy host, or of a slow one, waits
 * for at most one attempt of each other webhook. A host that hangs has no pause but its turns: with
 * few such hosts their slots are not short, and with many each waits for the others. */
#ifndef SWITCHBOARD_DELIVERY_HOSTS_H
#define SWITCHBOARD_DELIVERY_HOSTS_H

#include "base/id.h"
#include "delivery/table.h"

enum {
    HOSTS_KNOWN = 8192, /* more than all slots and the webhooks planned in one exchange */
    HOSTS_USERS = 1024, /* the same */
    HOST_SLOTS = 8,
};

enum host_class { HOST_QUICK, HOST_SLOW, HOST_UNKNOWN, HOST_HANGING };

/* The limits on the attempts in flight; each but the last on those to hosts of some classes. */
enum limit { LIMIT_HANGING, LIMIT_UNPROVEN, LIMIT_SLOW, LIMIT_ALL, LIMITS };

/* The turns of webhooks at a limit. */
struct gate {
    char last[ID_SIZE];  /* the webhook that had the last turn */
    char next[ID_SIZE];  /* the first webhook after `last` that was refused; "": none */
    uint64_t refused_in; /* the pass of that refusal; a whole pass later the turn is lost */
};

struct host {
    struct table_entry entry; /* named HOST:PORT; its load are the attempts in flight */
    struct gate gate;
    size_t window;
    enum host_class class; /* by the last attempt that ended */
    int64_t oldest;        /* when the oldest attempt in flight began; monotonic */
    int64_t last_answer;   /* monotonic */
};

struct host_user {
    struct table_entry entry; /* named by the user's id; its load are the attempts in flight */
    size_t loads[LIMITS];
    struct gate gates[LIMITS];
};

struct hosts {
    struct table table, users;
    size_t slots;  /* of all hosts together */
    uint64_t pass; /* number of the pass over all waiting webhooks */
    size_t loads[LIMITS];
    struct gate gates[LIMITS];
    struct host known[HOSTS_KNOWN];
    struct host_user known_users[HOSTS_USERS];
    uint32_t hashes[HOSTS_KNOWN], user_hashes[HOSTS_USERS];
};

/* An attempt in flight. */
struct in_flight {
    struct host *host;
    struct host_user *user;
    enum host_class class; /* of the host when the attempt began */
    int64_t started;       /* monotonic */
};

/* Makes empty tables for at most `slots` attempts in flight. */
void hosts_init(struct hosts *hosts, size_t slots);

/* Returns the entry of the host with that name (HOST:PORT), or of the user. The pointer is valid
 * while the entry has attempts in flight, and for 500 more lookups. `now` is monotonic, here and
 * below. */
struct host *hosts_find(struct hosts *hosts, const char *name, int64_t now);
struct host_user *hosts_find_user(struct hosts *hosts, const char *user_id);

/* Returns the class of an attempt to the host that begins now. */
enum host_class hosts_class(const struct host *host, int64_t now);

/* Records the end of an attempt that began at `started`. `answered` is false after a timeout. */
void hosts_end(struct host *host, int64_t started, bool answered, int64_t now);

/* Begins an exchange: counts the attempts in flight. */
void hosts_count(struct hosts *hosts, const struct in_flight *attempts, size_t count);

/* Returns whether the webhook of the user, which has `load` attempts in flight, may have one more
 * to the host. If so, it is counted as in flight until the next exchange. */
bool hosts_admit(struct hosts *hosts, struct host *host, struct host_user *user,
                 const char *webhook_id, size_t load, int64_t now);

#endif
