/* GET /v2/forms/:flowId/responses: the answers to a form, as JSON or as CSV. */
#include "api/auth.h"
#include "api/paging.h"
#include "base/log.h"
#include "payload/csv.h"
#include "store/form_answer.h"

enum {
    CSV_PAGE = 200,        /* answers that are read at once */
    CSV_SURVEYED = 1000,   /* newest answers whose keys become columns */
    CSV_MOST_COLUMNS = 200 /* keys with a column of their own */
};

/* The form that a request is about. */
struct form {
    const char *flow_id;
    char account_id[ID_SIZE];
};

/* Finds the form. Returns 0, or -1 after failing the request. */
static int find_form(struct request *rq, struct form *form) {
    form->flow_id = request_segment(rq);
    enum store_result result = store_find_form_account(rq->caller->store, rq->caller->user.id,
                                                       form->flow_id, form->account_id);
    if (result == STORE_OK)
        return 0;
    return state_fail_absent(rq, result, "There is no such form; GET /v2/forms lists them.");
}

/* Reads the answer of a message. The platform sends it as a JSON text within a string. Absent when
 * the message has none, or one that is not a JSON object. */
static struct json read_response(struct arena *arena, struct slice body) {
    struct json message, response;
    struct json_error error;
    const struct json none = {0};
    if (json_read(arena, body, &message, &error))
        return none;
    const struct slice text =
        json_string(json_find(message, "interactive.nfm_reply.response_json"), arena);
    if (!text.p || json_read(arena, text, &response, &error) || json_type(response) != JSON_OBJECT)
        return none;
    return response;
}

/* --- JSON --- */

static void write_answer(struct json_writer *out, struct arena *arena,
                         const struct store_form_answer *answer) {
    json_write_object(out, NULL);
    json_write_text(out, "messageId", answer->message_id);
    json_write_text(out, "wamid", answer->wamid);
    json_write_text(out, "threadId", answer->thread_id);
    json_write_object(out, "contact");
    json_write_text(out, "id", answer->contact.id);
    json_write_text(out, "name", answer->contact.name);
    json_write_text(out, "phone", answer->contact.phone);
    json_write_text(out, "userId", answer->contact.bsuid);
    json_write_end(out);
    json_write_time(out, "receivedAt", answer->received_at);
    json_write_raw(out, "response", json_raw(read_response(arena, answer->body)));
    json_write_end(out);
}

static int reply_json(struct request *rq, const struct form *form, const struct store_page *page) {
    struct store_form_answer *answers;
    struct json_writer data;
    size_t count;
    enum store_result result = store_list_form_answers(
        rq->caller->store, rq->arena, form->account_id, form->flow_id, page, &answers, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const bool has_more = paging_has_more(rq, &count);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        write_answer(&data, rq->arena, &answers[i]);
    return paging_reply(rq, &data, has_more ? answers[count - 1].message_id : NULL);
}

/* --- CSV --- */

struct columns {
    struct slice names[CSV_MOST_COLUMNS];
    size_t count;
};

/* How far the answers have been read: page by page, so that memory and the view of the database
 * stay small. */
struct walk {
    const struct form *form;
    struct columns *columns;
    char after[ID_SIZE];
    struct store_form_answer *answers; /* of the page */
    size_t count;
    bool is_over;
};

/* Sets the id after which the next page begins; it is shorter than ID_SIZE. */
static void set_after(struct walk *walk, const char *id) {
    memcpy(walk->after, id, strlen(id) + 1);
}

/* Reads the next page; it is empty on failure. */
static enum store_result read_page(struct request *rq, struct arena *arena, struct walk *walk) {
    const struct store_page page = {walk->after, CSV_PAGE};
    size_t count;
    state_hold_view(rq);
    enum store_result result =
        store_list_form_answers(rq->caller->store, arena, walk->form->account_id,
                                walk->form->flow_id, &page, &walk->answers, &count);
    request_release(rq);
    walk->count = result == STORE_OK ? count : 0;
    walk->is_over = walk->count < CSV_PAGE;
    if (walk->count)
        set_after(walk, walk->answers[walk->count - 1].message_id);
    return result;
}

static bool has_column(const struct columns *columns, struct slice name) {
    for (size_t i = 0; i < columns->count; i++)
        if (slice_equal(columns->names[i], name))
            return true;
    return false;
}

/* Adds the keys of an answer, which `scratch` holds. */
static void add_columns(struct request *rq, struct columns *columns, struct arena *scratch,
                        struct json response) {
    for (struct json i = json_first(response); json_is(i) && columns->count < CSV_MOST_COLUMNS;
         i = json_next(i)) {
        const struct slice name = json_name(i, scratch);
        if (!has_column(columns, name))
            columns->names[columns->count++] = (struct slice){arena_copy(rq->arena, name), name.n};
    }
}

/* Collects the keys of the newest answers, in the order in which they are found. */
static enum store_result find_columns(struct request *rq, struct walk walk) {
    struct arena arena;
    enum store_result result = STORE_OK;
    arena_init(&arena, rq->arena->cap, rq->arena->exhausted);
    for (size_t seen = 0; seen < CSV_SURVEYED && !walk.is_over; seen += CSV_PAGE) {
        arena_reset(&arena);
        result = read_page(rq, &arena, &walk);
        for (size_t i = 0; i < walk.count; i++)
            add_columns(rq, walk.columns, &arena, read_response(&arena, walk.answers[i].body));
    }
    arena_free(&arena);
    return result;
}

static void add_header(struct buffer *line, const struct columns *columns) {
    static const char *const fixed[] = {"messageId",    "wamid",        "threadId",
                                        "receivedAt",   "contactId",    "contactName",
                                        "contactPhone", "contactUserId"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        csv_add(line, slice_of(fixed[i]));
    for (size_t i = 0; i < columns->count; i++)
        csv_add(line, columns->names[i]);
    csv_add(line, SLICE("other"));
    csv_end(line);
}

/* A string as it is, null as nothing, any other value as JSON. */
static struct slice cell_of(struct json value, struct arena *arena) {
    switch (json_type(value)) {
    case JSON_STRING: return json_string(value, arena);
    case JSON_ABSENT:
    case JSON_NULL: return (struct slice){NULL, 0};
    default: return json_raw(value);
    }
}

/* The last member of this name counts, as in json_get. */
static struct json find_member(struct json response, struct slice name, struct arena *arena) {
    struct json found = {0};
    for (struct json i = json_first(response); json_is(i); i = json_next(i))
        if (slice_equal(json_name(i, arena), name))
            found = i;
    return found;
}

/* The members without a column, as a JSON object; empty without any. */
static struct slice find_others(struct json response, const struct columns *columns,
                                struct arena *arena) {
    struct buffer others = buffer_in(arena);
    for (struct json i = json_first(response); json_is(i); i = json_next(i)) {
        const struct slice name = json_raw_name(i), value = json_raw(i);
        if (has_column(columns, json_name(i, arena)))
            continue;
        buffer_printf(&others, "%s\"%.*s\":", others.n ? "," : "{", (int)name.n, name.p);
        buffer_add_slice(&others, value);
    }
    if (others.n)
        buffer_add_char(&others, '}');
    return buffer_slice(&others);
}

static void add_answer(struct buffer *line, const struct columns *columns, struct arena *arena,
                       const struct store_form_answer *answer) {
    const struct json response = read_response(arena, answer->body);
    struct json_writer time;
    json_write_start(&time, arena);
    json_write_time(&time, NULL, answer->received_at);
    const struct slice quoted = json_written(&time);
    const struct slice fixed[] = {
        slice_of(answer->message_id),    slice_of(answer->wamid),
        slice_of(answer->thread_id),     {quoted.p + 1, quoted.n - 2},
        slice_of(answer->contact.id),    slice_of(answer->contact.name),
        slice_of(answer->contact.phone), slice_of(answer->contact.bsuid),
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        csv_add(line, fixed[i]);
    for (size_t i = 0; i < columns->count; i++)
        csv_add(line, cell_of(find_member(response, columns->names[i], arena), arena));
    csv_add(line, find_others(response, columns, arena));
    csv_end(line);
}

static enum store_result add_page(struct request *rq, void *list, struct buffer *lines,
                                  bool *more) {
    struct walk *walk = list;
    enum store_result result = read_page(rq, lines->arena, walk);
    for (size_t i = 0; i < walk->count; i++)
        add_answer(lines, walk->columns, lines->arena, &walk->answers[i]);
    *more = !walk->is_over;
    return result;
}

static int reply_csv(struct request *rq, const struct form *form, const char *after) {
    struct buffer head = buffer_in(rq->arena);
    struct walk walk = {.form = form, .columns = arena_alloc(rq->arena, sizeof *walk.columns)};
    walk.columns->count = 0;
    set_after(&walk, after ? after : "msg_~");
    enum store_result result = find_columns(rq, walk);
    if (result != STORE_OK)
        return state_fail(rq, result);
    add_header(&head, walk.columns);
    return paging_reply_csv(rq, "responses", buffer_slice(&head), add_page, &walk);
}

static const char *const formats[] = {"json", "csv", NULL};

static const struct field responses_query[] = {
    {.name = "format", .type = FIELD_STRING, .values = formats},
    PAGING_FIELDS,
    {0},
};

static int get_responses(struct request *rq) {
    struct form form;
    struct store_page page;
    if (paging_page(rq, "msg_", &page) || find_form(rq, &form))
        return -1;
    return slice_equal(query_get(&rq->query, "format"), SLICE("csv"))
               ? reply_csv(rq, &form, page.after)
               : reply_json(rq, &form, &page);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/forms/:flowId/responses",
     .scope = SCOPE_READ, .guard = &caller_guard, .handle = get_responses,
     .query = responses_query},
    {0},
};
/* clang-format on */

const struct service this_service = {
    .name = "forms_responses", .routes = routes, .needs = READS_DATABASE, .takes_rewrites = true};
