#include "web/request.h"

#include "web/transport.h"

const char *request_variable(const char *name) {
    return transport_variable(name);
}

void request_release(struct request *rq) {
    if (rq->release)
        rq->release();
    rq->release = NULL;
}
