/* The failures of a request: the first one stays whole. */
#include "compare.h"
#include "web/reply.h"
#include "web/request.h"

static struct arena arena;

static const char *reply_of(struct request *rq) {
    reply_settle(rq);
    return arena_copy(&arena, reply_bytes(rq));
}

static void check_first(void) {
    struct request rq = {.arena = &arena, .id = "req_1"};
    CHECK(fail(&rq, INVALID, "first %d", 1) == -1);
    CHECK(fail_with_details(&rq, INTERNAL, SLICE("[2]"), "second") == -1);
    CHECK(fail_verbatim(&rq, BAD_GATEWAY, SLICE("[3]"), "third %d") == -1);
    CHECK_TEXT(reply_of(&rq), "{\"success\":false,\"error\":\"VALIDATION_ERROR\","
                              "\"message\":\"first 1\"}");
    CHECK(rq.reply.status == 400);
}

static void check_details(void) {
    struct request rq = {.arena = &arena, .id = "req_1"};
    fail_with_details(&rq, BAD_GATEWAY, SLICE("{\"a\": [1]}"), "a \"b\"");
    fail(&rq, INVALID, "second");
    CHECK_TEXT(reply_of(&rq), "{\"success\":false,\"error\":\"INTERNAL_ERROR\","
                              "\"message\":\"a \\\"b\\\" (X-Request-Id: req_1)\","
                              "\"details\":{\"a\": [1]}}");
}

static void check_verbatim(void) {
    struct request rq = {.arena = &arena, .id = "req_1"};
    fail_verbatim(&rq, BAD_GATEWAY, SLICE(" { } "), "100%s");
    CHECK_TEXT(reply_of(&rq), "{\"success\":false,\"error\":\"INTERNAL_ERROR\","
                              "\"message\":\"100%s\"}");
}

int main(void) {
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    check_first();
    check_details();
    check_verbatim();
    arena_free(&arena);
    return check_failures();
}
