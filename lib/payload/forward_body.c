#include "payload/forward_body.h"

#include "payload/excerpt.h"

enum {
    LONGEST_KEY_PART = 128, /* bytes of an id in an order key */
    MOST_CARDS = 1000,      /* of a value in which they are searched: the platform's limit */
};

#define DEFAULT_FIELDS "messages"

/* A change that is kept, with its entry. */
struct kept_change {
    struct json entry, changes;
    struct json change; /* absent: the entry has no changes */
    unsigned unwanted;  /* the arrays of its value that are left out: bits of update_arrays */
    bool is_last;       /* of its entry */
};

/* The changes of one selection, and the recipes so far. */
struct maker {
    struct arena *arena;
    const struct forward_post *post;
    const struct forward_selection *selection;
    struct buffer kept;    /* of struct kept_change */
    bool has_left_out;     /* something that a whole POST would show */
    struct buffer recipes; /* of struct forward_recipe */
};

/* --- what an entry is about, and what of it is kept --- */

static bool is_listed(const char *text, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

/* Whether the change's `field` is wanted; `field` NULL: it has none. */
static bool is_wanted_field(const char *fields, const char *field) {
    const struct slice words = slice_of(fields ? fields : DEFAULT_FIELDS);
    return slice_equal(words, SLICE("*")) || (field && slice_has_word(words, ' ', slice_of(field)));
}

/* The account of an entry; NULL: it names none. */
static const char *account_of(struct json entry, struct arena *arena) {
    return json_text(json_get(entry, "id"), arena);
}

/* The line that a change is about; NULL: it names none. */
static const char *line_of(struct json change, struct arena *arena) {
    return json_text(json_find(change, "value.metadata.phone_number_id"), arena);
}

static bool is_excluded(const struct forward_selection *selection, const char *waba_id,
                        const char *line) {
    for (size_t i = 0; i < selection->excluded_count; i++)
        if (selection->excluded[i].phone_number_id &&
            strcmp(selection->excluded[i].phone_number_id, line) == 0 &&
            strcmp(selection->excluded[i].waba_id, waba_id) == 0)
            return true;
    return false;
}

/* The arrays of a value that hold what webhooks select as `updates` and what is split. */
static const struct update_array {
    const char *word, *name; /* of `updates`; of the array */
} update_arrays[] = {
    {"messages", "messages"}, {"statuses", "statuses"}, {"echoes", "message_echoes"}};

enum { UPDATE_ARRAYS = sizeof update_arrays / sizeof *update_arrays };

/* A value's array of that name; absent when it is something else. */
static struct json update_array(struct json value, size_t i) {
    struct json array = json_get(value, update_arrays[i].name);
    return json_type(array) == JSON_ARRAY ? array : (struct json){0};
}

/* The arrays of the value that `updates` does not have. */
static unsigned unwanted_arrays(const struct maker *m, struct json value) {
    const char *updates = m->selection->updates;
    unsigned unwanted = 0;
    for (size_t i = 0; updates && i < UPDATE_ARRAYS; i++)
        if (!slice_has_word(slice_of(updates), ' ', slice_of(update_arrays[i].word)) &&
            json_is(json_get(value, update_arrays[i].name)))
            unwanted |= 1U << i;
    return unwanted;
}

/* Whether the value has elements in one of the other arrays. */
static bool has_wanted_element(struct json value, unsigned unwanted) {
    for (size_t i = 0; i < UPDATE_ARRAYS; i++)
        if (!(unwanted >> i & 1) && json_is(json_first(update_array(value, i))))
            return true;
    return false;
}

static bool is_wanted(const struct maker *m, const char *waba_id, struct json change) {
    const struct forward_selection *selection = m->selection;
    const char *line = line_of(change, m->arena);
    if (line && is_excluded(selection, waba_id, line))
        return false;
    if (line && !selection->all_lines &&
        !is_listed(line, selection->phone_number_ids, selection->phone_number_count))
        return false;
    return is_wanted_field(selection->fields, json_text(json_get(change, "field"), m->arena));
}

/* Whether another member of the object has the name of this one, which json_get found. */
static bool is_repeated(struct json object, const char *name) {
    size_t count = 0;
    for (struct json i = json_first(object); json_is(i) && count < 2; i = json_next(i))
        count += json_is_named(i, name);
    return count > 1;
}

/* Keeps what is wanted of the change. */
static void keep_wanted(struct maker *m, const char *waba_id, struct kept_change *kept) {
    struct json value = json_get(kept->change, "value");
    bool is_kept = is_wanted(m, waba_id, kept->change);
    kept->unwanted = is_kept ? unwanted_arrays(m, value) : 0;
    if (kept->unwanted)
        is_kept = has_wanted_element(value, kept->unwanted);
    m->has_left_out |= !is_kept || kept->unwanted;
    if (is_kept)
        buffer_add(&m->kept, kept, sizeof *kept);
}

/* The changes kept so far. */
static struct kept_change *kept_changes(const struct maker *m, size_t *count) {
    return buffer_array(&m->kept, sizeof(struct kept_change), count);
}

static void keep_entry(struct maker *m, const char *waba_id, struct json entry) {
    struct kept_change kept = {.entry = entry, .changes = json_get(entry, "changes")};
    size_t before, count;
    kept_changes(m, &before);
    m->has_left_out |= is_repeated(entry, "changes");
    bool has_changes = json_type(kept.changes) == JSON_ARRAY && json_is(json_first(kept.changes));
    if (!has_changes && is_wanted_field(m->selection->fields, NULL))
        buffer_add(&m->kept, &kept, sizeof kept);
    for (kept.change = json_first(kept.changes); has_changes && json_is(kept.change);
         kept.change = json_next(kept.change))
        keep_wanted(m, waba_id, &kept);
    struct kept_change *changes = kept_changes(m, &count);
    m->has_left_out |= count == before;
    if (count > before)
        changes[count - 1].is_last = true;
}

static void keep_entries(struct maker *m) {
    struct json entries = json_get(m->post->value, "entry");
    m->has_left_out = is_repeated(m->post->value, "entry");
    if (json_type(entries) != JSON_ARRAY)
        return;
    for (struct json entry = json_first(entries); json_is(entry); entry = json_next(entry)) {
        const char *id = account_of(entry, m->arena);
        if (id && is_listed(id, m->selection->waba_ids, m->selection->waba_id_count))
            keep_entry(m, id, entry);
        else
            m->has_left_out = true;
    }
}

/* --- the persons of messages, statuses and echoes --- */

/* The members of an element that name its person. */
static const struct person_member {
    const char *array, *member;
    bool is_user_id; /* as `user_id` of the person's card does; else as its `wa_id` */
} person_members[] = {
    {"messages", "from", false},
    {"messages", "from_user_id", true},
    {"statuses", "recipient_participant_id", false},
    {"statuses", "recipient_participant_user_id", true},
    {"statuses", "recipient_id", false},
    {"statuses", "recipient_user_id", true},
    {"message_echoes", "to", false},
    {"message_echoes", "to_user_id", true},
};

enum { PERSON_MEMBERS = sizeof person_members / sizeof *person_members };

/* An array of the change that is kept; absent when there is none. */
static struct json kept_array(const struct kept_change *kept, size_t i) {
    return kept->unwanted >> i & 1 ? (struct json){0}
                                   : update_array(json_get(kept->change, "value"), i);
}

/* The id of the element's person; NULL: there is none, or one that is no id. */
static const char *person_of(const struct maker *m, const char *array, struct json element) {
    for (size_t i = 0; i < PERSON_MEMBERS; i++) {
        const struct person_member *member = &person_members[i];
        if (strcmp(member->array, array) != 0)
            continue;
        const char *id = json_text(json_get(element, member->member), m->arena);
        if (id && *id)
            return strlen(id) <= LONGEST_KEY_PART ? id : NULL;
    }
    return NULL;
}

/* Orders the first attempts of bodies about one person and line; NULL: the body is about none. */
static const char *order_key(const struct maker *m, struct json change, const char *array,
                             struct json element) {
    const char *line = line_of(change, m->arena), *person = person_of(m, array, element);
    return line && *line && strlen(line) <= LONGEST_KEY_PART && person
               ? arena_printf(m->arena, "%s:%s", line, person)
               : NULL;
}

/* The key of a change that is not split: that of its first element. */
static const char *first_order_key(const struct maker *m, const struct kept_change *kept) {
    for (size_t i = 0; i < UPDATE_ARRAYS; i++) {
        struct json element = json_first(kept_array(kept, i));
        if (json_is(element))
            return order_key(m, kept->change, update_arrays[i].name, element);
    }
    return NULL;
}

/* --- recipes --- */

static void add_recipe(struct maker *m, const char *parts, const char *order_key) {
    const struct forward_recipe recipe = {.parts = parts, .order_key = order_key};
    buffer_add(&m->recipes, &recipe, sizeof recipe);
}

/* The recipe of a body with these entries. */
static const char *wrap(const struct maker *m, const struct excerpt_value *entries, size_t count) {
    struct json object = json_get(m->post->value, "object");
    struct excerpt excerpt = excerpt_start(m->arena, m->post->body);
    if (json_is(object)) {
        excerpt_add_text(&excerpt, SLICE("{\"object\":"));
        excerpt_add_value(&excerpt, &(struct excerpt_value){.value = object});
        excerpt_add_text(&excerpt, SLICE(",\"entry\":["));
    } else {
        excerpt_add_text(&excerpt, SLICE("{\"entry\":["));
    }
    excerpt_add_list(&excerpt, entries, count);
    excerpt_add_text(&excerpt, SLICE("]}"));
    return excerpt_end(&excerpt);
}

/* What is kept of the change. */
static struct excerpt_value change_of(const struct maker *m, const struct kept_change *kept) {
    struct excerpt_edit *edits = arena_alloc(m->arena, (UPDATE_ARRAYS + 1) * sizeof *edits);
    struct excerpt_value *value = arena_alloc(m->arena, sizeof *value);
    if (!kept->unwanted)
        return (struct excerpt_value){.value = kept->change};
    *value = (struct excerpt_value){json_get(kept->change, "value"), &edits[1], 0};
    for (size_t i = 0; i < UPDATE_ARRAYS; i++)
        if (kept->unwanted >> i & 1)
            edits[++value->edit_count] = (struct excerpt_edit){.name = update_arrays[i].name};
    edits[0] = (struct excerpt_edit){.name = "value", .value = value->value, .object = value};
    return (struct excerpt_value){kept->change, edits, 1};
}

/* The entry of these changes, which are all that is kept of it. */
static struct excerpt_value entry_of(const struct maker *m, const struct kept_change *kept,
                                     const struct excerpt_value *changes, size_t count) {
    struct excerpt_edit *edit = arena_alloc(m->arena, sizeof *edit);
    if (!json_is(kept->change))
        return (struct excerpt_value){.value = kept->entry};
    *edit = (struct excerpt_edit){
        .name = "changes", .value = kept->changes, .items = changes, .item_count = count};
    return (struct excerpt_value){.value = kept->entry, .edits = edit, .edit_count = 1};
}

/* One body with these changes: the POST itself if `is_whole`. */
static void make_together(struct maker *m, const struct kept_change *kept, size_t count,
                          bool is_whole) {
    size_t entry_count = 0, first = 0;
    struct excerpt_value *changes = arena_alloc(m->arena, count * sizeof *changes);
    struct excerpt_value *entries = arena_alloc(m->arena, count * sizeof *entries);
    const char *key = NULL;
    for (size_t i = 0; i < count; i++) {
        changes[i] = change_of(m, &kept[i]);
        key = key ? key : first_order_key(m, &kept[i]);
        if (!kept[i].is_last && i + 1 < count)
            continue;
        entries[entry_count++] = entry_of(m, &kept[i], &changes[first], i + 1 - first);
        first = i + 1;
    }
    add_recipe(m, is_whole ? NULL : wrap(m, entries, entry_count), key);
}

/* --- one message or status per body --- */

/* A card of `contacts`, with the original bytes of its ids. */
struct card {
    struct json value;
    struct slice wa_id, user_id;
};

/* A change that is split. */
struct split {
    struct maker *maker;
    const struct kept_change *kept;
    struct json value, arrays[UPDATE_ARRAYS];
    size_t element_count; /* of all arrays */
    struct json contacts;
    struct card *cards;
    size_t card_count; /* 0: the cards are not searched */
};

static void read_cards(struct split *split) {
    size_t count = 0;
    split->contacts = json_get(split->value, "contacts");
    if (json_type(split->contacts) == JSON_ARRAY)
        count = json_count(split->contacts);
    if (count < 2 || count > MOST_CARDS)
        return;
    split->cards = arena_alloc(split->maker->arena, count * sizeof *split->cards);
    for (struct json c = json_first(split->contacts); json_is(c); c = json_next(c))
        split->cards[split->card_count++] =
            (struct card){c, json_raw(json_get(c, "wa_id")), json_raw(json_get(c, "user_id"))};
}

static struct split split_of(struct maker *m, const struct kept_change *kept) {
    struct split split = {.maker = m, .kept = kept, .value = json_get(kept->change, "value")};
    for (size_t i = 0; i < UPDATE_ARRAYS; i++) {
        split.arrays[i] = kept_array(kept, i);
        split.element_count += json_count(split.arrays[i]);
    }
    return split;
}

/* Whether one of the element's ids is on the card; the platform writes it in the same way there. */
static bool is_card_of(const struct card *card, const struct slice ids[PERSON_MEMBERS]) {
    for (size_t i = 0; i < PERSON_MEMBERS; i++)
        if (ids[i].n &&
            slice_equal(ids[i], person_members[i].is_user_id ? card->user_id : card->wa_id))
            return true;
    return false;
}

/* The edit of `contacts` that keeps the cards of the element's person. Returns false when no card
 * is of that person: then all stay. */
static bool edit_cards(const struct split *split, const char *array, struct json element,
                       struct excerpt_edit *edit) {
    struct buffer items = buffer_in(split->maker->arena); /* of struct excerpt_value */
    struct slice ids[PERSON_MEMBERS] = {0};
    for (size_t i = 0; i < PERSON_MEMBERS; i++)
        if (strcmp(person_members[i].array, array) == 0)
            ids[i] = json_raw(json_get(element, person_members[i].member));
    for (size_t i = 0; i < split->card_count; i++)
        if (is_card_of(&split->cards[i], ids))
            buffer_add(&items, &(struct excerpt_value){.value = split->cards[i].value},
                       sizeof(struct excerpt_value));
    *edit = (struct excerpt_edit){.name = "contacts",
                                  .value = split->contacts,
                                  .items = (const struct excerpt_value *)(void *)items.p,
                                  .item_count = items.n / sizeof(struct excerpt_value)};
    return edit->item_count > 0;
}

/* The body of one element of an array. */
static void make_element(const struct split *split, size_t array, struct json element) {
    struct maker *m = split->maker;
    const char *name = update_arrays[array].name;
    const struct excerpt_value item = {.value = element};
    struct excerpt_edit edits[UPDATE_ARRAYS + 1];
    size_t count = 0;
    for (size_t i = 0; i < UPDATE_ARRAYS; i++)
        if (i == array)
            edits[count++] = (struct excerpt_edit){
                .name = name, .value = split->arrays[i], .items = &item, .item_count = 1};
        else if (json_is(split->arrays[i]) || split->kept->unwanted >> i & 1)
            edits[count++] = (struct excerpt_edit){.name = update_arrays[i].name};
    count += edit_cards(split, name, element, &edits[count]);
    const struct excerpt_value value = {split->value, edits, count};
    const struct excerpt_edit edit = {.name = "value", .value = split->value, .object = &value};
    const struct excerpt_value change = {split->kept->change, &edit, 1};
    const struct excerpt_value entry = entry_of(m, split->kept, &change, 1);
    add_recipe(m, wrap(m, &entry, 1), order_key(m, split->kept->change, name, element));
}

/* The bodies of a change. One with at most one element is kept as it is; so is the POST if that is
 * its only one. */
static void make_apart(struct maker *m, const struct kept_change *kept, bool is_only) {
    struct split split = split_of(m, kept);
    if (split.element_count < 2) {
        make_together(m, kept, 1, is_only && !m->has_left_out);
        return;
    }
    read_cards(&split);
    for (size_t i = 0; i < UPDATE_ARRAYS; i++)
        for (struct json e = json_first(split.arrays[i]); json_is(e); e = json_next(e))
            make_element(&split, i, e);
}

void forward_body_make(void *context, struct arena *arena,
                       const struct forward_selection *selection, struct forward_recipe **recipes,
                       size_t *count) {
    struct maker m = {.arena = arena,
                      .post = context,
                      .selection = selection,
                      .kept = buffer_in(arena),
                      .recipes = buffer_in(arena)};
    size_t kept_count;
    keep_entries(&m);
    const struct kept_change *kept = kept_changes(&m, &kept_count);
    if (kept_count && !selection->splits_messages)
        make_together(&m, kept, kept_count, !m.has_left_out);
    else
        for (size_t i = 0; i < kept_count; i++)
            make_apart(&m, &kept[i], kept_count == 1);
    *recipes = buffer_array(&m.recipes, sizeof **recipes, count);
}

/* --- the POST for the store --- */

static bool is_same_place(const struct forward_place *a, const struct forward_place *b) {
    if (strcmp(a->waba_id, b->waba_id) != 0 || !a->phone_number_id != !b->phone_number_id)
        return false;
    return !a->phone_number_id || strcmp(a->phone_number_id, b->phone_number_id) == 0;
}

static void add_place(struct buffer *places, const struct forward_place *place) {
    const struct forward_place *list = (const struct forward_place *)(void *)places->p;
    const size_t count = places->n / sizeof *list;
    if (!count || !is_same_place(&list[count - 1], place))
        buffer_add(places, place, sizeof *place);
}

struct store_post forward_body_post(struct forward_post *post, struct arena *arena) {
    struct buffer list = buffer_in(arena);
    struct json entries = json_get(post->value, "entry");
    for (struct json entry = json_first(entries); json_is(entry); entry = json_next(entry)) {
        struct forward_place place = {.waba_id = account_of(entry, arena)};
        struct json changes = json_get(entry, "changes");
        if (!place.waba_id)
            continue;
        if (!json_is(json_first(changes)))
            add_place(&list, &place);
        for (struct json c = json_first(changes); json_is(c); c = json_next(c)) {
            place.phone_number_id = line_of(c, arena);
            add_place(&list, &place);
        }
    }
    return (struct store_post){.body = post->body,
                               .places = (const struct forward_place *)(void *)list.p,
                               .place_count = list.n / sizeof(struct forward_place),
                               .context = post,
                               .make = forward_body_make};
}
