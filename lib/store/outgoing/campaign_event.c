/* The event campaign.changed. */
#include "store/campaign.h"
#include "store/count/user_number.h"
#include "store/event/event_entry.h"
#include "store/outgoing/campaign_count.h"

enum { MEMORY = 32 * 1024 * 1024 };

static bool read_user(struct store *store, const char *id, char user_id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT user_id FROM campaign WHERE id = ?1"};
    sql_start(store, &s, TEXT(id));
    return sql_read_id(store, &s, user_id);
}

/* Reads what the event shows. What the transaction has counted is written first, and the user's
 * counters are locked before that, as in every transaction that has both. */
static bool read_change(struct store *store, struct arena *arena, const char *id,
                        struct campaign_change *change) {
    char user_id[ID_SIZE];
    if (!read_user(store, id, user_id))
        return false;
    user_number_read_ahead(store, user_id);
    if (!campaign_count_write(store))
        return false;
    sql_latch(store, store_find_campaign(store, arena, user_id, id, &change->campaign));
    if (!sql_failed(store))
        sql_latch(store, store_count_campaign(store, arena, id, &change->counts, &change->count));
    return !sql_failed(store);
}

static bool add(struct store *store, struct arena *arena, const char *id, int64_t now,
                event_writer *write) {
    struct campaign_change change;
    struct webhook_list webhooks;
    struct buffer known = buffer_in(arena);
    if (!read_change(store, arena, id, &change))
        return false;
    struct store_event event = {.type = "campaign.changed",
                                .user_id = change.campaign.user_id,
                                .now = now,
                                .account_id = change.campaign.account_id,
                                .line_id = change.campaign.line_id,
                                .campaign = &change};
    return event_entry_read_owner(store, arena, &event) &&
           webhook_match_once(store, &known, event.user_id, &webhooks) &&
           event_entry_add(store, arena, &webhooks, &event, change.campaign.id, write);
}

bool campaign_event_add(struct store *store, const char *id, int64_t now, event_writer *write) {
    struct arena arena;
    arena_init(&arena, MEMORY, NULL);
    const bool ok = add(store, &arena, id, now, write);
    const bool is_written = sql_wait(store); /* with bytes of the arena */
    arena_free(&arena);
    return ok && is_written;
}
