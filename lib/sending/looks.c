#include "sending/looks.h"

enum {
    LOOK_MS = 2, /* from a write of another process to the first look */
    LONGEST_MS = 64,
    OWN_MS = 32, /* the same after a write of the sender */
    REST_SHARE = 20,
};

/* Sets the next look, unless one comes before; the pauses after it grow from the shorter one. */
static void look_within(struct looks *looks, int64_t now, int64_t pause) {
    const bool is_first = !looks->at;
    if (is_first || looks->at > now + pause)
        looks->at = now + pause;
    if (is_first || looks->pause > pause)
        looks->pause = pause;
}

void looks_after_write(struct looks *looks, int64_t now) {
    look_within(looks, now, LOOK_MS);
}

void looks_after_own_write(struct looks *looks, int64_t now) {
    look_within(looks, now, OWN_MS);
}

bool looks_take(struct looks *looks, int64_t now) {
    if (!looks->at || now < looks->at || now < looks->rests_until)
        return false;
    looks->at = 0;
    if (looks->pause < LONGEST_MS)
        look_within(looks, now, looks->pause * 2);
    return true;
}

void looks_rest(struct looks *looks, int64_t now, int64_t took, bool has_read_all) {
    looks->took += took;
    if (!has_read_all)
        return;
    looks->rests_until = now + REST_SHARE * looks->took / 1000;
    looks->took = 0;
}

bool looks_watch(const struct looks *looks, int64_t now) {
    return now >= looks->rests_until && (!looks->at || looks->at > now + LOOK_MS);
}

int64_t looks_wait(const struct looks *looks, int64_t now) {
    if (now < looks->rests_until)
        return looks->rests_until - now; /* also if the look is later: the log is watched again */
    return looks->at ? looks->at - now : INT64_MAX;
}
