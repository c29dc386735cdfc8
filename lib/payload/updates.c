#include "payload/updates.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "payload/recipient.h"
#include "payload/send_answer.h"

/* Limits in bytes for strings which a payload holds once and the database would hold many times. */
enum { LONGEST_ID = 128, LONGEST_NAME = 1024, LONGEST_TIME = 64 };

/* A card is an entry of the array `contacts` of a change's value. This is one of its ids, by which
 * messages and statuses refer to the card. */
struct card_id {
    struct slice raw;
    struct json card;
    size_t at; /* index of the card in `contacts` */
    bool is_user_id;
};

/* The cards of a change's value. The index is built on first use. */
struct cards {
    struct json list;
    size_t count;
    bool is_indexed;
    struct card_id *ids; /* sorted */
    size_t id_count;
    struct contact **read; /* one per card; NULL: not read yet */
};

/* The current position in the payload, and the updates read so far. */
struct walk {
    struct arena *arena;
    int64_t now;
    struct buffer updates; /* of struct store_update */
    size_t count, most;
    const char *waba_id, *field, *phone_number_id, *display_phone;
    struct slice entry_time;
    struct json value;
    size_t message_count, status_count; /* in `value`; calls count as messages */
    struct cards cards;
    const struct contact *other_side; /* of the messages of a thread of the history; else NULL */
};

/* The string at `path` in `object`; NULL when it is absent or empty. */
static const char *text(struct walk *w, struct json object, const char *path) {
    const char *found = json_text(json_find(object, path), w->arena);
    return found && *found ? found : NULL;
}

/* The same, cut to at most `most` bytes of whole characters. */
static const char *short_text(struct walk *w, struct json object, const char *path, size_t most) {
    char *found = (char *)(size_t)text(w, object, path);
    size_t n = found ? strlen(found) : 0;
    if (n <= most)
        return found;
    for (n = most; n && (found[n] & 0xc0) == 0x80;)
        n--;
    found[n] = '\0';
    return found;
}

typedef void element_adder(struct walk *w, struct json element);

/* Adds each element of the array. Those beyond the most are counted and not read. */
static void add_each(struct walk *w, struct json array, element_adder *add) {
    for (struct json e = json_first(array); json_is(e); e = json_next(e))
        if (w->count > w->most)
            w->count++;
        else
            add(w, e);
}

static void add(struct walk *w, struct store_update *update) {
    update->field = w->field;
    update->waba_id = w->waba_id;
    update->phone_number_id = w->phone_number_id;
    buffer_add(&w->updates, update, sizeof *update);
    w->count++;
}

/* Adds an element as an UPDATE_OTHER, which is stored unchanged. */
static void add_other(struct walk *w, struct json element) {
    struct store_update update = {.kind = UPDATE_OTHER, .body = json_raw(element)};
    add(w, &update);
}

/* The key of an update without an id. The platform repeats a webhook with the same entry time, so a
 * later entry time makes an update with the same content a new one. */
static const char *timed_key(struct walk *w) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    struct buffer both = buffer_in(w->arena);
    buffer_add_slice(&both, w->entry_time);
    buffer_add_char(&both, ' ');
    buffer_add_slice(&both, json_raw(w->value));
    crypto_sha256(buffer_slice(&both), hash);
    return arena_printf(w->arena, "sha256:%s", crypto_hex(w->arena, hash, sizeof hash));
}

/* The entry's time for timed_key; its hash when it is too long to be a time. */
static struct slice entry_time(struct walk *w, struct json entry) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    struct slice time = json_raw(json_get(entry, "time"));
    if (time.n <= LONGEST_TIME)
        return time;
    crypto_sha256(time, hash);
    return slice_of(crypto_hex(w->arena, hash, sizeof hash));
}

static const char *message_key(struct walk *w, const char *wamid) {
    return arena_printf(w->arena, "message:%s:%s", w->phone_number_id, wamid);
}

/* Converts seconds, a number or a string of digits, to milliseconds; 0: they are not reported. */
static int64_t reported_time(struct json seconds) {
    int64_t t;
    return json_integer(seconds, &t) && t > 0 && t < INT64_C(100000000000) ? t * 1000 : 0;
}

/* The time of the entry, in ms; now, if it has none. */
static int64_t entry_ms(struct walk *w) {
    struct json time;
    struct json_error error;
    const int64_t reported =
        json_read(w->arena, w->entry_time, &time, &error) == 0 ? reported_time(time) : 0;
    return reported && reported < w->now ? reported : w->now;
}

static int64_t timestamp(struct walk *w, struct json seconds) {
    const int64_t reported = reported_time(seconds);
    return reported ? reported : w->now;
}

/* --- identities --- */

/* Sets the phone or the BSUID of `who`. The form of the value decides which: the platform also
 * sends BSUIDs in members for phones. Group ids and all other values are ignored. */
static void set_id(struct walk *w, struct contact *who, struct json value) {
    struct slice id = json_string(value, w->arena);
    if (!id.n || memchr(id.p, '\0', id.n))
        return;
    if (recipient_is_bsuid(id)) {
        who->bsuid = id.p;
        return;
    }
    struct slice digits = id.p[0] == '+' ? slice_skip(id, 1) : id;
    if (digits.n >= 5 && digits.n <= 20 && strspn(digits.p, "0123456789") == digits.n)
        who->phone = digits.p;
}

static void set_parent(struct walk *w, struct contact *who, struct json value) {
    struct slice id = json_string(value, w->arena);
    if (id.n && recipient_is_bsuid(id))
        who->parent_bsuid = id.p;
}

/* Sets the ids of `who` by three members of the object. */
static void set_ids(struct walk *w, struct contact *who, struct json object, const char *phone,
                    const char *bsuid, const char *parent) {
    set_id(w, who, json_get(object, phone));
    set_id(w, who, json_get(object, bsuid));
    set_parent(w, who, json_get(object, parent));
}

static void set_profile(struct walk *w, struct contact *who, struct json contact) {
    struct contact shown = {0};
#define READ(number, column, json, title)                                                          \
    shown.column = short_text(w, contact, "profile." json, LONGEST_NAME);
    CONTACT_PROFILE(READ)
#undef READ
    if (!shown.username)
        shown.username = short_text(w, contact, "username", LONGEST_NAME);
    if (shown.username && shown.username[0] == '@')
        shown.username++;
    contact_set_profile(who, &shown, who);
}

static int compare_slices(struct slice a, struct slice b) {
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* Orders by kind, id and then position, so that find_card_id finds the first card with an id. */
static int compare_card_ids(const struct card_id *a, const struct card_id *b) {
    if (a->is_user_id != b->is_user_id)
        return a->is_user_id ? 1 : -1;
    int order = compare_slices(a->raw, b->raw);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* Restores the heap order below ids[at] (heapsort's sift down). */
static void sink(struct card_id *ids, size_t n, size_t at) {
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare_card_ids(&ids[child], &ids[child + 1]) < 0)
            child++;
        if (compare_card_ids(&ids[at], &ids[child]) >= 0)
            return;
        struct card_id higher = ids[at];
        ids[at] = ids[child];
        ids[child] = higher;
    }
}

/* A heapsort: it is fast for every order of the ids. qsort of glibc allocates memory, and asks the
 * system how much memory there is. */
static void sort_card_ids(struct card_id *ids, size_t n) {
    for (size_t i = n / 2; i-- > 0;)
        sink(ids, n, i);
    while (n > 1) {
        struct card_id last = ids[0];
        ids[0] = ids[--n];
        ids[n] = last;
        sink(ids, n, 0);
    }
}

/* A string that is not empty: its raw text includes the two quotes. */
static bool is_filled(struct json value) {
    return json_type(value) == JSON_STRING && json_raw(value).n > 2;
}

static void index_cards(struct walk *w) {
    struct cards *cards = &w->cards;
    size_t at = 0;
    cards->is_indexed = true;
    cards->ids = arena_alloc(w->arena, 2 * cards->count * sizeof *cards->ids);
    cards->read = arena_alloc(w->arena, cards->count * sizeof *cards->read);
    for (struct json c = json_first(cards->list); json_is(c); c = json_next(c), at++) {
        struct json ids[] = {json_get(c, "wa_id"), json_get(c, "user_id")};
        for (size_t i = 0; i < 2; i++)
            if (is_filled(ids[i]))
                cards->ids[cards->id_count++] =
                    (struct card_id){json_raw(ids[i]), c, at, .is_user_id = i == 1};
    }
    sort_card_ids(cards->ids, cards->id_count);
}

/* The first card with this id, compared as raw JSON text; NULL when there is none. */
static const struct card_id *find_card_id(const struct cards *cards, struct json id,
                                          bool is_user_id) {
    const struct card_id wanted = {.raw = json_raw(id), .is_user_id = is_user_id};
    size_t low = 0, high = is_filled(id) ? cards->id_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_card_ids(&cards->ids[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = is_filled(id) && low < cards->id_count &&
                    cards->ids[low].is_user_id == is_user_id &&
                    slice_equal(cards->ids[low].raw, wanted.raw);
    return is_there ? &cards->ids[low] : NULL;
}

/* The identity on a card. Each card is read once, even if many elements refer to it. */
static const struct contact *read_card(struct walk *w, struct json card, size_t at) {
    struct contact *identity = w->cards.read[at];
    if (identity)
        return identity;
    identity = w->cards.read[at] = arena_alloc(w->arena, sizeof *identity);
    set_ids(w, identity, card, "wa_id", "user_id", "parent_user_id");
    set_profile(w, identity, card);
    return identity;
}

/* Whether an element without an identity of its own belongs to the only card. Every message of a
 * value has a card; if there are several statuses, some of them may have no card. */
static bool is_about_only_card(struct walk *w, const struct contact *who) {
    return !who->phone && !who->bsuid && w->cards.count == 1 && w->status_count <= 1;
}

/* The identity on the first card that has the phone or the BSUID; NULL when there is none. */
static const struct contact *find_card(struct walk *w, const struct contact *who, struct json phone,
                                       struct json bsuid) {
    if (!w->cards.is_indexed)
        index_cards(w);
    if (is_about_only_card(w, who))
        return read_card(w, json_first(w->cards.list), 0);
    const struct card_id *by_phone = find_card_id(&w->cards, phone, false);
    const struct card_id *by_bsuid = find_card_id(&w->cards, bsuid, true);
    const struct card_id *first =
        !by_phone || (by_bsuid && by_bsuid->at < by_phone->at) ? by_bsuid : by_phone;
    return first ? read_card(w, first->card, first->at) : NULL;
}

/* Adds the ids and the profile of the matching card to the identity of a message or status. */
static void complete(struct walk *w, struct contact *who, struct json phone, struct json bsuid) {
    const struct contact *card = find_card(w, who, phone, bsuid);
    if (!card)
        return;
    who->phone = who->phone ? who->phone : card->phone;
    who->bsuid = who->bsuid ? who->bsuid : card->bsuid;
    who->parent_bsuid = who->parent_bsuid ? who->parent_bsuid : card->parent_bsuid;
    contact_set_profile(who, card, who);
}

/* The identity in the members `phone`, `bsuid` and `parent` of the element, completed from its
 * card. */
static struct contact who_is(struct walk *w, struct json element, const char *phone,
                             const char *bsuid, const char *parent) {
    struct contact who = {0};
    set_ids(w, &who, element, phone, bsuid, parent);
    complete(w, &who, json_get(element, phone), json_get(element, bsuid));
    return who;
}

/* The person of a message or a call: the side that is not the line. */
static struct contact person_of(struct walk *w, struct json element, bool is_outgoing) {
    return is_outgoing ? who_is(w, element, "to", "to_user_id", "to_parent_user_id")
                       : who_is(w, element, "from", "from_user_id", "from_parent_user_id");
}

/* Whether the line sent it, or calls, by the line's own phone. */
static bool is_from_line(struct walk *w, struct json element) {
    struct contact from = {0};
    set_id(w, &from, json_get(element, "from"));
    return is_set_and_equal(from.phone, w->display_phone);
}

/* If a value has one message and one card, both are of the same person, even when they spell the
 * phone differently. They are different people only when both have a BSUID and these differ. */
static void add_only_card(struct walk *w, struct contact *who) {
    struct json card = json_first(w->cards.list);
    struct contact on_card = {0};
    if (w->cards.count != 1 || w->message_count != 1)
        return;
    set_id(w, &on_card, json_get(card, "user_id"));
    if (who->bsuid && on_card.bsuid && strcmp(who->bsuid, on_card.bsuid) != 0)
        return;
    set_id(w, who, json_get(card, "user_id"));
    set_parent(w, who, json_get(card, "parent_user_id"));
    set_profile(w, who, card);
}

/* --- messages --- */

/* Whether a message of this type becomes an event. All messages are stored. */
static bool makes_event(struct json message, const char *type) {
    static const char *const silent[] = {"system", "unsupported", "unknown", "edit", "revoke"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (strcmp(type, silent[i]) == 0)
            return false;
    if (strcmp(type, "reaction") != 0)
        return true;
    return is_filled(json_find(message, "reaction.emoji")); /* absent: the reaction is removed */
}

/* The flow_token of a flow's reply, whose response_json is a string that contains JSON. */
static const char *reply_token(struct walk *w, struct json message) {
    struct json response;
    struct json_error error;
    struct slice inner =
        json_string(json_find(message, "interactive.nfm_reply.response_json"), w->arena);
    if (!inner.p || json_read(w->arena, inner, &response, &error))
        return NULL;
    return text(w, response, "flow_token");
}

/* Replies to a request for an address have the form of flow replies, and another name. */
static bool is_flow_reply(struct json message) {
    return json_equals(json_find(message, "interactive.type"), "nfm_reply") &&
           !json_equals(json_find(message, "interactive.nfm_reply.name"), "address_message");
}

static void set_flow(struct walk *w, struct update_message *to, struct json message) {
    to->is_flow_reply = is_flow_reply(message);
    if (to->is_flow_reply)
        to->flow_token = reply_token(w, message);
    if (!to->is_outgoing)
        return;
    to->flow_id = text(w, message, "interactive.action.parameters.flow_id");
    to->flow_token = text(w, message, "interactive.action.parameters.flow_token");
}

/* The type of a message. The platform's example of a reply to a request for a call has none. */
static const char *message_type(struct walk *w, struct json message) {
    const char *type = text(w, message, "type");
    if (type)
        return type;
    return json_is(json_find(message, "interactive.type")) ? "interactive" : "unknown";
}

/* The SHA-256 that the platform names, in base64 or hexadecimal; as hexadecimal, or NULL. */
static const char *media_hash(struct walk *w, const char *hash) {
    unsigned char bytes[CRYPTO_HASH_SIZE];
    if (!hash)
        return NULL;
    if (crypto_unhex(slice_of(hash), bytes, sizeof bytes))
        return crypto_hex(w->arena, bytes, sizeof bytes);
    const struct slice plain = crypto_unbase64(w->arena, slice_of(hash));
    return plain.p && plain.n == sizeof bytes ? crypto_hex(w->arena, plain.p, plain.n) : NULL;
}

/* The attachment is the member of the message that its type names. */
static void set_media(struct walk *w, struct update_message *to, struct json message) {
    static const char *const kinds[] = {"image", "video", "audio", "document", "sticker"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(to->type, kinds[i]) == 0) {
            struct json media = json_get(message, kinds[i]);
            to->media_id = text(w, media, "id");
            to->media_type = text(w, media, "mime_type");
            to->media_hash = media_hash(w, text(w, media, "sha256"));
        }
}

/* Reads the members that all kinds of messages have. A message without an id becomes an
 * UPDATE_OTHER; returns false then. */
static bool read_message(struct walk *w, struct json message, struct store_update *update) {
    struct update_message *to = &update->message;
    update->body = json_raw(message);
    to->wamid = text(w, message, "id");
    to->type = message_type(w, message);
    to->timestamp = timestamp(w, json_get(message, "timestamp"));
    to->context_wamid = text(w, message, "context.id");
    if (to->wamid && w->phone_number_id) {
        set_flow(w, to, message);
        set_media(w, to, message);
        return true;
    }
    add_other(w, message);
    return false;
}

/* Sets OLD of "User NAME changed from OLD to NEW". One generation of the platform's payloads has
 * the old BSUID nowhere else. The text is read from its end, because a name may look like a BSUID.
 */
static void set_old_bsuid(struct walk *w, struct contact *who, struct json system) {
    struct slice body = json_string(json_get(system, "body"), w->arena);
    const char *user_id = text(w, system, "user_id");
    struct slice end = slice_of(arena_printf(w->arena, " to %s", user_id ? user_id : ""));
    if (body.n < end.n || !slice_equal(slice_skip(body, body.n - end.n), end))
        return;
    body.n -= end.n;
    const char *space = memrchr(body.p, ' ', body.n);
    struct slice old = slice_skip(body, space ? (size_t)(space + 1 - body.p) : body.n);
    if (recipient_is_bsuid(old))
        who->bsuid = arena_copy(w->arena, old);
}

/* Reads the identities before and after a change, from the keys of every generation of payloads.
 * Returns false when the message is not a change of identity. */
static bool read_identity_change(struct walk *w, struct json message,
                                 struct update_identity *change) {
    struct json system = json_get(message, "system");
    bool is_id = json_equals(json_get(system, "type"), "user_changed_user_id");
    bool is_number = json_equals(json_get(system, "type"), "user_changed_number") ||
                     json_is(json_get(system, "new_wa_id"));
    struct contact *before = &change->before, *after = &change->after;
    if (!is_id && !is_number)
        return false;
    set_id(w, before, json_get(message, "from"));
    set_id(w, before, json_get(message, "from_user_id"));
    if (is_id)
        set_old_bsuid(w, before, system);
    set_id(w, before, json_get(system, "previous_user_id"));
    set_parent(w, before, json_get(system, "previous_parent_user_id"));
    set_id(w, after, json_get(system, "new_wa_id"));
    set_ids(w, after, system, "wa_id", "user_id", "parent_user_id");
    change->reason = is_number ? "number_change" : "user_id_update";
    return before->phone || before->bsuid || before->parent_bsuid;
}

/* A system message is stored, but not as a message of the thread. A change of identity is applied.
 */
static void add_system(struct walk *w, struct json message, const char *wamid) {
    struct store_update update = {
        .kind = UPDATE_IDENTITY,
        .body = json_raw(message),
        .key = message_key(w, wamid),
        .identity = {.at = timestamp(w, json_get(message, "timestamp"))},
    };
    if (!read_identity_change(w, message, &update.identity)) {
        update.kind = UPDATE_OTHER;
        update.other = (struct update_other){.who = person_of(w, message, false),
                                             .at = reported_time(json_get(message, "timestamp"))};
    }
    add(w, &update);
}

static void add_message(struct walk *w, struct json message) {
    struct store_update update = {.kind = UPDATE_MESSAGE};
    struct update_message *to = &update.message;
    if (!read_message(w, message, &update))
        return;
    if (strcmp(to->type, "system") == 0) {
        add_system(w, message, to->wamid);
        return;
    }
    to->who = person_of(w, message, false);
    add_only_card(w, &to->who);
    to->is_event = makes_event(message, to->type);
    struct json referral = json_get(message, "referral");
    if (json_type(referral) == JSON_OBJECT)
        to->referral = json_raw(referral);
    add(w, &update);
}

static void add_echo(struct walk *w, struct json message) {
    struct store_update update = {.kind = UPDATE_ECHO, .message = {.is_outgoing = true}};
    if (!read_message(w, message, &update))
        return;
    update.message.who = person_of(w, message, true);
    add(w, &update);
}

/* The status of an outgoing message of the history, in lower case; NULL when it is not known. */
static const char *old_status(struct walk *w, struct json message) {
    static const char *const known[] = {"sent", "delivered", "read", "played", NULL};
    char *status = (char *)(size_t)text(w, message, "history_context.status");
    for (char *p = status; p && *p; p++)
        *p = (char)tolower((unsigned char)*p);
    for (size_t i = 0; status && known[i]; i++)
        if (strcmp(status, known[i]) == 0)
            return known[i];
    return NULL;
}

static void add_old_message(struct walk *w, struct json message) {
    struct store_update update = {.kind = UPDATE_HISTORY};
    struct update_message *to = &update.message;
    to->is_outgoing = json_is(json_get(message, "to")) || is_from_line(w, message);
    if (!read_message(w, message, &update))
        return;
    to->status = to->is_outgoing ? old_status(w, message) : NULL;
    to->who = w->other_side ? *w->other_side : person_of(w, message, to->is_outgoing);
    add(w, &update);
}

static void add_history(struct walk *w, struct json chunk) {
    struct json threads = json_get(chunk, "threads");
    if (!json_is(json_first(threads)))
        add_other(w, chunk); /* the business refused to share, or an empty chunk */
    for (struct json thread = json_first(threads); json_is(thread); thread = json_next(thread)) {
        struct contact who = {0};
        struct json context = json_get(thread, "context");
        set_id(w, &who, json_get(thread, "id"));
        set_ids(w, &who, context, "wa_id", "user_id", "parent_user_id");
        set_profile(w, &who, context);
        w->other_side = &who;
        add_each(w, json_get(thread, "messages"), add_old_message);
        w->other_side = NULL;
    }
}

/* --- statuses --- */

/* The identity of the recipient: in a group, of one member of it. Older keys are read too. */
static struct contact who_received(struct walk *w, struct json status, bool *is_participant) {
    static const char *const parents[] = {"recipient_parent_user_id", "parent_recipient_user_id",
                                          "parent_user_id"};
    *is_participant = json_is(json_get(status, "recipient_participant_id")) ||
                      json_is(json_get(status, "recipient_participant_user_id"));
    if (*is_participant)
        return who_is(w, status, "recipient_participant_id", "recipient_participant_user_id",
                      "recipient_participant_parent_user_id");
    struct contact who = who_is(w, status, "recipient_id", "recipient_user_id", "");
    for (size_t i = 0; i < 3; i++)
        set_parent(w, &who, json_get(status, parents[i]));
    return who;
}

static bool has_error(struct json status, long wanted) {
    struct json error = json_first(json_get(status, "errors"));
    for (; json_is(error); error = json_next(error)) {
        const struct json code = json_get(error, "code");
        if (json_type(code) == JSON_NUMBER && strtol(json_raw(code).p, NULL, 10) == wanted)
            return true;
    }
    return false;
}

static void add_status(struct walk *w, struct json status) {
    static const char *const recipients[] = {"recipient_participant_id",
                                             "recipient_participant_user_id", "recipient_id",
                                             "recipient_user_id"};
    struct store_update update = {
        .kind = UPDATE_STATUS,
        .body = json_raw(status),
        .status =
            {
                .wamid = text(w, status, "id"),
                .status = text(w, status, "status"),
                .recipient = "",
                .timestamp = timestamp(w, json_get(status, "timestamp")),
                .errors = json_raw(json_get(status, "errors")),
                .category = text(w, status, "pricing.category"),
                .tracking = text(w, status, "biz_opaque_callback_data"),
            },
    };
    struct update_status *to = &update.status;
    const bool is_of_call = json_equals(json_get(status, "type"), "call");
    if (!to->wamid || !to->status || !w->phone_number_id || is_of_call) {
        add_other(w, status);
        return;
    }
    for (size_t i = 0; i < 4 && !*to->recipient; i++)
        if (text(w, status, recipients[i]))
            to->recipient = text(w, status, recipients[i]);
    to->who = who_received(w, status, &to->is_participant);
    to->opts_out = strcmp(to->status, "failed") == 0 && has_error(status, SEND_OPTED_OUT);
    add(w, &update);
}

/* --- calls --- */

/* A duration is reported only when the call was picked up; a call that failed may have one, too. */
static enum update_call call_outcome(struct json call) {
    int64_t seconds = 0;
    const bool is_completed = json_equals(json_get(call, "status"), "COMPLETED");
    const bool has_talk = json_integer(json_get(call, "duration"), &seconds) && seconds > 0;
    return is_completed && has_talk ? CALL_ANSWERED : CALL_MISSED;
}

/* When the call began. The end of a missed call has only its own time. */
static int64_t call_time(struct walk *w, struct json call) {
    const int64_t start = reported_time(json_get(call, "start_time"));
    return start ? start : timestamp(w, json_get(call, "timestamp"));
}

/* A call of a person is a message of the thread. One of the business is stored as it is. */
static void add_call(struct walk *w, struct json call) {
    struct json direction = json_get(call, "direction"), event = json_get(call, "event");
    const bool begins = json_equals(event, "connect"), ends = json_equals(event, "terminate");
    const char *id = text(w, call, "id");
    const bool is_outgoing =
        is_from_line(w, call); /* examples of the platform exchange the sides */
    struct store_update update = {
        .kind = UPDATE_MESSAGE,
        .body = json_raw(call),
        .message = {.who = person_of(w, call, is_outgoing),
                    .wamid = id,
                    .type = "call",
                    .timestamp = call_time(w, call),
                    .is_event = ends,
                    .call = ends ? call_outcome(call) : CALL_RINGS},
    };
    const bool is_incoming =
        json_is(direction) ? json_equals(direction, "USER_INITIATED") : !is_outgoing;
    if (!id || !w->phone_number_id || !is_incoming || (!begins && !ends)) {
        add_other(w, call);
        return;
    }
    add_only_card(w, &update.message.who);
    add(w, &update);
}

/* --- changes of identity, leads, preferences --- */

static void add_id_update(struct walk *w, struct json element) {
    struct store_update update = {
        .kind = UPDATE_IDENTITY,
        .body = json_raw(element),
        .identity = {.reason = "user_id_update",
                     .at = timestamp(w, json_get(element, "timestamp"))},
    };
    struct contact *before = &update.identity.before, *after = &update.identity.after;
    set_id(w, before, json_get(element, "wa_id"));
    *after = *before;
    set_id(w, before, json_find(element, "user_id.previous"));
    set_parent(w, before, json_find(element, "parent_user_id.previous"));
    set_id(w, after, json_find(element, "user_id.current"));
    set_parent(w, after, json_find(element, "parent_user_id.current"));
    complete(w, after, json_get(element, "wa_id"), json_find(element, "user_id.current"));
    add(w, &update);
}

static void add_automatic_event(struct walk *w, struct json element) {
    struct store_update update = {
        .kind = UPDATE_LEAD, .body = json_raw(element), .lead = {text(w, element, "id")}};
    if (json_equals(json_get(element, "event_name"), "LeadSubmitted") && w->phone_number_id)
        add(w, &update);
    else
        add_other(w, element);
}

static void add_preference(struct walk *w, struct json element) {
    struct store_update update = {.kind = UPDATE_OTHER, .body = json_raw(element)};
    update.other.who = who_is(w, element, "wa_id", "user_id", "parent_user_id");
    update.other.at = reported_time(json_get(element, "timestamp"));
    if (json_equals(json_get(element, "category"), "marketing_messages"))
        update.other.choice = json_equals(json_get(element, "value"), "stop")     ? CHOICE_STOP
                              : json_equals(json_get(element, "value"), "resume") ? CHOICE_RESUME
                                                                                  : CHOICE_NONE;
    add(w, &update);
}

/* An entry of the address book in the business's phone app. */
static void add_state_sync(struct walk *w, struct json element) {
    struct store_update update = {.kind = UPDATE_OTHER, .body = json_raw(element)};
    struct json contact = json_get(element, "contact");
    set_ids(w, &update.other.who, contact, "phone_number", "user_id", "parent_user_id");
    set_profile(w, &update.other.who, contact);
    update.other.at = reported_time(json_find(element, "metadata.timestamp"));
    add(w, &update);
}

/* The whole value of a change as one update. */
static void add_whole(struct walk *w) {
    struct store_update update = {
        .kind = UPDATE_OTHER, .body = json_raw(w->value), .key = timed_key(w)};
    if (update.body.n)
        add(w, &update);
}

/* --- templates and flows --- */

/* en-US and en_US are one language. */
static const char *language(struct walk *w, const char *path) {
    char *code = (char *)(size_t)text(w, w->value, path);
    for (char *p = code; p && *p; p++)
        if (*p == '-')
            *p = '_';
    return code;
}

/* A field of changes of templates, and the members of its value; "": it has no such member. */
struct template_field {
    const char *field, *change, *status, *category, *quality, *previous;
};
static const struct template_field template_fields[] = {
    {"message_template_status_update", "status", "event", "message_template_category", "", ""},
    {"message_template_quality_update", "quality", "", "", "new_quality_score",
     "previous_quality_score"},
    {"message_template_components_update", "components", "", "", "", ""},
    {"template_category_update", "category", "", "new_category", "", "previous_category"},
};

/* The reason of a status; the platform says NONE where it has none. */
static const char *reason(struct walk *w) {
    const char *named = text(w, w->value, "reason");
    return named && strcmp(named, "NONE") != 0 ? named : NULL;
}

/* The id of a template, a number or a string of digits. */
static const char *template_id(struct walk *w) {
    int64_t id;
    return json_integer(json_get(w->value, "message_template_id"), &id)
               ? arena_printf(w->arena, "%lld", (long long)id)
               : NULL;
}

static void add_template(struct walk *w, const struct template_field *members) {
    struct store_update update = {
        .kind = UPDATE_TEMPLATE,
        .body = json_raw(w->value),
        .key = timed_key(w),
        .template =
            {
                .name = text(w, w->value, "message_template_name"),
                .language = language(w, "message_template_language"),
                .change = members->change,
                .template_id = template_id(w),
                .status = text(w, w->value, members->status),
                .category = text(w, w->value, members->category),
                .quality = text(w, w->value, members->quality),
                .reason = *members->status ? reason(w) : NULL,
                .previous = text(w, w->value, members->previous),
                .at = entry_ms(w),
            },
    };
    if (update.template.name && update.template.language)
        add(w, &update);
    else
        add_whole(w);
}

static void add_flow(struct walk *w) {
    struct store_update update = {
        .kind = UPDATE_FLOW,
        .body = json_raw(w->value),
        .key = timed_key(w),
        .flow = {.flow_id = text(w, w->value, "flow_id"),
                 .status = text(w, w->value, "new_status")},
    };
    if (update.flow.flow_id && update.flow.status)
        add(w, &update);
    else
        add_whole(w);
}

/* --- the walk --- */

/* The arrays of a change's value, by the field of the change, and the function that reads one
 * element. */
static const struct {
    const char *field, *array;
    element_adder *add;
} arrays[] = {
    {"messages", "messages", add_message},
    {"messages", "statuses", add_status},
    {"calls", "calls", add_call},
    {"calls", "statuses", add_other},
    {"smb_message_echoes", "message_echoes", add_echo},
    {"history", "history", add_history},
    {"history", "messages", add_old_message}, /* media, sent later for placeholders */
    {"user_id_update", "user_id_update", add_id_update},
    {"automatic_events", "automatic_events", add_automatic_event},
    {"user_preferences", "user_preferences", add_preference},
    {"smb_app_state_sync", "state_sync", add_state_sync},
};

/* Reads the members of a change that all its elements share. */
static void enter_change(struct walk *w, struct json change) {
    struct json value = json_get(change, "value"), contacts = json_get(value, "contacts");
    const char *display = text(w, value, "metadata.display_phone_number");
    w->field = text(w, change, "field");
    w->field = w->field ? w->field : "";
    w->value = value;
    w->cards = (struct cards){.list = contacts, .count = json_count(contacts)};
    w->message_count =
        json_count(json_get(value, "messages")) + json_count(json_get(value, "calls"));
    w->status_count = json_count(json_get(value, "statuses"));
    w->phone_number_id = short_text(w, value, "metadata.phone_number_id", LONGEST_ID);
    w->display_phone = display ? recipient_digits(w->arena, slice_of(display)) : NULL;
}

static void add_change(struct walk *w, struct json change) {
    bool is_known = false;
    enter_change(w, change);
    if (!json_is(w->value)) {
        add_other(w, change); /* it has no update, but it is stored */
        return;
    }
    for (size_t i = 0; i < sizeof template_fields / sizeof *template_fields; i++)
        if (strcmp(w->field, template_fields[i].field) == 0) {
            add_template(w, &template_fields[i]);
            return;
        }
    if (strcmp(w->field, "flows") == 0) {
        add_flow(w);
        return;
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        struct json array = json_get(w->value, arrays[i].array);
        if (strcmp(w->field, arrays[i].field) != 0 || json_type(array) != JSON_ARRAY)
            continue;
        is_known = true;
        add_each(w, array, arrays[i].add);
    }
    /* errors of the account come together with messages, or alone */
    if (!is_known || json_is(json_get(w->value, "errors")))
        add_whole(w);
}

size_t updates_read(struct arena *arena, struct json payload, int64_t now, size_t most,
                    struct store_update **updates) {
    struct walk w = {.arena = arena, .now = now, .most = most, .updates = buffer_in(arena)};
    struct json entries = json_get(payload, "entry");
    for (struct json entry = json_first(entries); json_is(entry); entry = json_next(entry)) {
        w.entry_time = entry_time(&w, entry);
        w.waba_id = short_text(&w, entry, "id", LONGEST_ID);
        add_each(&w, json_get(entry, "changes"), add_change);
    }
    *updates = (struct store_update *)(void *)w.updates.p;
    return w.count;
}
