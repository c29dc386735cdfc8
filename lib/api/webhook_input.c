#include "api/webhook_input.h"

#include "payload/webhook_rules.h"
#include "store/event_type.h"
#include "store/line.h"

static const struct text_rule token_rule = {.meaning = "a verify token of at most 1024 bytes",
                                            .longest = 1024};

/* clang-format off */
#define SHARED_FIELDS                                                                              \
    {.name = "kind", .type = FIELD_STRING, .values = webhook_kinds},                               \
    {.name = "name", .type = FIELD_STRING, .may_be_empty = true, .rule = &webhook_name_rule,       \
     .example = "Orders"},                                                                         \
    {.name = "code", .type = FIELD_STRING, .rule = &webhook_code_rule, .example = "s3cret"},       \
    {.name = "eventTypes", .type = FIELD_STRINGS, .may_be_null = true, .min = 1,                   \
     .max = EVENT_TYPE_COUNT, .values = webhook_event_types,                                       \
     .vocabulary = &webhook_event_vocabulary},                                                     \
    {.name = "phoneNumberIds", .type = FIELD_STRINGS, .may_be_null = true, .min = 1,               \
     .max = WEBHOOK_LINES_MOST},                                                                   \
    {.name = "fields", .type = FIELD_STRINGS, .may_be_null = true, .min = 1,                       \
     .max = WEBHOOK_FIELDS_MOST, .rule = &webhook_field_rule, .example = "messages"},              \
    {.name = "updates", .type = FIELD_STRINGS, .may_be_null = true, .min = 1, .max = 3,            \
     .values = webhook_updates},                                                                   \
    {.name = "splitMessages", .type = FIELD_BOOLEAN},                                              \
    {.name = "verifyToken", .type = FIELD_STRING, .rule = &token_rule, .example = "v3rify"},       \
    {.name = "paused", .type = FIELD_BOOLEAN},                                                     \
    {0}

const struct field webhook_new_fields[] = {
    {.name = "url", .type = FIELD_STRING, .required = true, .rule = &field_url_rule,
     .example = "https://example.org/hook"},
    SHARED_FIELDS,
};

const struct field webhook_fields[] = {
    {.name = "url", .type = FIELD_STRING, .rule = &field_url_rule,
     .example = "https://example.org/hook"},
    SHARED_FIELDS,
};
/* clang-format on */

/* --- lists --- */

/* A list of the body. */
struct list {
    const char *name;
    const char *const *items; /* NULL: not given, or null */
    size_t count;
    bool is_given; /* null, too */
};

static struct list read_list(struct request *rq, const char *name) {
    const struct json array = json_get(rq->json, name);
    struct buffer items = buffer_in(rq->arena);
    struct list list = {.name = name, .is_given = json_is(array)};
    if (json_type(array) != JSON_ARRAY)
        return list;
    for (struct json i = json_first(array); json_is(i); i = json_next(i)) {
        const char *text = json_text(i, rq->arena);
        if (!text)
            text = ""; /* it holds a NUL character: no line has such an id */
        buffer_add(&items, &text, sizeof text);
        list.count++;
    }
    list.items = (const char *const *)(const void *)buffer_slice(&items).p;
    return list;
}

static const char *join(struct arena *arena, const struct list *list) {
    struct buffer text = buffer_in(arena);
    if (!list->items)
        return NULL;
    for (size_t i = 0; i < list->count; i++)
        buffer_printf(&text, "%s%s", i ? " " : "", list->items[i]);
    return buffer_slice(&text).p;
}

/* Adds an issue about one item. */
static void refuse_item(struct request *rq, struct issues *issues, const struct list *list,
                        size_t i, const char *problem) {
    issues_add(issues, arena_printf(rq->arena, "%s[%zu]", list->name, i), "invalid_value", "%s",
               problem);
}

static void refuse_duplicate(struct request *rq, struct issues *issues, const struct list *list) {
    size_t i = webhook_find_duplicate(list->items, list->count);
    if (i < list->count)
        refuse_item(rq, issues, list, i, "is in the list already: name it once");
}

/* --- the rules of the kinds --- */

/* Adds an issue for a member that webhooks of the kind do not have. */
static void refuse_member(struct request *rq, struct issues *issues, const char *name,
                          const char *kind) {
    const enum json_type type = json_type(json_get(rq->json, name));
    if (type != JSON_ABSENT && type != JSON_NULL && type != JSON_FALSE)
        issues_add(issues, name, "invalid_value",
                   "is for webhooks of the kind %s alone: leave it out", kind);
}

static void check_kind(struct request *rq, struct issues *issues,
                       const struct store_webhook *present, const struct webhook_input *input) {
    const bool has_new_url =
        input->change.sets_url && (!present || strcmp(present->url, input->change.url) != 0);
    const struct json kind = json_get(rq->json, "kind");
    if (present && json_is(kind) && !json_equals(kind, present->kind))
        issues_add(issues, "kind", "invalid_value",
                   "cannot change: it is %s; POST /v2/webhooks makes another webhook",
                   present->kind);
    else if (!input->is_forward) {
        refuse_member(rq, issues, "fields", WEBHOOK_FORWARD);
        refuse_member(rq, issues, "updates", WEBHOOK_FORWARD);
        refuse_member(rq, issues, "splitMessages", WEBHOOK_FORWARD);
        refuse_member(rq, issues, "verifyToken", WEBHOOK_FORWARD);
    } else {
        refuse_member(rq, issues, "eventTypes", WEBHOOK_EVENT);
        if (has_new_url && !input->verify_token.p)
            issues_add(issues, "verifyToken", "required",
                       "is required with a new url: the gateway verifies the url with it");
    }
}

/* --- the members --- */

static void read_fields(struct request *rq, struct issues *issues,
                        struct store_webhook_change *to) {
    const struct list list = read_list(rq, "fields");
    refuse_duplicate(rq, issues, &list);
    for (size_t i = 0; list.count > 1 && i < list.count; i++)
        if (strcmp(list.items[i], WEBHOOK_ALL_FIELDS) == 0)
            refuse_item(rq, issues, &list, i,
                        "stands for all fields: leave the other ones out, or leave it out");
    to->sets_fields = list.is_given;
    to->fields = join(rq->arena, &list);
}

/* Reads a list of words, of which the table has checked each. */
static void read_words(struct request *rq, struct issues *issues, const char *name, bool *is_given,
                       const char **words) {
    const struct list list = read_list(rq, name);
    refuse_duplicate(rq, issues, &list);
    *is_given = list.is_given;
    *words = join(rq->arena, &list);
}

/* Returns the line's id, NULL if there is none. */
static const char *find_line(const struct line *lines, size_t count, const char *phone_number_id) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i].phone_number_id, phone_number_id) == 0)
            return lines[i].id;
    return NULL;
}

/* Replaces the platform's ids by those of the lines. Archived lines count too, so that a webhook
 * can be sent back as it was read. */
static int read_lines(struct request *rq, struct issues *issues, struct store_webhook_change *to) {
    struct list list = read_list(rq, "phoneNumberIds");
    struct line *lines;
    size_t count;
    to->sets_lines = list.is_given;
    if (!list.items)
        return 0;
    enum store_result result =
        store_list_lines(rq->caller->store, rq->arena,
                         &(struct line_filter){.view = &rq->caller->view}, &lines, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    refuse_duplicate(rq, issues, &list);
    const char **ids = arena_alloc(rq->arena, list.count * sizeof *ids);
    for (size_t i = 0; i < list.count; i++) {
        ids[i] = find_line(lines, count, list.items[i]);
        if (!ids[i])
            refuse_item(rq, issues, &list, i,
                        "is no phoneNumberId of your lines: GET /v2/lines lists them");
    }
    list.items = ids;
    to->line_ids = issues->count ? NULL : join(rq->arena, &list);
    return 0;
}

/* Reads the members that need no check but that of the table. */
static void read_plain(struct request *rq, struct issues *issues, struct webhook_input *input) {
    struct store_webhook_change *change = &input->change;
    const struct json name = json_get(rq->json, "name");
    const struct json split = json_get(rq->json, "splitMessages");
    const struct json paused = json_get(rq->json, "paused");
    change->name = json_text(name, rq->arena);
    change->sets_name = json_is(name);
    if (change->sets_name && !change->name)
        issues_add(issues, "name", "invalid_value", "must hold no NUL character");
    change->url = json_text(json_get(rq->json, "url"), rq->arena);
    change->sets_url = change->url != NULL;
    change->sets_splitting = json_is(split);
    change->splits_messages = json_type(split) == JSON_TRUE;
    change->pauses = json_type(paused) == JSON_TRUE;
    change->resumes = json_type(paused) == JSON_FALSE;
    input->code = json_string(json_get(rq->json, "code"), rq->arena);
    input->verify_token = json_string(json_get(rq->json, "verifyToken"), rq->arena);
}

int webhook_input_read(struct request *rq, const struct store_webhook *present,
                       struct webhook_input *input) {
    struct store_webhook_change *change = &input->change;
    struct issues issues;
    const bool is_forward = present ? strcmp(present->kind, WEBHOOK_FORWARD) == 0
                                    : json_equals(json_get(rq->json, "kind"), WEBHOOK_FORWARD);
    *input = (struct webhook_input){
        .change = {.user_id = rq->caller->user.id,
                   .kind = is_forward ? WEBHOOK_FORWARD : WEBHOOK_EVENT,
                   .now = rq->now},
        .is_forward = is_forward,
    };
    request_start_issues(rq, &issues);
    read_plain(rq, &issues, input);
    read_words(rq, &issues, "eventTypes", &change->sets_event_types, &change->event_types);
    if (read_lines(rq, &issues, change))
        return -1;
    read_fields(rq, &issues, change);
    read_words(rq, &issues, "updates", &change->sets_updates, &change->updates);
    check_kind(rq, &issues, present, input);
    return fail_on_issues(rq, &issues);
}
