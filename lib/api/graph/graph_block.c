#include "api/graph/graph_block.h"

#include "api/graph/graph_forward.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "payload/recipient.h"
#include "store/block.h"

/* Blocks or unblocks the contact with the identities of the answer's `user`. */
static enum store_result follow(struct request *rq, struct json user, bool blocks) {
    const struct caller *caller = rq->caller;
    struct slice wa_id = json_string(json_get(user, "wa_id"), rq->arena);
    char id[ID_SIZE];
    enum store_result result = store_find_person(
        caller->store, caller->line.account_id, wa_id.p ? recipient_digits(rq->arena, wa_id) : NULL,
        json_text(json_get(user, "user_id"), rq->arena), id);
    struct store_owner_block block = {.user_id = caller->user.id,
                                      .contact_id = id,
                                      .phone_number_id = caller->line.phone_number_id,
                                      .now = rq->now};
    if (result == STORE_OK)
        result = blocks ? store_block(caller->store, rq->arena, &block)
                        : store_unblock(caller->store, rq->arena, &block);
    return result == STORE_NOT_FOUND ? STORE_OK : result; /* no such contact */
}

static void follow_all(struct request *rq, struct json users, bool blocks) {
    for (struct json user = json_first(users); json_is(user); user = json_next(user))
        if (follow(rq, user, blocks) != STORE_OK)
            log_message(LOG_ERROR, "request %s: a block of the platform was not recorded: %s",
                        rq->id, store_reason(rq->caller->store));
}

int graph_change_blocks(struct request *rq, const struct graph_node *node) {
    struct json answer;
    struct json_error error;
    sigset_t before;
    signals_block(&before);
    int failed = graph_forward(rq, node);
    /* an answer that refuses some of the users lists the others */
    if (!failed && json_read(rq->arena, rq->reply.pieces[0], &answer, &error) == 0) {
        struct json changed = json_get(answer, "block_users");
        follow_all(rq, json_get(changed, "added_users"), true);
        follow_all(rq, json_get(changed, "removed_users"), false);
    }
    signals_restore(&before);
    return failed;
}
