/* The ingestion of invalid updates, of a status before its send, and of many contacts
 * (lib/store/ingest.h). */
#include "account_line.h"
#include "engine/sql.h"
#include "store/message.h"

static void message_of(struct store_update *update, const char *wamid) {
    *update = (struct store_update){
        .kind = UPDATE_MESSAGE,
        .field = "messages",
        .waba_id = waba,
        .phone_number_id = line_name,
        .body = slice_of(arena_printf(&arena, "{\"id\":\"%s\"}", wamid)),
        .message = {.who = {.phone = "15550000001"},
                    .wamid = wamid,
                    .type = "text",
                    .timestamp = now,
                    .is_event = true},
    };
}

static const struct store_page all = {.limit = 1000000};

static struct message *only_contact_messages(size_t *count) {
    struct contact *contacts;
    struct message *messages = NULL;
    size_t people;
    check_ok(store_list_contacts(store, &arena,
                                 &(struct contact_filter){NULL, account_id, .limit = all.limit},
                                 &contacts, &people));
    check(people == 1, "%zu contacts", people);
    *count = 0;
    if (people)
        check_ok(
            store_list_contact_messages(store, &arena, contacts[0].id, &all, &messages, count));
    return messages;
}

/* An update that violates a constraint of the database is kept, and the others are stored. */
static void check_refused(void) {
    struct store_update updates[3];
    struct store_payload payload = {
        .updates = updates, .count = 3, .now = now, .write = event_body};
    size_t count;
    make_account();
    message_of(&updates[0], "wamid.1");
    message_of(&updates[1], ""); /* an empty id violates a CHECK */
    message_of(&updates[2], "wamid.3");
    check_ok(store_ingest(store, &arena, &payload));
    check(payload.events == 3, "%zu events: two messages and a lead", payload.events);
    check(updates[0].outcome == OUTCOME_STORED && updates[1].outcome == OUTCOME_REFUSED &&
              updates[2].outcome == OUTCOME_STORED,
          "outcomes %d %d %d", updates[0].outcome, updates[1].outcome, updates[2].outcome);
    struct message *messages = only_contact_messages(&count);
    check(count == 2, "%zu messages", count);
    check(count == 2 && strcmp(messages[1].wamid, "wamid.3") == 0, "the last one");
    check_ok(store_ingest(store, &arena, &payload));
    check(payload.events == 0 && updates[1].outcome == OUTCOME_DUPLICATE, "again: %zu events",
          payload.events);
}

/* The status of a send arrives before its record is stored. */
static void check_overtaken_send(void) {
    size_t count;
    make_account();
    take("{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},\"statuses\":"
         "[{\"id\":\"wamid.1\",\"status\":\"delivered\",\"timestamp\":\"1780000000\","
         "\"recipient_id\":\"15550000001\",\"recipient_user_id\":\"US.1\"}]}}");
    struct store_send send = {.user_id = "usr_1",
                              .account_id = account_id,
                              .line_id = line_id,
                              .phone = "15550000001",
                              .wamid = "wamid.1",
                              .type = "text",
                              .body = SLICE("{\"type\":\"text\"}"),
                              .now = now};
    id_make(send.new_contact_id, "con_", now);
    id_make(send.new_thread_id, "thr_", now);
    id_make(send.message_id, "msg_", now);
    check_ok(store_insert_send(store, &send));
    struct message *messages = only_contact_messages(&count);
    check(count == 1 && strcmp(messages[0].type, "text") == 0 &&
              strcmp(messages[0].status, "delivered") == 0,
          "%zu messages", count);
}

/* Thousands of people in one payload need no more memory than one, apart from the payload. */
static void check_memory(void) {
    enum { PEOPLE = 4000 };
    struct store_update *updates = arena_alloc(&arena, PEOPLE * sizeof *updates);
    struct arena small;
    struct store_payload payload = {
        .updates = updates, .count = PEOPLE, .now = now, .write = event_body};
    make_account();
    for (int i = 0; i < PEOPLE; i++) {
        message_of(&updates[i], arena_printf(&arena, "wamid.%d", i));
        updates[i].message.who.phone = arena_printf(&arena, "1555%d", 10000 + i);
    }
    /* a full arena ends the process; 16 bytes for each update hold the names to lock */
    arena_init(&small, 64 * 1024 + 16 * PEOPLE, NULL);
    check_ok(store_ingest(store, &small, &payload));
    check(payload.events == 2 * PEOPLE, "%zu events", payload.events);
    arena_free(&small);
}

/* A history update contains the reply to a flow before the reply's own update arrives. */
static void check_flow_reply(void) {
    static const char reply[] =
        "\"from\":\"15550000001\",\"id\":\"wamid.reply\",\"timestamp\":\"1780000000\","
        "\"type\":\"interactive\",\"interactive\":{\"type\":\"nfm_reply\",\"nfm_reply\":{}}";
    size_t count;
    make_account();
    take(
        arena_printf(&arena,
                     "{\"field\":\"history\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},"
                     "\"history\":[{\"threads\":[{\"id\":\"15550000001\",\"messages\":[{%s}]}]}]}}",
                     reply));
    size_t events = take(arena_printf(&arena,
                                      "{\"field\":\"messages\",\"value\":{\"metadata\":"
                                      "{\"phone_number_id\":\"@\"},\"messages\":[{%s}]}}",
                                      reply));
    check(events == 1, "%zu events of the reply", events);
    only_contact_messages(&count);
    check(count == 1, "%zu messages", count);
}

/* What the account's rows say, without ids. Numbers of changes count from `base`. */
static struct slice rows_of_account(int64_t base) {
    static struct statement statements[] = {
        {.sql = "SELECT coalesce(c.phone, '-') || ' ' || coalesce(c.bsuid, '-') || ' ' || "
                "CAST(t.unread AS TEXT) || ' ' || CAST(t.last_message_at AS TEXT) || ' ' || "
                "coalesce(CAST(t.last_inbound_at AS TEXT), '-') || ' ' || "
                "CAST(t.changed - ?2 AS TEXT) FROM thread t JOIN contact c ON c.id = t.contact_id "
                "WHERE c.account_id = ?1 ORDER BY 1"},
        {.sql = "SELECT m.wamid || ' ' || m.status || ' ' || CAST(m.changed - ?2 AS TEXT) || ' ' "
                "|| coalesce(c.phone, '-') FROM message m JOIN thread t ON t.id = m.thread_id "
                "JOIN contact c ON c.id = t.contact_id WHERE c.account_id = ?1 AND ?2 >= 0 "
                "ORDER BY 1"},
        {.sql = "SELECT l.source || ' ' || coalesce(c.phone, '-') FROM lead l JOIN contact c "
                "ON c.id = l.contact_id WHERE c.account_id = ?1 AND ?2 >= 0 ORDER BY 1"},
        {.sql = "SELECT a.identity || ' ' || coalesce(c.phone, '-') FROM contact_alias a JOIN "
                "contact c ON c.id = a.contact_id WHERE c.account_id = ?1 AND ?2 >= 0 ORDER BY 1"},
        {.sql = "SELECT field || ' ' || CAST(count(*) AS TEXT) FROM platform_update "
                "WHERE account_id = ?1 AND ?2 >= 0 GROUP BY field"},
        {.sql = "SELECT measure || ' ' || CAST(u.count AS TEXT) FROM usage u JOIN line l "
                "ON l.id = u.line_id WHERE l.account_id = ?1 AND ?2 >= 0 ORDER BY 1"},
    };
    struct buffer rows = buffer_in(&arena);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        sql_start(store, &statements[i], TEXT(account_id), INTEGER(base));
        while (sql_row(store, &statements[i]))
            buffer_printf(&rows, "%zu %s\n", i, column_text(&statements[i], 0, &arena));
    }
    check_ok(sql_result(store));
    return buffer_slice(&rows);
}

static int64_t last_change(void) {
    static struct statement s = {.sql = "SELECT change_sequence FROM \"user\" WHERE id = ?1"};
    int64_t last = -1;
    sql_start(store, &s, TEXT("usr_1"));
    if (sql_row(store, &s)) {
        last = column_integer(&s, 0);
        sql_stop(&s);
    }
    check_ok(sql_result(store));
    return last;
}

/* Messages of many contacts in turns, some of them older than the one before; two contacts that
 * turn out to be one; statuses of one message; messages that violate a constraint. */
static void mixed_update(struct store_update *update, int i) {
    message_of(update, i % 9 == 4 || i % 120 > 117 ? "" : arena_printf(&arena, "wamid.%03d", i));
    update->body = slice_of(arena_printf(&arena, "{\"number\":%d}", i));
    update->message.timestamp = now - (i * 7919) % 1000;
    update->message.who = (struct contact){.phone = arena_printf(&arena, "1555%d", i / 2 % 70)};
    if (i % 11 == 5)
        update->message.who = (struct contact){.bsuid = "US.1"};
    if (i == 150)
        update->message.who = (struct contact){.phone = "15550", .bsuid = "US.1"};
    if (i % 5)
        return;
    update->kind = UPDATE_STATUS;
    update->status = (struct update_status){.who = {.phone = "15550"},
                                            .wamid = "wamid.out",
                                            .status = i < 100 ? "sent" : "delivered",
                                            .recipient = arena_printf(&arena, "%d", i),
                                            .timestamp = now + i};
}

/* A payload has the same rows as one payload for each of its updates. */
static void check_parts(void) {
    enum { UPDATES = 260 };
    struct store_update *updates = arena_alloc(&arena, UPDATES * sizeof *updates);
    struct slice rows[2];
    size_t events[2] = {0, 0}, refused[2] = {0, 0};
    for (int way = 0; way < 2; way++) {
        const size_t part = way ? 1 : UPDATES;
        const int64_t base = last_change();
        make_account();
        for (int i = 0; i < UPDATES; i++)
            mixed_update(&updates[i], i);
        for (size_t i = 0; i < UPDATES; i += part) {
            struct store_payload payload = {
                .updates = updates + i, .count = part, .now = now, .write = event_body};
            check_ok(store_ingest(store, &arena, &payload));
            events[way] += payload.events;
        }
        for (int i = 0; i < UPDATES; i++)
            refused[way] += updates[i].outcome == OUTCOME_REFUSED;
        rows[way] = rows_of_account(base);
    }
    check(refused[0] > 20 && refused[0] == refused[1], "%zu and %zu refused", refused[0],
          refused[1]);
    check(events[0] == events[1] && events[0] > 150, "%zu and %zu events", events[0], events[1]);
    check(rows[0].n > 1000 && slice_equal(rows[0], rows[1]), "%s\ninstead of\n%s", rows[0].p,
          rows[1].p);
}

int main(void) {
    open_state();
    check_parts();
    check_refused();
    check_overtaken_send();
    check_flow_reply();
    check_memory();
    close_state();
    return check_failures();
}
