#include "state/send_limit.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "state/settings.h"

enum {
    SECOND = 1000,
    DAY = 24 * 60 * 60 * SECOND,
    PAIR_MS = 6 * SECOND, /* after so long one more message to the same user */
    PLACES = 1 << 16,
    TRIES = 16,
};

/* What was sent under a name. A name is remembered by its hash, and the oldest one is forgotten
 * where there is no place for another. */
struct count {
    uint64_t name;
    int64_t since;  /* the window began; of a pair: when it was counted last */
    int64_t number; /* of messages in it */
};

static struct {
    pthread_mutex_t lock;
    struct count places[PLACES];
} counts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t hash_of(uint64_t hash, const char *text) { /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (hash ^ 255) * UINT64_C(1099511628211);
}

/* Returns the count of the name, which begins at 0. Called under the lock. */
static struct count *find(const char *kind, const char *a, const char *b) {
    const uint64_t seed = UINT64_C(14695981039346656037);
    const uint64_t name = hash_of(hash_of(hash_of(seed, kind), a), b);
    struct count *oldest = &counts.places[name % PLACES];
    for (size_t i = 0; i < TRIES; i++) {
        struct count *place = &counts.places[(name + i) % PLACES];
        if (place->name == name)
            return place;
        if (place->since < oldest->since)
            oldest = place;
    }
    *oldest = (struct count){.name = name, .since = clock_monotonic()};
    return oldest;
}

/* Whether the window of this length has fewer messages; a window that is over begins anew. */
static bool has_room(struct count *count, int64_t most, int64_t length) {
    const int64_t now = clock_monotonic();
    if (now - count->since >= length)
        *count = (struct count){.name = count->name, .since = now};
    return count->number < most;
}

/* Whether the user may get one more: after a number at once, one each time that has passed. */
static bool has_pair_room(struct count *count, int64_t most) {
    const int64_t passed = (clock_monotonic() - count->since) / PAIR_MS;
    count->number -= passed < count->number ? passed : count->number;
    count->since += passed * PAIR_MS;
    return count->number < most;
}

int send_limit_check(const char *phone_id, const char *user) {
    const int64_t rate = settings.messages_per_second, pair = settings.pair_messages;
    int code = 0;
    pthread_mutex_lock(&counts.lock);
    struct count *second = rate ? find("second", phone_id, "") : NULL;
    if (second && !has_room(second, rate, SECOND))
        code = 130429;
    struct count *of_pair = pair && !code ? find("pair", phone_id, user) : NULL;
    if (of_pair && !has_pair_room(of_pair, pair))
        code = 131056;
    if (!code && second)
        second->number++;
    if (!code && of_pair)
        of_pair->number++;
    pthread_mutex_unlock(&counts.lock);
    return code;
}

bool send_limit_marketing(const char *user) {
    bool may = true;
    if (!settings.marketing_messages)
        return true;
    pthread_mutex_lock(&counts.lock);
    struct count *count = find("marketing", user, "");
    if ((may = has_room(count, settings.marketing_messages, DAY)))
        count->number++;
    pthread_mutex_unlock(&counts.lock);
    return may;
}

bool send_limit_ends_template(const char *template_id) {
    bool ends = false;
    if (!settings.template_messages)
        return false;
    pthread_mutex_lock(&counts.lock);
    struct count *count = find("template", template_id, "");
    if ((ends = ++count->number >= settings.template_messages))
        count->number = 0;
    pthread_mutex_unlock(&counts.lock);
    return ends;
}

void send_limit_clear(void) {
    pthread_mutex_lock(&counts.lock);
    memset(counts.places, 0, sizeof counts.places);
    pthread_mutex_unlock(&counts.lock);
}
