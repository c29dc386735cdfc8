#include "api/campaign/campaign_import.h"

#include "base/utf8.h"
#include "payload/campaign_json.h"
#include "payload/columns.h"
#include "payload/csv.h"
#include "payload/recipient.h"

enum {
    ERRORS_SHOWN = 100,
    BODY_MOST = 100 * 1024 * 1024,
    BATCH_MEMORY = 256 * 1024 * 1024, /* of the lines of one transaction */
    PART = 64 * 1024,
};

const struct field campaign_import_query[] = {
    {.name = "to", .type = FIELD_STRING, .example = "phone"},
    {.name = "recipient", .type = FIELD_STRING, .example = "userId"},
    {0},
};

/* The body in JSON. */
static const struct field object_fields[] = {
    {.name = "recipients", .type = FIELD_ARRAY, .required = true},
    {0},
};

struct import {
    struct request *rq;
    const struct store_campaign *campaign;
    struct csv_reader csv;
    size_t line; /* where the current line begins; in JSON the number of the recipient */
    struct slice to_name, bsuid_name;
    struct columns columns; /* names NULL: the header has not been read; in JSON of each line */
    size_t to, bsuid;       /* the columns of the recipient; columns.count: there is none */
    struct arena batch;
    struct store_campaign_recipient rows[CAMPAIGN_ROWS_AT_ONCE];
    size_t count;
    size_t accepted, duplicates, invalid;
    struct json_writer errors;
};

/* --- the lines --- */

static bool refuse_line(struct import *import, const char *column, const char *message) {
    if (import->invalid++ < ERRORS_SHOWN) {
        json_write_object(&import->errors, NULL);
        json_write_integer(&import->errors, "line", (int64_t)import->line);
        json_write_text(&import->errors, "column", column);
        json_write_text(&import->errors, "message", message);
        json_write_end(&import->errors);
    }
    return true;
}

static bool flush(struct import *import) {
    struct request *rq = import->rq;
    size_t added = 0;
    enum store_result result = store_add_recipients(rq->caller->store, import->campaign,
                                                    import->rows, import->count, rq->now, &added);
    if (result == STORE_CONFLICT)
        fail(rq, CONFLICT, "The campaign is no draft any more, so it takes no recipients.");
    else if (result == STORE_EXCESSIVE)
        fail(rq, CONFLICT,
             "The campaign has %d recipients, the most that one can have; it takes no others.",
             CAMPAIGN_ROWS_MOST);
    else if (result != STORE_OK)
        state_fail(rq, result);
    import->accepted += added;
    import->duplicates += import->count - added;
    import->count = 0;
    arena_reset(&import->batch);
    return result == STORE_OK;
}

/* Who gets the message of a line; one of both may be NULL. */
struct person {
    const char *phone, *bsuid;
};

static struct slice cell_of(const struct slice *cells, size_t count, size_t column) {
    return column < count ? cells[column] : (struct slice){"", 0};
}

/* Reads the recipient as a send has it, but `to` takes both forms. False after refusing the line.
 */
static bool read_person(struct import *import, const struct slice *cells, size_t count,
                        struct person *person) {
    struct arena *arena = &import->batch;
    const char *const to_name = arena_copy(arena, import->to_name);
    const char *const bsuid_name = arena_copy(arena, import->bsuid_name);
    const struct slice to = cell_of(cells, count, import->to);
    const struct slice bsuid = cell_of(cells, count, import->bsuid);
    const bool is_bsuid = recipient_is_bsuid(to);
    const char *problem = bsuid.n ? recipient_bsuid_rule.check(bsuid) : NULL;
    *person = (struct person){NULL, NULL};
    if (problem)
        return !refuse_line(import, bsuid_name, problem);
    if (is_bsuid && bsuid.n && !slice_equal(to, bsuid))
        return !refuse_line(import, bsuid_name, "differs from the user id in the other column");
    problem = is_bsuid || (!to.n && bsuid.n) ? NULL : recipient_to_rule.check(to);
    if (problem)
        return !refuse_line(import, to_name, to.n ? problem : "is empty");
    if (is_bsuid || bsuid.n)
        person->bsuid = arena_copy(arena, is_bsuid ? to : bsuid);
    if (to.n && !is_bsuid)
        person->phone = recipient_digits(arena, to);
    return true;
}

/* The body for the platform, without callback data; p == NULL after refusing the line. */
static struct slice body_of(struct import *import, const struct slice *cells, size_t count,
                            const struct person *person) {
    const struct store_campaign *campaign = import->campaign;
    struct buffer components = buffer_in(&import->batch);
    struct json_writer out;
    const struct slice empty =
        columns_fill(&import->columns, cells, count, campaign->components, &components);
    if (empty.p) {
        refuse_line(import, arena_copy(&import->batch, empty), "is empty");
        return (struct slice){NULL, 0};
    }
    json_write_start_object(&out, &import->batch);
    json_write_text(&out, "messaging_product", "whatsapp");
    json_write_text(&out, "recipient_type", "individual");
    if (person->phone)
        json_write_text(&out, "to", person->phone);
    if (person->bsuid)
        json_write_text(&out, "recipient", person->bsuid);
    json_write_text(&out, "type", "template");
    json_write_object(&out, "template");
    campaign_json_write_template(&out, campaign, buffer_slice(&components));
    return json_written(&out);
}

static bool take_row(struct import *import, const struct slice *cells, size_t count) {
    struct person person;
    if (!import->count)
        arena_reset(&import->batch); /* of lines that were refused */
    for (size_t i = 0; i < count; i++)
        if (!utf8_valid(cells[i]) || memchr(cells[i].p, '\0', cells[i].n))
            return refuse_line(import, arena_copy(&import->batch, import->to_name),
                               "stands in a line that is no UTF-8");
    if (!read_person(import, cells, count, &person))
        return true;
    const struct slice body = body_of(import, cells, count, &person);
    if (!body.p)
        return true;
    import->rows[import->count++] =
        (struct store_campaign_recipient){.recipient = person.phone ? person.phone : person.bsuid,
                                          .bsuid = person.phone ? person.bsuid : NULL,
                                          .body = body};
    return import->count < CAMPAIGN_ROWS_AT_ONCE || flush(import);
}

/* --- the header --- */

/* A column that is named for both has both. */
static void find_columns(struct import *import) {
    import->to = columns_find(&import->columns, import->to_name);
    import->bsuid = slice_equal(import->bsuid_name, import->to_name)
                        ? import->columns.count
                        : columns_find(&import->columns, import->bsuid_name);
}

static bool check_columns(struct import *import) {
    struct request *rq = import->rq;
    struct slice rest = import->campaign->components, before, name;
    find_columns(import);
    if (import->to == import->columns.count && import->bsuid == import->columns.count)
        return !fail(rq, INVALID, "The table has no column %.*s with the recipients.",
                     (int)import->to_name.n, import->to_name.p);
    for (columns_next(&rest, &before, &name); name.p; columns_next(&rest, &before, &name))
        if (columns_find(&import->columns, name) == import->columns.count)
            return !fail(rq, INVALID, "The table has no column %.*s, which the components name.",
                         (int)name.n, name.p);
    return true;
}

static bool take_header(struct import *import, const struct slice *cells, size_t count) {
    static const char mark[] = "\xef\xbb\xbf"; /* U+FEFF, which spreadsheets write first */
    struct slice *names = arena_alloc(import->rq->arena, count * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        struct slice name = cells[i];
        if (!i && slice_starts(name, SLICE(mark)))
            name = slice_skip(name, sizeof mark - 1);
        names[i] = (struct slice){arena_copy(import->rq->arena, name), name.n};
        if (!utf8_valid(name))
            return !fail(import->rq, INVALID, "The table must be UTF-8.");
    }
    import->columns = (struct columns){names, count};
    return check_columns(import);
}

static bool take_line(void *context, const struct slice *cells, size_t count) {
    struct import *import = context;
    import->line = import->csv.line;
    return import->columns.names ? take_row(import, cells, count)
                                 : take_header(import, cells, count);
}

/* --- the whole body --- */

static int read_body(struct import *import) {
    static char bytes[PART];
    struct request *rq = import->rq;
    ssize_t got;
    size_t n = 0;
    bool goes_on = true;
    while (goes_on && (got = request_read_body(rq, bytes, sizeof bytes)) > 0) {
        n += (size_t)got;
        if (n > BODY_MOST)
            return fail(rq, TOO_LARGE, "A table has at most 100 MB.");
        goes_on = csv_reader_add(&import->csv, (struct slice){bytes, (size_t)got});
    }
    if (goes_on && got < 0)
        return fail(rq, INVALID, "The body ended early.");
    if (goes_on && !request_body_is_complete(rq))
        return fail(rq, INVALID, "The body is incomplete; its first lines were added.");
    goes_on = goes_on && csv_reader_end(&import->csv);
    if (import->csv.error)
        return fail(rq, INVALID, "Line %zu cannot be read: %s.", import->csv.line,
                    import->csv.error);
    if (goes_on && !import->columns.names)
        return fail(rq, INVALID, "The table is empty; its first line names the columns.");
    return goes_on && flush(import) ? 0 : -1;
}

/* --- JSON --- */

static bool take_object(struct import *import, struct json object) {
    struct request *rq = import->rq;
    const struct slice *cells;
    if (json_type(object) != JSON_OBJECT)
        return refuse_line(import, arena_copy(rq->arena, import->to_name), "is no object");
    const struct slice wrong = columns_of_object(rq->arena, object, &import->columns, &cells);
    if (wrong.p)
        return refuse_line(import, arena_copy(rq->arena, wrong), "must be a string or a number");
    find_columns(import);
    return take_row(import, cells, import->columns.count);
}

/* Reads the body of at most 2 MB whole. */
static int read_bytes(struct request *rq) {
    static char bytes[PART];
    struct buffer body = buffer_in(rq->arena);
    ssize_t got;
    while ((got = request_read_body(rq, bytes, sizeof bytes)) > 0) {
        if (body.n + (size_t)got > JSON_BODY_LIMIT)
            return fail(rq, TOO_LARGE, "Recipients in JSON have at most 2 MB; send a table.");
        buffer_add(&body, bytes, (size_t)got);
    }
    if (got < 0 || !request_body_is_complete(rq))
        return fail(rq, INVALID, "The body is incomplete; nothing was added.");
    rq->body = buffer_slice(&body);
    return 0;
}

static int read_objects(struct import *import) {
    struct request *rq = import->rq;
    struct issues issues;
    if (read_bytes(rq) || request_read_object(rq, &rq->json))
        return -1;
    request_start_issues(rq, &issues);
    field_check(object_fields, rq->json, "", &issues);
    if (fail_on_issues(rq, &issues))
        return -1;
    const struct json list = json_get(rq->json, "recipients");
    for (struct json one = json_first(list); json_is(one); one = json_next(one)) {
        import->line++;
        if (!take_object(import, one))
            return -1;
    }
    return flush(import) ? 0 : -1;
}

static int reply(struct import *import) {
    struct json_writer data;
    json_write_start_object(&data, import->rq->arena);
    json_write_integer(&data, "accepted", (int64_t)import->accepted);
    json_write_integer(&data, "duplicates", (int64_t)import->duplicates);
    json_write_integer(&data, "invalid", (int64_t)import->invalid);
    json_write_raw(&data, "errors", json_written(&import->errors));
    return reply_data(import->rq, json_written(&data));
}

int campaign_import(struct request *rq, const struct store_campaign *campaign) {
    struct import *import = arena_alloc(rq->arena, sizeof *import);
    const char *type = request_variable("CONTENT_TYPE");
    const struct slice to = query_get(&rq->query, "to");
    const struct slice bsuid = query_get(&rq->query, "recipient");
    const bool is_json = type && strncasecmp(type, "application/json", 16) == 0;
    if (!is_json && (!type || strncasecmp(type, "text/csv", 8) != 0))
        return fail(rq, UNSUPPORTED_TYPE, "The body must be text/csv or application/json.");
    if (request_check_encoding(rq))
        return -1;
    import->rq = rq;
    import->campaign = campaign;
    import->to_name = to.p ? to : SLICE("to");
    import->bsuid_name = bsuid.p ? bsuid : SLICE("recipient");
    import->csv.take = take_line;
    import->csv.context = import;
    arena_init(&import->batch, BATCH_MEMORY, NULL);
    json_write_start(&import->errors, rq->arena);
    json_write_array(&import->errors, NULL);
    csv_reader_start(&import->csv);
    const int failed = is_json ? read_objects(import) : read_body(import);
    csv_reader_free(&import->csv);
    arena_free(&import->batch);
    return failed ? -1 : reply(import);
}
