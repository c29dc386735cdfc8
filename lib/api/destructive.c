#include "api/destructive.h"

int destructive_check(struct request *rq) {
    if (config_is_on(rq->config->graph_destructive))
        return 0;
    return fail(
        rq, FORBIDDEN,
        "The gateway does not pass this on: its operator must set graph_destructive = yes.");
}
