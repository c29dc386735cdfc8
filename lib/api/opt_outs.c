#include "api/opt_outs.h"

#include "api/paging.h"
#include "api/selector.h"
#include "payload/person_json.h"
#include "payload/recipient.h"

#define PERSON                                                                                     \
    .name = "to", .type = FIELD_STRING, .rule = &recipient_any_rule, .example = "15550007000"

const struct field opt_outs_query[] = {SELECTOR_FIELDS, {PERSON}, PAGING_FIELDS, {0}};
const struct field opt_outs_add_query[] = {SELECTOR_FIELDS, {0}};
const struct field opt_outs_fields[] = {RECIPIENT_FIELDS, {0}};
const struct field opt_outs_delete_query[] = {SELECTOR_FIELDS, {PERSON, .required = true}, {0}};

/* One more than the limit shows that there are more. */
int opt_outs_get(struct request *rq) {
    const struct caller *caller = rq->caller;
    const struct slice to = query_get(&rq->query, "to");
    const char *parts[2] = {NULL};
    struct store_opt_out *rows;
    struct json_writer data;
    struct store_account account;
    size_t count;
    if (cursor_read(rq, "after", "opt-outs", parts, 2) < 0 || selector_choose(rq, &account))
        return -1;
    const struct store_opt_out_filter filter = {
        .account_id = account.id,
        .identity = to.p ? recipient_stored(rq->arena, to) : NULL,
        .after = parts[1],
        .limit = paging_limit(rq) + 1,
    };
    enum store_result result =
        store_list_opt_outs(caller->store, rq->arena, &filter, &rows, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const bool has_more = paging_has_more(rq, &count);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        opt_out_json_write(&data, &rows[i]);
    parts[0] = "opt-outs";
    parts[1] = has_more ? rows[count - 1].identity : NULL;
    return paging_reply_cursor(rq, &data, has_more ? cursor_write(rq->arena, parts, 2) : NULL);
}

/* Answers with the rows of the names. */
static int reply_rows(struct request *rq, const char *account_id,
                      const struct opt_out_names *names) {
    const char *const identities[] = {names->phone, names->bsuid};
    struct json_writer data;
    reply_start(rq, &data);
    json_write_array(&data, "items");
    for (size_t i = 0; i < 2; i++) {
        struct store_opt_out row;
        if (!identities[i])
            continue;
        enum store_result result =
            store_find_opt_out(rq->caller->store, rq->arena, account_id, identities[i], &row);
        if (result == STORE_OK)
            opt_out_json_write(&data, &row);
        else if (result != STORE_NOT_FOUND) /* another request has ended it */
            return state_fail(rq, result);
    }
    return reply_object(rq, &data);
}

int opt_outs_post(struct request *rq) {
    const struct caller *caller = rq->caller;
    const struct slice to = json_string(json_get(rq->json, "to"), rq->arena);
    const struct opt_out_names names = {to.p ? recipient_digits(rq->arena, to) : NULL,
                                        json_text(json_get(rq->json, "recipient"), rq->arena)};
    struct store_account account;
    if (selector_choose(rq, &account))
        return -1;
    request_release(rq); /* a view would hold an older state */
    enum store_result result =
        store_insert_opt_out(caller->store, caller->user.id, account.id, &names, rq->now);
    return result == STORE_OK ? reply_rows(rq, account.id, &names) : state_fail(rq, result);
}

int opt_outs_delete(struct request *rq) {
    const struct caller *caller = rq->caller;
    struct store_account account;
    if (selector_choose(rq, &account))
        return -1;
    const char *to = recipient_stored(rq->arena, query_get(&rq->query, "to"));
    const struct opt_out_names names = {to, NULL};
    request_release(rq);
    enum store_result result =
        store_delete_opt_out(caller->store, caller->user.id, account.id, &names);
    return result == STORE_OK ? reply_data(rq, SLICE("{\"deleted\":true}"))
                              : state_fail(rq, result);
}
