/* The bodies that are forwarded of a POST: each is valid JSON, and all users together get each
 * element of the POST once, with the same bytes. The first two bytes of the input choose what is
 * selected. */
#include "payload/forward_body.h"

#include "fuzz.h"
#include "store/forward_parts.h"

static const char *const arrays[] = {"messages", "statuses", "message_echoes"};
static const char *const users[][2] = {{"1", "3"}, {"2", "4"}};

/* Whether an entry belongs to one of both users; -1: either. */
static bool is_owned(struct json entry, int user) {
    for (int u = 0; u < 2; u++)
        for (int i = 0; i < 2; i++)
            if ((user < 0 || u == user) && json_equals(json_get(entry, "id"), users[u][i]))
                return true;
    return false;
}

/* What stands in the changes of the user's entries: a number of elements, and a sum of their bytes
 * that does not depend on their order. */
struct content {
    size_t elements;
    uint64_t sum;
};

static void add_element(struct content *content, struct json element) {
    struct slice raw = json_raw(element);
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < raw.n; i++)
        hash = (hash ^ (unsigned char)raw.p[i]) * 1099511628211u;
    content->elements++;
    content->sum += hash;
}

static void add_change(struct content *content, struct json change) {
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        struct json array = json_get(json_get(change, "value"), arrays[i]);
        if (json_type(array) == JSON_ARRAY)
            for (struct json e = json_first(array); json_is(e); e = json_next(e))
                add_element(content, e);
    }
}

static void add_content(struct content *content, struct json post, int user) {
    struct json entries = json_get(post, "entry");
    if (json_type(entries) != JSON_ARRAY)
        return;
    for (struct json entry = json_first(entries); json_is(entry); entry = json_next(entry)) {
        struct json changes = json_get(entry, "changes");
        if (!is_owned(entry, user) || json_type(changes) != JSON_ARRAY)
            continue;
        for (struct json change = json_first(changes); json_is(change); change = json_next(change))
            add_change(content, change);
    }
}

/* Reads a body, and checks that it has only the user's entries, and one element when messages are
 * split. */
static void check_body(struct arena *arena, struct slice body, int user, bool splits,
                       struct content *content) {
    struct json value;
    struct json_error error;
    struct content own = {0};
    MUST(body.p && json_read(arena, body, &value, &error) == 0);
    struct json entries = json_get(value, "entry");
    for (struct json entry = json_first(entries); json_is(entry); entry = json_next(entry))
        MUST(is_owned(entry, user));
    add_content(&own, value, user);
    MUST(!splits || own.elements <= 1);
    content->elements += own.elements;
    content->sum += own.sum;
}

static void check_user(struct arena *arena, struct forward_post *post, int user,
                       struct forward_selection *selection, struct content *content) {
    struct forward_recipe *recipes;
    size_t count;
    selection->waba_ids = users[user];
    selection->waba_id_count = 2;
    forward_body_make(post, arena, selection, &recipes, &count);
    for (size_t i = 0; i < count; i++) {
        struct slice body = forward_assemble(arena, post->body, recipes[i].parts);
        check_body(arena, body, user, selection->splits_messages, content);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const lines[] = {"10"};
    static const struct forward_place excluded[] = {{"1", "11"}, {"2", "10"}};
    struct arena arena;
    struct json_error error;
    struct content all = {0}, forwarded = {0};
    if (size < 2)
        return 0;
    const bool selects_all = !(data[0] & 6) && !(data[1] & 5);
    struct forward_selection selection = {
        .all_lines = !(data[0] & 2),
        .phone_number_ids = lines,
        .phone_number_count = 1,
        .excluded = excluded,
        .excluded_count = data[0] & 4 ? 2 : 0,
        .splits_messages = data[0] & 1,
        .updates = data[1] & 4 ? "messages echoes" : NULL,
        .fields = data[1] & 1 ? (data[1] & 2 ? NULL : "flows messages") : "*",
    };
    struct forward_post post = {.body = fuzz_copy(data + 2, size - 2)};
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    if (json_read(&arena, post.body, &post.value, &error) == 0) {
        forward_body_post(&post, &arena);
        add_content(&all, post.value, -1);
        for (int user = 0; user < 2; user++)
            check_user(&arena, &post, user, &selection, &forwarded);
        MUST(forwarded.elements <= all.elements);
        MUST(!selects_all || (forwarded.elements == all.elements && forwarded.sum == all.sum));
    }
    arena_free(&arena);
    free((char *)(size_t)post.body.p);
    return 0;
}
