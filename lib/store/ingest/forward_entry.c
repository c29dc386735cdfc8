#include "store/ingest/forward_entry.h"

#include "base/crypto.h"
#include "store/event/event_entry.h"

/* A user with webhooks of the kind forward, and the accounts of the POST that belong to the user.
 */
struct receiver {
    const char *user_id;
    struct buffer account_ids, waba_ids; /* of const char *; of the same accounts */
};

/* A line that the POST is about, and that belongs to the account that it names. */
struct known_line {
    const char *id;
    struct forward_place place;
};

/* An event of the current user. */
struct made {
    const char *id, *parts;
    int64_t sequence;
};

/* The forwarding of one POST. */
struct forwarding {
    struct store *store;
    struct arena *arena;
    const struct store_post *post;
    struct buffer *webhooks; /* of struct webhook_list: those that were read already */
    int64_t now;
    unsigned char hash[CRYPTO_HASH_SIZE];
    char post_id[ID_SIZE];   /* "": the POST is not inserted yet */
    bool is_known;           /* the POST is stored already */
    bool is_read_ahead;      /* forward_read_ahead started to read the first account */
    struct buffer receivers; /* of struct receiver */
    struct buffer excluded;  /* of struct forward_place */
    struct buffer lines;     /* of struct known_line */
    size_t events;
};

static struct receiver *receivers(const struct forwarding *f, size_t *count) {
    return buffer_array(&f->receivers, sizeof(struct receiver), count);
}

/* --- whose it is --- */

static struct statement find_receiver = {
    .sql = "SELECT a.user_id, a.id FROM account a JOIN \"user\" u ON u.id = a.user_id "
           "WHERE a.waba_id = ?1 AND u.deleted_at IS NULL AND EXISTS (SELECT 1 FROM webhook w "
           "WHERE w.user_id = a.user_id AND w.kind = 'forward' AND " WEBHOOK_IS_SET ")"};

void forward_read_ahead(struct store *store, const struct store_post *post) {
    if (sql_reads_ahead(store) && post->place_count)
        sql_start(store, &find_receiver, TEXT(post->places[0].waba_id));
}

static void add_account(struct forwarding *f, const char *user_id, const char *account_id,
                        const char *waba_id) {
    size_t count, i = 0;
    struct receiver *list = receivers(f, &count);
    while (i < count && strcmp(list[i].user_id, user_id) != 0)
        i++;
    if (i == count) {
        const struct receiver new = {user_id, buffer_in(f->arena), buffer_in(f->arena)};
        buffer_add(&f->receivers, &new, sizeof new);
        list = receivers(f, &count);
    }
    buffer_add(&list[i].account_ids, &account_id, sizeof account_id);
    buffer_add(&list[i].waba_ids, &waba_id, sizeof waba_id);
}

/* Adds an account to those of its user; *user_id is NULL when there is none who has webhooks that
 * forward. */
static bool find_user(struct forwarding *f, const char *waba_id, const char **user_id) {
    *user_id = NULL;
    if (!f->is_read_ahead)
        sql_start(f->store, &find_receiver, TEXT(waba_id));
    f->is_read_ahead = false;
    if (sql_row(f->store, &find_receiver)) {
        *user_id = column_text(&find_receiver, 0, f->arena);
        add_account(f, *user_id, column_text(&find_receiver, 1, f->arena), waba_id);
        sql_stop(&find_receiver);
    }
    return !sql_failed(f->store);
}

/* Adds the line, unless it is in the list. */
static void add_line(struct forwarding *f, const char *id, const struct forward_place *place) {
    const struct known_line *lines = (const struct known_line *)(void *)f->lines.p;
    const struct known_line line = {id, *place};
    for (size_t i = 0; i < f->lines.n / sizeof *lines; i++)
        if (strcmp(lines[i].id, id) == 0)
            return;
    buffer_add(&f->lines, &line, sizeof line);
}

/* Adds the place to `excluded` when its line is archived or belongs to another account, else the
 * line to `lines`. */
static bool find_line(struct forwarding *f, const struct forward_place *place) {
    static struct statement s = {
        .sql = "SELECT l.id, l.archived_at IS NOT NULL OR a.waba_id <> ?2 "
               "FROM line l JOIN account a ON a.id = l.account_id WHERE l.phone_number_id = ?1"};
    sql_start(f->store, &s, TEXT(place->phone_number_id), TEXT(place->waba_id));
    if (!sql_row(f->store, &s))
        return !sql_failed(f->store);
    if (column_integer(&s, 1))
        buffer_add(&f->excluded, place, sizeof *place);
    else
        add_line(f, column_text(&s, 0, f->arena), place);
    sql_stop(&s);
    return true;
}

/* Finds the receivers, their lines and the excluded places; false on failure. */
static bool find_receivers(struct forwarding *f) {
    const char *waba_id = NULL, *user_id = NULL;
    for (size_t i = 0; i < f->post->place_count; i++) {
        const struct forward_place *place = &f->post->places[i];
        if (!waba_id || strcmp(place->waba_id, waba_id) != 0) {
            waba_id = place->waba_id;
            if (!find_user(f, waba_id, &user_id) || !sql_is_within_limit(f->store, 0))
                return false;
        }
        if (user_id && place->phone_number_id && !find_line(f, place))
            return false;
    }
    return true;
}

/* --- the POST --- */

/* Whether the POST is stored, or was erased. */
static bool is_known(struct forwarding *f) {
    static struct statement s = {.sql = "SELECT 1 FROM platform_post WHERE hash = ?1 "
                                        "UNION ALL SELECT 1 FROM erased_mark WHERE hash = ?1 "
                                        "LIMIT 1"};
    sql_start(f->store, &s, HASH(f->hash));
    return row_exists(f->store, &s);
}

/* Inserts the POST before its first event. Waits for another transaction that inserts the same one:
 * then the POST is known, and the call returns false. */
static bool insert_post(struct forwarding *f) {
    static struct statement s = {
        .sql = "INSERT INTO platform_post (id, hash, body, created_at) VALUES (?1, ?2, ?3, ?4) "
               "ON CONFLICT (hash) DO NOTHING"};
    if (*f->post_id)
        return true;
    id_make(f->post_id, "pst_", f->now);
    if (!sql_run(f->store, &s, TEXT(f->post_id), HASH(f->hash), BLOB(f->post->body),
                 INTEGER(f->now)))
        return false;
    f->is_known = !sql_changes(f->store);
    return !f->is_known;
}

/* --- the events of one user --- */

/* Inserts an event with this body, and adds it to `made`. */
static bool insert_event(struct forwarding *f, struct store_event *event, const char *parts,
                         struct buffer *made) {
    const struct outbox_post post = {f->post_id, parts};
    char *id = arena_alloc(f->arena, ID_SIZE);
    id_make(id, "evt_", f->now);
    if (!insert_post(f) || !outbox_add(f->store, f->arena, event, id, NULL, &post))
        return false;
    buffer_add(made, &(struct made){id, parts, event->sequence}, sizeof(struct made));
    f->events++;
    return true;
}

/* Inserts the deliveries to a webhook. Webhooks with the same selection get the same bodies in the
 * same order. */
static bool deliver(struct forwarding *f, struct store_event *event, const char *webhook_id,
                    const struct forward_recipe *recipes, size_t count, struct buffer *made) {
    for (size_t i = 0, at = 0; i < count; i++, at++) {
        const struct made *list = (const struct made *)(void *)made->p;
        size_t known = made->n / sizeof *list;
        while (at < known && !is_equal_or_both_null(list[at].parts, recipes[i].parts))
            at++;
        if (at == known && !insert_event(f, event, recipes[i].parts, made))
            return false;
        list = (const struct made *)(void *)made->p;
        event->sequence = list[at].sequence;
        if (!outbox_deliver(f->store, event, list[at].id, webhook_id, recipes[i].order_key) ||
            !sql_is_within_limit(f->store, 0))
            return false;
    }
    return true;
}

/* The platform's ids of those lines of the POST that are in the list `line_ids`; NULL: of none. */
static struct buffer select_lines(const struct forwarding *f, const char *line_ids) {
    const struct known_line *lines = (const struct known_line *)(void *)f->lines.p;
    const struct slice wanted = slice_of(line_ids);
    struct buffer selected = buffer_in(f->arena);
    for (size_t i = 0; i < f->lines.n / sizeof *lines; i++)
        if (slice_has_word(wanted, ' ', slice_of(lines[i].id)))
            buffer_add(&selected, &lines[i].place.phone_number_id, sizeof(char *));
    return selected;
}

/* Whether another webhook of the same account names the line. */
static bool has_own(const struct webhook_list *webhooks, const char *account_id,
                    const char *line_id) {
    for (size_t i = 0; i < webhooks->count; i++) {
        const struct webhook_match *other = &webhooks->list[i];
        if (other->is_forward && other->account_id && strcmp(other->account_id, account_id) == 0 &&
            slice_has_word(slice_of(other->line_ids), ' ', slice_of(line_id)))
            return true;
    }
    return false;
}

/* The places that the webhook gets nothing of: the webhook of an account gets nothing of lines that
 * have one of their own. */
static struct buffer exclude_places(const struct forwarding *f, const struct webhook_list *webhooks,
                                    const struct webhook_match *webhook) {
    const struct known_line *lines = (const struct known_line *)(void *)f->lines.p;
    struct buffer excluded = buffer_in(f->arena);
    if (!webhook->account_id || webhook->line_ids)
        return f->excluded;
    buffer_add_slice(&excluded, buffer_slice(&f->excluded));
    for (size_t i = 0; i < f->lines.n / sizeof *lines; i++)
        if (has_own(webhooks, webhook->account_id, lines[i].id))
            buffer_add(&excluded, &lines[i].place, sizeof lines[i].place);
    return excluded;
}

/* The accounts of the POST that the webhook gets something of. */
static struct slice select_accounts(const struct receiver *receiver, const char *account_id) {
    const char *const *ids = (const char *const *)(void *)receiver->account_ids.p;
    const size_t count = receiver->account_ids.n / sizeof *ids;
    size_t i = 0;
    if (!account_id)
        return buffer_slice(&receiver->waba_ids);
    while (i < count && strcmp(ids[i], account_id) != 0)
        i++;
    return (struct slice){receiver->waba_ids.p + i * sizeof(char *),
                          i < count ? sizeof(char *) : 0};
}

static bool forward_to(struct forwarding *f, const struct receiver *receiver,
                       const struct webhook_list *webhooks, const struct webhook_match *webhook,
                       struct store_event *event, struct buffer *made) {
    const struct buffer lines = select_lines(f, webhook->line_ids);
    const struct buffer excluded = exclude_places(f, webhooks, webhook);
    const struct slice accounts = select_accounts(receiver, webhook->account_id);
    struct forward_recipe *recipes;
    size_t count;
    const struct forward_selection selection = {
        .waba_ids = (const char *const *)(const void *)accounts.p,
        .waba_id_count = accounts.n / sizeof(char *),
        .all_lines = !webhook->line_ids,
        .phone_number_ids = (const char *const *)(void *)lines.p,
        .phone_number_count = lines.n / sizeof(char *),
        .excluded = (const struct forward_place *)(void *)excluded.p,
        .excluded_count = excluded.n / sizeof(struct forward_place),
        .fields = webhook->fields,
        .updates = webhook->updates,
        .splits_messages = webhook->splits_messages,
    };
    f->post->make(f->post->context, f->arena, &selection, &recipes, &count);
    return deliver(f, event, webhook->id, recipes, count, made);
}

static bool forward_to_user(struct forwarding *f, const struct receiver *receiver) {
    struct store_event event = {.type = "platform.webhook",
                                .user_id = receiver->user_id,
                                .is_forward = true,
                                .now = f->now};
    struct buffer made = buffer_in(f->arena);
    struct webhook_list webhooks;
    if (!webhook_match_once(f->store, f->webhooks, receiver->user_id, &webhooks))
        return false;
    for (size_t i = 0; i < webhooks.count; i++)
        if (webhooks.list[i].is_forward &&
            !forward_to(f, receiver, &webhooks, &webhooks.list[i], &event, &made))
            return false;
    return true;
}

bool forward_insert(struct store *store, struct arena *arena, const struct store_post *post,
                    struct buffer *webhooks, int64_t now, size_t *events) {
    struct forwarding f = {.store = store,
                           .arena = arena,
                           .post = post,
                           .webhooks = webhooks,
                           .now = now,
                           .is_read_ahead = sql_reads_ahead(store),
                           .receivers = buffer_in(arena),
                           .excluded = buffer_in(arena),
                           .lines = buffer_in(arena)};
    size_t count;
    if (!find_receivers(&f))
        return false;
    const struct receiver *list = receivers(&f, &count);
    if (count)
        crypto_sha256(post->body, f.hash);
    if (!count || is_known(&f))
        return !sql_failed(store);
    for (size_t i = 0; i < count; i++)
        if (!forward_to_user(&f, &list[i]))
            return f.is_known && !sql_failed(store);
    *events += f.events;
    return true;
}
