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
    struct request *rq;
    const char *flow_id;
    char account_id[ID_SIZE];
};

/* Finds the form. Returns 0, or -1 after failing the request. */
static int find_form(struct request *rq, struct form *form) {
    *form = (struct form){.rq = rq, .flow_id = request_segment(rq)};
    enum store_result result = store_find_form_account(rq->caller->store, rq->caller->user.id,
                                                       form->flow_id, form->account_id);
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND, "There is no such form; GET /v2/forms lists them.");
    return result == STORE_OK ? 0 : state_fail(rq, result);
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

static int reply_json(struct form *form, const char *after) {
    struct request *rq = form->rq;
    const size_t limit = paging_limit(rq);
    const struct store_page page = {after, limit + 1};
    struct store_form_answer *answers;
    size_t count;
    enum store_result result = store_list_form_answers(
        rq->caller->store, rq->arena, form->account_id, form->flow_id, &page, &answers, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const size_t shown = count < limit ? count : limit;
    struct json_writer data;
    paging_start(rq, &data);
    for (size_t i = 0; i < shown; i++)
        write_answer(&data, rq->arena, &answers[i]);
    return paging_reply(rq, &data, count > limit ? answers[shown - 1].message_id : NULL);
}

/* --- CSV --- */

/* Reads the answers page by page, so that memory and the view of the database stay small. */
struct walk {
    struct form *form;
    struct arena arena; /* of one page */
    char after[ID_SIZE];
    struct store_form_answer *answers;
    size_t count;
    bool is_over;
};

/* Sets the id after which the next page begins; it is shorter than ID_SIZE. */
static void set_after(struct walk *walk, const char *id) {
    memcpy(walk->after, id, strlen(id) + 1);
}

static void start_walk(struct walk *walk, struct form *form, const char *after) {
    const struct arena *arena = form->rq->arena;
    *walk = (struct walk){.form = form};
    arena_init(&walk->arena, arena->cap, arena->exhausted);
    set_after(walk, after ? after : "msg_~");
}

/* Reads the next page; false after the last one, with `*result` not STORE_OK on failure. */
static bool next_page(struct walk *walk, enum store_result *result) {
    struct form *form = walk->form;
    const struct store_page page = {walk->after, CSV_PAGE};
    *result = STORE_OK;
    arena_reset(&walk->arena);
    if (walk->is_over)
        return false;
    state_hold_view(form->rq);
    *result = store_list_form_answers(form->rq->caller->store, &walk->arena, form->account_id,
                                      form->flow_id, &page, &walk->answers, &walk->count);
    request_release(form->rq);
    walk->is_over = walk->count < CSV_PAGE;
    if (*result != STORE_OK || !walk->count)
        return false;
    set_after(walk, walk->answers[walk->count - 1].message_id);
    return true;
}

struct columns {
    struct slice names[CSV_MOST_COLUMNS];
    size_t count;
};

static bool has_column(const struct columns *columns, struct slice name) {
    for (size_t i = 0; i < columns->count; i++)
        if (slice_equal(columns->names[i], name))
            return true;
    return false;
}

static void add_columns(struct columns *columns, struct walk *walk, struct json response) {
    for (struct json i = json_first(response); json_is(i) && columns->count < CSV_MOST_COLUMNS;
         i = json_next(i)) {
        const struct slice name = json_name(i, &walk->arena);
        if (!has_column(columns, name))
            columns->names[columns->count++] =
                (struct slice){arena_copy(walk->form->rq->arena, name), name.n};
    }
}

/* Collects the keys of the newest answers, in the order in which they are found. */
static enum store_result find_columns(struct form *form, const char *after,
                                      struct columns *columns) {
    struct walk walk;
    enum store_result result;
    start_walk(&walk, form, after);
    for (size_t seen = 0; seen < CSV_SURVEYED && next_page(&walk, &result); seen += walk.count)
        for (size_t i = 0; i < walk.count; i++)
            add_columns(columns, &walk, read_response(&walk.arena, walk.answers[i].body));
    arena_free(&walk.arena);
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

/* Writes all pages. The status is sent already, so a failure becomes the last line. */
static int write_pages(struct form *form, const char *after, const struct columns *columns) {
    struct walk walk;
    enum store_result result;
    int failed = 0;
    start_walk(&walk, form, after);
    while (!failed && next_page(&walk, &result)) {
        struct buffer lines = buffer_in(&walk.arena);
        for (size_t i = 0; i < walk.count; i++)
            add_answer(&lines, columns, &walk.arena, &walk.answers[i]);
        failed = reply_more(form->rq, buffer_slice(&lines));
    }
    arena_free(&walk.arena);
    if (failed || result == STORE_OK)
        return 0;
    reply_more(form->rq, SLICE("#ERROR: the list is incomplete; request it again\r\n"));
    return state_fail(form->rq, result);
}

static int reply_csv(struct form *form, const char *after) {
    struct request *rq = form->rq;
    struct columns *columns = arena_alloc(rq->arena, sizeof *columns);
    columns->count = 0;
    enum store_result result = find_columns(form, after, columns);
    if (result != STORE_OK)
        return state_fail(rq, result);
    struct buffer header = buffer_in(rq->arena);
    add_header(&header, columns);
    reply_header(rq, "Content-Disposition", "attachment; filename=\"responses.csv\"");
    if (reply_stream(rq, 200, "text/csv; charset=utf-8; header=present", -1) || rq->head ||
        reply_more(rq, buffer_slice(&header)))
        return 0;
    return write_pages(form, after, columns);
}

static const char *const formats[] = {"json", "csv", NULL};

static const struct field responses_query[] = {
    {.name = "format", .type = FIELD_STRING, .values = formats},
    PAGING_FIELDS,
    {0},
};

static int get_responses(struct request *rq) {
    struct form form;
    const char *after;
    if (paging_after(rq, "msg_", &after) || find_form(rq, &form))
        return -1;
    return slice_equal(query_get(&rq->query, "format"), SLICE("csv")) ? reply_csv(&form, after)
                                                                      : reply_json(&form, after);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/forms/:flowId/responses",
     .scope = SCOPE_READ, .guard = &caller_guard, .handle = get_responses,
     .query = responses_query},
    {0},
};
/* clang-format on */

int main(int argc, char **argv) {
    return serve(&(struct service){.name = "forms_responses",
                                   .routes = routes,
                                   .needs = READS_DATABASE,
                                   .takes_rewrites = true},
                 argc, argv);
}
