/* Contacts that gain and change identities and merge (lib/store/ingest/identity.h), in every order
 * in which the platform may send the updates; on a server in each seventh order without TEST_FULL,
 * because the statements are the same and take ten times as long. */
#include "account_line.h"
#include "store/message.h"

enum { MOST_EVENTS = 7, MOST_PEOPLE = 2, SERVER_STRIDE = 7 };

/* Elements of `changes`; @ is replaced by the line. */
#define VALUE(FIELD, VALUE)                                                                        \
    "{\"field\":\"" FIELD "\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"}," VALUE "}}"
#define MESSAGE(ID, CONTACT, FROM) MESSAGE_AT("1780000000", ID, CONTACT, FROM)
#define MESSAGE_AT(TIME, ID, CONTACT, FROM)                                                        \
    VALUE("messages", "\"contacts\":[{" CONTACT "}],\"messages\":[{" FROM ",\"id\":\"" ID "\","    \
                      "\"timestamp\":\"" TIME "\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}]")
#define BY_PHONE(ID, PHONE) MESSAGE(ID, "\"wa_id\":\"" PHONE "\"", "\"from\":\"" PHONE "\"")
#define BY_BSUID(ID, BSUID)                                                                        \
    MESSAGE(ID, "\"user_id\":\"" BSUID "\"", "\"from_user_id\":\"" BSUID "\"")
#define BY_BOTH(ID, PHONE, BSUID) BY_BOTH_AT("1780000000", ID, PHONE, BSUID)
#define BY_BOTH_AT(TIME, ID, PHONE, BSUID)                                                         \
    MESSAGE_AT(TIME, ID, "\"wa_id\":\"" PHONE "\",\"user_id\":\"" BSUID "\"",                      \
               "\"from\":\"" PHONE "\",\"from_user_id\":\"" BSUID "\"")
#define WITH_PARENT(ID, BSUID, PARENT)                                                             \
    MESSAGE(ID, "\"user_id\":\"" BSUID "\",\"parent_user_id\":\"" PARENT "\"",                     \
            "\"from_user_id\":\"" BSUID "\",\"from_parent_user_id\":\"" PARENT "\"")
#define STATUS(ID, PHONE, BSUID)                                                                   \
    VALUE("messages",                                                                              \
          "\"statuses\":[{\"id\":\"" ID "\",\"status\":\"sent\",\"timestamp\":"                    \
          "\"1780000000\",\"recipient_id\":\"" PHONE "\",\"recipient_user_id\":\"" BSUID "\"}]")
#define SYSTEM(SYSTEM)                                                                             \
    VALUE("messages", "\"messages\":[{\"id\":\"wamid.system\",\"timestamp\":\"1780000000\","       \
                      "\"type\":\"system\",\"system\":{" SYSTEM "}}]")
#define NUMBER_CHANGE(PHONE, BSUID, NEW_PHONE, NEW_BSUID)                                          \
    NUMBER_CHANGE_AT("1780000000", PHONE, BSUID, NEW_PHONE, NEW_BSUID)
#define NUMBER_CHANGE_AT(TIME, PHONE, BSUID, NEW_PHONE, NEW_BSUID)                                 \
    VALUE("messages",                                                                              \
          "\"messages\":[{\"from\":\"" PHONE "\",\"id\":\"wamid." PHONE NEW_PHONE "\","            \
          "\"timestamp\":\"" TIME "\",\"type\":\"system\",\"system\":{\"body\":\"User Ann "        \
          "changed from " PHONE " to " NEW_PHONE "\",\"wa_id\":\"" NEW_PHONE                       \
          "\",\"user_id\":\"" NEW_BSUID "\",\"previous_user_id\":\"" BSUID                         \
          "\",\"type\":\"user_changed_number\"}}]")
#define ID_CHANGE(BSUID, NEW_BSUID)                                                                \
    SYSTEM("\"body\":\"User Ann changed their user id\",\"user_id\":\"" NEW_BSUID "\","            \
           "\"previous_user_id\":\"" BSUID "\",\"type\":\"user_changed_user_id\"")
#define ID_CHANGE_IN_BODY(NAME, BSUID, NEW_BSUID)                                                  \
    SYSTEM("\"body\":\"User " NAME " changed from " BSUID " to " NEW_BSUID                         \
           "\",\"user_id\":\"" NEW_BSUID "\",\"type\":\"user_changed_user_id\"")
#define ID_UPDATE_FIELD(PHONE, BSUID, NEW_BSUID)                                                   \
    VALUE("user_id_update", "\"contacts\":[{\"profile\":{\"name\":\"Ann\"},\"wa_id\":\"" PHONE     \
                            "\"}],\"user_id_update\":[{\"wa_id\":\"" PHONE "\",\"user_id\":{"      \
                            "\"previous\":\"" BSUID "\",\"current\":\"" NEW_BSUID "\"},"           \
                            "\"timestamp\":\"1780000000\"}]")
#define LEGACY_CHANGE(PHONE, KEY, NEW_PHONE, TIME)                                                 \
    VALUE("messages", "\"messages\":[{\"from\":\"" PHONE "\",\"id\":\"wamid." PHONE NEW_PHONE      \
                      "\",\"timestamp\":\"" TIME "\",\"type\":\"system\",\"system\":{\"body\":"    \
                      "\"Ann changed from " PHONE " to " NEW_PHONE "\",\"" KEY "\":\"" NEW_PHONE   \
                      "\",\"type\":\"user_changed_number\"}}]")

#define BEFORE "1780000000" /* in seconds; the payload arrives at 1790000000 */
#define AFTER  "1790000001"

#define P1     "15550000001"
#define P2     "15550000002"
#define P3     "15550000003"
#define B1     "US.1001"
#define B2     "US.1002"
#define B3     "US.1003"
#define B9     "US.1009"
#define PARENT "US.ENT.77"

/* Events that may arrive in any order, and the contacts after all of them. At the end each person
 * has one thread, and each message is in one of the threads. */
struct scenario {
    const char *name;
    const char *events[MOST_EVENTS];
    struct person {
        const char *phone, *bsuid; /* "?": any or none; NULL: none */
    } people[MOST_PEOPLE];
    size_t messages;
};

static const struct scenario any_order[] = {
    {"a phone, a BSUID, and a payload that carries both",
     {BY_PHONE("a", P1), BY_BSUID("b", B1), BY_BOTH("c", P1, B1)},
     {{P1, B1}},
     3},
    {"a status that carries both",
     {BY_PHONE("a", P1), BY_BSUID("b", B1), STATUS("c", P1, B1), BY_PHONE("d", P1)},
     {{P1, B1}},
     4},
    {"number change with previous_user_id",
     {BY_BOTH("a", P1, B1), BY_PHONE("b", P1), BY_BSUID("c", B1), NUMBER_CHANGE(P1, B1, P2, B2),
      BY_BOTH("d", P2, B2), BY_BSUID("e", B2)},
     {{P2, B2}},
     5},
    {"number change between contacts that each have one of the identities",
     {BY_PHONE("a", P1), BY_BSUID("b", B1), NUMBER_CHANGE(P1, B1, P2, B2), BY_PHONE("c", P2),
      BY_BSUID("d", B2)},
     {{P2, B2}},
     4},
    {"id change with previous_user_id",
     {BY_BOTH("a", P1, B1), BY_BSUID("b", B1), ID_CHANGE(B1, B2), BY_BOTH("c", P2, B2),
      BY_BSUID("d", B2)},
     {{P2, B2}},
     4},
    {"id change in the body alone",
     {BY_BOTH("a", P1, B1), BY_BSUID("b", B1), ID_CHANGE_IN_BODY("Ann", B1, B2),
      BY_BOTH("c", P2, B2), BY_BSUID("d", B2)},
     {{P2, B2}},
     4},
    {"id change of one phone in a field of its own",
     {BY_BOTH("a", P1, B1), BY_BSUID("b", B1), ID_UPDATE_FIELD(P1, B1, B2), BY_BOTH("c", P1, B2),
      BY_BSUID("d", B2), BY_PHONE("e", P1)},
     {{P1, B2}},
     5},
    {"number change without user ids",
     {BY_PHONE("a", P1), LEGACY_CHANGE(P1, "wa_id", P2, BEFORE), BY_PHONE("b", P2)},
     {{P2, NULL}},
     2},
    {"number change with the oldest key",
     {BY_PHONE("a", P1), LEGACY_CHANGE(P1, "new_wa_id", P2, BEFORE), BY_PHONE("b", P2)},
     {{P2, NULL}},
     2},
    {"two changes one after the other",
     {BY_BOTH("a", P1, B1), NUMBER_CHANGE(P1, B1, P2, B2), BY_BOTH("b", P2, B2),
      NUMBER_CHANGE(P2, B2, P3, B3), BY_BOTH("c", P3, B3)},
     {{P3, B3}},
     3},
    {"two changes without user ids",
     {BY_PHONE("a", P1), LEGACY_CHANGE(P1, "wa_id", P2, BEFORE),
      LEGACY_CHANGE(P2, "wa_id", P3, BEFORE), BY_PHONE("b", P3)},
     {{P3, NULL}},
     2},
    {"a change in two formats",
     {BY_BOTH("a", P1, B1), NUMBER_CHANGE(P1, B1, P2, B2), ID_CHANGE_IN_BODY("Ann", B1, B2),
      BY_BOTH("b", P2, B2)},
     {{P2, B2}},
     2},
    {"BSUIDs of one parent",
     {WITH_PARENT("a", B1, PARENT), WITH_PARENT("b", B2, PARENT), BY_BSUID("c", PARENT)},
     {{NULL, "?"}},
     3},
    {"a recycled phone is another person's",
     {BY_BOTH("a", P1, B1), BY_BOTH("b", P1, B9)},
     {{"?", B1}, {"?", B9}},
     2},
    {"a phone that was left and recycled",
     {BY_BOTH("a", P1, B1), NUMBER_CHANGE(P1, B1, P2, B2), BY_BOTH("b", P2, B2),
      BY_BOTH("c", P1, B9)},
     {{P2, B2}, {"?", B9}},
     3},
    {0},
};

/* Events that are tested only in this order. */
static const struct scenario one_order[] = {
    {"a number change without user ids, then the BSUID of the new number",
     {BY_BOTH("a", P1, B1), LEGACY_CHANGE(P1, "wa_id", P2, BEFORE), BY_BOTH("b", P2, B2)},
     {{P2, B2}},
     2},
    {"the same with a BSUID that stays",
     {BY_BOTH("a", P1, B1), LEGACY_CHANGE(P1, "wa_id", P2, BEFORE), BY_BOTH("b", P2, B1)},
     {{P2, B1}},
     2},
    {"a number left without user ids, then recycled",
     {BY_PHONE("a", P1), LEGACY_CHANGE(P1, "wa_id", P2, BEFORE), BY_BOTH_AT(AFTER, "b", P1, B9)},
     {{P2, NULL}, {P1, B9}},
     2},
    {"a number change without user ids to a number that its owner has left",
     {BY_PHONE("a", P2), LEGACY_CHANGE(P2, "wa_id", P3, BEFORE), BY_PHONE("b", P1),
      LEGACY_CHANGE(P1, "wa_id", P2, AFTER), BY_PHONE("c", P2), BY_PHONE("d", P3)},
     {{P2, NULL}, {P3, NULL}},
     4},
    {"a number change without user ids to another contact's number",
     {BY_BOTH("a", P2, B9), BY_BOTH("b", P1, B1), LEGACY_CHANGE(P1, "wa_id", P2, AFTER)},
     {{P2, B1}, {NULL, B9}},
     2},
    {"a new number that is recycled later",
     {BY_BOTH("a", P1, B1), NUMBER_CHANGE(P1, B1, P2, B2), BY_BOTH("b", P2, B9)},
     {{NULL, B2}, {P2, B9}},
     2},
    {"back to the number before",
     {BY_BOTH("a", P1, B1), NUMBER_CHANGE(P1, B1, P2, B2), NUMBER_CHANGE_AT(AFTER, P2, B2, P1, B1),
      BY_BOTH_AT(AFTER, "b", P1, B1)},
     {{P1, B1}},
     2},
    {"another spelling of a phone stays an identity of its contact",
     {BY_BOTH("a", P1, B1), BY_BOTH("b", P2, B1), BY_PHONE("c", P1), BY_PHONE("d", P2)},
     {{P2, B1}},
     4},
    {"a late message from before the change does not undo it",
     {NUMBER_CHANGE(P1, B1, P2, B2), BY_BOTH("a", P2, B2), BY_BOTH("b", P1, B1)},
     {{P2, B2}},
     2},
    {"a name that looks like another person's BSUID",
     {BY_BSUID("a", B9), BY_BSUID("b", B1), ID_CHANGE_IN_BODY("US.1009", B1, B2)},
     {{NULL, B9}, {NULL, B2}},
     2},
    {"a parent BSUID with messages, and its contact",
     {BY_BSUID("a", PARENT), WITH_PARENT("b", B1, PARENT)},
     {{NULL, B1}},
     2},
    {0},
};

/* Ingests one payload with the events in the given order. */
static void take_events(const struct scenario *scenario, const size_t *order, size_t count) {
    struct buffer changes = buffer_in(&arena);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&changes, "%s%s", i ? "," : "", scenario->events[order[i]]);
    take(buffer_slice(&changes).p);
}

static bool is_expected(const char *expected, const char *found) {
    if (!expected || !found)
        return expected == found || (expected && *expected == '?');
    return *expected == '?' || strcmp(expected, found) == 0;
}

/* The order of the events and the contacts, as text for a failed check. */
static const char *describe(const size_t *order, size_t count, const struct contact *contacts,
                            size_t people) {
    struct buffer text = buffer_in(&arena);
    buffer_add_text(&text, "order");
    for (size_t i = 0; i < count; i++)
        buffer_printf(&text, " %zu", order[i] + 1);
    for (size_t i = 0; i < people; i++)
        buffer_printf(&text, "; %s/%s", contacts[i].phone ? contacts[i].phone : "none",
                      contacts[i].bsuid ? contacts[i].bsuid : "none");
    return buffer_slice(&text).p;
}

static const struct store_page all = {.limit = 1000000};

static void check_people(const struct scenario *scenario, const size_t *order, size_t count) {
    struct contact *contacts;
    struct message *messages;
    size_t people, expected = scenario->people[1].phone || scenario->people[1].bsuid ? 2 : 1,
                   sum = 0, n;
    enum store_result result = store_list_contacts(
        store, &arena, &(struct contact_filter){NULL, account_id, .limit = all.limit}, &contacts,
        &people);
    check(result == STORE_OK, "%s", store_reason(store));
    const char *found = describe(order, count, contacts, people);
    check(people == expected, "%s: %s", scenario->name, found);
    for (size_t i = 0; i < expected; i++) {
        bool is_there = false;
        for (size_t j = 0; j < people; j++)
            is_there |= is_expected(scenario->people[i].bsuid, contacts[j].bsuid) &&
                        is_expected(scenario->people[i].phone, contacts[j].phone);
        check(is_there, "%s: %s", scenario->name, found);
    }
    for (size_t i = 0; i < people; i++) {
        struct contact_thread *threads;
        result = store_list_contact_threads(store, &arena, WHOLE_VIEW(NULL), contacts[i].id,
                                            &threads, &n);
        check(result == STORE_OK && n == 1, "%s: %s", scenario->name, found);
        result = store_list_contact_messages(store, &arena, contacts[i].id, &all, &messages, &n);
        check(result == STORE_OK, "%s", store_reason(store));
        sum += n;
    }
    check(sum == scenario->messages, "%s: %zu messages, %s", scenario->name, sum, found);
}

static void play(const struct scenario *scenario, const size_t *order, size_t count) {
    make_account();
    take_events(scenario, order, count);
    check_people(scenario, order, count);
    arena_reset(&arena);
}

/* Plays every permutation of the first `n` elements of `order` (Heap's algorithm). */
static void play_all(const struct scenario *scenario, size_t *order, size_t n, size_t count) {
    static unsigned orders, stride;
    if (!stride)
        stride = getenv("TEST_DATABASE") && !getenv("TEST_FULL") ? SERVER_STRIDE : 1;
    if (n <= 1) {
        if (orders++ % stride == 0)
            play(scenario, order, count);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        play_all(scenario, order, n - 1, count);
        size_t other = n % 2 ? 0 : i, kept = order[other];
        order[other] = order[n - 1];
        order[n - 1] = kept;
    }
}

static size_t event_count(const struct scenario *scenario) {
    size_t n = 0;
    while (n < MOST_EVENTS && scenario->events[n])
        n++;
    return n;
}

int main(void) {
    open_state();
    for (const struct scenario *s = any_order; s->name; s++) {
        size_t order[MOST_EVENTS] = {0, 1, 2, 3, 4, 5, 6};
        play_all(s, order, event_count(s), event_count(s));
    }
    for (const struct scenario *s = one_order; s->name; s++) {
        size_t order[MOST_EVENTS] = {0, 1, 2, 3, 4, 5, 6};
        play(s, order, event_count(s));
    }
    close_state();
    return check_failures();
}
