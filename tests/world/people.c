/* The people of a world: who has which number, what they write, and what the platform reports of
 * it, in one of its forms. What a report says is of its timestamp, however late it comes. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "world.h"

enum { MOST_PEOPLE = 12, NUMBERS = 8, NO_ONE = -1 };

/* Where the platform's webhooks name user ids. */
enum form {
    WITH_IDS,    /* everywhere: the present form */
    IN_MESSAGES, /* in messages and statuses; changes of numbers are without them */
    ONLY_PHONES, /* nowhere */
    FORMS
};

enum written_kind { MESSAGE, HISTORY, STATUS };

/* What the platform reports of a message of a person, or of one to the person from elsewhere. */
struct written {
    enum written_kind kind;
    int person;
    int64_t at; /* of the world */
    const char *wamid, *text;
};

static struct {
    enum form form;
    bool is_undecided; /* a change without user ids may be of either of two people */
    struct {
        int number; /* NO_ONE: none */
        int user_id;
    } people[MOST_PEOPLE];
    int count, user_ids, numbers;
    int owner[NUMBERS];          /* the present one; NO_ONE: it has none */
    bool is_left[NUMBERS];       /* its last owner was reported to have left it, or it had none */
    bool is_shown[NUMBERS];      /* a report has shown it with its present owner */
    int64_t busy_until[NUMBERS]; /* s: statuses of a send to it have timestamps until then */
    int64_t last;                /* s: of what happened last */
    unsigned lateness;           /* of 20 reports, so many are late */
    bool have_moved;             /* the numbers or user ids of people have changed */
    struct written written[4 * ACTS];
    size_t written_count;
} all;

static void take_number(int person, int number) {
    all.people[person].number = number;
    all.people[person].user_id = ++all.user_ids;
    all.owner[number] = person;
    all.is_left[number] = false;
    all.is_shown[number] = false;
}

static const char *phone_of(int number) {
    return world_print("15552000%03d", number);
}

static const char *user_id_of(int user_id) {
    return world_print("US.%d", 1000 + user_id);
}

static int number_of(const char *phone) {
    for (int i = 0; i < all.numbers; i++)
        if (strcmp(phone_of(i), phone + (*phone == '+')) == 0)
            return i;
    return NO_ONE;
}

static int any_person(uint64_t *random) {
    for (int tries = 0; tries < 20; tries++) {
        const int person = (int)random_below(random, (unsigned)all.count);
        if (all.people[person].number != NO_ONE)
            return person;
    }
    return NO_ONE;
}

const char *people_phone(uint64_t *random) {
    const int person = any_person(random);
    return phone_of(person == NO_ONE ? 0 : all.people[person].number);
}

bool people_have_moved(void) {
    return all.have_moved;
}

const char *people_receive(const char *phone, int64_t until) {
    const int number = number_of(phone);
    if (number == NO_ONE || all.owner[number] == NO_ONE)
        return NULL;
    if (all.busy_until[number] < until)
        all.busy_until[number] = until;
    return all.form == ONLY_PHONES ? ""
                                   : world_print(",\"recipient_user_id\":\"%s\"",
                                                 user_id_of(all.people[all.owner[number]].user_id));
}

/* --- what the platform reports --- */

/* The platform's timestamps are seconds: two things that happen have two of them. */
static int64_t next_second(void) {
    const int64_t wait = all.last + 2 - world_clock() / 1000;
    if (wait > 0)
        world_shared->now += wait * SECOND;
    all.last = world_clock() / 1000;
    return all.last;
}

/* Most reports come at once; some an hour or a day later. */
static int64_t delay(uint64_t *random) {
    if (random_below(random, 20) >= all.lateness)
        return random_below(random, 3000) * (SECOND / 1000);
    return random_below(random, random_chance(random, 30) ? 24 * 3600 : 3600) * SECOND;
}

/* A member of an object, followed by a comma; "" without a value. */
static const char *member(const char *name, const char *value) {
    return *value ? world_print("\"%s\":\"%s\",", name, value) : "";
}

/* The person writes, or gets a message from elsewhere of which only a status reports. */
static void write_message(int person, bool shows_both, uint64_t *random) {
    const int64_t at = next_second();
    struct written *written = &all.written[all.written_count];
    const unsigned kind = random_below(random, 8), shown = random_below(random, 6);
    const bool has_id = all.form != ONLY_PHONES && (shows_both || all.form != WITH_IDS || shown);
    const bool has_phone = shows_both || !has_id || shown > 2;
    const char *phone = has_phone ? phone_of(all.people[person].number) : "";
    const char *id = has_id ? user_id_of(all.people[person].user_id) : "";
    *written = (struct written){.kind = kind == 0   ? HISTORY
                                        : kind == 1 ? STATUS
                                                    : MESSAGE,
                                .person = person,
                                .at = world_now(),
                                .wamid = world_print("wamid.in.%zu", all.written_count),
                                .text = world_print("in-%zu", all.written_count)};
    all.written_count++;
    all.is_shown[all.people[person].number] |= has_phone;
    const char *message = world_print("\"id\":\"%s\",\"timestamp\":\"%" PRId64
                                      "\",\"type\":\"text\",\"text\":{\"body\":\"%s\"}",
                                      written->wamid, at, written->text);
    if (written->kind == HISTORY)
        platform_report("history",
                        world_print("\"history\":[{\"metadata\":{\"phase\":1},\"threads\":[{\"id\":"
                                    "\"%s\",\"context\":{%s%s\"username\":\"p%d\"},\"messages\":"
                                    "[{\"from\":\"%s\",%s}]}]}]",
                                    *phone ? phone : id, member("wa_id", phone),
                                    member("user_id", id), person, *phone ? phone : id, message),
                        random, delay(random));
    else if (written->kind == STATUS)
        platform_report("messages",
                        world_print("\"statuses\":[{%s%s\"id\":\"%s\",\"status\":\"sent\","
                                    "\"timestamp\":\"%" PRId64 "\"}]",
                                    member("recipient_id", phone), member("recipient_user_id", id),
                                    written->wamid, at),
                        random, delay(random));
    else
        platform_report("messages",
                        world_print("\"contacts\":[{%s%s\"profile\":{\"name\":\"Person %d\"}}],"
                                    "\"messages\":[{%s%s%s}]",
                                    member("wa_id", phone), member("user_id", id), person,
                                    member("from", phone), member("from_user_id", id), message),
                        random, delay(random));
}

/* The platform reports that the person's number, or the user id alone, has changed. */
static void report_change(int number, int user_id, int new_number, int new_user_id,
                          uint64_t *random) {
    const bool is_number = new_number != NO_ONE;
    const bool has_before = all.form == WITH_IDS && (is_number || random_chance(random, 50));
    const int64_t at = next_second();
    platform_report(
        "messages",
        world_print(
            "\"messages\":[{%s\"id\":\"wamid.system.%" PRId64 "\",\"timestamp\":\"%" PRId64
            "\",\"type\":\"system\",\"system\":{%s%s%s\"type\":\"%s\",\"body\":"
            "\"User Ann changed from %s to %s\"}}]",
            number == NO_ONE ? "" : member("from", phone_of(number)), at, at,
            is_number
                ? member(random_chance(random, 33) ? "new_wa_id" : "wa_id", phone_of(new_number))
                : "",
            all.form == WITH_IDS || !is_number ? member("user_id", user_id_of(new_user_id)) : "",
            has_before ? member("previous_user_id", user_id_of(user_id)) : "",
            is_number ? "user_changed_number" : "user_changed_user_id",
            is_number ? phone_of(number) : user_id_of(user_id),
            is_number ? phone_of(new_number) : user_id_of(new_user_id)),
        random, delay(random));
}

void people_begin(void) {
    uint64_t random = random_of(world.seed, 7);
    memset(&all, 0, sizeof all);
    all.form = (enum form)(world.seed % FORMS);
    all.count = 2 + (int)random_below(&random, 4);
    all.numbers = all.count + 1 + (int)random_below(&random, 2);
    all.lateness = world.is_calm ? 0 : random_chance(&random, 50) ? 3 : random_below(&random, 20);
    for (int i = 0; i < NUMBERS; i++) {
        all.owner[i] = NO_ONE;
        all.is_left[i] = true;
    }
    for (int i = 0; i < all.count; i++)
        take_number(i, i);
    /* of an exchange with a person who was never shown nothing can be known */
    for (int i = 0; i < all.count; i++)
        write_message(i, true, &random);
}

/* --- what happens --- */

static bool is_busy(int number) {
    return all.busy_until[number] >= world_clock() / 1000;
}

/* A number that the gateway can know to be free: without user ids, one whose owner was reported to
 * have left it. */
static int free_number(uint64_t *random) {
    for (int tries = 0; tries < 20; tries++) {
        const int number = (int)random_below(random, (unsigned)all.numbers);
        if (all.owner[number] == NO_ONE && !is_busy(number) &&
            (all.form != ONLY_PHONES || all.is_left[number]))
            return number;
    }
    return NO_ONE;
}

static void move_to(int person, int number, uint64_t *random) {
    const int old = all.people[person].number, old_id = all.people[person].user_id;
    /* its former owner, who gave it up, may report any later change from it */
    all.is_undecided |= all.form == IN_MESSAGES && !all.is_left[number];
    all.owner[old] = NO_ONE;
    all.is_left[old] = true;
    take_number(person, number);
    report_change(old, old_id, number, all.people[person].user_id, random);
    write_message(person, true, random);
}

/* The person takes a number that another one has, who takes that of the person. */
static void exchange(int person, int other, uint64_t *random) {
    const int a = all.people[person].number, b = all.people[other].number;
    const int id_a = all.people[person].user_id, id_b = all.people[other].user_id;
    all.is_undecided |= all.form != WITH_IDS;
    take_number(person, b);
    report_change(a, id_a, b, all.people[person].user_id, random);
    take_number(other, a);
    report_change(b, id_b, a, all.people[other].user_id, random);
    write_message(person, true, random);
    write_message(other, true, random);
}

/* A person who was not there before takes the number. */
static void arrive(int number, uint64_t *random) {
    take_number(all.count++, number);
    write_message(all.count - 1, true, random);
}

/* The person gives up the number without a report. */
static void give_up(int person, uint64_t *random) {
    const int number = all.people[person].number;
    if (all.form == ONLY_PHONES || all.count == MOST_PEOPLE)
        return;
    all.owner[number] = NO_ONE;
    all.people[person].number = NO_ONE;
    if (random_chance(random, 75))
        arrive(number, random);
}

static void rotate(int person, uint64_t *random) {
    const int old = all.people[person].user_id;
    if (all.form == ONLY_PHONES)
        return;
    all.people[person].user_id = ++all.user_ids;
    report_change(NO_ONE, old, NO_ONE, all.people[person].user_id, random);
    write_message(person, true, random);
}

void people_write(const struct act *act) {
    uint64_t random = act->random;
    const int person = any_person(&random);
    if (person != NO_ONE)
        write_message(person, false, &random);
}

void people_show(const char *phone, uint64_t random) {
    write_message(all.owner[number_of(phone)], true, &random);
}

void people_write_crowd(const struct act *act) {
    uint64_t random = act->random;
    const int64_t at = next_second();
    platform_report_crowd(
        world_print("\"messages\":[{\"from\":\"15559000000\",\"id\":\"wamid.crowd.%" PRId64
                    "\",\"timestamp\":\"%" PRId64
                    "\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}]",
                    at, at),
        &random);
}

void people_move(const struct act *act) {
    uint64_t random = act->random;
    const int person = any_person(&random), other = any_person(&random);
    const int number = free_number(&random);
    const unsigned kind = random_below(&random, 7);
    if (person == NO_ONE || is_busy(all.people[person].number) || is_busy(all.people[other].number))
        return;
    all.have_moved = true;
    if (kind <= 1 && number != NO_ONE)
        move_to(person, number, &random);
    else if (kind <= 3 && other != person)
        exchange(person, other, &random);
    else if (kind == 4)
        give_up(person, &random);
    else if (kind == 5)
        rotate(person, &random);
    else if (number != NO_ONE && all.count < MOST_PEOPLE)
        arrive(number, &random);
}

/* --- the end --- */

enum { CONTACTS = 256 };

/* The gateway's contacts: of each the people of its messages, and the number that it has. */
static struct {
    const char *id[CONTACTS];
    unsigned people[CONTACTS];
    int holder[NUMBERS]; /* of each number; NO_ONE: no contact has it */
    size_t count;
    size_t messages[4 * ACTS]; /* with the id of each that was written */
} found;

static size_t contact_of(const char *id) {
    size_t i = 0;
    while (i < found.count && strcmp(found.id[i], id) != 0)
        i++;
    if (i == CONTACTS)
        world_violate("there are more than %zu contacts", i);
    else if (i == found.count)
        found.id[found.count++] = world_print("%s", id);
    return i % CONTACTS;
}

static void take_message(sqlite3_stmt *row) {
    size_t number;
    const size_t contact = contact_of((const char *)sqlite3_column_text(row, 1));
    if (sscanf((const char *)sqlite3_column_text(row, 0), "wamid.in.%zu", &number) != 1)
        return;
    const struct written *written = &all.written[number];
    const char *text = (const char *)sqlite3_column_text(row, 2);
    found.messages[number]++;
    found.people[contact] |= 1U << written->person;
    if (written->kind != STATUS && (!text || strcmp(text, written->text) != 0))
        world_violate("%s: its webhook was answered with 200, and it is stored without its text",
                      written->wamid);
}

static void take_contact(sqlite3_stmt *row) {
    const int number = number_of((const char *)sqlite3_column_text(row, 1));
    if (number != NO_ONE)
        found.holder[number] = (int)contact_of((const char *)sqlite3_column_text(row, 0));
}

/* Each number that has an owner is that of the contact with the owner's messages. */
static void check_owners(void) {
    for (int number = 0; number < all.numbers; number++) {
        const int owner = all.owner[number], holder = found.holder[number];
        if (owner == NO_ONE || !all.is_shown[number])
            continue;
        if (world.retains && (holder == NO_ONE || !found.people[holder]))
            continue; /* its messages, or it too, are older than they are kept */
        if (holder == NO_ONE)
            world_violate("the number %s of person %d is of no contact", phone_of(number), owner);
        else if (!(found.people[holder] >> owner & 1))
            world_violate("the number %s of person %d is of the contact %s, with the people %x",
                          phone_of(number), owner, found.id[holder], found.people[holder]);
    }
}

/* Stored once, unless the person was erased. */
static void check_written(const struct written *written, size_t count) {
    const int number = all.people[written->person].number;
    const enum fate fate =
        erasures_fate(number == NO_ONE ? "" : phone_of(number), written->wamid, written->at);
    if (fate == IS_ERASED ? count != 0 : count != 1 && !(fate == MAY_BE_ERASED && count == 0))
        world_violate("%s: its webhook was answered with 200, %s%zu messages are stored",
                      written->wamid, fate == IS_ERASED ? "its person was erased, and " : "and ",
                      count);
}

/* No contact has messages of two people. Each person has one contact, unless a change without user
 * ids may be of either of two people: then nothing can decide it. */
void people_check(void) {
    memset(&found, 0, sizeof found);
    memset(found.holder, NO_ONE, sizeof found.holder);
    gateway_rows("SELECT m.wamid, t.contact_id, " TEXT_OF_MESSAGE
                 " FROM message m JOIN thread t ON t.id = m.thread_id",
                 take_message);
    gateway_rows("SELECT id, phone FROM contact WHERE phone IS NOT NULL", take_contact);
    for (size_t i = 0; i < all.written_count; i++)
        check_written(&all.written[i], found.messages[i]);
    for (size_t i = 0; i < found.count; i++)
        if (found.people[i] & (found.people[i] - 1))
            world_violate("contact %s has messages of two people: %x", found.id[i],
                          found.people[i]);
    for (int person = 0; person < all.count && !all.is_undecided; person++) {
        size_t contacts = 0;
        for (size_t i = 0; i < found.count; i++)
            contacts += found.people[i] >> person & 1;
        if (contacts > 1)
            world_violate("the messages of person %d are of %zu contacts", person, contacts);
    }
    if (!all.is_undecided)
        check_owners();
}
