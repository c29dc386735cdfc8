/* GET /v2/health: answers 200 when the web server can run the gateway's executables (spec 4.1).
 * Uses neither the database nor the platform. */
#include "web/request.h"

static int get_health(struct request *rq) {
    return reply_data(rq, SLICE("{\"ok\":true}"));
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/health",
     .handle = get_health},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "health", .routes = routes};
