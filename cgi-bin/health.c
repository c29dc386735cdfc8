/* GET /v2/health: is the gateway there (spec 4.1). Touches neither database nor platform. */
#include "web/request.h"

static int get_health(struct request *rq) {
    return reply_data(rq, SLICE("{\"ok\":true}"));
}

static const struct route routes[] = {
    {.method = "GET", .path = "/v2/health", .handle = get_health},
    {0},
};

int main(void) {
    return serve(&(struct service){.name = "health", .routes = routes});
}
