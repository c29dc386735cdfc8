#include "api/message_search.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "api/auth.h"
#include "api/paging.h"
#include "api/view/inbox_json.h"
#include "base/crypto.h"
#include "base/fold.h"

enum { MOST_WORDS = 16, LONGEST_QUERY = 256 };

const struct text_rule message_search_rule = {.meaning = "words, or \"words in this order\"",
                                              .longest = LONGEST_QUERY};

/* --- one search at a time --- */

static int lock_file = -1;

void message_search_prepare(struct request *rq) {
    lock_file = state_open_lock(rq, "search");
}

/* A byte of the file stands for the user: a lock of the open file, which ends with the process. */
static bool set_lock(const char *user_id, short type) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    off_t byte = 0;
    crypto_sha256(slice_of(user_id), hash);
    for (size_t i = 0; i < 6; i++)
        byte = byte << 8 | hash[i];
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(lock_file, F_OFD_SETLK, &lock) == 0;
}

static int take_turn(struct request *rq) {
    if (lock_file < 0)
        return fail(rq, INTERNAL, "The gateway cannot open its lock file; its log says why.");
    if (set_lock(rq->caller->user.id, F_WRLCK))
        return 0;
    reply_header(rq, "Retry-After", "1");
    return fail(rq, RATE_LIMITED,
                "Another search of this user runs on this host; try again in a second.");
}

/* --- the text of a message --- */

/* The members whose strings are read by a person; `parent`: only in an object of this name. */
static const struct {
    const char *name, *parent;
} read_members[] = {
    {"body", NULL},           {"caption", NULL},        {"filename", NULL},
    {"text", NULL},           {"title", NULL},          {"description", NULL},
    {"display_text", NULL},   {"fallback_value", NULL}, /* of a currency or a date in a template */
    {"flow_cta", NULL},       {"emoji", NULL},          {"button", "action"}, /* of a list */
    {"name", "location"},     {"name", "template"},     {"address", "location"},
    {"formatted_name", NULL}, {"company", "org"},       {"phone", "phones"},
    {"email", "emails"},
};

/* Answers to a flow arrive as JSON in a string. */
static const char flow_answers[] = "response_json";

static bool is_read(struct json member, const char *parent) {
    for (size_t i = 0; i < sizeof read_members / sizeof *read_members; i++)
        if (json_is_named(member, read_members[i].name) &&
            (!read_members[i].parent || strcmp(read_members[i].parent, parent) == 0))
            return true;
    return false;
}

static void add_string(struct buffer *out, struct json value) {
    fold_add(out, json_string(value, out->arena));
    buffer_add_char(out, '\n');
}

/* Adds all strings of the answers, and its numbers, but not the token of the flow. */
static void add_answers(struct buffer *out, struct json value) {
    const enum json_type type = json_type(value);
    if (type == JSON_STRING)
        add_string(out, value);
    if (type == JSON_NUMBER) {
        buffer_add_slice(out, json_raw(value));
        buffer_add_char(out, '\n');
    }
    if (type == JSON_OBJECT || type == JSON_ARRAY)
        for (struct json m = json_first(value); json_is(m); m = json_next(m))
            if (type == JSON_ARRAY || !json_is_named(m, "flow_token"))
                add_answers(out, m);
}

static void add_flow(struct buffer *out, struct json member) {
    struct json answers;
    struct json_error error;
    const struct slice text = json_string(member, out->arena);
    if (text.p && json_read(out->arena, text, &answers, &error) == 0)
        add_answers(out, answers);
}

/* Adds the texts of an object or an array that is the member `name`. */
static void add_members(struct buffer *out, struct json container, const char *name) {
    const bool is_object = json_type(container) == JSON_OBJECT;
    for (struct json m = json_first(container); json_is(m); m = json_next(m)) {
        const enum json_type type = json_type(m);
        if (type == JSON_OBJECT || type == JSON_ARRAY)
            add_members(out, m, is_object ? json_name(m, out->arena).p : name);
        else if (type == JSON_STRING && is_object && json_is_named(m, flow_answers))
            add_flow(out, m);
        else if (type == JSON_STRING && is_object && is_read(m, name))
            add_string(out, m);
    }
}

/* Appends the folded texts (fold.h) of a message body, in either direction, each followed by a line
 * break: text, captions, names of files, titles and texts of replies, buttons and lists, names of
 * locations, contacts with their phones and emails, the name and the parameters of a template, and
 * the answers to a flow. Ids, numbers of the sender and links have none. Nothing for a body that is
 * no JSON. What it needs lives in the arena of `out`. */
static void add_text(struct buffer *out, struct slice body) {
    struct json message;
    struct json_error error;
    if (body.n && json_read(out->arena, body, &message, &error) == 0)
        add_members(out, message, "");
}

/* --- words --- */

/* The words of a query: each a sequence of folded characters that must occur. Without a query there
 * are none, and every message is a result. */
struct words {
    size_t count;
    struct slice word[MOST_WORDS];
};

static int read_words(struct request *rq, struct words *words) {
    struct slice rest = query_get(&rq->query, "q");
    words->count = 0;
    for (bool is_quoted = false; rest.p; is_quoted = !is_quoted) {
        const char *quote = memchr(rest.p, '"', rest.n);
        struct slice part = slice_cut(&rest, '"');
        struct buffer folded = buffer_in(rq->arena);
        if (!quote)
            rest = (struct slice){NULL, 0};
        fold_add(&folded, part);
        struct slice text = buffer_slice(&folded);
        text.n -= text.n && text.p[text.n - 1] == ' ';
        while (text.n && words->count < MOST_WORDS) {
            struct slice word = is_quoted ? text : slice_cut(&text, ' ');
            if (is_quoted)
                text.n = 0;
            if (word.n)
                words->word[words->count++] = word;
        }
        if (text.n)
            return fail(rq, INVALID, "A search has at most %d words.", MOST_WORDS);
    }
    return words->count || !query_get(&rq->query, "q").p
               ? 0
               : fail(rq, INVALID, "`q` must have a word to search for.");
}

static bool has_all(void *context, struct slice body, struct arena *scratch) {
    const struct words *words = context;
    struct buffer text = buffer_in(scratch);
    if (words->count)
        add_text(&text, body);
    for (size_t i = 0; i < words->count; i++)
        if (!text.n || !memmem(text.p, text.n, words->word[i].p, words->word[i].n))
            return false;
    return true;
}

/* --- the answer --- */

/* A page of results, and how far the search has come. */
struct page {
    struct message_place place;
    const char **ids;
    size_t count;
    const char **threads; /* of the messages, each once */
    size_t thread_count;
    bool is_end;
};

/* Reads the place in the query's `after`; a thread has a cursor of its own. */
static int read_place(struct request *rq, const struct inbox_thread *thread,
                      struct message_place *place) {
    const char *parts[CURSOR_PARTS] = {NULL};
    int64_t numbers[2];
    *place = (struct message_place){{INT64_MAX, thread ? thread->id : ""}, {INT64_MAX, ""}};
    if (thread)
        return cursor_read_key(rq, "after", "foundIn", &place->message.number, &place->message.id) <
                       0
                   ? -1
                   : 0;
    const int has_cursor = cursor_read(rq, "after", "found", parts, CURSOR_PARTS);
    if (has_cursor != 1)
        return has_cursor;
    for (int i = 0; i < 2; i++) {
        char *end;
        errno = 0;
        numbers[i] = strtoll(parts[1 + 2 * i], &end, 10);
        if (errno || *end)
            return cursor_fail(rq, "after");
    }
    *place = (struct message_place){{numbers[0], parts[2]}, {numbers[1], parts[4]}};
    return 0;
}

static const char *write_place(struct request *rq, const struct inbox_thread *thread,
                               const struct page *page) {
    const struct list_key *in = &page->place.thread, *at = &page->place.message;
    if (page->is_end)
        return NULL;
    if (thread)
        return cursor_write_key(rq->arena, "foundIn", at->number, at->id);
    const char *const parts[] = {"found", arena_printf(rq->arena, "%" PRId64, in->number), in->id,
                                 arena_printf(rq->arena, "%" PRId64, at->number),
                                 *at->id ? at->id : "-"};
    return cursor_write(rq->arena, parts, CURSOR_PARTS);
}

/* Writes the messages, and lists their threads, each once. A message that was deleted meanwhile is
 * left out. */
static int write_messages(struct request *rq, struct page *page, struct json_writer *data) {
    page->threads = arena_alloc(rq->arena, page->count * sizeof *page->threads);
    page->thread_count = 0;
    json_write_array(data, "items");
    for (size_t i = 0; i < page->count; i++) {
        struct message message;
        enum store_result result = store_find_message(
            rq->caller->store, rq->arena, &rq->caller->view, page->ids[i], NULL, &message);
        if (result == STORE_NOT_FOUND)
            continue;
        if (result != STORE_OK)
            return state_fail(rq, result);
        inbox_write_message(data, NULL, &message);
        if (!page->thread_count ||
            strcmp(page->threads[page->thread_count - 1], message.thread_id) != 0)
            page->threads[page->thread_count++] = message.thread_id;
    }
    json_write_end(data);
    return 0;
}

static int write_threads(struct request *rq, const struct page *page, struct json_writer *data) {
    json_write_array(data, "threads");
    for (size_t i = 0; i < page->thread_count; i++) {
        struct inbox_thread thread;
        enum store_result result = inbox_find_thread(rq->caller->store, rq->arena,
                                                     &rq->caller->view, page->threads[i], &thread);
        if (result != STORE_OK && result != STORE_NOT_FOUND)
            return state_fail(rq, result);
        if (result == STORE_OK)
            inbox_write_thread(rq, data, NULL, &thread);
    }
    json_write_end(data);
    return 0;
}

static int reply_page(struct request *rq, const struct inbox_thread *thread, struct page *page) {
    struct json_writer data;
    reply_start(rq, &data);
    if (write_messages(rq, page, &data) || (!thread && write_threads(rq, page, &data)))
        return -1;
    if (page->is_end)
        json_write_null(&data, "searchedUntil");
    else
        json_write_time(&data, "searchedUntil",
                        thread ? page->place.message.number : page->place.thread.number);
    paging_write_cursor(&data, write_place(rq, thread, page));
    return reply_object(rq, &data);
}

int message_search_answer(struct request *rq, const struct inbox_thread *thread) {
    struct words words;
    struct page page;
    const struct message_search search = {.view = &rq->caller->view,
                                          .thread_id = thread ? thread->id : NULL,
                                          .limit = paging_limit(rq),
                                          .is_match = has_all,
                                          .context = &words};
    if (read_words(rq, &words) || read_place(rq, thread, &page.place) || take_turn(rq))
        return -1;
    enum store_result result = inbox_search_messages(
        rq->caller->store, rq->arena, &search, &page.place, &page.ids, &page.count, &page.is_end);
    set_lock(rq->caller->user.id, F_UNLCK);
    return result == STORE_OK ? reply_page(rq, thread, &page) : state_fail(rq, result);
}
