/* Worlds of people who write, change numbers and give them up, and what the platform reports of it,
 * delivered in random orders and with real delays (lib/store/ingest/grouping.h). After all payloads
 * no contact has messages of two people, each number is with its last owner, each person whom the
 * payloads identify has one contact, and each order has led to the same contacts.
 *
 * The worlds are random, from a seed: SEED=N plays the worlds from number N on, ORDERS=N sets how
 * many orders are tried. A failure prints the number of the world, its events and the order. */
#include <inttypes.h>

#include "account_line.h"
#include "store/block.h"
#include "store/inbox.h"

enum { MOST_PEOPLE = 5, MOST_NUMBERS = 6, MOST_EVENTS = 64 };
enum { ORDERS_OF_WORLD = 10, WORLDS_OF_DATABASE = 10 };
enum { NO_ONE = -1 };

/* What the payloads of a world have. */
enum form {
    WITH_IDS,    /* user ids in messages and in changes: the platform's present form */
    ONLY_PHONES, /* no user ids at all */
    IN_MESSAGES, /* user ids in messages; changes of numbers without them */
    FORMS
};

struct event {
    char json[900];
    int64_t at;          /* seconds */
    int person;          /* whose message it is; NO_ONE: it is no message */
    char recipient[160]; /* of a status: the members that name the message and its recipient */
    size_t sent;         /* of a status `read`: the event of the status before it */
};

struct world {
    uint64_t number, random;
    enum form form;
    bool is_undecided; /* a change without user ids may be of either of two people */
    int64_t time;
    size_t event_count;
    struct event events[MOST_EVENTS];
    struct {
        int number;  /* NO_ONE: none */
        int user_id; /* of this person with this number */
        bool has_written;
    } people[MOST_PEOPLE];
    int people_count, user_ids, numbers, messages;
    int owner[MOST_NUMBERS];    /* the present one; NO_ONE: it has none */
    bool is_left[MOST_NUMBERS]; /* its last owner was reported to have left it */
};

static struct world world;
static size_t orders_tried, people_mixed, wrong_owners, people_in_two, states_that_differ,
    repetitions_that_changed, blocks_of_others;

static unsigned below(unsigned n) {
    world.random = world.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((world.random >> 33) % n);
}

/* --- what happens --- */

static const char *phone_of(int number) {
    return arena_printf(&arena, "1555%07d", number);
}

static const char *bsuid_of(int user_id) {
    return arena_printf(&arena, "US.%d", 1000 + user_id);
}

static struct event *add_event(int person) {
    struct event *event = &world.events[world.event_count++];
    world.time += 60 + below(below(2) ? 600 : 90000);
    event->at = world.time;
    event->person = person;
    return event;
}

static bool is_full(void) {
    return world.event_count + 4 > MOST_EVENTS;
}

enum shown { BOTH, PHONE, USER_ID };

/* The person writes, or gets a message from elsewhere, of which a status reports. */
static void write_message(int person, enum shown shown) {
    struct event *event = add_event(person);
    const char *phone = phone_of(world.people[person].number);
    const char *id = bsuid_of(world.people[person].user_id);
    const bool has_phone = shown != USER_ID || world.form == ONLY_PHONES;
    const bool has_id = shown != PHONE && world.form != ONLY_PHONES;
    struct buffer text = buffer_in(&arena);
    const unsigned kind = below(8);
    const int number = world.messages++;
    const char *wamid = arena_printf(&arena, "w.%d.%d", person, number);
    world.people[person].has_written = true;
    if (kind == 0) {
        buffer_printf(
            &text,
            "{\"field\":\"history\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},"
            "\"history\":[{\"metadata\":{\"phase\":1},\"threads\":[{\"id\":\"%s\","
            "\"context\":{%s%s%s%s%s%s%s},\"messages\":[{\"from\":\"%s\",\"id\":\"%s\","
            "\"timestamp\":\"%" PRId64 "\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}]}]}]}}",
            has_phone ? phone : id, has_phone ? "\"wa_id\":\"" : "", has_phone ? phone : "",
            has_phone ? "\"" : "", has_phone && has_id ? "," : "", has_id ? "\"user_id\":\"" : "",
            has_id ? id : "", has_id ? "\"" : "", has_phone ? phone : id, wamid, event->at);
    } else if (kind <= 2) {
        buffer_printf(&text,
                      "{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},"
                      "\"statuses\":[{\"status\":\"%s\",\"timestamp\":\"%" PRId64 "\",",
                      below(2) ? "sent" : "delivered", event->at);
        snprintf(event->recipient, sizeof event->recipient, "\"id\":\"%s\"%s%s%s%s%s%s}]}}", wamid,
                 has_phone ? ",\"recipient_id\":\"" : "", has_phone ? phone : "",
                 has_phone ? "\"" : "", has_id ? ",\"recipient_user_id\":\"" : "", has_id ? id : "",
                 has_id ? "\"" : "");
        buffer_add_text(&text, event->recipient);
    } else {
        buffer_printf(&text,
                      "{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},"
                      "\"messages\":[{\"id\":\"%s\",\"timestamp\":\"%" PRId64
                      "\",\"type\":\"text\",\"text\":{\"body\":\"x\"}",
                      wamid, event->at);
        if (has_phone)
            buffer_printf(&text, ",\"from\":\"%s\"", phone);
        if (has_id)
            buffer_printf(&text, ",\"from_user_id\":\"%s\"", id);
        buffer_add_text(&text, "}]}}");
    }
    snprintf(event->json, sizeof event->json, "%s", buffer_slice(&text).p);
}

/* A message that was sent before is read now: another person may have the number of its recipient.
 */
static void read_message(void) {
    for (size_t i = world.event_count; i-- > 0;) {
        if (!*world.events[i].recipient || below(3) == 0)
            continue;
        struct event *event = add_event(NO_ONE);
        event->sent = i;
        snprintf(event->json, sizeof event->json,
                 "{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},"
                 "\"statuses\":[{\"status\":\"read\",\"timestamp\":\"%" PRId64 "\",%s",
                 event->at, world.events[i].recipient);
        return;
    }
}

/* The platform reports the change in one of its forms. */
static void report_change(int number, int user_id, int new_number, int new_user_id) {
    struct event *event = add_event(NO_ONE);
    struct buffer text = buffer_in(&arena);
    buffer_printf(&text,
                  "{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},"
                  "\"messages\":[{\"id\":\"w.system.%zu\",\"timestamp\":\"%" PRId64
                  "\",\"type\":\"system\"",
                  world.event_count, event->at);
    if (number != NO_ONE)
        buffer_printf(&text, ",\"from\":\"%s\"", phone_of(number));
    buffer_printf(&text, ",\"system\":{\"body\":\"User Ann changed from %s to %s\"",
                  bsuid_of(user_id), bsuid_of(new_user_id));
    if (new_number != NO_ONE)
        buffer_printf(&text, ",\"%s\":\"%s\"", below(3) ? "wa_id" : "new_wa_id",
                      phone_of(new_number));
    if (world.form == WITH_IDS || new_number == NO_ONE)
        buffer_printf(&text, ",\"user_id\":\"%s\"", bsuid_of(new_user_id));
    if (world.form == WITH_IDS && (new_number != NO_ONE || below(2)))
        buffer_printf(&text, ",\"previous_user_id\":\"%s\"", bsuid_of(user_id));
    buffer_printf(&text, ",\"type\":\"%s\"}}]}}",
                  new_number == NO_ONE ? "user_changed_user_id" : "user_changed_number");
    snprintf(event->json, sizeof event->json, "%s", buffer_slice(&text).p);
}

/* The person has the number now, and writes from it. */
static void take_number(int person, int number) {
    world.people[person].number = number;
    world.people[person].user_id = ++world.user_ids;
    world.owner[number] = person;
    world.is_left[number] = false;
}

static int free_number(void) {
    for (int tries = 0; tries < 20; tries++) {
        const int number = (int)below((unsigned)world.numbers);
        if (world.owner[number] == NO_ONE && (world.form != ONLY_PHONES || world.is_left[number]))
            return number;
    }
    return NO_ONE;
}

static void move_to(int person, int number) {
    const int old = world.people[person].number, old_id = world.people[person].user_id;
    /* its former owner, who gave it up, may report any later change from it */
    world.is_undecided |= world.form == IN_MESSAGES && !world.is_left[number];
    world.owner[old] = NO_ONE;
    world.is_left[old] = true;
    take_number(person, number);
    report_change(old, old_id, number, world.people[person].user_id);
    write_message(person, BOTH);
}

/* The person takes a number that another one has, who takes that of the person. */
static void exchange(int person, int other) {
    const int a = world.people[person].number, b = world.people[other].number;
    const int id_a = world.people[person].user_id, id_b = world.people[other].user_id;
    world.is_undecided |= world.form != WITH_IDS;
    take_number(person, b);
    report_change(a, id_a, b, world.people[person].user_id);
    take_number(other, a);
    report_change(b, id_b, a, world.people[other].user_id);
    write_message(person, BOTH);
    write_message(other, BOTH);
}

/* The person gives up the number without a report; a new person may take it. */
static void give_up(int person) {
    const int number = world.people[person].number;
    if (world.form == ONLY_PHONES || world.people_count == MOST_PEOPLE)
        return;
    world.owner[number] = NO_ONE;
    world.people[person].number = NO_ONE;
    if (below(4)) {
        take_number(world.people_count++, number);
        write_message(world.people_count - 1, BOTH);
    }
}

static void rotate(int person) {
    const int old = world.people[person].user_id;
    if (world.form == ONLY_PHONES)
        return;
    world.people[person].user_id = ++world.user_ids;
    report_change(NO_ONE, old, NO_ONE, world.people[person].user_id);
    write_message(person, BOTH);
}

static int any_person(void) {
    for (int tries = 0; tries < 20; tries++) {
        const int person = (int)below((unsigned)world.people_count);
        if (world.people[person].number != NO_ONE)
            return person;
    }
    return NO_ONE;
}

static void happen(void) {
    const int person = any_person(), other = any_person(), number = free_number();
    if (person == NO_ONE)
        return;
    switch (below(10)) {
    case 0:
    case 1:
        if (number != NO_ONE)
            move_to(person, number);
        return;
    case 2:
        if (other != NO_ONE && other != person)
            exchange(person, other);
        return;
    case 3: give_up(person); return;
    case 4: rotate(person); return;
    case 6: read_message(); return;
    case 5:
        if (number != NO_ONE && world.people_count < MOST_PEOPLE) {
            take_number(world.people_count++, number);
            write_message(world.people_count - 1, BOTH);
        }
        return;
    default:
        write_message(person, below(3) == 0                             ? USER_ID
                              : below(4) == 0 && world.form == WITH_IDS ? PHONE
                                                                        : BOTH);
    }
}

static void make_world(uint64_t number) {
    static const int64_t starts[] = {1700000000, 1789000000, 1795000000}; /* `now` is 1790000000 */
    world = (struct world){.number = number, .random = number * 977 + 1};
    for (int i = 0; i < 8; i++)
        below(2);
    world.form = (enum form)(number % FORMS);
    world.time = starts[below(3)];
    world.people_count = 2 + (int)below(2);
    world.numbers = world.people_count + 1 + (int)below(2);
    for (int i = 0; i < MOST_NUMBERS; i++) {
        world.owner[i] = NO_ONE;
        world.is_left[i] = true;
    }
    for (int person = 0; person < world.people_count; person++) {
        take_number(person, person);
        write_message(person, BOTH);
    }
    for (unsigned left = 3 + below(8); left && !is_full(); left--)
        happen();
}

/* --- how it is delivered --- */

/* When each event is delivered, s. */
static void delay_events(unsigned order, int64_t due[MOST_EVENTS]) {
    for (size_t i = 0; i < world.event_count; i++) {
        const int64_t at = world.events[i].at;
        const bool is_history = strstr(world.events[i].json, "\"history\"") != NULL;
        const bool is_status = strstr(world.events[i].json, "\"statuses\"") != NULL;
        const int64_t hours = 3600 * (int64_t)below(48);
        due[i] = order == 0   ? at                                       /* the true order */
                 : order == 1 ? -at                                      /* the last one first */
                 : order == 2 ? at + (is_history ? INT64_C(9999999) : 0) /* history after all */
                 : order == 3 ? at + (is_status ? INT64_C(9999999) : 0)
                 : order == 4 ? at + (below(3) ? 0 : 3600 + hours) /* some are late */
                 : order == 5 ? at + hours
                              : (int64_t)below(1000000);
        /* only the status before it names the time of the send, which decides where the phone is
         * all that is known of the recipient */
        const bool is_read = strstr(world.events[i].json, "\"read\"") != NULL;
        const bool has_id = strstr(world.events[i].json, "recipient_user_id") != NULL;
        if (is_read && !has_id && due[i] < due[world.events[i].sent])
            due[i] = due[world.events[i].sent];
    }
}

static void sort_events(const int64_t due[MOST_EVENTS], size_t order[MOST_EVENTS]) {
    for (size_t i = 0; i < world.event_count; i++) {
        size_t place = i;
        for (; place > 0 && due[order[place - 1]] > due[i]; place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
}

static const char *block_someone(int person) {
    struct store_block block = {.phone_number_id = line_name, .now = now};
    if (world.form == ONLY_PHONES)
        return NULL;
    block.bsuid = bsuid_of(world.people[person].user_id);
    id_make(block.contact_id, "con_", now);
    check_ok(store_block_contact(store, &block));
    return block.bsuid;
}

/* Delivers the events, several in one payload. The person is blocked before one of them. */
static void deliver(const size_t order[MOST_EVENTS], int blocked) {
    const size_t moment = below((unsigned)world.event_count);
    for (size_t i = 0; i < world.event_count;) {
        struct buffer changes = buffer_in(&arena);
        const size_t end = i + 1 + (below(2) ? 0 : below(5));
        if (i <= moment && moment < end && blocked != NO_ONE)
            block_someone(blocked);
        for (size_t first = i; i < end && i < world.event_count; i++)
            buffer_printf(&changes, "%s%s", i > first ? "," : "", world.events[order[i]].json);
        take(buffer_slice(&changes).p);
    }
}

/* --- the contacts that it leads to --- */

static const struct store_page all = {.limit = 1000000};

struct found {
    struct contact *contacts;
    size_t count;
    unsigned *people;  /* of each contact: a bit for each person who has a message there */
    const char *state; /* all contacts and messages */
};

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *read_messages(const char *contact_id, unsigned *people) {
    struct message *messages;
    struct buffer text = buffer_in(&arena);
    size_t count = 0;
    check_ok(store_list_contact_messages(store, &arena, contact_id, &all, &messages, &count));
    const char **names = arena_alloc(&arena, (count + 1) * sizeof *names);
    *people = 0;
    for (size_t i = 0; i < count; i++) {
        *people |= 1U << strtoul(messages[i].wamid + 2, NULL, 10);
        names[i] = messages[i].wamid;
    }
    qsort(names, count, sizeof *names, compare_texts);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&text, " %s", names[i]);
    return count ? buffer_slice(&text).p : "";
}

static struct found read_contacts(void) {
    struct found found = {.count = 0};
    struct buffer state = buffer_in(&arena);
    check_ok(store_list_contacts(store, &arena,
                                 &(struct contact_filter){NULL, account_id, .limit = all.limit},
                                 &found.contacts, &found.count));
    const char **lines = arena_alloc(&arena, (found.count + 1) * sizeof *lines);
    found.people = arena_alloc(&arena, (found.count + 1) * sizeof *found.people);
    for (size_t i = 0; i < found.count; i++) {
        const struct contact *c = &found.contacts[i];
        const char *messages = read_messages(c->id, &found.people[i]);
        lines[i] = arena_printf(&arena, "%s/%s:%s\n", c->phone ? c->phone : "none",
                                c->bsuid ? c->bsuid : "none", messages);
    }
    qsort(lines, found.count, sizeof *lines, compare_texts);
    for (size_t i = 0; i < found.count; i++)
        buffer_add_text(&state, lines[i]);
    found.state = buffer_slice(&state).p;
    return found;
}

static size_t count_mixed(const struct found *found) {
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++)
        count += (found->people[i] & (found->people[i] - 1)) != 0;
    return count;
}

static size_t count_in_two(const struct found *found) {
    size_t count = 0;
    for (int person = 0; person < world.people_count; person++) {
        size_t contacts = 0;
        for (size_t i = 0; i < found->count; i++)
            contacts += (found->people[i] >> person) & 1;
        count += contacts != 1;
    }
    return count;
}

static size_t count_wrong_owners(const struct found *found) {
    size_t count = 0;
    for (int number = 0; number < world.numbers; number++) {
        const int owner = world.owner[number];
        size_t holder = found->count;
        for (size_t i = 0; i < found->count; i++)
            if (found->contacts[i].phone && strcmp(found->contacts[i].phone, phone_of(number)) == 0)
                holder = i;
        if (owner != NO_ONE)
            count += holder == found->count || !((found->people[holder] >> owner) & 1);
        else
            count += world.is_left[number] && holder < found->count;
    }
    return count;
}

/* Messages of others whose contact is blocked, and those of the person whose contact is not. */
static size_t count_wrong_blocks(const struct found *found, int blocked) {
    size_t count = 0;
    for (size_t i = 0; i < found->count && blocked != NO_ONE; i++) {
        const char *bsuid = found->contacts[i].bsuid;
        bool is_blocked = false;
        if (!bsuid || !found->people[i])
            continue;
        check_ok(store_is_blocked(store, line_id, account_id, NULL, bsuid, &is_blocked));
        const bool is_person = (found->people[i] >> blocked) & 1;
        count += is_blocked ? !is_person : is_person && !world.is_undecided;
    }
    return count;
}

static void describe(const char *what, const size_t order[MOST_EVENTS], const char *state,
                     const char *expected) {
    printf("world %" PRIu64 ", %s: form %d\norder:", world.number, what, (int)world.form);
    for (size_t i = 0; i < world.event_count; i++)
        printf(" %zu", order[i]);
    printf("\ncontacts:\n%sexpected:\n%sevents:\n", state, expected);
    for (size_t i = 0; i < world.event_count; i++)
        printf("%3zu %s\n", i, world.events[i].json);
}

static void repeat_all(const size_t order[MOST_EVENTS], const char *state) {
    for (size_t i = world.event_count; i-- > 0;)
        take(world.events[order[i]].json);
    const struct found found = read_contacts();
    if (strcmp(found.state, state) == 0)
        return;
    if (!repetitions_that_changed++)
        describe("a repetition changed it", order, found.state, state);
}

static void check_found(const struct found *found, const size_t order[MOST_EVENTS], int blocked,
                        const char *expected) {
    const size_t mixed = count_mixed(found), blocks = count_wrong_blocks(found, blocked);
    const size_t owners = world.is_undecided ? 0 : count_wrong_owners(found);
    const size_t in_two = world.is_undecided ? 0 : count_in_two(found);
    const bool differs = strcmp(found->state, expected) != 0;
    const char *what = mixed     ? "two people in one contact"
                       : owners  ? "a number with a wrong owner"
                       : in_two  ? "one person in two contacts"
                       : blocks  ? "a block of another person"
                       : differs ? "another state than in the true order"
                                 : NULL;
    if (what &&
        people_mixed + wrong_owners + people_in_two + blocks_of_others + states_that_differ < 3)
        describe(what, order, found->state, expected);
    people_mixed += mixed;
    wrong_owners += owners;
    people_in_two += in_two;
    blocks_of_others += blocks;
    states_that_differ += differs;
}

static void play(uint64_t number, size_t orders) {
    char expected[16384] = "";
    make_world(number);
    const int blocked = number % 4 ? NO_ONE : any_person();
    for (unsigned i = 0; i < orders; i++) {
        int64_t due[MOST_EVENTS];
        size_t order[MOST_EVENTS];
        make_account();
        delay_events(i, due);
        sort_events(due, order);
        deliver(order, blocked);
        const struct found found = read_contacts();
        if (i == 0)
            snprintf(expected, sizeof expected, "%s", found.state);
        check_found(&found, order, blocked, expected);
        if (i % 3 == 0)
            repeat_all(order, found.state);
        orders_tried++;
        arena_reset(&arena);
    }
}

/* A file in memory must not grow for long; a server has room. */
static void renew_database(void) {
    if (getenv("TEST_DATABASE"))
        return;
    close_state();
    open_state();
}

static size_t setting(const char *name, size_t usual) {
    const char *value = getenv(name);
    return value ? (size_t)strtoull(value, NULL, 10) : usual;
}

int main(void) {
    const size_t orders = setting("ORDERS", getenv("TEST_DATABASE") ? 100
                                            : getenv("TEST_FULL")   ? 20000
                                                                    : 500);
    open_state();
    for (uint64_t number = setting("SEED", 1); orders_tried < orders; number++) {
        if (number % WORLDS_OF_DATABASE == 0)
            renew_database();
        play(number,
             orders - orders_tried < ORDERS_OF_WORLD ? orders - orders_tried : ORDERS_OF_WORLD);
    }
    close_state();
    printf("orders tried %zu, people mixed %zu, numbers with the wrong owner %zu, people in two "
           "contacts %zu, orders with another result %zu, repetitions that changed it %zu, blocks "
           "of others %zu\n",
           orders_tried, people_mixed, wrong_owners, people_in_two, states_that_differ,
           repetitions_that_changed, blocks_of_others);
    check(orders_tried == orders, "%zu", orders_tried);
    check(people_mixed == 0, "%zu", people_mixed);
    check(wrong_owners == 0, "%zu", wrong_owners);
    check(people_in_two == 0, "%zu", people_in_two);
    check(states_that_differ == 0, "%zu", states_that_differ);
    check(repetitions_that_changed == 0, "%zu", repetitions_that_changed);
    check(blocks_of_others == 0, "%zu", blocks_of_others);
    return check_failures();
}
