/* Campaigns in the regular work of the sender: recipients move to outgoing, answers pause. */
#include <stdlib.h>
#include <string.h>

#include "engine/row.h"
#include "store/campaign.h"
#include "store/chore.h"
#include "store/outgoing.h"
#include "store/outgoing/campaign_count.h"

enum {
    SECOND = 1000,
    /* Rows of a campaign in outgoing: those that its line sends in a second. */
    WAITING_LEAST = 40,
    WAITING_MOST = 500,
    LATE_AT_ONCE = 500, /* of a campaign that has ended: they expire there */
    PAUSED_MEMORY = 16 * 1024 * 1024,
};

/* A campaign that runs. */
struct feed {
    char id[ID_SIZE];
    int64_t rate, start_at, expires_at, fed_at;
    int64_t line_rate;           /* 0: that of all lines */
    int64_t opens_at, closes_at; /* closes_at INT64_MAX: it has no window */
};

#define OF_FEED(member) ROW_MEMBER(struct feed, member)
static const struct row_layout feed_layout =
    ROW_LAYOUT(struct feed, OF_FEED(rate), OF_FEED(start_at), OF_FEED(expires_at), OF_FEED(fed_at),
               OF_FEED(opens_at), ROW_TIME_MEMBER(struct feed, closes_at), OF_FEED(line_rate));

/* Finds the next one whose time has come. */
static bool find_next(struct store *store, const char *after, int64_t now, char id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT id FROM campaign WHERE state = 'running' "
                                        "AND id > ?1 AND start_at <= ?2 ORDER BY id LIMIT 1"};
    sql_start(store, &s, TEXT(after), INTEGER(now));
    return sql_read_id(store, &s, id);
}

/* Reads it, if it still runs; it does until the transaction ends. */
static bool hold(struct store *store, struct feed *feed) {
    static struct statement lock = {
        .sql = "UPDATE campaign SET state = 'running' WHERE id = ?1 AND state = 'running'"};
    static struct statement s = {
        .sql = "SELECT c.rate, c.start_at, c.start_at + c.valid_ms, c.fed_at, c.opens_at, "
               "c.closes_at, l.send_rate FROM campaign c JOIN line l ON l.id = c.line_id "
               "WHERE c.id = ?1"};
    if (!row_write(store, &lock, TEXT(feed->id)))
        return false;
    sql_start(store, &s, TEXT(feed->id));
    return row_fill(store, &s, NULL, &feed_layout, feed);
}

/* Cuts the next time off the list. False: there is none. */
static bool cut_time(struct slice *times, struct feed *feed) {
    char *end;
    if (!times->n)
        return false;
    const struct slice one = slice_cut(times, ' ');
    feed->opens_at = strtoll(one.p, &end, 10);
    feed->closes_at = strtoll(end + 1, NULL, 10);
    return true;
}

/* Goes on to the time of the window that is now, or comes next. After the last one it stays closed
 * until the campaign runs out of its time. */
static bool turn_window(struct store *store, struct arena *arena, struct feed *feed, int64_t now) {
    static struct statement read = {.sql = "SELECT open_times FROM campaign WHERE id = ?1"};
    static struct statement write = {
        .sql = "UPDATE campaign SET opens_at = ?2, closes_at = ?3, open_times = ?4 WHERE id = ?1"};
    if (feed->closes_at > now)
        return true;
    sql_start(store, &read, TEXT(feed->id));
    struct slice times = slice_of(row_text(store, &read, arena));
    if (!times.n)
        return !sql_failed(store);
    while (feed->closes_at <= now && cut_time(&times, feed))
        continue;
    return sql_run(store, &write, TEXT(feed->id), INTEGER(feed->opens_at), INTEGER(feed->closes_at),
                   TEXT(arena_copy(arena, times)));
}

static bool is_closed(const struct feed *feed, int64_t now) {
    return feed->closes_at != INT64_MAX && (now < feed->opens_at || now >= feed->closes_at);
}

static int64_t count_waiting(struct store *store, const char *id) {
    static struct statement s = {.sql = "SELECT count(*) FROM outgoing WHERE campaign_id = ?1 "
                                        "AND finished_at IS NULL"};
    sql_start(store, &s, TEXT(id));
    return row_integer(store, &s, 0);
}

/* How many recipients may move now: with a rate those of the time since some moved last, at most of
 * a second. */
static int64_t room_of(const struct feed *feed, int64_t waiting, int64_t now) {
    const int64_t of_line = feed->line_rate > WAITING_LEAST ? feed->line_rate : WAITING_LEAST;
    int64_t room = (of_line < WAITING_MOST ? of_line : WAITING_MOST) - waiting;
    if (now >= feed->expires_at)
        return LATE_AT_ONCE;
    if (is_closed(feed, now))
        return 0;
    if (feed->rate) {
        const int64_t since = now - feed->fed_at;
        const int64_t of_rate =
            since < 0 || since > SECOND ? feed->rate : feed->rate * since / SECOND;
        room = of_rate < room ? of_rate : room;
    }
    return room > 0 ? room : 0;
}

/* A recipient whose turn has come. */
struct next {
    const char *id, *recipient;
    struct slice body;
};

#define OF_NEXT(member) ROW_MEMBER(struct next, member)
static const struct row_layout next_layout =
    ROW_LAYOUT(struct next, OF_NEXT(id), OF_NEXT(recipient), OF_NEXT(body));

static int compare(const void *a, const void *b) {
    const struct next *first = a, *second = b;
    return strcmp(first->id, second->id);
}

/* Takes the next ones off the list; one that is being erased is waited for, and is not returned. */
static const struct next *take_next(struct store *store, struct arena *arena, const char *id,
                                    int64_t limit, size_t *count) {
    static struct statement s = {
        .sql = "DELETE FROM campaign_recipient WHERE id IN (SELECT id FROM campaign_recipient "
               "WHERE campaign_id = ?1 ORDER BY id LIMIT ?2) RETURNING id, recipient, body"};
    sql_start(store, &s, TEXT(id), INTEGER(limit));
    struct next *const list = row_list(store, &s, arena, &next_layout, count);
    if (*count)
        qsort(list, *count, sizeof *list, compare);
    return list;
}

/* The body with the id of the row, which the statuses of the message return, as its last member. */
static struct slice body_of(struct arena *arena, struct slice body, const char *id) {
    return slice_of(arena_printf(arena, "%.*s,\"biz_opaque_callback_data\":\"%s\"}",
                                 (int)(body.n - 1), body.p, id));
}

static bool insert_row(struct store *store, struct arena *arena, const struct feed *feed,
                       const struct next *next, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, "
               "send_at, next_at, expires_at, by_id, by_name, campaign_id, created_at) "
               "SELECT ?1, user_id, account_id, line_id, ?3, ?4, 'queued', ?5, ?5, ?6, by_id, "
               "by_name, id, ?5 FROM campaign WHERE id = ?2"};
    char id[ID_SIZE];
    id_make(id, "out_", now);
    return sql_run_later(store, &s, TEXT(id), TEXT(feed->id), TEXT(next->recipient),
                         BLOB(body_of(arena, next->body, id)), INTEGER(now),
                         INTEGER(feed->expires_at));
}

/* Moves recipients to outgoing. Returns how many; after a failure the number means nothing. */
static size_t move(struct store *store, struct arena *arena, const struct feed *feed, int64_t room,
                   int64_t now) {
    size_t count;
    const struct next *const next = take_next(store, arena, feed->id, room, &count);
    for (size_t i = 0; i < count; i++)
        if (!insert_row(store, arena, feed, &next[i], now))
            return 0;
    campaign_count_rows(store, feed->id, "queued", (int64_t)count);
    campaign_count_rows(store, feed->id, "waiting", -(int64_t)count);
    return count;
}

static bool set_fed(struct store *store, const char *id, int64_t now) {
    static struct statement s = {.sql = "UPDATE campaign SET fed_at = ?2 WHERE id = ?1"};
    return sql_run(store, &s, TEXT(id), INTEGER(now));
}

static bool finish(struct store *store, const char *id, int64_t now, event_writer *write) {
    static struct statement s = {
        .sql = "UPDATE campaign SET state = 'finished', finished_at = ?2 WHERE id = ?1 "
               "AND NOT EXISTS (SELECT 1 FROM campaign_recipient WHERE campaign_id = ?1)"};
    return sql_run(store, &s, TEXT(id), INTEGER(now)) &&
           (!sql_changes(store) || campaign_event_add(store, id, now, write));
}

enum store_result store_feed_campaign(struct store *store, struct arena *arena, char after[ID_SIZE],
                                      int64_t now, event_writer *write, size_t *moved) {
    struct feed feed = {.id = ""};
    *moved = 0;
    if (!find_next(store, after, now, feed.id))
        return sql_found(store, false);
    while (sql_transact(store)) {
        *moved = 0;
        if (!hold(store, &feed) || !turn_window(store, arena, &feed, now))
            continue;
        const int64_t waiting = count_waiting(store, feed.id);
        *moved = move(store, arena, &feed, room_of(&feed, waiting, now), now);
        if (*moved)
            set_fed(store, feed.id, now);
        else if (!waiting)
            finish(store, feed.id, now, write);
    }
    for (size_t i = 0; i < ID_SIZE; i++)
        after[i] = feed.id[i];
    return sql_result(store);
}

/* --- pauses --- */

/* Pauses the running campaigns that the started statement selects. */
static bool pause_listed(struct store *store, struct statement *list, const char *reason,
                         int64_t now, event_writer *write) {
    static struct statement s = {
        .sql = "UPDATE campaign SET state = 'paused', reason = ?2 WHERE id = ?1 "
               "AND state = 'running'"};
    struct arena arena;
    size_t count;
    bool ok = true;
    arena_init(&arena, PAUSED_MEMORY, NULL);
    const char *const *ids = sql_read_ids(store, list, &arena, &count);
    for (size_t i = 0; ok && i < count; i++)
        ok = sql_run(store, &s, TEXT(ids[i]), TEXT(reason)) &&
             (!sql_changes(store) || campaign_event_add(store, ids[i], now, write));
    arena_free(&arena);
    return ok && !sql_failed(store);
}

bool campaign_pause_by(struct store *store, const struct outgoing_outcome *outcome) {
#define RUNNING(which, of_row)                                                                     \
    "SELECT id FROM campaign WHERE state = 'running' "                                             \
    "AND " which " = (SELECT " of_row " FROM outgoing WHERE id = ?1)"
    static struct statement own = {.sql = RUNNING("id", "campaign_id")},
                            of_line = {.sql = RUNNING("line_id", "line_id")};
    struct statement *const list = outcome->pause == PAUSE_LINE ? &of_line : &own;
    sql_start(store, list, TEXT(outcome->id));
    return pause_listed(store, list, outcome->pause_reason, outcome->now, outcome->write);
}

bool campaign_pause_template(struct store *store, const struct stopped_template *template) {
    static struct statement list = {
        .sql = "SELECT id FROM campaign WHERE state = 'running' "
               "AND line_id IN (SELECT id FROM line WHERE account_id = ?1) AND template = ?2 "
               "AND replace(language, '-', '_') = ?3"};
    sql_start(store, &list, TEXT(template->account_id), TEXT(template->name),
              TEXT(template->language));
    return pause_listed(store, &list, "template", template->now, template->write);
}

/* --- what is deleted --- */

#define KEPT (90 * 24 * 60 * 60 * INT64_C(1000))

enum { ROWS_AT_ONCE = 500 };

#define OLD_ROWS(table)                                                                            \
    "SELECT r.id FROM campaign c JOIN " table " r ON r.campaign_id = c.id "                        \
    "WHERE c.finished_at <= ?1 ORDER BY c.finished_at LIMIT "
#define OLD_STREAKS                                                                                \
    "SELECT s.name FROM campaign c JOIN sender_streak s ON s.name = c.id "                         \
    "WHERE c.finished_at <= ?1 ORDER BY c.finished_at LIMIT "
#define OLD "SELECT id FROM campaign WHERE finished_at <= ?1 ORDER BY finished_at LIMIT "

enum store_result store_delete_old_campaigns(struct store *store, int64_t now, size_t *removed) {
    static struct {
        struct statement find, s;
    } parts[] = {
        {{.sql = OLD_ROWS("outgoing") "1"},
         {.sql = "DELETE FROM outgoing WHERE id IN (" OLD_ROWS("outgoing") "?2)"}},
        {{.sql = OLD_ROWS("campaign_recipient") "1"},
         {.sql =
              "DELETE FROM campaign_recipient WHERE id IN (" OLD_ROWS("campaign_recipient") "?2)"}},
        {{.sql = "SELECT 1 FROM campaign c JOIN campaign_count k ON k.campaign_id = c.id "
                 "WHERE c.finished_at <= ?1 ORDER BY c.finished_at LIMIT 1"},
         {.sql = "DELETE FROM campaign_count WHERE campaign_id IN (SELECT k.campaign_id FROM "
                 "campaign c JOIN campaign_count k ON k.campaign_id = c.id "
                 "WHERE c.finished_at <= ?1 ORDER BY c.finished_at LIMIT ?2)"}},
        {{.sql = OLD_STREAKS "1"},
         {.sql = "DELETE FROM sender_streak WHERE name IN (" OLD_STREAKS "?2)"}},
        {{.sql = OLD "1"}, {.sql = "DELETE FROM campaign WHERE id IN (" OLD "?2)"}},
    };
    const struct parameter parameters[] = {INTEGER(now - KEPT), INTEGER(ROWS_AT_ONCE)};
    enum store_result result = STORE_OK;
    *removed = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && result == STORE_OK && !*removed; i++)
        result = chore_do(store, &(struct chore){&parts[i].find, &parts[i].s, parameters, 1, 2},
                          removed);
    return result;
}
