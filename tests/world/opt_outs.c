/* The opt-outs of a world: the operator adds some by the API, and deletes some of them later. Each
 * request is repeated until it is answered. */
#include <string.h>

#include "world.h"

enum { MOST = 16, DELETED_OF_100 = 40 };
enum { POST_SECONDS = 6 }; /* a POST begins at most so long after its row was taken */

static struct opt_out {
    const char *phone;
    int64_t since; /* it was answered; INT64_MAX: not yet */
    int64_t until; /* a deletion of the number was requested; INT64_MAX: none was */
    uint64_t random;
} list[MOST];
static size_t count;

void opt_outs_begin(void) {
    memset(list, 0, sizeof list);
    count = 0;
}

static void request(struct event *event);

static void request_later(struct opt_out *opt_out, int64_t delay) {
    world_at(world_now() + delay, request, opt_out, 0);
}

static void after_request(void *subject, const struct answer *answer) {
    struct opt_out *opt_out = subject;
    world_check_answer("an opt-out", answer->status, answer->text);
    if (answer->status / 100 != 2) {
        request_later(opt_out, (1 + random_below(&opt_out->random, 30)) * SECOND);
    } else if (opt_out->since == INT64_MAX) {
        opt_out->since = world_now();
        world_note("%s does not want marketing", opt_out->phone);
        if (random_chance(&opt_out->random, DELETED_OF_100))
            request_later(opt_out, (1 + random_below(&opt_out->random, 7200)) * SECOND);
    }
}

/* Another one of the number may be on its way: then it is open which of the two comes first. */
static void end_all(const char *phone) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].phone, phone) == 0 && list[i].until == INT64_MAX)
            list[i].until = world_now();
}

static void request(struct event *event) {
    struct opt_out *opt_out = event->subject;
    if (!gateway_token) {
        request_later(opt_out, SECOND);
        return;
    }
    const bool deletes = opt_out->since != INT64_MAX;
    if (deletes)
        end_all(opt_out->phone);
    gateway_request(
        &(struct request){.method = deletes ? "DELETE" : "POST",
                          .script = "/v2/opt-outs",
                          .info = "",
                          .query = deletes ? world_print("to=%s", opt_out->phone) : NULL,
                          .body = deletes ? "" : world_print("{\"to\":\"%s\"}", opt_out->phone),
                          .headers = {world_print("HTTP_AUTHORIZATION=Bearer %s", gateway_token)},
                          .end = after_request,
                          .subject = opt_out,
                          .random = random_next(&opt_out->random)});
}

void opt_outs_add(const struct act *act) {
    if (count == MOST)
        return;
    struct opt_out *opt_out = &list[count++];
    *opt_out = (struct opt_out){.random = act->random, .since = INT64_MAX, .until = INT64_MAX};
    opt_out->phone = people_phone(&opt_out->random);
    request_later(opt_out, 0);
}

bool opt_outs_forbid(const char *phone) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].phone, phone) == 0 && list[i].since != INT64_MAX &&
            world_now() > list[i].since + POST_SECONDS * SECOND && world_now() < list[i].until &&
            (world.retains || erasures_fate(phone, "", list[i].since) == IS_STORED))
            return true;
    return false;
}
