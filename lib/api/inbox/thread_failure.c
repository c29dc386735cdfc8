#include "api/inbox/thread_failure.h"

int thread_fail(struct request *rq, enum store_result result) {
    if (result == STORE_NOT_FOUND)
        return fail(rq, NOT_FOUND, "There is no thread with this id: GET /v2/threads lists them.");
    return state_fail(rq, result);
}
