/* GET /v2/version: name, version and runtime environment (spec 4.1, 9). */
#include "base/product.h"
#include "web/request.h"

static int get_version(struct request *rq) {
    struct json_writer data;
    reply_start(rq, &data);
    json_write_text(&data, "name", SWITCHBOARD_NAME);
    json_write_text(&data, "version", SWITCHBOARD_VERSION);
    json_write_text(&data, "nodeEnv", rq->config->environment);
    return reply_object(rq, &data);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/version",
     .handle = get_version},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "version", .routes = routes};
