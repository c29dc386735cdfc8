#include "store/event/webhook_match.h"

#include "store/count/user_number.h"
#include "store/event_type.h"

#define OF(member) ROW_MEMBER(struct webhook_match, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct webhook_match, OF(id), OF(is_forward), OF(event_types), OF(line_ids),
               OF(fields), OF(updates), OF(splits_messages), OF(account_id));

bool webhook_match_list(struct store *store, struct arena *arena, const char *user_id,
                        struct webhook_list *found) {
    static struct statement s = {
        .sql = "SELECT w.id, w.kind = 'forward', w.event_types, w.line_ids, w.fields, "
               "w.updates, w.splits_messages, w.account_id FROM webhook w JOIN \"user\" u ON u.id "
               "= w.user_id "
               "WHERE w.user_id = ?1 AND u.deleted_at IS NULL AND " WEBHOOK_IS_SET
               " ORDER BY w.created_at, w.id"};
    found->user_id = arena_copy(arena, slice_of(user_id));
    sql_start(store, &s, TEXT(user_id));
    found->list = row_list(store, &s, arena, &layout, &found->count);
    return !sql_failed(store);
}

bool webhook_match_once(struct store *store, struct buffer *known, const char *user_id,
                        struct webhook_list *found) {
    const struct webhook_list *lists = (const struct webhook_list *)(void *)known->p;
    for (size_t i = known->n / sizeof *lists; i-- > 0;)
        if (strcmp(lists[i].user_id, user_id) == 0) {
            *found = lists[i];
            return true;
        }
    if (!user_number_is_locked(user_id))
        sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1);
    if (!webhook_match_list(store, known->arena, user_id, found))
        return false;
    buffer_add(known, found, sizeof *found);
    return true;
}

static bool has_word(const char *list, const char *word) {
    return slice_has_word(slice_of(list), ' ', slice_of(word));
}

bool webhook_match_event(const struct webhook_match *webhook, const char *type,
                         const char *line_id) {
    if (webhook->is_forward)
        return false;
    if (webhook->event_types ? !has_word(webhook->event_types, type)
                             : has_word(&EVENT_TYPES_OFF[1], type))
        return false;
    return !line_id || !webhook->line_ids || has_word(webhook->line_ids, line_id);
}
