/* GET /v2/contacts: the caller's contacts, listed, searched, and one with its blocks and threads.
 */
#include "api/auth.h"
#include "api/paging.h"
#include "api/view/inbox_json.h"
#include "store/retention.h"

static const struct field list_query[] = {
    {.name = "q", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "accountId", .type = FIELD_STRING},
    PAGING_FIELDS,
    {0},
};

static int reply_contacts(struct request *rq, const struct contact *contacts, size_t count,
                          const char *after) {
    struct json_writer data;
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++) {
        json_write_object(&data, NULL);
        inbox_write_contact_members(&data, &contacts[i]);
        json_write_end(&data);
    }
    return paging_reply_cursor(rq, &data, after);
}

/* --- without a search: account by account, newest first --- */

/* The accounts to list: the one that the query names, or all. */
static int list_accounts(struct request *rq, const char *account_id,
                         struct store_account **accounts, size_t *count) {
    if (!account_id)
        return auth_list_accounts(rq, accounts, count);
    *accounts = arena_alloc(rq->arena, sizeof **accounts);
    *count = 1;
    enum store_result result = store_find_account(rq->caller->store, rq->arena, rq->caller->user.id,
                                                  account_id, *accounts);
    if (result == STORE_OK)
        return 0;
    return state_fail_absent(rq, result,
                             "There is no account with this accountId: GET /v2/me lists them.");
}

/* The account of the cursor; `count` when there is none, and 0 without a cursor. */
static size_t first_account(const struct store_account *accounts, size_t count, const char *id) {
    size_t i = 0;
    while (id && i < count && strcmp(accounts[i].id, id) != 0)
        i++;
    return i;
}

/* Lists one row more than the limit, which shows that there are more. */
static int list_newest(struct request *rq, const struct store_account *accounts, size_t count) {
    const char *parts[3] = {NULL, NULL, NULL};
    size_t limit = paging_limit(rq);
    struct buffer rows = buffer_in(rq->arena);
    struct contact *contacts;
    size_t n, i;
    if (cursor_read(rq, "after", "contacts", parts, 3) < 0)
        return -1;
    if ((i = first_account(accounts, count, parts[1])) == count && parts[1])
        return cursor_fail(rq, "after");
    for (const char *after = parts[2]; i < count && rows.n / sizeof *contacts <= limit; i++) {
        enum store_result result = store_list_contacts(
            rq->caller->store, rq->arena,
            &(struct contact_filter){&rq->caller->view, accounts[i].id, true, after,
                                     limit + 1 - rows.n / sizeof *contacts},
            &contacts, &n);
        if (result != STORE_OK)
            return state_fail(rq, result);
        buffer_add(&rows, contacts, n * sizeof *contacts);
        after = NULL;
    }
    contacts = (struct contact *)(void *)rows.p;
    n = rows.n / sizeof *contacts;
    if (n <= limit)
        return reply_contacts(rq, contacts, n, NULL);
    const char *const last[] = {"contacts", contacts[limit - 1].account_id, contacts[limit - 1].id};
    return reply_contacts(rq, contacts, limit, cursor_write(rq->arena, last, 3));
}

/* --- a search --- */

static int list_found(struct request *rq, const char *account_id, const char *q) {
    const char *parts[4];
    struct inbox_position next;
    struct contact *contacts;
    size_t count;
    const struct inbox_filter filter = {.view = &rq->caller->view, .limit = paging_limit(rq)};
    const struct inbox_search search = {.filter = &filter, .account_id = account_id, .q = q};
    int has_position = cursor_read(rq, "after", "found", parts, 4);
    if (has_position < 0)
        return -1;
    const struct inbox_position position = {.account_id = has_position ? parts[1] : NULL,
                                            .term = has_position ? parts[2] : NULL,
                                            .contact_id = has_position ? parts[3] : NULL};
    enum store_result result =
        inbox_search_contacts(rq->caller->store, rq->arena, &search,
                              has_position ? &position : NULL, &contacts, &count, &next);
    if (result == STORE_CONFLICT)
        return cursor_fail(rq, "after");
    if (result != STORE_OK)
        return state_fail(rq, result);
    const char *const last[] = {"found", next.account_id, next.term, next.contact_id};
    return reply_contacts(rq, contacts, count,
                          next.account_id ? cursor_write(rq->arena, last, 4) : NULL);
}

static int get_contacts(struct request *rq) {
    const char *account_id = query_get(&rq->query, "accountId").p;
    struct slice q = query_get(&rq->query, "q");
    struct store_account *accounts;
    size_t count;
    if (list_accounts(rq, account_id, &accounts, &count))
        return -1;
    return q.n ? list_found(rq, account_id, q.p) : list_newest(rq, accounts, count);
}

/* --- one contact --- */

/* A contact, and what belongs to it. */
struct whole {
    struct contact contact;
    int64_t held_at;
    struct contact_block *blocks;
    size_t block_count;
    struct contact_thread *threads;
    size_t thread_count;
};

static enum store_result read_whole(struct request *rq, const char *id, struct whole *whole) {
    struct store *store = rq->caller->store;
    enum store_result result =
        store_find_contact(store, rq->arena, &rq->caller->view, id, &whole->contact);
    if (result == STORE_OK)
        result = store_find_hold(store, whole->contact.id, &whole->held_at);
    if (result == STORE_OK)
        result = store_list_blocks(store, rq->arena, &rq->caller->view, whole->contact.id,
                                   &whole->blocks, &whole->block_count);
    if (result == STORE_OK)
        result = store_list_contact_threads(store, rq->arena, &rq->caller->view, whole->contact.id,
                                            &whole->threads, &whole->thread_count);
    return result;
}

static int get_contact(struct request *rq) {
    struct whole whole;
    struct json_writer data;
    enum store_result result = read_whole(rq, request_segment(rq), &whole);
    if (result != STORE_OK)
        return state_fail_absent(rq, result,
                                 "There is no contact with this id: GET /v2/contacts lists them.");
    reply_start(rq, &data);
    inbox_write_contact_members(&data, &whole.contact);
    json_write_time_or_null(&data, "heldAt", whole.held_at);
    inbox_write_blocks(&data, whole.blocks, whole.block_count);
    json_write_array(&data, "threads");
    for (size_t i = 0; i < whole.thread_count; i++) {
        json_write_object(&data, NULL);
        json_write_text(&data, "id", whole.threads[i].id);
        json_write_text(&data, "lineId", whole.threads[i].line_id);
        inbox_write_last_time(&data, whole.threads[i].last_message_at);
        json_write_end(&data);
    }
    json_write_end(&data);
    return reply_object(rq, &data);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/contacts",
     .scope = SCOPE_READ, .lines = LINES_LISTED, .guard = &caller_guard,
     .handle = get_contacts, .query = list_query},
    {.method = "GET", .path = "/v2/contacts/:contactId",
     .scope = SCOPE_READ, .lines = LINES_BY_CONTACT, .guard = &caller_guard,
     .handle = get_contact},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "contacts", .routes = routes, .needs = READS_DATABASE};
