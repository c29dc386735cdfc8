/* GET /v2/changes: the threads that changed since the caller last asked. */
#include "api/auth.h"
#include "api/inbox_json.h"
#include "api/paging.h"

static const struct field query[] = {
    {.name = "after", .type = FIELD_INTEGER},
    {0},
};

static int reply_changes(struct request *rq, int64_t change, const struct inbox_thread *threads,
                         size_t count, bool has_more) {
    struct json_writer data;
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_integer(&data, "change", change);
    json_write_array(&data, "threads");
    for (size_t i = 0; i < count; i++)
        inbox_write_thread(&data, NULL, &threads[i]);
    json_write_end(&data);
    json_write_bool(&data, "more", has_more);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

/* Reads one thread more than a page has, which shows that there are more. Of a page with more after
 * it, `change` is that of its last thread, so that the next request goes on from there. */
static int list_changes(struct request *rq, int64_t change, int64_t after) {
    struct inbox_thread *threads;
    size_t count;
    enum store_result result = inbox_list_changes(rq->caller->store, rq->arena, rq->caller->user.id,
                                                  after, PAGING_MOST + 1, &threads, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const bool has_more = count > PAGING_MOST;
    count -= has_more;
    return reply_changes(rq, has_more ? threads[count - 1].change : change, threads, count,
                         has_more);
}

static int get_changes(struct request *rq) {
    const bool is_first = !query_get(&rq->query, "after").p;
    int64_t after = query_integer(&rq->query, "after", 0), change;
    enum store_result result = inbox_last_change(rq->caller->store, rq->caller->user.id, &change);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (is_first)
        return reply_changes(rq, change, NULL, 0, false);
    if (change == after)
        return reply_body(rq, 304, NULL, (struct slice){NULL, 0});
    return list_changes(rq, change, after);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/changes",
     .guard = &caller_guard, .handle = get_changes, .query = query},
    {0},
};
/* clang-format on */

int main(int argc, char **argv) {
    return serve(&(struct service){.name = "changes", .routes = routes, .needs = READS_DATABASE},
                 argc, argv);
}
