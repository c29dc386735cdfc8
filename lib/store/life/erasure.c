/* Erases a person. What the contact's rows lead to is found by indexes; what only names the person
 * in its bytes, such as raw updates and forwarded POSTs, by a walk over the rows of the account or
 * the user that were there when the erasure began. Step and place of the erasure are stored in the
 * transaction of each part, so a killed process loses at most the part that it worked on.
 *
 * A forward that waits and is about other persons too stays until it has ended: they must not lose
 * it. The erasure waits for it. */
#include "store/erasure.h"

#include <stdio.h>

#include "engine/row.h"
#include "store/chore.h"
#include "store/deed.h"
#include "store/event/event_entry.h"
#include "store/inbox/erased_mark.h"
#include "store/life/person.h"
#include "store/life/removal.h"
#include "store/note.h"
#include "store/outgoing/campaign_count.h"

enum {
    ROWS_AT_ONCE = 200,
    MARKS_AT_ONCE = 500,
    MEMORY = 64 * 1024 * 1024, /* a POST has at most 3 MB, an answer 2 MB */
    WAIT_MS = 10 * 60 * 1000,  /* for forwards that wait */
};

/* --- the beginning --- */

/* The contact to erase. */
struct beginning {
    struct store *store;
    struct arena *arena;
    struct contact contact;
    const char *owner_id; /* its user */
    int64_t now;
    struct store_erasure *erasure;
};

#define OF_ERASURE(member) ROW_MEMBER(struct store_erasure, member)
static const struct row_layout erasure_layout =
    ROW_LAYOUT(struct store_erasure, OF_ERASURE(contact_id), OF_ERASURE(erased_at),
               ROW_TIME_MEMBER(struct store_erasure, ended_at));

/* Reads the erasure of the contact, of that user. False: there is none, or on failure. */
static bool read_erasure(struct store *store, const char *user_id, const char *id,
                         struct store_erasure *erasure) {
    static struct statement s = {.sql = "SELECT contact_id, erased_at, ended_at FROM erasure "
                                        "WHERE contact_id = ?1 AND (user_id = ?2 OR ?2 IS NULL)"};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    return row_find(store, &s, NULL, &erasure_layout, erasure);
}

static bool read_owner(struct beginning *b, bool *is_held) {
    static struct statement s = {.sql = "SELECT a.user_id, c.held_at IS NOT NULL FROM contact c "
                                        "JOIN account a ON a.id = c.account_id WHERE c.id = ?1"};
    sql_start(b->store, &s, TEXT(b->contact.id));
    if (!sql_row(b->store, &s))
        return false;
    b->owner_id = column_text(&s, 0, b->arena);
    *is_held = column_integer(&s, 1) != 0;
    sql_stop(&s);
    return true;
}

/* The names of the person: the identities, and the ids of the contacts that were merged. */
static const char *list_names(struct beginning *b, const char *const *identities, size_t count) {
    static struct statement s = {.sql =
                                     "SELECT merged_id FROM contact_merge WHERE contact_id = ?1"};
    struct buffer names = buffer_in(b->arena);
    buffer_printf(&names, "%s", b->contact.id);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&names, "\n%s", identities[i]);
    sql_start(b->store, &s, TEXT(b->contact.id));
    while (sql_row(b->store, &s)) {
        const char *id = column_text(&s, 0, b->arena);
        if (id)
            buffer_printf(&names, "\n%s", id);
    }
    return names.p;
}

/* One of a former erasure, whose contact a restored backup has brought back, begins again. */
static bool insert_erasure(struct beginning *b, const char *names) {
    static struct statement s = {
        .sql = "INSERT INTO erasure (contact_id, user_id, account_id, erased_at, due_at, step, "
               "place, names) VALUES (?1, ?2, ?3, ?4, ?4, 0, '', ?5) "
               "ON CONFLICT (contact_id) DO UPDATE SET erased_at = excluded.erased_at, "
               "ended_at = NULL, due_at = excluded.due_at, step = 0, place = '', "
               "names = excluded.names"};
    return sql_run(b->store, &s, TEXT(b->contact.id), TEXT(b->owner_id),
                   TEXT(b->contact.account_id), INTEGER(b->now), TEXT(names));
}

/* Takes the identities from the contact, whose locks the transaction has then, unless it is held.
 */
static bool begin_erasure(struct beginning *b, bool *is_held) {
    const char **identities;
    size_t count;
    struct buffer names = buffer_in(b->arena);
    if (!removal_list_identities(b->store, b->arena, b->contact.id, &identities, &count) ||
        !removal_add_linked(b->store, b->contact.account_id, identities, count, &names))
        return false;
    if (count)
        sql_lock(b->store, LOCK_IDENTITY, b->contact.account_id, (const char **)(void *)names.p,
                 names.n / sizeof(char *));
    sql_lock(b->store, LOCK_CONTACT, b->contact.account_id, &b->contact.id, 1);
    if (!removal_list_identities(b->store, b->arena, b->contact.id, &identities, &count))
        return false; /* a transaction that had the locks may have added one */
    if (!read_owner(b, is_held) || *is_held)
        return false; /* or have set the hold */
    snprintf(b->erasure->contact_id, ID_SIZE, "%s", b->contact.id);
    b->erasure->erased_at = b->now;
    b->erasure->ended_at = INT64_MAX;
    return insert_erasure(b, list_names(b, identities, count)) &&
           removal_clear_contact(b->store, b->arena, b->contact.account_id, b->contact.id,
                                 identities, count) &&
           store_trail(b->store, b->owner_id, b->contact.id);
}

static enum store_result begin_once(struct beginning *b, const char *user_id, const char *id) {
    bool is_held;
    if (!contact_find_of_user(b->store, b->arena, user_id, id, &b->contact) ||
        !read_owner(b, &is_held))
        return read_erasure(b->store, user_id, id, b->erasure) ? STORE_OK : STORE_NOT_FOUND;
    if (read_erasure(b->store, user_id, b->contact.id, b->erasure) &&
        b->erasure->ended_at == INT64_MAX)
        return STORE_OK;
    if (!is_held)
        begin_erasure(b, &is_held);
    return is_held ? STORE_CONFLICT : STORE_OK;
}

enum store_result store_erase_contact(struct store *store, struct arena *arena, const char *user_id,
                                      const char *id, int64_t now, struct store_erasure *erasure) {
    enum store_result outcome = STORE_OK;
    while (sql_transact(store)) {
        struct beginning b = {.store = store, .arena = arena, .now = now, .erasure = erasure};
        outcome = begin_once(&b, user_id, id);
    }
    const enum store_result result = sql_result(store);
    if (result != STORE_OK || outcome != STORE_CONFLICT)
        return result != STORE_OK ? result : outcome;
    return sql_refuse(store, STORE_CONFLICT, "contact %s is on hold", id);
}

/* --- the parts --- */

/* An erasure in progress. */
struct erasing {
    struct store *store;
    struct arena arena, row; /* row: for one row of a walk */
    event_writer *write;
    int64_t now;
    char contact_id[ID_SIZE], user_id[ID_SIZE], account_id[ID_SIZE];
    int64_t erased_at;
    int64_t step;
    const char *place;
    struct person person;
    bool is_over; /* the step is done */
    bool waits;   /* until a forward has ended */
};

static const char *copy(struct erasing *e, const char *text) {
    return arena_copy(&e->arena, slice_of(text));
}

static size_t count_of(const struct buffer *list) {
    return list->n / sizeof(char *);
}

static const char **items_of(const struct buffer *list) {
    return (const char **)(void *)list->p;
}

/* --- messages and threads --- */

static bool erase_messages(struct erasing *e) {
    static struct statement s = {
        .sql = "SELECT m.id, m.wamid, t.id FROM thread t JOIN message m ON m.thread_id = t.id "
               "WHERE t.contact_id = ?1 LIMIT ?2"};
    struct buffer ids = buffer_in(&e->arena), wamids = ids, sorted = ids, threads = ids;
    const char *contact_id = e->contact_id;
    struct buffer *const columns[] = {&ids, &wamids, &threads};
    sql_start(e->store, &s, TEXT(contact_id), INTEGER(ROWS_AT_ONCE));
    while (sql_row(e->store, &s))
        for (int i = 0; i < 3; i++) {
            const char *text = column_text(&s, i, &e->arena);
            buffer_add(columns[i], &text, sizeof text);
        }
    const size_t count = count_of(&ids);
    if ((e->is_over = !count))
        return !sql_failed(e->store);
    buffer_add_slice(&sorted, buffer_slice(&wamids)); /* sql_lock sorts its names */
    sql_lock(e->store, LOCK_MESSAGE, e->account_id, items_of(&sorted), count);
    sql_lock(e->store, LOCK_CONTACT, e->account_id, &contact_id, 1);
    for (size_t i = 0; i < count; i++) {
        const char *wamid = items_of(&wamids)[i];
        const struct erased_mark mark = erased_mark_of(&e->arena, e->account_id, wamid);
        if (!removal_delete_message(e->store, e->account_id, items_of(&threads)[i],
                                    items_of(&ids)[i], wamid) ||
            !erased_mark_add(e->store, e->user_id, erased_mark_slice(&mark),
                             e->now + MARK_OF_MESSAGE_MS))
            return false;
    }
    return true;
}

static bool has_messages(struct erasing *e) {
    static struct statement s = {.sql =
                                     "SELECT 1 FROM thread t JOIN message m ON m.thread_id = t.id "
                                     "WHERE t.contact_id = ?1 LIMIT 1"};
    sql_start(e->store, &s, TEXT(e->contact_id));
    return row_exists(e->store, &s);
}

static bool erase_threads(struct erasing *e) {
    static struct statement s = {.sql = "SELECT id FROM thread WHERE contact_id = ?1 LIMIT ?2"};
    size_t count;
    const char *contact_id = e->contact_id;
    sql_lock(e->store, LOCK_CONTACT, e->account_id, &contact_id, 1);
    if (has_messages(e)) { /* one came while the last ones were deleted */
        e->step = 0;
        return true;
    }
    sql_start(e->store, &s, TEXT(contact_id), INTEGER(ROWS_AT_ONCE));
    const char *const *ids = sql_read_ids(e->store, &s, &e->arena, &count);
    e->is_over = count < ROWS_AT_ONCE;
    for (size_t i = 0; i < count; i++)
        if (!removal_delete_thread(e->store, e->user_id, ids[i], e->now))
            return false;
    return !sql_failed(e->store);
}

/* --- events --- */

/* Deletes the POST that the event was made of, unless another event needs it, and marks it: it may
 * be repeated. `post_id` "": none. */
static bool delete_post(struct erasing *e, const char *post_id) {
    static struct statement find = {.sql = "SELECT hash FROM platform_post WHERE id = ?1"};
    static struct statement s = {
        .sql = "DELETE FROM platform_post AS gone WHERE gone.id = ?1 "
               "AND NOT EXISTS (SELECT 1 FROM event e WHERE e.post_id = gone.id)"};
    struct slice hash = {0};
    if (!*post_id)
        return true;
    sql_start(e->store, &find, TEXT(post_id));
    if (sql_row(e->store, &find)) {
        hash = column_blob(&find, 0, &e->arena);
        sql_stop(&find);
    }
    return !sql_failed(e->store) &&
           (!hash.n || erased_mark_add(e->store, e->user_id, hash, e->now + MARK_OF_UPDATE_MS)) &&
           sql_run(e->store, &s, TEXT(post_id));
}

static bool delete_event(struct erasing *e, const char *id, const char *post_id) {
    static struct statement steps[] = {
        {.sql = "DELETE FROM event_attempt WHERE event_id = ?1"},
        {.sql = "DELETE FROM delivery WHERE event_id = ?1"},
        {.sql = "DELETE FROM event WHERE id = ?1"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!sql_run_later(e->store, &steps[i], TEXT(id)))
            return false;
    return delete_post(e, post_id);
}

static void lock_user(struct erasing *e) {
    const char *user_id = e->user_id;
    sql_lock(e->store, LOCK_USER, NULL, &user_id, 1);
}

static bool delete_events(struct erasing *e, const struct buffer *ids, const struct buffer *posts) {
    for (size_t i = 0; i < count_of(ids); i++)
        if (!delete_event(e, items_of(ids)[i], posts ? items_of(posts)[i] : ""))
            return false;
    return !sql_failed(e->store);
}

/* The events about the contact, and about those that were merged into it, whatever their state. */
static bool erase_events(struct erasing *e) {
    static struct statement s = {
        .sql = "SELECT id FROM event WHERE user_id = ?1 AND contact_id = ?2 LIMIT ?3"};
    struct slice rest = e->person.names;
    struct buffer ids = buffer_in(&e->arena);
    lock_user(e);
    while (rest.n && count_of(&ids) < ROWS_AT_ONCE) {
        const char *name = arena_copy(&e->arena, slice_cut(&rest, '\n'));
        if (strncmp(name, "con_", 4) != 0)
            continue;
        sql_start(e->store, &s, TEXT(e->user_id), TEXT(name),
                  INTEGER((int64_t)(ROWS_AT_ONCE - count_of(&ids))));
        while (sql_row(e->store, &s)) {
            const char *id = column_text(&s, 0, &e->arena);
            buffer_add(&ids, &id, sizeof id);
        }
    }
    e->is_over = count_of(&ids) < ROWS_AT_ONCE;
    return delete_events(e, &ids, NULL);
}

/* The events about no contact that name the person: forwards, and those of unknown leads. The walk
 * waits at a forward that others wait for. */
static bool erase_other_events(struct erasing *e) {
    static struct statement s = {
        .sql = "SELECT e.id, e.post_id, e.is_forward = 1 AND e.state = 'pending', "
               "CASE WHEN e.contact_id IS NULL THEN coalesce(e.body, p.body) END "
               "FROM event e LEFT JOIN platform_post p ON p.id = e.post_id "
               "WHERE e.user_id = ?1 AND e.id > ?2 AND e.id < ?3 ORDER BY e.id LIMIT ?4"};
    struct buffer ids = buffer_in(&e->arena), posts = ids;
    char end[ID_SIZE];
    size_t rows = 0;
    id_least(end, "evt_", e->erased_at + 1);
    lock_user(e);
    sql_start(e->store, &s, TEXT(e->user_id), TEXT(e->place), TEXT(end), INTEGER(ROWS_AT_ONCE));
    for (; sql_row(e->store, &s); rows++, arena_reset(&e->row)) {
        const char *id = column_text(&s, 0, &e->arena);
        const char *post_id = column_text(&s, 1, &e->arena);
        const bool is_pending_forward = column_integer(&s, 2) != 0;
        const struct slice body = column_blob(&s, 3, &e->row);
        const bool is_named = body.n && person_is_named(&e->person, &e->row, body);
        if ((e->waits = is_named && is_pending_forward && !person_is_alone(&e->person, body))) {
            sql_stop(&s);
            break;
        }
        e->place = id;
        if (!is_named)
            continue;
        post_id = post_id ? post_id : "";
        buffer_add(&ids, &id, sizeof id);
        buffer_add(&posts, &post_id, sizeof post_id);
    }
    e->is_over = rows < ROWS_AT_ONCE && !e->waits;
    return delete_events(e, &ids, &posts);
}

/* The turns of webhooks name the order key of a forward, which has the number. */
static bool erase_turns(struct erasing *e) {
    static struct statement list = {
        .sql = "SELECT t.webhook_id, t.order_key, t.round_end FROM event_turn t "
               "JOIN webhook w ON w.id = t.webhook_id WHERE w.user_id = ?1"};
    static struct statement s = {
        .sql = "UPDATE event_turn SET order_key = '', round_end = '' WHERE webhook_id = ?1"};
    struct buffer ids = buffer_in(&e->arena);
    lock_user(e);
    sql_start(e->store, &list, TEXT(e->user_id));
    while (sql_row(e->store, &list)) {
        const char *id = column_text(&list, 0, &e->arena);
        if (person_is_named(&e->person, &e->row, slice_of(column_text(&list, 1, &e->row))) ||
            person_is_named(&e->person, &e->row, slice_of(column_text(&list, 2, &e->row))))
            buffer_add(&ids, &id, sizeof id);
    }
    for (size_t i = 0; i < count_of(&ids); i++)
        if (!sql_run(e->store, &s, TEXT(items_of(&ids)[i])))
            return false;
    e->is_over = true;
    return !sql_failed(e->store);
}

/* --- rows that name the person --- */

/* Lists the keys of rows that name the person, of a page of rows: a key, a text, and if `has_body`
 * bytes. The place is then behind them. */
static struct buffer list_named(struct erasing *e, struct statement *s, const char *owner_id,
                                bool has_body) {
    struct buffer keys = buffer_in(&e->arena);
    size_t rows = 0;
    sql_start(e->store, s, TEXT(owner_id), TEXT(e->place), INTEGER(e->erased_at),
              INTEGER(ROWS_AT_ONCE));
    for (; sql_row(e->store, s); rows++, arena_reset(&e->row)) {
        const char *key = e->place = column_text(s, 0, &e->arena);
        const struct slice text = slice_of(column_text(s, 1, &e->row));
        const struct slice body = has_body ? column_blob(s, 2, &e->row) : (struct slice){0};
        if ((text.n && person_is_named(&e->person, &e->row, text)) ||
            (body.n && person_is_named(&e->person, &e->row, body)))
            buffer_add(&keys, &key, sizeof key);
    }
    e->is_over = rows < ROWS_AT_ONCE;
    return keys;
}

static bool erase_updates(struct erasing *e) {
    static struct statement list = {
        .sql = "SELECT key, key, body FROM platform_update WHERE account_id = ?1 AND key > ?2 "
               "AND received_at <= ?3 ORDER BY key LIMIT ?4"};
    static struct statement s = {
        .sql = "DELETE FROM platform_update WHERE account_id = ?1 AND key = ?2"};
    const struct buffer keys = list_named(e, &list, e->account_id, true);
    for (size_t i = 0; i < count_of(&keys); i++) {
        const char *key = items_of(&keys)[i];
        const struct erased_mark mark = erased_mark_of(&e->arena, e->account_id, key);
        if (!erased_mark_add(e->store, e->user_id, erased_mark_slice(&mark),
                             e->now + MARK_OF_UPDATE_MS) ||
            !sql_run(e->store, &s, TEXT(e->account_id), TEXT(key)))
            return false;
    }
    return !sql_failed(e->store);
}

static bool erase_flow_tokens(struct erasing *e) {
    static struct statement list = {
        .sql = "SELECT token, token FROM flow_token WHERE account_id = ?1 AND token > ?2 "
               "AND ?3 > 0 ORDER BY token LIMIT ?4"};
    static struct statement s = {.sql =
                                     "DELETE FROM flow_token WHERE account_id = ?1 AND token = ?2"};
    const struct buffer tokens = list_named(e, &list, e->account_id, false);
    for (size_t i = 0; i < count_of(&tokens); i++)
        if (!sql_run(e->store, &s, TEXT(e->account_id), TEXT(items_of(&tokens)[i])))
            return false;
    return !sql_failed(e->store);
}

/* Notes of other threads that name the person; its own went with its threads. */
static bool erase_notes(struct erasing *e) {
    static struct statement list = {
        .sql = "SELECT id, text FROM note WHERE user_id = ?1 AND id > ?2 AND created_at <= ?3 "
               "ORDER BY id LIMIT ?4"};
    const struct buffer ids = list_named(e, &list, e->user_id, false);
    for (size_t i = 0; i < count_of(&ids); i++)
        if (!note_delete(e->store, e->user_id, items_of(&ids)[i]))
            return false;
    return !sql_failed(e->store);
}

/* What became of an ended row stays counted in its campaign: a number names no person. Sends that
 * wait are not sent any more, nor counted. The erasure waits for those that are being sent: what
 * they store is erased after that. */
static bool erase_outgoing(struct erasing *e) {
    static struct statement list = {
        .sql = "SELECT id, recipient, body FROM outgoing WHERE account_id = ?1 AND id > ?2 "
               "AND created_at <= ?3 ORDER BY id LIMIT ?4"};
    static struct campaign_transition queued = {
        {.sql = "DELETE FROM outgoing WHERE id = ?1 AND state = 'queued' RETURNING campaign_id"},
        "queued",
        NULL};
    static struct statement ended = {.sql = "DELETE FROM outgoing WHERE id = ?1 "
                                            "AND state NOT IN ('queued', 'sending')"};
    const char *const before = e->place;
    const struct buffer ids = list_named(e, &list, e->account_id, true);
    for (size_t i = 0; i < count_of(&ids); i++) {
        size_t deleted = 0;
        if (!campaign_count_run(e->store, &queued, &deleted, TEXT(items_of(&ids)[i])) ||
            !sql_run(e->store, &ended, TEXT(items_of(&ids)[i])))
            return false;
        e->waits = e->waits || (!deleted && !sql_changes(e->store));
    }
    if (e->waits) {
        e->place = before;
        e->is_over = false;
    }
    return !sql_failed(e->store);
}

/* Recipients that a campaign has not reached yet. */
static bool erase_recipients(struct erasing *e) {
    static struct statement list = {
        .sql = "SELECT id, recipient, body FROM campaign_recipient WHERE account_id = ?1 "
               "AND id > ?2 AND created_at <= ?3 ORDER BY id LIMIT ?4"};
    static struct campaign_transition waiting = {
        {.sql = "DELETE FROM campaign_recipient WHERE id = ?1 RETURNING campaign_id"},
        "waiting",
        NULL};
    const struct buffer ids = list_named(e, &list, e->account_id, true);
    size_t deleted = 0;
    for (size_t i = 0; i < count_of(&ids); i++)
        if (!campaign_count_run(e->store, &waiting, &deleted, TEXT(items_of(&ids)[i])))
            return false;
    return !sql_failed(e->store);
}

/* Nothing of the person stays, the wish for no marketing included. */
static bool erase_opt_outs(struct erasing *e) {
    static struct statement list = {
        .sql = "SELECT identity, identity FROM opt_out WHERE account_id = ?1 AND identity > ?2 "
               "AND since <= ?3 ORDER BY identity LIMIT ?4"};
    static struct statement s = {.sql =
                                     "DELETE FROM opt_out WHERE account_id = ?1 AND identity = ?2"};
    const struct buffer identities = list_named(e, &list, e->account_id, false);
    for (size_t i = 0; i < count_of(&identities); i++)
        if (!sql_run(e->store, &s, TEXT(e->account_id), TEXT(items_of(&identities)[i])))
            return false;
    return !sql_failed(e->store);
}

/* A key keeps its row, so that a repeated request does not send to the person again: the answer is
 * replaced. A key that names the person goes. */
static bool erase_answers(struct erasing *e) {
    static struct statement list = {
        .sql = "SELECT key, key || ' ' || coalesce(wamid, '') || ' ' || coalesce(wa_id, ''), "
               "CASE WHEN is_sealed = 0 THEN answer END FROM idempotency WHERE user_id = ?1 "
               "AND key > ?2 AND created_at <= ?3 ORDER BY key LIMIT ?4"};
    static struct statement empty = {.sql = "UPDATE idempotency SET wamid = NULL, wa_id = NULL, "
                                            "status = CASE WHEN status IS NOT NULL THEN 404 END, "
                                            "answer = CASE WHEN status IS NOT NULL THEN ?3 END "
                                            "WHERE user_id = ?1 AND key = ?2 AND is_sealed = 0"};
    static struct statement s = {.sql = "DELETE FROM idempotency WHERE user_id = ?1 AND key = ?2"};
    static const struct slice answer =
        SLICE("{\"success\":false,\"error\":\"NOT_FOUND\",\"message\":\"The request was carried "
              "out, and its recipient was erased later.\"}");
    const struct buffer keys = list_named(e, &list, e->user_id, true);
    for (size_t i = 0; i < count_of(&keys); i++) {
        const char *key = items_of(&keys)[i];
        if (!(person_is_named(&e->person, &e->row, slice_of(key))
                  ? sql_run(e->store, &s, TEXT(e->user_id), TEXT(key))
                  : sql_run(e->store, &empty, TEXT(e->user_id), TEXT(key), BLOB(answer))))
            return false;
    }
    return !sql_failed(e->store);
}

/* Payloads that were refused: those that name the person and the account. One at a time: they are
 * large. */
static bool erase_refusals(struct erasing *e) {
    static struct statement list = {
        .sql = "SELECT r.id, r.body, a.waba_id FROM webhook_refusal r, account a WHERE a.id = ?1 "
               "AND r.id > ?2 AND r.first_at <= ?3 ORDER BY r.id LIMIT 1"};
    static struct statement s = {.sql = "DELETE FROM webhook_refusal WHERE id = ?1"};
    sql_start(e->store, &list, TEXT(e->account_id), TEXT(e->place), INTEGER(e->erased_at));
    if ((e->is_over = !sql_row(e->store, &list)))
        return !sql_failed(e->store);
    e->place = column_text(&list, 0, &e->arena);
    const struct slice body = column_blob(&list, 1, &e->arena);
    const struct person account = {slice_of(column_text(&list, 2, &e->arena))};
    sql_stop(&list);
    return !person_is_named(&account, &e->row, body) ||
           !person_is_named(&e->person, &e->row, body) || sql_run(e->store, &s, TEXT(e->place));
}

/* --- the end --- */

static bool add_event(struct erasing *e) {
    struct store_event event = {.type = "contact.erased",
                                .user_id = e->user_id,
                                .now = e->now,
                                .account_id = e->account_id,
                                .contact = {.id = e->contact_id}};
    struct buffer known = buffer_in(&e->arena);
    struct webhook_list webhooks;
    return event_entry_read_owner(e->store, &e->arena, &event) &&
           webhook_match_once(e->store, &known, e->user_id, &webhooks) &&
           event_entry_add(e->store, &e->arena, &webhooks, &event, e->contact_id, e->write);
}

/* Another process may have ended the erasure: then there is nothing to do. */
static bool end_erasure(struct erasing *e) {
    static struct statement s = {
        .sql = "UPDATE erasure SET ended_at = ?2, names = NULL, place = '' WHERE contact_id = ?1 "
               "AND ended_at IS NULL"};
    const char *contact_id = e->contact_id;
    sql_lock(e->store, LOCK_CONTACT, e->account_id, &contact_id, 1);
    return removal_delete_contact(e->store, &e->arena, e->account_id, e->contact_id, NULL, 0) &&
           sql_run(e->store, &s, TEXT(e->contact_id), INTEGER(e->now)) &&
           (!sql_changes(e->store) || add_event(e));
}

/* The steps, in the order of their numbers in the table erasure. */
static bool (*const steps[])(struct erasing *) = {
    erase_outgoing, erase_messages,   erase_threads,     erase_events, erase_other_events,
    erase_turns,    erase_updates,    erase_flow_tokens, erase_notes,  erase_answers,
    erase_refusals, erase_recipients, erase_opt_outs,    end_erasure,
};
enum { STEPS = sizeof steps / sizeof *steps };

/* --- all together --- */

#define OF(member) ROW_MEMBER(struct erasing, member)
static const struct row_layout due_layout =
    ROW_LAYOUT(struct erasing, OF(contact_id), OF(user_id), OF(account_id), OF(erased_at), OF(step),
               OF(place), OF(person.names));

static bool find_due(struct erasing *e) {
    static struct statement s = {
        .sql = "SELECT contact_id, user_id, account_id, erased_at, step, place, names FROM erasure "
               "WHERE ended_at IS NULL AND due_at <= ?1 ORDER BY due_at LIMIT 1"};
    sql_start(e->store, &s, INTEGER(e->now));
    return row_fill(e->store, &s, &e->arena, &due_layout, e) && e->step >= 0 && e->step < STEPS;
}

/* Stores how far the erasure has come since `before`, unless another process was faster. */
static bool save(struct erasing *e, const struct erasing *before) {
    static struct statement s = {
        .sql = "UPDATE erasure SET step = ?4, place = ?5, due_at = ?6 WHERE contact_id = ?1 "
               "AND step = ?2 AND place = ?3 AND ended_at IS NULL"};
    const bool is_next = e->is_over && e->step < STEPS - 1;
    return sql_run(e->store, &s, TEXT(e->contact_id), INTEGER(before->step), TEXT(before->place),
                   INTEGER(e->step + is_next), TEXT(e->is_over ? "" : e->place),
                   INTEGER(e->waits ? e->now + WAIT_MS : e->now));
}

static enum store_result do_part(struct erasing *e, size_t *done) {
    struct store *store = e->store;
    const struct erasing before = *e;
    bool is_free = false;
    while (sql_transact(store)) {
        e->step = before.step;
        e->place = copy(e, before.place);
        e->is_over = e->waits = false;
        if (chore_take(store, &is_free) && steps[e->step](e))
            save(e, &before);
    }
    *done = 1;
    return chore_result(store, is_free);
}

static enum store_result forget_marks(struct store *store, int64_t now, size_t *done) {
    static struct statement find = {
        .sql = "SELECT 1 FROM erased_mark WHERE forget_at < ?1 ORDER BY forget_at LIMIT 1"};
    static struct statement s = {
        .sql = "DELETE FROM erased_mark WHERE hash IN (SELECT hash FROM erased_mark "
               "WHERE forget_at < ?1 ORDER BY forget_at LIMIT ?2)"};
    const struct parameter parameters[] = {INTEGER(now), INTEGER(MARKS_AT_ONCE)};
    return chore_do(store, &(struct chore){&find, &s, parameters, 1, 2}, done);
}

enum store_result store_erase_part(struct store *store, event_writer *write, int64_t now,
                                   size_t *done) {
    struct erasing e = {.store = store, .write = write, .now = now};
    enum store_result result;
    *done = 0;
    arena_init(&e.arena, MEMORY, NULL);
    arena_init(&e.row, MEMORY, NULL);
    result = find_due(&e) ? do_part(&e, done) : sql_result(store);
    arena_free(&e.row);
    arena_free(&e.arena);
    return result == STORE_OK && !*done ? forget_marks(store, now, done) : result;
}

bool erasing_has(struct store *store, struct arena *arena, const char *account_id, int64_t since,
                 const char *const *identities, size_t count) {
    static struct statement s = {.sql = "SELECT names FROM erasure WHERE account_id = ?1 "
                                        "AND ended_at IS NULL AND erased_at >= ?2"};
    bool has = false;
    sql_start(store, &s, TEXT(account_id), INTEGER(since));
    while (sql_row(store, &s)) {
        const struct person person = {slice_of(column_text(&s, 0, arena))};
        for (size_t i = 0; i < count; i++)
            has = has || person_has(&person, identities[i]);
    }
    return has && !sql_failed(store);
}

enum store_result store_is_send_erased(struct store *store, struct arena *arena,
                                       const struct store_send *send, bool *is_erased) {
    const char *const identities[] = {send->phone, send->wa_id, send->bsuid};
    const struct erased_mark mark = erased_mark_of(arena, send->account_id, send->wamid);
    *is_erased = erased_mark_is_set(store, &mark);
    *is_erased =
        erasing_has(store, arena, send->account_id, send->now, identities, 3) || *is_erased;
    return sql_result(store);
}
