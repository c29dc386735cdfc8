/* Threads and their messages, as an inbox reads them: /v2/threads, GET /v2/changes,
 * GET /v2/messages and GET /v2/messages/:wamid. */
#include "api/auth.h"
#include "api/inbox/thread_work.h"
#include "api/message_search.h"
#include "api/paging.h"
#include "api/view/inbox_json.h"
#include "store/line.h"
#include "store/retention.h"

static const char *const booleans[] = {"true", "false", NULL};

/* --- GET /v2/threads --- */

static const struct field list_query[] = {
    {.name = "lineId", .type = FIELD_STRING},
    {.name = "q", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "unread", .type = FIELD_STRING, .values = booleans},
    {.name = "waiting", .type = FIELD_STRING, .values = booleans},
    {.name = "failed", .type = FIELD_STRING, .values = booleans},
    {.name = "assignee", .type = FIELD_STRING},
    PAGING_FIELDS,
    {0},
};

static int reply_threads(struct request *rq, const struct inbox_thread *threads, size_t count,
                         const char *after) {
    struct json_writer data;
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        inbox_write_thread(rq, &data, NULL, &threads[i]);
    return paging_reply_cursor(rq, &data, after);
}

/* Lists the threads in their order, which the cursor names. One row more than the limit shows that
 * there are more. */
static int list_ordered(struct request *rq, struct inbox_filter *filter) {
    const char *order = filter->is_waiting ? "waiting" : "threads";
    struct list_key key;
    struct inbox_thread *threads;
    size_t count, limit = filter->limit;
    int has_key = cursor_read_key(rq, "after", order, &key.number, &key.id);
    if (has_key < 0)
        return -1;
    filter->limit++;
    enum store_result result = inbox_list_threads(rq->caller->store, rq->arena, filter,
                                                  has_key ? &key : NULL, &threads, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const struct inbox_thread *last = count > limit ? &threads[limit - 1] : NULL;
    const int64_t number = !last                ? 0
                           : filter->is_waiting ? last->waiting_since
                                                : last->last_message_at;
    return reply_threads(rq, threads, last ? limit : count,
                         last ? cursor_write_key(rq->arena, order, number, last->id) : NULL);
}

/* A position in the results of a search as a cursor. */
static const char *write_position(struct arena *arena, const struct inbox_position *position) {
    const char *const parts[] = {"search", position->account_id, position->term,
                                 position->contact_id,
                                 position->thread_id ? position->thread_id : "-"};
    return position->account_id ? cursor_write(arena, parts, 5) : NULL;
}

static int list_found(struct request *rq, const struct inbox_filter *filter, const char *q) {
    const char *parts[5] = {NULL};
    struct inbox_position next;
    struct inbox_thread *threads;
    size_t count;
    const struct inbox_search search = {.filter = filter, .q = q};
    int has_position = cursor_read(rq, "after", "search", parts, 5);
    if (has_position < 0)
        return -1;
    const struct inbox_position position = {
        parts[1], parts[2], parts[3], has_position && strcmp(parts[4], "-") != 0 ? parts[4] : NULL};
    enum store_result result =
        inbox_search_threads(rq->caller->store, rq->arena, &search, has_position ? &position : NULL,
                             &threads, &count, &next);
    if (result == STORE_CONFLICT)
        return cursor_fail(rq, "after");
    if (result != STORE_OK)
        return state_fail(rq, result);
    return reply_threads(rq, threads, count, write_position(rq->arena, &next));
}

static bool is_asked(const struct request *rq, const char *name) {
    return slice_equal(query_get(&rq->query, name), SLICE("true"));
}

/* Reads the query's member, "" for none. Returns 0, or -1 after failing the request: a token is no
 * member. */
static int read_assignee(struct request *rq, const char **assignee) {
    const char *given = query_get(&rq->query, "assignee").p;
    *assignee = given;
    if (!given || strncmp(given, "mbr_", 4) == 0)
        return 0;
    *assignee = strcmp(given, "me") == 0 ? rq->caller->session.member_id : "";
    if (*assignee && (**assignee || strcmp(given, "none") == 0))
        return 0;
    return fail(rq, INVALID, "assignee must be none, the id of a member, or with a session me.");
}

static int get_threads(struct request *rq) {
    const char *line_id = query_get(&rq->query, "lineId").p;
    struct slice q = query_get(&rq->query, "q");
    struct inbox_filter filter = {.view = &rq->caller->view,
                                  .line_id = line_id,
                                  .is_unread = is_asked(rq, "unread"),
                                  .is_failed = is_asked(rq, "failed"),
                                  .is_waiting = is_asked(rq, "waiting"),
                                  .limit = paging_limit(rq)};
    struct line line;
    if (read_assignee(rq, &filter.assignee))
        return -1;
    enum store_result result =
        line_id ? store_find_line_by_id(rq->caller->store, rq->arena, filter.view, line_id, &line)
                : STORE_OK;
    if (result != STORE_OK)
        return state_fail_absent(rq, result,
                                 "There is no line with this lineId: GET /v2/lines lists them.");
    return q.n ? list_found(rq, &filter, q.p) : list_ordered(rq, &filter);
}

/* --- one thread --- */

/* Finds the thread that the path names; 0, or -1 after failing the request. */
static int find_thread(struct request *rq, struct inbox_thread *thread) {
    enum store_result result = inbox_find_thread(rq->caller->store, rq->arena, &rq->caller->view,
                                                 request_segment(rq), thread);
    return result == STORE_OK ? 0 : thread_fail(rq, result);
}

static int get_thread(struct request *rq) {
    struct inbox_thread thread;
    struct json_writer data;
    if (find_thread(rq, &thread))
        return -1;
    json_write_start(&data, rq->arena);
    inbox_write_thread(rq, &data, NULL, &thread);
    return reply_data(rq, json_written(&data));
}

/* --- the messages of a thread --- */

static const struct field messages_query[] = {
    {.name = "limit", .type = FIELD_INTEGER, .min = 1, .max = PAGING_MOST},
    {.name = "before", .type = FIELD_STRING},
    {.name = "after", .type = FIELD_STRING},
    {.name = "changedAfter", .type = FIELD_INTEGER},
    {.name = "q", .type = FIELD_STRING, .rule = &message_search_rule},
    {0},
};

/* A page of messages: what the query asks for, and the rows. */
struct page {
    enum message_order order;
    struct list_key key;
    size_t limit;
    struct message *messages;
    size_t count;
    bool has_more; /* in the direction of the order */
};

/* Reads order and key of the query. */
static int read_wanted(struct request *rq, struct page *page) {
    const bool is_changed = query_get(&rq->query, "changedAfter").p;
    *page = (struct page){.order = is_changed ? MESSAGES_CHANGED : MESSAGES_OLDER,
                          .key = {INT64_MAX, ""},
                          .limit = paging_limit(rq)};
    if (is_changed) /* U+007F sorts after all ids: only later changes count */
        page->key = (struct list_key){query_integer(&rq->query, "changedAfter", 0), "\x7f"};
    int has_after = cursor_read_key(rq, "after", is_changed ? "changed" : "messages",
                                    &page->key.number, &page->key.id);
    int has_before =
        has_after ? 0 : cursor_read_key(rq, "before", "messages", &page->key.number, &page->key.id);
    if (has_after < 0 || has_before < 0 || (is_changed && has_before))
        return cursor_fail(rq, has_after < 0 ? "after" : "before");
    if (has_after && !is_changed)
        page->order = MESSAGES_NEWER;
    return 0;
}

/* Reads one row more than the limit, which shows that there are more. */
static int read_page(struct request *rq, const char *thread_id, struct page *page) {
    enum store_result result =
        store_list_messages(rq->caller->store, rq->arena, thread_id, page->order, &page->key,
                            page->limit + 1, &page->messages, &page->count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    page->has_more = page->count > page->limit;
    page->count -= page->has_more;
    return 0;
}

static const char *cursor_of(struct arena *arena, const struct page *page, size_t i) {
    const struct message *message = &page->messages[i];
    bool is_changed = page->order == MESSAGES_CHANGED;
    return cursor_write_key(arena, is_changed ? "changed" : "messages",
                            is_changed ? message->change : message->timestamp, message->id);
}

/* The cursors: `before` leads to older messages, `after` to newer ones, or to later changes. A
 * direction that has no more messages now has the cursor null, except `after` of the newest page,
 * from which later messages are read. */
static void write_cursors(struct json_writer *w, struct arena *arena, const struct page *page) {
    size_t last = page->count - 1;
    const char *before = NULL, *after = NULL;
    if (page->count && page->order == MESSAGES_OLDER) {
        before = page->has_more ? cursor_of(arena, page, last) : NULL;
        after = cursor_of(arena, page, 0);
    } else if (page->count) {
        before = page->order == MESSAGES_NEWER ? cursor_of(arena, page, 0) : NULL;
        after =
            page->order == MESSAGES_NEWER || page->has_more ? cursor_of(arena, page, last) : NULL;
    }
    json_write_object(w, "paging");
    json_write_object(w, "cursors");
    json_write_text(w, "before", before);
    json_write_text(w, "after", after);
    json_write_end(w);
    json_write_end(w);
}

/* A search has one direction: into the past. */
static int search_thread(struct request *rq, const struct inbox_thread *thread) {
    if (query_get(&rq->query, "before").p || query_get(&rq->query, "changedAfter").p)
        return fail(rq, INVALID,
                    "A search with `q` goes on with `after`, and has no `before` and "
                    "no `changedAfter`.");
    return message_search_answer(rq, thread);
}

static int get_messages(struct request *rq) {
    struct inbox_thread thread;
    struct page page;
    struct json_writer data;
    if (find_thread(rq, &thread))
        return -1;
    if (query_get(&rq->query, "q").p)
        return search_thread(rq, &thread);
    if (read_wanted(rq, &page) || read_page(rq, thread.id, &page))
        return -1;
    reply_start(rq, &data);
    json_write_array(&data, "items");
    for (size_t i = 0; i < page.count; i++) /* newest first; changes in their order */
        inbox_write_message(&data, NULL,
                            &page.messages[page.order == MESSAGES_NEWER ? page.count - 1 - i : i]);
    json_write_end(&data);
    write_cursors(&data, rq->arena, &page);
    return reply_object(rq, &data);
}

/* --- GET /v2/changes: the threads that changed since the caller last asked --- */

static const struct field changes_query[] = {
    {.name = "after", .type = FIELD_INTEGER},
    {0},
};

/* A page of changes: threads and removals, in the order of their changes each. */
struct changes {
    int64_t change; /* from which the next request goes on */
    struct inbox_thread *threads;
    struct store_removal *removals;
    size_t thread_count, removal_count;
    bool has_more;
};

static void write_removals(struct json_writer *w, const struct changes *page) {
    json_write_array(w, "removed");
    for (size_t i = 0; i < page->removal_count; i++) {
        json_write_object(w, NULL);
        json_write_text(w, "threadId", page->removals[i].thread_id);
        json_write_time_or_null(w, "before", page->removals[i].before);
        json_write_end(w);
    }
    json_write_end(w);
}

/* Threads that have left the view. A caller may have one by the id of a thread that was merged into
 * it. */
static void write_hidden(struct json_writer *w, const struct changes *page) {
    json_write_array(w, "hidden");
    for (size_t i = 0; i < page->thread_count; i++) {
        const struct inbox_thread *thread = &page->threads[i];
        for (size_t k = 0; thread->is_hidden && k <= thread->former_count; k++) {
            json_write_object(w, NULL);
            json_write_text(w, "threadId", k ? thread->former_ids[k - 1] : thread->id);
            json_write_end(w);
        }
    }
    json_write_end(w);
}

static int reply_changes(struct request *rq, const struct changes *page) {
    struct inbox_counts counts;
    struct json_writer data;
    enum store_result result = inbox_count(rq->caller->store, &rq->caller->view, &counts);
    if (result != STORE_OK)
        return state_fail(rq, result);
    reply_start(rq, &data);
    json_write_integer(&data, "change", page->change);
    inbox_write_counts(&data, &counts);
    json_write_array(&data, "threads");
    for (size_t i = 0; i < page->thread_count; i++)
        if (!page->threads[i].is_hidden)
            inbox_write_thread(rq, &data, NULL, &page->threads[i]);
    json_write_end(&data);
    write_hidden(&data, page);
    write_removals(&data, page);
    json_write_bool(&data, "more", page->has_more);
    return reply_object(rq, &data);
}

/* Leaves out what follows the end of a page of which a list has more: what changed later is read
 * again. */
static void end_page(struct changes *page) {
    int64_t end = page->change;
    if (page->thread_count > PAGING_MOST)
        end = page->threads[PAGING_MOST - 1].change;
    if (page->removal_count > PAGING_MOST && page->removals[PAGING_MOST - 1].change < end)
        end = page->removals[PAGING_MOST - 1].change;
    page->has_more = page->thread_count > PAGING_MOST || page->removal_count > PAGING_MOST;
    if (!page->has_more)
        return;
    while (page->thread_count && page->threads[page->thread_count - 1].change > end)
        page->thread_count--;
    while (page->removal_count && page->removals[page->removal_count - 1].change > end)
        page->removal_count--;
    page->change = end;
}

/* Reads one row more than a page has, which shows that there are more. */
static int list_changes(struct request *rq, int64_t change, int64_t after) {
    struct store *store = rq->caller->store;
    struct changes page = {.change = change};
    enum store_result result =
        inbox_list_changes(store, rq->arena, &rq->caller->view, after, PAGING_MOST + 1,
                           &page.threads, &page.thread_count);
    if (result == STORE_OK)
        result = store_list_removals(store, rq->arena, &rq->caller->view, after, PAGING_MOST + 1,
                                     &page.removals, &page.removal_count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    end_page(&page);
    return reply_changes(rq, &page);
}

static int get_changes(struct request *rq) {
    const bool is_first = !query_get(&rq->query, "after").p;
    int64_t after = query_integer(&rq->query, "after", 0), change;
    enum store_result result = inbox_last_change(rq->caller->store, &rq->caller->view, &change);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (is_first)
        return reply_changes(rq, &(struct changes){.change = change});
    if (change == after)
        return reply_body(rq, 304, NULL, (struct slice){NULL, 0});
    return list_changes(rq, change, after);
}

/* --- GET /v2/messages: the messages of all threads, with a search of words --- */

static const struct field search_query[] = {
    {.name = "q", .type = FIELD_STRING, .rule = &message_search_rule},
    PAGING_FIELDS,
    {0},
};

static int search_messages(struct request *rq) {
    return message_search_answer(rq, NULL);
}

/* --- GET /v2/messages/:wamid --- */

/* The wamid with the letters of base64url replaced by those of base64 (RFC 4648): a path cannot
 * hold a slash. */
static const char *standard_wamid(struct arena *arena, const char *wamid) {
    char *copy = arena_copy(arena, slice_of(wamid));
    for (char *p = copy; *p; p++)
        *p = *p == '_' ? '/' : *p == '-' ? '+' : *p;
    return copy;
}

static enum store_result find_message(struct request *rq, struct message *message) {
    const char *id = request_segment(rq);
    const struct store_view *view = &rq->caller->view;
    struct store *store = rq->caller->store;
    if (strncmp(id, "msg_", 4) == 0)
        return store_find_message(store, rq->arena, view, id, NULL, message);
    enum store_result result = store_find_message(store, rq->arena, view, NULL, id, message);
    return result != STORE_NOT_FOUND ? result
                                     : store_find_message(store, rq->arena, view, NULL,
                                                          standard_wamid(rq->arena, id), message);
}

static void write_statuses(struct json_writer *w, const struct message_status *statuses,
                           size_t count) {
    json_write_array(w, "statuses");
    for (size_t i = 0; i < count; i++) {
        json_write_object(w, NULL);
        json_write_text(w, "status", statuses[i].status);
        json_write_text(w, "recipient", *statuses[i].recipient ? statuses[i].recipient : NULL);
        json_write_time(w, "timestamp", statuses[i].timestamp);
        json_write_time(w, "receivedAt", statuses[i].received_at);
        json_write_raw(w, "body", statuses[i].body);
        json_write_end(w);
    }
    json_write_end(w);
}

static int get_message(struct request *rq) {
    struct message message;
    struct message_status *statuses;
    size_t count;
    struct json_writer data;
    enum store_result result = find_message(rq, &message);
    if (result == STORE_OK)
        result = store_list_statuses(rq->caller->store, rq->arena, message.id, &statuses, &count);
    if (result != STORE_OK)
        return state_fail_absent(rq, result, "There is no message with this wamid.");
    reply_start(rq, &data);
    inbox_write_message_members(&data, &message);
    write_statuses(&data, statuses, count);
    return reply_object(rq, &data);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/threads",
     .scope = SCOPE_READ, .lines = LINES_LISTED, .guard = &caller_guard,
     .handle = get_threads, .query = list_query},
    {.method = "GET", .path = "/v2/threads/:threadId",
     .scope = SCOPE_READ, .lines = LINES_BY_THREAD, .guard = &caller_guard, .handle = get_thread},
    {.method = "GET", .path = "/v2/threads/:threadId/messages",
     .scope = SCOPE_READ, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = get_messages, .query = messages_query},
    {.method = "GET", .path = "/v2/changes",
     .scope = SCOPE_READ, .lines = LINES_LISTED, .guard = &caller_guard,
     .handle = get_changes, .query = changes_query},
    {.method = "GET", .path = "/v2/messages",
     .scope = SCOPE_READ, .lines = LINES_LISTED, .guard = &caller_guard,
     .handle = search_messages, .query = search_query},
    {.method = "GET", .path = "/v2/messages/:wamid",
     .scope = SCOPE_READ, .lines = LINES_BY_THREAD, .guard = &caller_guard,
     .handle = get_message},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "threads",
                                     .routes = routes,
                                     .needs = READS_DATABASE,
                                     .prepare = message_search_prepare,
                                     .takes_rewrites = true};
