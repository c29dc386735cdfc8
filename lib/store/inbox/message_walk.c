/* Searching messages by comparing them one by one: threads with the latest message first, in each
 * the newest message first. Both orders are those of an index, so a call costs as much as the
 * messages that it compares. */
#include <stdio.h>

#include "engine/row.h"
#include "store/inbox.h"

enum {
    THREADS_AT_ONCE = 100,
    MESSAGES_AT_ONCE = 500, /* of a thread; a server sends so many bodies in one answer */
    SCRATCH_MOST = 64 * 1024 * 1024,
};

struct message_walk {
    struct store *store;
    struct arena *arena;
    const struct message_search *wanted;
    struct arena scratch; /* of one message */
    struct buffer ids;    /* of the results */
    size_t left;          /* messages that may still be compared */
    bool is_full;         /* no further result fits into the page */
};

static size_t count_of(const struct message_walk *walk) {
    return walk->ids.n / sizeof(const char *);
}

static bool is_done(const struct message_walk *walk) {
    return walk->is_full || !walk->left || sql_failed(walk->store);
}

/* Compares the messages of a thread before `key`, and sets it to the last one that was compared;
 * true: there are perhaps more. */
static bool compare_some(struct message_walk *walk, const char *thread_id, struct list_key *key) {
    static struct statement s = {.sql =
                                     "SELECT id, timestamp, body FROM message WHERE thread_id = ?1 "
                                     "AND (timestamp, id) < (?2, ?3) AND user_id = ?5 "
                                     "ORDER BY timestamp DESC, id DESC LIMIT ?4"};
    const size_t most = walk->left < MESSAGES_AT_ONCE ? walk->left : MESSAGES_AT_ONCE;
    char last[ID_SIZE] = "";
    size_t n = 0;
    sql_start(walk->store, &s, TEXT(thread_id), INTEGER(key->number), TEXT(key->id),
              INTEGER((int64_t)most), TEXT(walk->wanted->view->user_id));
    while (!walk->is_full && sql_row(walk->store, &s)) {
        arena_reset(&walk->scratch);
        n++;
        column_id(&s, 0, last);
        key->number = column_integer(&s, 1);
        if (!walk->wanted->is_match(walk->wanted->context, column_blob(&s, 2, &walk->scratch),
                                    &walk->scratch))
            continue;
        const char *id = arena_copy(walk->arena, slice_of(last));
        buffer_add(&walk->ids, &id, sizeof id);
        walk->is_full = count_of(walk) == walk->wanted->limit;
    }
    if (walk->is_full)
        sql_stop(&s);
    walk->left -= n;
    if (n)
        key->id = arena_copy(walk->arena, slice_of(last));
    return n == most;
}

/* Compares a thread from `key` on; true: all of it. */
static bool compare_thread(struct message_walk *walk, const char *thread_id, struct list_key *key) {
    while (!is_done(walk))
        if (!compare_some(walk, thread_id, key) && !walk->is_full)
            return !sql_failed(walk->store);
    return false;
}

static const struct row_layout key_layout = ROW_LAYOUT(
    struct list_key, ROW_MEMBER(struct list_key, number), ROW_MEMBER(struct list_key, id));

/* Reads the keys of the next threads; a view that has not all finds more than it needs. */
static const struct list_key *read_threads(struct message_walk *walk, const struct list_key *after,
                                           size_t *count) {
    static struct statement s = {.sql = "SELECT last_message_at, id FROM thread WHERE user_id = ?1 "
                                        "AND (last_message_at, id) < (?2, ?3) "
                                        "ORDER BY last_message_at DESC, id DESC LIMIT ?4"};
    const struct inbox_filter filter = {.view = walk->wanted->view, .limit = THREADS_AT_ONCE};
    struct buffer keys = buffer_in(walk->arena);
    if (view_is_whole(filter.view)) {
        sql_start(walk->store, &s, TEXT(filter.view->user_id), INTEGER(after->number),
                  TEXT(after->id), INTEGER(THREADS_AT_ONCE));
        return row_list(walk->store, &s, walk->arena, &key_layout, count);
    }
    inbox_list_keys(walk->store, walk->arena, &filter, after, &keys);
    *count = keys.n / sizeof(struct list_key);
    if (*count > THREADS_AT_ONCE)
        *count = THREADS_AT_ONCE;
    return (const struct list_key *)(const void *)keys.p;
}

/* Compares all threads after `place`, and sets it to the last message that was compared; true: to
 * the end. */
static bool compare_threads(struct message_walk *walk, struct message_place *place) {
    for (size_t n = THREADS_AT_ONCE; n == THREADS_AT_ONCE;) {
        const struct list_key *const threads = read_threads(walk, &place->thread, &n);
        for (size_t i = 0; i < n; i++) {
            *place = (struct message_place){threads[i], {INT64_MAX, ""}};
            if (!compare_thread(walk, threads[i].id, &place->message))
                return false;
        }
    }
    return !sql_failed(walk->store);
}

enum store_result inbox_search_messages(struct store *store, struct arena *arena,
                                        const struct message_search *wanted,
                                        struct message_place *place, const char ***ids,
                                        size_t *count, bool *is_end) {
    struct message_walk walk = {.store = store,
                                .arena = arena,
                                .wanted = wanted,
                                .ids = buffer_in(arena),
                                .left = SEARCH_MESSAGES_MOST};
    arena_init(&walk.scratch, SCRATCH_MOST, arena->exhausted);
    if (*place->thread.id && !inbox_has_thread(store, arena, wanted->view, place->thread.id))
        place->message = (struct list_key){INT64_MIN, ""};
    *is_end = !*place->thread.id || compare_thread(&walk, place->thread.id, &place->message);
    if (*is_end && !wanted->thread_id)
        *is_end = compare_threads(&walk, place);
    arena_free(&walk.scratch);
    *ids = (const char **)(void *)walk.ids.p;
    *count = count_of(&walk);
    return sql_result(store);
}
