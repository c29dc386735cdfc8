/* Deletes what is older than its user keeps it. Once a day a walk passes the threads of each user
 * who has set a limit, in the order of their last messages, by the index thread_recent: a thread
 * that gets a message meanwhile is before the walk again. Each search for old messages reads the
 * index message_thread from its beginning, so a thread without any costs one search. The walk's
 * place is stored, and moves behind threads that have nothing old left: so a walk that was killed
 * goes on where it was, and the parts of several processes add up. Behind the threads it passes the
 * contacts of each account, for those that have no thread: one that was blocked when its thread
 * went, or whose messages and identities turned out to be those of others. */
#include "engine/row.h"
#include "store/chore.h"
#include "store/life/removal.h"
#include "store/note.h"
#include "store/outgoing/outgoing_row.h"
#include "store/retention.h"

#define DAY_MS (24 * 60 * 60 * INT64_C(1000))

enum {
    PASSED_AT_ONCE = 200, /* threads or contacts, by one part */
    ROWS_AT_ONCE = 500,   /* that one part deletes, as housekeeping does */
    EMPTY_AT_ONCE = 50,   /* threads or contacts, each with the rows of the contact */
    NOTED_AT_ONCE = 50,   /* threads, each with all its old notes */
    MEMORY = 8 * 1024 * 1024,
};

/* A thread; with an account: the place is a contact of it, "" before the first one, and all threads
 * have been passed. */
struct place {
    int64_t at;
    char id[ID_SIZE], account_id[ID_SIZE];
};

/* A walk through the threads of one user. */
struct walk {
    struct store *store;
    struct arena arena;
    int64_t now, walk_at;
    char user_id[ID_SIZE];
    int64_t messages_before, updates_before; /* INT64_MIN: for ever */
    struct place place;
};

/* An old message, a thread, and the contact that the locks are about. */
struct old_message {
    const char *id, *wamid;
    size_t thread; /* an index */
};

struct old_thread {
    const char *id, *contact_id; /* id NULL: a contact without threads */
};

/* What one part deletes, of one account; and how far the walk then has come. */
struct part {
    const char *account_id; /* NULL: nothing yet */
    struct buffer messages; /* of struct old_message */
    struct buffer threads;  /* of struct old_thread: those of the messages, and the noted ones */
    size_t noted;           /* threads without old messages, but with old notes */
    struct buffer empty;    /* of struct old_thread, without messages: then there is nothing else */
    struct place place;
    size_t passed;
    bool is_end; /* there is nothing more to pass */
};

static int64_t limit_of(struct statement *s, int column, int64_t now) {
    return column_is_null(s, column) ? INT64_MIN : now - column_integer(s, column) * DAY_MS;
}

/* Finds a user whose threads are to be walked through. */
static bool find_walk(struct walk *walk) {
    static struct statement s = {
        .sql = "SELECT user_id, message_days, raw_days, walk_at, place_at, place_id, place_account "
               "FROM retention WHERE walk_at <= ?1 "
               "AND (message_days IS NOT NULL OR raw_days IS NOT NULL) LIMIT 1"};
    sql_start(walk->store, &s, INTEGER(walk->now));
    if (!sql_row(walk->store, &s))
        return false;
    column_id(&s, 0, walk->user_id);
    walk->messages_before = limit_of(&s, 1, walk->now);
    walk->updates_before = limit_of(&s, 2, walk->now);
    walk->walk_at = column_integer(&s, 3);
    walk->place.at = column_integer(&s, 4);
    column_id(&s, 5, walk->place.id);
    column_id(&s, 6, walk->place.account_id);
    sql_stop(&s);
    return true;
}

/* --- updates --- */

#define OLD_UPDATES                                                                                \
    "SELECT p.account_id, p.key FROM account a JOIN platform_update p ON p.account_id = a.id "     \
    "WHERE a.user_id = ?1 AND p.received_at < ?2 LIMIT "

static enum store_result prune_updates(struct walk *walk, size_t *removed) {
    static struct statement find = {.sql = OLD_UPDATES "1"};
    static struct statement old = {
        .sql = "DELETE FROM platform_update WHERE (account_id, key) IN (" OLD_UPDATES "?3)"};
    const struct parameter parameters[] = {TEXT(walk->user_id), INTEGER(walk->updates_before),
                                           INTEGER(ROWS_AT_ONCE)};
    return chore_do(walk->store, &(struct chore){&find, &old, parameters, 2, 3}, removed);
}

/* --- what is old: read without locks --- */

static size_t message_count(const struct part *part) {
    return part->messages.n / sizeof(struct old_message);
}

/* Adds the old messages of the thread; false: there are none. */
static bool add_messages(struct walk *walk, struct part *part, const struct old_thread *thread) {
    static struct statement s = {
        .sql = "SELECT id, wamid FROM message WHERE thread_id = ?1 AND timestamp < ?2 "
               "ORDER BY timestamp, id LIMIT ?3"};
    const size_t before = message_count(part);
    sql_start(walk->store, &s, TEXT(thread->id), INTEGER(walk->messages_before),
              INTEGER((int64_t)(ROWS_AT_ONCE - before)));
    while (sql_row(walk->store, &s)) {
        const struct old_message message = {column_text(&s, 0, &walk->arena),
                                            column_text(&s, 1, &walk->arena),
                                            part->threads.n / sizeof *thread};
        buffer_add(&part->messages, &message, sizeof message);
    }
    if (message_count(part) == before)
        return false;
    buffer_add(&part->threads, thread, sizeof *thread);
    return true;
}

static bool has_messages(struct store *store, const char *thread_id) {
    static struct statement s = {.sql = "SELECT 1 FROM message WHERE thread_id = ?1 LIMIT 1"};
    sql_start(store, &s, TEXT(thread_id));
    return row_exists(store, &s);
}

/* A thread of the walk. */
struct passed {
    struct old_thread thread;
    const char *account_id;
    struct place place;
    bool is_held;
};

static size_t empty_count(const struct part *part) {
    return part->empty.n / sizeof(struct old_thread);
}

/* Adds a thread without messages. False: the part is full. */
static bool add_empty(struct part *part, const struct passed *passed) {
    if (part->threads.n)
        return false;
    buffer_add(&part->empty, &passed->thread, sizeof passed->thread);
    part->account_id = passed->account_id;
    part->place = passed->place;
    return empty_count(part) < EMPTY_AT_ONCE;
}

/* Adds the thread if it has old messages or notes. False: it has none. */
static bool add_old(struct walk *walk, struct part *part, const struct passed *passed) {
    if (!add_messages(walk, part, &passed->thread)) {
        if (!note_has_old(walk->store, passed->thread.id, walk->messages_before))
            return false;
        buffer_add(&part->threads, &passed->thread, sizeof passed->thread);
        part->noted++;
    }
    part->account_id = passed->account_id;
    return true;
}

/* Looks at a thread. False: the part is full, and ends at its place. */
static bool pass(struct walk *walk, struct part *part, const struct passed *passed) {
    const size_t threads = part->threads.n, empty = empty_count(part);
    if (message_count(part) == ROWS_AT_ONCE || part->noted == NOTED_AT_ONCE ||
        (threads + empty && strcmp(part->account_id, passed->account_id) != 0))
        return false;
    if (!passed->is_held && passed->place.at < walk->messages_before &&
        !has_messages(walk->store, passed->thread.id))
        return add_empty(part, passed);
    if (!passed->is_held && empty)
        return false;
    if (!passed->is_held && add_old(walk, part, passed))
        return true; /* the place stays before it: there may be more, or it may be empty then */
    if (!threads)
        part->place = passed->place;
    return true;
}

static void read_threads(struct walk *walk, struct buffer *list) {
    static struct statement s = {
        .sql =
            "SELECT t.id, t.contact_id, l.account_id, t.last_message_at, c.held_at IS NOT NULL "
            "FROM thread t JOIN line l ON l.id = t.line_id JOIN contact c ON c.id = t.contact_id "
            "WHERE t.user_id = ?1 AND (t.last_message_at, t.id) > (?2, ?3) "
            "ORDER BY t.last_message_at, t.id LIMIT ?4"};
    sql_start(walk->store, &s, TEXT(walk->user_id), INTEGER(walk->place.at), TEXT(walk->place.id),
              INTEGER(PASSED_AT_ONCE));
    while (sql_row(walk->store, &s)) {
        struct passed passed = {
            .thread = {column_text(&s, 0, &walk->arena), column_text(&s, 1, &walk->arena)},
            .account_id = column_text(&s, 2, &walk->arena),
            .place = {.at = column_integer(&s, 3)},
            .is_held = column_integer(&s, 4) != 0};
        column_id(&s, 0, passed.place.id);
        buffer_add(list, &passed, sizeof passed);
    }
}

/* The part ends before the contacts of the user's next account. */
static void begin_account(struct walk *walk, struct part *part) {
    static struct statement s = {
        .sql = "SELECT id FROM account WHERE user_id = ?1 AND id > ?2 ORDER BY id LIMIT 1"};
    sql_start(walk->store, &s, TEXT(walk->user_id), TEXT(walk->place.account_id));
    part->is_end = !sql_read_id(walk->store, &s, part->place.account_id);
    *part->place.id = '\0';
}

static void pass_threads(struct walk *walk, struct part *part) {
    struct buffer list = buffer_in(&walk->arena);
    size_t i = 0;
    read_threads(walk, &list);
    const struct passed *passed = (const struct passed *)(const void *)list.p;
    const size_t count = list.n / sizeof *passed;
    while (i < count && pass(walk, part, &passed[i]))
        i++;
    part->passed = i;
    if (i == count && count < PASSED_AT_ONCE && !part->threads.n)
        begin_account(walk, part);
}

/* A contact that nothing refers to, and that has not changed since the limit. ?1: the contact c. */
#define IS_UNUSED(before)                                                                          \
    "c.held_at IS NULL AND c.updated_at < " before                                                 \
    " AND NOT EXISTS (SELECT 1 FROM thread t WHERE t.contact_id = c.id)"                           \
    " AND NOT EXISTS (SELECT 1 FROM contact_block b WHERE b.contact_id = c.id)"

static void pass_contacts(struct walk *walk, struct part *part) {
    static struct statement s = {
        .sql = "SELECT c.id, CASE WHEN " IS_UNUSED(
            "?3") " THEN 1 ELSE 0 END FROM contact c "
                  "WHERE c.account_id = ?1 AND c.id > ?2 ORDER BY c.id LIMIT ?4"};
    part->account_id = arena_copy(&walk->arena, slice_of(walk->place.account_id));
    sql_start(walk->store, &s, TEXT(part->account_id), TEXT(walk->place.id),
              INTEGER(walk->messages_before), INTEGER(PASSED_AT_ONCE));
    while (empty_count(part) < EMPTY_AT_ONCE && sql_row(walk->store, &s)) {
        const struct old_thread contact = {NULL, column_text(&s, 0, &walk->arena)};
        if (column_integer(&s, 1))
            buffer_add(&part->empty, &contact, sizeof contact);
        column_id(&s, 0, part->place.id);
        part->passed++;
    }
    sql_stop(&s);
    if (empty_count(part) < EMPTY_AT_ONCE && part->passed < PASSED_AT_ONCE)
        begin_account(walk, part);
}

static void find_part(struct walk *walk, struct part *part) {
    *part = (struct part){.place = walk->place,
                          .messages = buffer_in(&walk->arena),
                          .threads = buffer_in(&walk->arena),
                          .empty = buffer_in(&walk->arena)};
    if (walk->messages_before == INT64_MIN)
        part->is_end = true;
    else if (*walk->place.account_id)
        pass_contacts(walk, part);
    else
        pass_threads(walk, part);
}

/* --- deleting it --- */

static const char **list_wamids(struct walk *walk, const struct part *part) {
    const struct old_message *messages = (const struct old_message *)(const void *)part->messages.p;
    const size_t count = message_count(part);
    const char **names = arena_alloc(&walk->arena, count * sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = messages[i].wamid;
    return names;
}

/* Locks the contacts of the threads. */
static void lock_contacts(struct walk *walk, const struct part *part, const struct buffer *list) {
    const struct old_thread *threads = (const struct old_thread *)(const void *)list->p;
    const size_t count = list->n / sizeof *threads;
    const char **names = arena_alloc(&walk->arena, count * sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = threads[i].contact_id;
    sql_lock(walk->store, LOCK_CONTACT, part->account_id, names, count);
}

/* Whether the contact of the thread is on hold since the thread was read. */
static bool is_held(struct store *store, const char *thread_id) {
    static struct statement s = {.sql = "SELECT 1 FROM thread t JOIN contact c "
                                        "ON c.id = t.contact_id WHERE t.id = ?1 "
                                        "AND c.held_at IS NOT NULL"};
    sql_start(store, &s, TEXT(thread_id));
    return row_exists(store, &s);
}

/* Deletes the messages of the thread; without any: its old notes. */
static bool delete_from_thread(struct walk *walk, const struct part *part,
                               const struct old_thread *thread, const struct old_message *messages,
                               size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!removal_delete_message(walk->store, part->account_id, thread->id, messages[i].id,
                                    messages[i].wamid))
            return false;
    return count ? removal_change_thread(walk->store, walk->user_id, thread->id,
                                         walk->messages_before, walk->now)
                 : note_delete_old(walk->store, walk->user_id, thread->id, walk->messages_before);
}

/* Deletes from the threads. The locks keep statuses from being added to the messages, and the
 * contacts from being merged or held. */
static bool delete_old(struct walk *walk, const struct part *part) {
    const struct old_message *messages = (const struct old_message *)(const void *)part->messages.p;
    const struct old_thread *threads = (const struct old_thread *)(const void *)part->threads.p;
    if (message_count(part))
        sql_lock(walk->store, LOCK_MESSAGE, part->account_id, list_wamids(walk, part),
                 message_count(part));
    lock_contacts(walk, part, &part->threads);
    for (size_t i = 0, next = 0; i < part->threads.n / sizeof *threads; i++) {
        const size_t first = next;
        while (next < message_count(part) && messages[next].thread == i)
            next++;
        if (!is_held(walk->store, threads[i].id) &&
            !delete_from_thread(walk, part, &threads[i], messages ? &messages[first] : NULL,
                                next - first))
            return false;
    }
    return !sql_failed(walk->store);
}

/* Whether the thread is still empty and old, and of this contact, which is not on hold. */
static bool is_still_empty(struct walk *walk, const struct old_thread *thread) {
    static struct statement s = {
        .sql = "SELECT 1 FROM thread t JOIN contact c ON c.id = t.contact_id WHERE t.id = ?1 "
               "AND t.contact_id = ?2 AND t.last_message_at < ?3 AND c.held_at IS NULL"};
    sql_start(walk->store, &s, TEXT(thread->id), TEXT(thread->contact_id),
              INTEGER(walk->messages_before));
    return row_exists(walk->store, &s) && !has_messages(walk->store, thread->id);
}

/* Whether the contact is still unused and old. */
static bool is_still_unused(struct walk *walk, const char *contact_id) {
    static struct statement s = {
        .sql = "SELECT 1 FROM contact c WHERE c.id = ?1 AND " IS_UNUSED("?2")};
    sql_start(walk->store, &s, TEXT(contact_id), INTEGER(walk->messages_before));
    return row_exists(walk->store, &s);
}

/* Whether a thread or a block is left of the contact. */
static bool is_in_use(struct store *store, const char *contact_id) {
    static struct statement s = {
        .sql = "SELECT 1 FROM thread WHERE contact_id = ?1 "
               "UNION ALL SELECT 1 FROM contact_block WHERE contact_id = ?1 LIMIT 1"};
    sql_start(store, &s, TEXT(contact_id));
    return row_exists(store, &s);
}

/* The names that lead to a contact. */
struct identities {
    const char **names;
    size_t count;
};

/* Lists and locks the identities of the contacts of the empty threads, and the contacts. */
static bool lock_empty(struct walk *walk, const struct part *part, struct identities *of) {
    const struct old_thread *threads = (const struct old_thread *)(const void *)part->empty.p;
    struct buffer all = buffer_in(&walk->arena);
    for (size_t i = 0; i < empty_count(part); i++) {
        if (!removal_list_identities(walk->store, &walk->arena, threads[i].contact_id, &of[i].names,
                                     &of[i].count) ||
            !removal_add_linked(walk->store, part->account_id, of[i].names, of[i].count, &all))
            return false;
    }
    if (all.n)
        sql_lock(walk->store, LOCK_IDENTITY, part->account_id, (const char **)(void *)all.p,
                 all.n / sizeof(char *));
    lock_contacts(walk, part, &part->empty);
    return true;
}

static bool may_delete(struct walk *walk, const struct old_thread *thread) {
    return thread->id ? is_still_empty(walk, thread) : is_still_unused(walk, thread->contact_id);
}

/* Deletes the thread, and its contact if nothing else is left of it. */
static bool delete_thread(struct walk *walk, const char *account_id,
                          const struct old_thread *thread, const struct identities *of) {
    struct store *store = walk->store;
    return (!thread->id || removal_delete_thread(store, walk->user_id, thread->id, walk->now)) &&
           (is_in_use(store, thread->contact_id) ||
            removal_delete_contact(store, &walk->arena, account_id, thread->contact_id, of->names,
                                   of->count));
}

static bool delete_empty(struct walk *walk, const struct part *part) {
    const struct old_thread *threads = (const struct old_thread *)(const void *)part->empty.p;
    struct identities *of = arena_alloc(&walk->arena, empty_count(part) * sizeof *of);
    if (!lock_empty(walk, part, of))
        return false;
    for (size_t i = 0; i < empty_count(part); i++)
        if (may_delete(walk, &threads[i]) &&
            !outgoing_waits(walk->store, part->account_id, of[i].names, of[i].count) &&
            !delete_thread(walk, part->account_id, &threads[i], &of[i]))
            return false;
    return !sql_failed(walk->store);
}

/* Deletes what the part has. */
static bool delete_part(struct walk *walk, const struct part *part) {
    if (empty_count(part))
        return delete_empty(walk, part);
    return !part->threads.n || delete_old(walk, part);
}

/* Stores how far the walk has come, unless its user has set other limits meanwhile. */
static bool save_place(struct walk *walk, const struct part *part) {
    static struct statement on = {
        .sql = "UPDATE retention SET place_at = ?3, place_id = ?4, place_account = ?5 "
               "WHERE user_id = ?1 AND walk_at = ?2"};
    static struct statement end = {
        .sql = "UPDATE retention SET walk_at = ?3, place_at = 0, place_id = '', "
               "place_account = NULL WHERE user_id = ?1 AND walk_at = ?2"};
    const struct parameter user = TEXT(walk->user_id), begun = INTEGER(walk->walk_at);
    return part->is_end ? sql_run(walk->store, &end, user, begun, INTEGER(walk->now + DAY_MS))
                        : sql_run(walk->store, &on, user, begun, INTEGER(part->place.at),
                                  TEXT(part->place.id),
                                  TEXT(*part->place.account_id ? part->place.account_id : NULL));
}

static enum store_result prune_threads(struct walk *walk, size_t *removed) {
    struct store *store = walk->store;
    struct part part;
    bool is_free = false;
    find_part(walk, &part);
    if (sql_failed(store))
        return sql_result(store);
    while (sql_transact(store))
        if (chore_take(store, &is_free) && delete_part(walk, &part))
            save_place(walk, &part);
    *removed = message_count(&part) + part.passed + 1;
    return chore_result(store, is_free);
}

/* --- reports of removals --- */

static enum store_result prune_removals(struct store *store, int64_t before, size_t *removed) {
    static struct statement find = {
        .sql = "SELECT 1 FROM thread_removal WHERE removed_at < ?1 ORDER BY removed_at LIMIT 1"};
    static struct statement old = {
        .sql = "DELETE FROM thread_removal WHERE thread_id IN (SELECT thread_id "
               "FROM thread_removal WHERE removed_at < ?1 ORDER BY removed_at LIMIT ?2) "
               "AND NOT removed_at >= ?1"};
    const struct parameter parameters[] = {INTEGER(before), INTEGER(ROWS_AT_ONCE)};
    return chore_do(store, &(struct chore){&find, &old, parameters, 1, 2}, removed);
}

/* Then the queued sends are looked at: with each part the sends that wait, which may be many, would
 * be passed again. */
static bool is_begin(const struct place *place) {
    return !place->at && !*place->id && !*place->account_id;
}

enum store_result store_prune(struct store *store, int64_t now, size_t *removed) {
    struct walk walk = {.store = store, .now = now};
    enum store_result result = STORE_OK;
    *removed = 0;
    if (find_walk(&walk)) {
        arena_init(&walk.arena, MEMORY, NULL);
        if (walk.updates_before != INT64_MIN)
            result = prune_updates(&walk, removed);
        if (result == STORE_OK && !*removed && walk.messages_before != INT64_MIN &&
            is_begin(&walk.place))
            result = outgoing_prune(store, walk.user_id, walk.messages_before, removed);
        if (result == STORE_OK && !*removed)
            result = prune_threads(&walk, removed);
        arena_free(&walk.arena);
    } else {
        result = sql_result(store);
    }
    if (result == STORE_OK && !*removed)
        result = prune_removals(store, now - REMOVALS_KEPT_DAYS * DAY_MS, removed);
    return result;
}
