/* What a courier knows of the hosts that it delivers to, and which of them may have one attempt
 * more (spec 6).
 *
 * A host and port has at most 8 attempts at a time. A user's first one there may begin whenever
 * fewer are under way; further ones need a window, which is 1 for an unknown host, grows by 1 with
 * every answer, and is 1 again after an attempt that timed out while nothing was answered. While
 * the oldest attempt is more than a second old and nothing was answered since it began there are
 * no further ones. Of all places the hosts that are slow may use one half, they and unknown hosts
 * three quarters, so that a quick host finds a place however many others hang.
 *
 * Where a place is wanted by more users than it has room for, they have their turns in the order of
 * their ids: the first who was refused is the next. So among users of one
 * host, and among hosts that are slow, none has to wait for more than one attempt of each other.
 */
#ifndef SWITCHBOARD_DELIVERY_HOSTS_H
#define SWITCHBOARD_DELIVERY_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

enum {
    HOSTS_KNOWN = 1024, /* more than there are places, and users looked at in one exchange */
    HOST_NAME_SIZE = 280,
    HOST_PLACES = 8,
};

/* How many attempts may be under way somewhere, and whose turn it is. */
struct gate {
    size_t load;
    char last[ID_SIZE];  /* the user whose turn was last */
    char next[ID_SIZE];  /* the first one behind it who was refused; "" when none was */
    uint64_t refused_in; /* the lap; a user who was not there for a whole one waits no more */
};

struct host {
    char name[HOST_NAME_SIZE]; /* HOST:PORT */
    uint64_t used;             /* when it was looked up last, as a number that rises */
    struct gate gate;
    size_t window;
    bool has_ended, is_slow; /* an attempt has; the last one took long */
    int64_t oldest;          /* when the oldest attempt that is under way began; monotonic */
    int64_t last_answer;     /* monotonic */
};

enum trust { HOST_SLOW, HOST_UNKNOWN, HOST_QUICK, HOST_TRUSTS };

struct hosts {
    struct host known[HOSTS_KNOWN];
    uint32_t hashes[HOSTS_KNOWN]; /* of their names */
    size_t count, places;         /* places: of all hosts together */
    uint64_t lookups;
    uint64_t lap;                     /* over the users who wait: rises */
    struct gate trusted[HOST_TRUSTS]; /* attempts of hosts trusted so little or less */
};

/* An attempt that is under way. */
struct flight {
    struct host *host;
    int64_t started; /* monotonic */
};

/* `places`: how many attempts there may be in all. */
void hosts_init(struct hosts *hosts, size_t places);

/* The host of that name, from now on known; for it one without attempts is forgotten, that which
 * was not looked up for longest. Valid while it has attempts, and for 500 more lookups. */
struct host *hosts_find(struct hosts *hosts, const char *name, int64_t now);

/* An attempt has ended: `answered` when other than by a timeout. */
void hosts_end(struct host *host, int64_t started, bool answered, int64_t now);

/* Begins an exchange: what is under way. */
void hosts_count(struct hosts *hosts, const struct flight *flights, size_t count, int64_t now);

/* Whether the user, who has `load` attempts, may have one more to the host; then it is counted
 * until the next exchange. */
bool hosts_admit(struct hosts *hosts, struct host *host, const char *user_id, size_t load,
                 int64_t now);

#endif
