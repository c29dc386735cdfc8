#include "api/test_event.h"

#include "delivery/wake.h"
#include "payload/event_body.h"
#include "store/event_test.h"

int test_event_post(struct request *rq, const char *webhook_id,
                    int (*refuse)(struct request *rq, enum store_result result)) {
    char id[ID_SIZE];
    id_make(id, "evt_", rq->now);
    enum store_result result = store_insert_test_event(
        rq->caller->store, rq->arena, rq->caller->user.id, webhook_id, id, rq->now, event_body);
    if (result != STORE_OK)
        return refuse(rq, result);
    wake_notify(rq->config);
    struct json_writer data;
    reply_start(rq, &data);
    json_write_text(&data, "eventId", id);
    return reply_object(rq, &data);
}
