#include "platform.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "listener.h"
#include "mail.h"
#include "world.h"

enum {
    STATUS_PACE_MS = 60, /* between payloads of statuses, at most */
    CALM = 8,            /* by this factor fewer when there were enough */
    SHUFFLE_MS = 600,    /* until the first attempt of a payload, at most */
    BACKLOG = 1500,      /* waiting payloads, beyond which none are made */
    STATUSES = 4096,     /* statuses that wait to be sent, at most */
    QUIET_MS = 1500,     /* without a status from the sandbox */
};

static int accepted, posted;

/* A thread's state for making payloads: its dice and the payload so far. */
struct maker {
    struct dice dice;
    struct arena arena;
    struct buffer body, lines;
    struct buffer own; /* the entries of user A */
    bool is_mixed;     /* there are others too */
    int messages;
    const char *name;
};

static unsigned roll(struct maker *maker, unsigned sides) {
    return throw_dice(&maker->dice, sides);
}

/* Adds a line for inbound.tsv: kind, line, id, person, whether it causes an event, status, body. */
static void add_line(struct maker *maker, const char *kind, const struct line *line, const char *id,
                     int person, bool is_event, const char *status, struct slice body) {
    char *hex = history_hex(body);
    if (maker->lines.n)
        buffer_add_char(&maker->lines, '\n');
    buffer_printf(&maker->lines, "%s\t%s\t%s\t%d\t%d\t%s\t%s", kind, line->phone_number_id, id,
                  person, is_event, status, hex);
    free(hex);
}

/* The identities in a message. */
enum identities { BOTH, PHONE_ALONE, BSUID_ALONE };

static const char *comma(const struct buffer *list) {
    return list->n ? "," : "";
}

static void add_identities(struct buffer *out, enum identities which, const char *phone_key,
                           const char *bsuid_key, int person) {
    char phone[NAME_SIZE], bsuid[NAME_SIZE];
    person_phone(person, phone);
    person_bsuid(person, bsuid);
    if (which != BSUID_ALONE)
        buffer_printf(out, "\"%s\":\"%s\",", phone_key, phone);
    if (which != PHONE_ALONE)
        buffer_printf(out, "\"%s\":\"%s\",", bsuid_key, bsuid);
}

static const char *content(struct maker *maker, bool *is_event) {
    static const char *const contents[] = {
        "\"type\":\"image\",\"image\":{\"id\":\"1100000000000001\",\"mime_type\":\"image\\/jpeg\"}",
        "\"type\":\"reaction\",\"reaction\":{\"message_id\":\"wamid.1\",\"emoji\":\"\\u2764\"}",
        "\"type\":\"text\",\"text\":{\"body\":\"ad\"},\"referral\":{\"source_id\":1e400}",
        "\"type\":\"unsupported\",\"errors\":[{\"code\":131051}]",
    };
    unsigned which = roll(maker, 16);
    *is_event = which != 3;
    return which < 4
               ? contents[which]
               : "\"type\":\"text\",\"text\":{\"body\":\"Gr\\u00fc\\u00dfe \\/ \u2603 1e400\"}";
}

static void add_message(struct maker *maker, const struct line *line, int person,
                        enum identities which, struct buffer *cards, struct buffer *messages) {
    struct buffer one = buffer_in(&maker->arena);
    char id[NAME_SIZE];
    bool is_event;
    snprintf(id, sizeof id, "wamid.in-%s-%d", maker->name, ++maker->messages);
    buffer_add_text(&one, "{");
    add_identities(&one, which, "from", "from_user_id", person);
    const char *what = content(maker, &is_event);
    buffer_printf(&one, "\"id\":\"%s\",\"timestamp\":\"%lld\",%s}", id,
                  (long long)history_now() / 1000, what);
    buffer_add_text(cards, comma(cards));
    buffer_add_text(cards, "{");
    add_identities(cards, which, "wa_id", "user_id", person);
    buffer_printf(cards, "\"profile\":{\"name\":\"Person %d\"}}", person);
    buffer_add_text(messages, comma(messages));
    buffer_add_slice(messages, buffer_slice(&one));
    add_line(maker, "message", line, id, person, is_event, "received", buffer_slice(&one));
}

static void add_change(struct buffer *changes, const struct line *line, const char *field,
                       struct buffer *cards, const char *array, struct buffer *elements) {
    buffer_printf(changes,
                  "%s{\"value\":{\"messaging_product\":\"whatsapp\",\"metadata\":{"
                  "\"display_phone_number\":\"15550100001\",\"phone_number_id\":\"%s\"},",
                  comma(changes), line->phone_number_id);
    if (cards)
        buffer_printf(changes, "\"contacts\":[%s],", cards->p);
    buffer_printf(changes, "\"%s\":[%s]},\"field\":\"%s\"}", array, elements->p, field);
}

static void add_messages(struct maker *maker, struct buffer *changes, int line_number) {
    struct buffer cards = buffer_in(&maker->arena), messages = buffer_in(&maker->arena);
    const struct line *line = &world.lines[line_number];
    for (unsigned n = 1 + roll(maker, 3); n; n--) {
        int person = (int)roll(maker, PEOPLE / LINES) * LINES + line_number;
        enum identities which = roll(maker, 3) ? BOTH : roll(maker, 2) ? PHONE_ALONE : BSUID_ALONE;
        add_message(maker, line, person, which, &cards, &messages);
    }
    add_change(changes, line, "messages", &cards, "messages", &messages);
}

static void add_id_change(struct maker *maker, struct buffer *changes, int line_number) {
    struct buffer element = buffer_in(&maker->arena);
    char phone[NAME_SIZE], before[NAME_SIZE], after[NAME_SIZE];
    int person = (int)roll(maker, PEOPLE / LINES) * LINES + line_number;
    person_phone(person, phone);
    person_change(person, before, after);
    buffer_printf(&element,
                  "{\"wa_id\":\"%s\",\"detail\":\"changed\",\"user_id\":{\"previous\":\"%s\","
                  "\"current\":\"%s\"},\"timestamp\":\"%lld\"}",
                  phone, before, after, (long long)history_now() / 1000);
    add_change(changes, &world.lines[line_number], "user_id_update", NULL, "user_id_update",
               &element);
    add_line(maker, "change", &world.lines[line_number], after, person, false, before,
             buffer_slice(&element));
}

static void add_entry(struct maker *maker, const struct line *line, const struct buffer *changes) {
    const char *entry =
        arena_printf(&maker->arena, "{\"id\":\"%s\",\"time\":%lld,\"changes\":[%s]}", line->waba_id,
                     (long long)history_now(), changes->p);
    const bool is_own = strcmp(line->user, "A") == 0;
    buffer_printf(&maker->body, "%s%s", comma(&maker->body), entry);
    if (is_own)
        buffer_printf(&maker->own, "%s%s", comma(&maker->own), entry);
    maker->is_mixed |= !is_own;
}

static void begin_payload(struct maker *maker) {
    arena_reset(&maker->arena);
    maker->body = buffer_in(&maker->arena);
    maker->lines = buffer_in(&maker->arena);
    maker->own = buffer_in(&maker->arena);
    maker->is_mixed = false;
}

/* Prints a payload with these entries, and white space at its end. */
static struct slice wrap(struct maker *maker, const struct buffer *entries, const char *space) {
    struct buffer whole = buffer_in(&maker->arena);
    buffer_printf(&whole, "{\"object\":\"whatsapp_business_account\",\"entry\":[%s]}%s", entries->p,
                  space);
    return buffer_slice(&whole);
}

/* Writes what user A's webhook is to get of the payload to posted.tsv. */
static void keep_forward(struct maker *maker) {
    if (!maker->own.n)
        return;
    char *hex = history_hex(wrap(maker, &maker->own, maker->is_mixed ? "" : " "));
    history_line(posted, "%s", hex);
    free(hex);
}

static void end_payload(struct maker *maker) {
    const struct slice whole = wrap(maker, &maker->body, " ");
    int64_t due = history_now() + roll(maker, SHUFFLE_MS);
    keep_forward(maker);
    const unsigned host = 1 + roll(maker, 1000);
    mail_add(whole, buffer_slice(&maker->lines), host, due);
    if ((world.has_twins && maker->messages) || roll(maker, 16) == 0) /* a simultaneous duplicate */
        mail_add(whole, (struct slice){NULL, 0}, host + 1, due);
}

static void make_payload(struct maker *maker) {
    begin_payload(maker);
    for (unsigned n = roll(maker, 4) ? 1 : 2; n; n--) {
        int line = (int)roll(maker, LINES);
        struct buffer changes = buffer_in(&maker->arena);
        if (roll(maker, 12) == 0)
            add_id_change(maker, &changes, line);
        else
            add_messages(maker, &changes, line);
        if (roll(maker, 4) == 0)
            add_messages(maker, &changes, line);
        add_entry(maker, &world.lines[line], &changes);
    }
    end_payload(maker);
}

static void start_maker(struct maker *maker, const char *name, uint64_t stream) {
    maker->name = name;
    maker->dice = dice_of(world.seed, stream);
    arena_init(&maker->arena, 64 * 1024 * 1024, NULL);
}

static struct maker message_maker, last_maker;

static void *run_messages(void *context) {
    (void)context;
    start_maker(&message_maker, "message", 300);
    while (history_now() < world.end) {
        if (mail_count() < BACKLOG)
            make_payload(&message_maker);
        world.messages = message_maker.messages;
        sleep_ms(roll(&message_maker, world.payload_pace_ms) *
                 (world_is_calm(world.messages, world.least_messages) ? CALM : 1));
    }
    return NULL;
}

/* --- statuses --- */

/* A status that the sandbox sent. */
struct status {
    const struct line *line;
    char wamid[256], status[16], recipient[NAME_SIZE];
    bool is_bsuid;
};

static struct {
    pthread_mutex_t lock;
    struct status list[STATUSES];
    size_t count;
    int64_t last_at; /* time of the last status from the sandbox, ms since 1970 */
    atomic_bool is_over;
} received = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct line *find_line(struct json value) {
    for (int i = 0; i < LINES; i++)
        if (json_equals(json_find(value, "metadata.phone_number_id"),
                        world.lines[i].phone_number_id))
            return &world.lines[i];
    give_up("a status of an unknown line");
}

static void keep_status(struct arena *arena, struct json value, struct json element) {
    struct status status = {.line = find_line(value)};
    const char *phone = json_text(json_get(element, "recipient_id"), arena);
    const char *bsuid = json_text(json_get(element, "recipient_user_id"), arena);
    status.is_bsuid = !phone;
    snprintf(status.wamid, sizeof status.wamid, "%s", json_text(json_get(element, "id"), arena));
    snprintf(status.status, sizeof status.status, "%s",
             json_text(json_get(element, "status"), arena));
    snprintf(status.recipient, sizeof status.recipient, "%s", phone ? phone : bsuid);
    history_line(accepted, "%s\t%s\t%s", status.line->phone_number_id, status.wamid, status.status);
    pthread_mutex_lock(&received.lock);
    if (received.count == STATUSES)
        give_up("too many statuses wait");
    received.list[received.count++] = status;
    received.last_at = history_now();
    pthread_mutex_unlock(&received.lock);
}

/* Keeps the statuses of a payload from the sandbox. */
static int receive_statuses(const struct incoming *request) {
    struct json payload;
    struct json_error error;
    struct arena arena;
    arena_init(&arena, 16 * 1024 * 1024, NULL);
    if (json_read(&arena, request->body, &payload, &error))
        give_up(error.reason);
    for (struct json e = json_first(json_get(payload, "entry")); json_is(e); e = json_next(e))
        for (struct json c = json_first(json_get(e, "changes")); json_is(c); c = json_next(c)) {
            struct json value = json_get(c, "value"), statuses = json_get(value, "statuses");
            for (struct json s = json_first(statuses); json_is(s); s = json_next(s))
                keep_status(&arena, value, s);
        }
    arena_free(&arena);
    return 200;
}

/* Removes a random one of the received statuses, so that they are sent in another order. */
static bool take_status(struct maker *maker, struct status *status) {
    pthread_mutex_lock(&received.lock);
    bool found = received.count > 0;
    if (found) {
        size_t at = roll(maker, (unsigned)received.count);
        *status = received.list[at];
        received.list[at] = received.list[--received.count];
    }
    pthread_mutex_unlock(&received.lock);
    return found;
}

static void add_status(struct maker *maker, const struct status *status) {
    struct buffer changes = buffer_in(&maker->arena), element = buffer_in(&maker->arena);
    buffer_printf(&element,
                  "{\"id\":\"%s\",\"status\":\"%s\",\"timestamp\":\"%lld\",\"%s\":\"%s\"}",
                  status->wamid, status->status, (long long)history_now() / 1000,
                  status->is_bsuid ? "recipient_user_id" : "recipient_id", status->recipient);
    add_line(maker, "status", status->line, status->wamid, -1, false, status->status,
             buffer_slice(&element));
    add_change(&changes, status->line, "messages", NULL, "statuses", &element);
    add_entry(maker, status->line, &changes);
}

static void *run_statuses(void *context) {
    static struct maker maker;
    (void)context;
    start_maker(&maker, "status", 301);
    while (!received.is_over) {
        struct status status;
        unsigned batch = 1 + roll(&maker, 6);
        if (mail_count() < BACKLOG && take_status(&maker, &status)) {
            begin_payload(&maker);
            do
                add_status(&maker, &status);
            while (--batch && take_status(&maker, &status));
            end_payload(&maker);
        }
        sleep_ms(roll(&maker, STATUS_PACE_MS));
    }
    return NULL;
}

/* --- start and end --- */

static pthread_t message_thread, status_thread;

static void start_thread(pthread_t *thread, void *(*run)(void *), void *context) {
    if (pthread_create(thread, NULL, run, context) != 0)
        give_up("thread");
}

int platform_listen(void) {
    accepted = history_open(world.dir, "accepted");
    posted = history_open(world.dir, "posted");
    return listener_start(receive_statuses);
}

void platform_start(void) {
    mail_start();
    start_thread(&message_thread, run_messages, NULL);
    start_thread(&status_thread, run_statuses, NULL);
}

/* Sends a message of every person with both identities, so that the contacts of a person merge. */
static void send_last_messages(void) {
    start_maker(&last_maker, "last", 302);
    for (int person = 0; person < PEOPLE; person++) {
        const struct line *line = &world.lines[person % LINES];
        begin_payload(&last_maker);
        struct buffer cards = buffer_in(&last_maker.arena), one = buffer_in(&last_maker.arena),
                      changes = buffer_in(&last_maker.arena);
        add_message(&last_maker, line, person, BOTH, &cards, &one);
        add_change(&changes, line, "messages", &cards, "messages", &one);
        add_entry(&last_maker, line, &changes);
        end_payload(&last_maker);
    }
    arena_free(&last_maker.arena);
}

/* No payload and no status waits, and the sandbox sent none for QUIET_MS. */
static bool is_quiet(void) {
    pthread_mutex_lock(&received.lock);
    bool quiet = !received.count && history_now() - received.last_at > QUIET_MS;
    pthread_mutex_unlock(&received.lock);
    return quiet && !mail_count();
}

void platform_finish(int64_t ms) {
    int64_t until = history_now() + ms;
    pthread_join(message_thread, NULL);
    while (!is_quiet() && history_now() < until)
        sleep_ms(50);
    send_last_messages();
    while (!is_quiet() && history_now() < until)
        sleep_ms(50);
    received.is_over = true;
    pthread_join(status_thread, NULL);
    mail_end();
    arena_free(&message_maker.arena);
}
