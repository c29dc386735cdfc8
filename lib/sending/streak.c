#include "sending/streak.h"

void streaks_init(struct streaks *streaks, const struct outgoing_streak *stored, size_t count) {
    bool is_new;
    streaks->table = TABLE_OF(streaks->entries, streaks->hashes);
    for (size_t i = 0; i < count; i++) {
        struct streak *streak = table_find(&streaks->table, stored[i].name, &is_new);
        streak->kind = (long)stored[i].kind;
        streak->count = (int)stored[i].count;
    }
}

/* One that is new here may have been forgotten, and be stored. */
bool streaks_add(struct streaks *streaks, const char *id, long kind,
                 struct outgoing_streak *changed) {
    bool is_new;
    struct streak *streak = table_find(&streaks->table, id, &is_new);
    const int before = streak->count, count = !kind ? 0 : kind == streak->kind ? before + 1 : 1;
    const bool is_last = count >= STREAK_LENGTH;
    streak->kind = kind;
    streak->count = is_last ? 0 : count;
    *changed = (struct outgoing_streak){is_new || before || count ? id : NULL, kind, streak->count};
    return is_last;
}
