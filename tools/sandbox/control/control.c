#include "control/control.h"

#include <stdio.h>

#include "control/control_calls.h"
#include "control/control_reply.h"
#include "state/sandbox.h"
#include "text/strict_json.h"

/* Prints text in lines of up to 76 characters, indented. */
static void print_wrapped(const char *text) {
    while (*text != '\0') {
        size_t length = strlen(text);
        if (length > 76) {
            for (length = 76; length > 0 && text[length] != ' '; length--) {
            }
            length = length == 0 ? strlen(text) : length;
        }
        printf("      %.*s\n", (int)length, text);
        text += length + strspn(text + length, " ");
    }
}

void control_help(void) {
    printf("\nCalls below /_sandbox/ (JSON):\n");
    for (const struct control_call *call = control_calls; call->method; call++) {
        printf("  %-6s %s\n", call->method, call->path);
        print_wrapped(call->help);
    }
}

static bool path_matches(const struct exchange *exchange, const char *pattern) {
    size_t i = 1;
    for (; *pattern != '\0'; i++) {
        size_t length = strcspn(pattern, "/");
        const char *segment = exchange_segment(exchange, i);
        if (*segment == '\0' || (*pattern != '*' && (strlen(segment) != length ||
                                                     strncmp(segment, pattern, length) != 0)))
            return false;
        pattern += length + (pattern[length] == '/');
    }
    return i == exchange->segment_count;
}

/* Reads the body. Returns false after answering with an error. */
static bool read_body(struct exchange *exchange, const struct control_call *call) {
    if (exchange->body_length > BODY_MAX) {
        control_refuse(exchange, 413, "the body is too large");
        return false;
    }
    if (exchange->body.n == 0)
        return true;
    exchange->json = json_parse(exchange_body(exchange));
    if (exchange->json || strcmp(call->method, "POST") != 0 || call->lock == LOCK_NONE)
        return true;
    control_refuse(exchange, 400, "the body is not valid JSON");
    return false;
}

static void call_answer(struct exchange *exchange, const struct control_call *call) {
    if (!read_body(exchange, call))
        return;
    if (call->lock == LOCK_READ)
        state_read();
    else if (call->lock == LOCK_WRITE)
        state_write();
    call->answer(exchange);
    if (call->lock != LOCK_NONE)
        state_done();
}

void control_answer(struct exchange *exchange) {
    bool known = false;
    exchange->reply.status = 200;
    exchange->reply.type = "application/json";
    for (const struct control_call *call = control_calls; call->method; call++) {
        if (!path_matches(exchange, call->path))
            continue;
        if (strcmp(call->method, exchange->method) == 0) {
            call_answer(exchange, call);
            return;
        }
        known = true;
    }
    control_refuse(exchange, known ? 405 : 404, "no such call; see graph-sandbox --help");
}
