#include "store/event/event_entry.h"

#include "store/event/outbox_entry.h"

bool event_entry_is_wanted(const struct webhook_list *webhooks, const char *type,
                           const char *line_id) {
    for (size_t i = 0; i < webhooks->count; i++)
        if (webhook_match_event(&webhooks->list[i], type, line_id))
            return true;
    return false;
}

bool event_entry_add(struct store *store, struct arena *arena, const struct webhook_list *webhooks,
                     struct store_event *event, const char *order_key, event_writer *write) {
    char id[ID_SIZE];
    if (!event_entry_is_wanted(webhooks, event->type, event->line_id))
        return true;
    id_make(id, "evt_", event->now);
    if (!outbox_add(store, arena, event, arena_copy(arena, slice_of(id)), write, NULL))
        return false;
    for (size_t i = 0; i < webhooks->count; i++) {
        const struct webhook_match *webhook = &webhooks->list[i];
        if (webhook_match_event(webhook, event->type, event->line_id) &&
            !outbox_deliver(store, event, arena_copy(arena, slice_of(id)), webhook->id, order_key))
            return false;
    }
    return true;
}

bool event_entry_read_owner(struct store *store, struct arena *arena, struct store_event *event) {
    static struct statement s = {.sql = "SELECT a.waba_id, l.phone_number_id FROM account a "
                                        "LEFT JOIN line l ON l.id = ?2 WHERE a.id = ?1"};
    sql_start(store, &s, TEXT(event->account_id), TEXT(event->line_id));
    if (!sql_row(store, &s))
        return false;
    event->waba_id = column_text(&s, 0, arena);
    event->phone_number_id = column_text(&s, 1, arena);
    sql_stop(&s);
    return true;
}
