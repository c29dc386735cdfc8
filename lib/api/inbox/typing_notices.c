#include "api/inbox/typing_notices.h"

#include "api/auth.h"
#include "api/inbox/thread_failure.h"
#include "store/typing.h"

/* A token is no member, so others see nothing of it. */
int typing_notices_put(struct request *rq) {
    const char *member_id = rq->caller->session.member_id;
    struct json_writer data;
    enum store_result result =
        store_note_typing(rq->caller->store, &rq->caller->view,
                          arena_copy(rq->arena, rq->parameters[0]), member_id, rq->now);
    if (result != STORE_OK)
        return thread_fail(rq, result);
    json_write_start_object(&data, rq->arena);
    json_write_bool(&data, "noted", member_id != NULL);
    return reply_data(rq, json_written(&data));
}
