#include "sending/streak.h"

void streaks_init(struct streaks *streaks) {
    streaks->table = (struct table){.entries = streaks->entries,
                                    .size = sizeof *streaks->entries,
                                    .most = STREAKS_MOST,
                                    .hashes = streaks->hashes};
}

bool streaks_add(struct streaks *streaks, const char *id, long kind) {
    bool is_new;
    struct streak *streak = table_find(&streaks->table, id, &is_new);
    streak->count = !kind ? 0 : kind == streak->kind ? streak->count + 1 : 1;
    streak->kind = kind;
    if (streak->count < STREAK_LENGTH)
        return false;
    streak->count = 0;
    return true;
}
