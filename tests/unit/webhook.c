/* The ingestion of invalid updates, of a status before its send, and of many contacts
 * (lib/store/ingest.h). */
#include "account_line.h"

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

static struct store_message *only_contact_messages(size_t *count) {
    struct store_contact *contacts;
    struct store_message *messages = NULL;
    size_t people;
    check_ok(store_list_contacts(store, &arena, account_id, &all, &contacts, &people));
    check(people == 1, "%zu contacts", people);
    *count = 0;
    if (people)
        check_ok(store_list_messages(store, &arena, contacts[0].id, &all, &messages, count));
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
    struct store_message *messages = only_contact_messages(&count);
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
    struct store_message *messages = only_contact_messages(&count);
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

int main(void) {
    open_state();
    check_refused();
    check_overtaken_send();
    check_flow_reply();
    check_memory();
    close_state();
    return check_failures();
}
