#include "platform_call.h"

#include "base/json.h"
#include "command.h"

void platform_ask(void *context, const struct graph_call *call, struct graph_answer *answer) {
    struct invocation *invocation = context;
    graph_call(&invocation->config, &invocation->arena, call, answer);
}

int platform_fail(struct invocation *call, const struct graph_answer *answer,
                  const char *expected) {
    struct json body = {0};
    struct json_error error;
    if (!answer->status)
        return fail("the platform could not be reached: %s", answer->failure);
    if (json_read(&call->arena, answer->body, &body, &error))
        return fail("the platform answered %d without JSON", answer->status);
    const char *message = json_text(json_find(body, "error.message"), &call->arena);
    if (message)
        return fail("the platform answered %d: %s", answer->status, message);
    return fail("the platform answered %d: no %s", answer->status, expected);
}
