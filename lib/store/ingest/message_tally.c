#include "store/ingest/message_tally.h"

#include <stdio.h>
#include <string.h>

#include "engine/driver.h"

static bool write_change(struct store *store, const char *id, int64_t change) {
    static struct statement s = {
        .sql = "UPDATE message SET changed = CASE WHEN ?2 > changed THEN ?2 ELSE changed END "
               "WHERE id = ?1"};
    return sql_run_later(store, &s, TEXT(id), INTEGER(change));
}

/* The place of a message in the list. Ids differ most at their end. */
static struct message_change *place_of(struct message_tally *tally, const char *id) {
    size_t hash = 0;
    for (size_t n = strlen(id), i = n > 8 ? n - 8 : 0; i < n; i++)
        hash = hash * 31 + (unsigned char)id[i];
    return &tally->list[hash % MESSAGES_COLLECTED];
}

void message_tally_collect(struct store *store, struct message_tally *tally) {
    store->messages = tally;
}

bool message_tally_change(struct store *store, const char *id, int64_t change) {
    struct message_tally *tally = store->messages;
    struct message_change *place = tally ? place_of(tally, id) : NULL;
    if (!place)
        return write_change(store, id, change);
    const bool is_taken = *place->id, is_other = is_taken && strcmp(place->id, id) != 0;
    if (is_other && !write_change(store, place->id, place->change))
        return false;
    tally->count += !is_taken;
    place->change = is_taken && !is_other && place->change > change ? place->change : change;
    snprintf(place->id, ID_SIZE, "%s", id);
    return true;
}

/* Other transactions do not write these messages now: their contacts are locked. */
bool message_tally_write(struct store *store) {
    struct message_tally *tally = store->messages;
    for (size_t i = 0; tally && tally->count && i < MESSAGES_COLLECTED; i++) {
        struct message_change *place = &tally->list[i];
        if (!*place->id)
            continue;
        if (!write_change(store, place->id, place->change))
            return false;
        *place->id = '\0';
        tally->count--;
    }
    return true;
}
