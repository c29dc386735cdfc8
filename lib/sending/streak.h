/* Answers of the platform that repeat: the same one so often in a row shows that the next ones
 * would be the same too. They are counted in the memory of the only sender that takes rows, and
 * those that are not 0 stored with the outcomes of the rows, so that the next sender goes on. */
#ifndef SWITCHBOARD_SENDING_STREAK_H
#define SWITCHBOARD_SENDING_STREAK_H

#include "delivery/table.h"
#include "store/outgoing.h"

enum {
    STREAK_LENGTH = 10,
    STREAKS_MOST = 512, /* that are remembered; others begin anew */
};

struct streak {
    struct table_entry entry; /* its name is the id of a line or of a campaign */
    long kind;                /* of the last answers; 0: none that counts */
    int count;
};

struct streaks {
    struct streak entries[STREAKS_MOST];
    uint32_t hashes[STREAKS_MOST];
    struct table table;
};

/* Begins with those that are stored. */
void streaks_init(struct streaks *streaks, const struct outgoing_streak *stored, size_t count);

/* Counts an answer of this kind, 0: one that ends what was counted before. Returns whether it is
 * the last one of a streak; the next one begins another. `*changed` is to be stored, with `id`. */
bool streaks_add(struct streaks *streaks, const char *id, long kind,
                 struct outgoing_streak *changed);

#endif
