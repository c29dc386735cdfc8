#include "control/control.h"

#include <stdio.h>

#include "control/control_calls.h"
#include "state/sandbox.h"
#include "text/strict_json.h"

enum { LINE_WIDTH = 60 }; /* of a text of --help */

/* Appends a text in lines; those after the first begin with `indent`. */
static void add_wrapped(struct buffer *out, const char *indent, const char *text) {
    size_t column = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + length > LINE_WIDTH) {
            buffer_printf(out, "\n%s", indent);
            column = 0;
        }
        buffer_printf(out, "%s%.*s", column == 0 ? "" : " ", (int)length, text);
        column += length + 1;
        text += length + strspn(text + length, " ");
    }
}

static const char *call_text(struct arena *arena, const struct control_call *call) {
    struct buffer text = buffer_in(arena);
    add_wrapped(&text, "", call->meaning);
    for (const struct control_member *member = call->members; member && member->name; member++) {
        buffer_printf(&text, "\n`%s`: ", member->name);
        add_wrapped(&text, "  ", member->meaning);
    }
    return text.p;
}

const struct manual_item *control_items(struct arena *arena, const struct manual_item *first,
                                        size_t count) {
    size_t calls = 0;
    while (control_calls[calls].method)
        calls++;
    struct manual_item *items = arena_alloc(arena, (count + calls + 1) * sizeof *items);
    memcpy(items, first, count * sizeof *items);
    for (size_t i = 0; i < calls; i++) {
        const struct control_call *call = &control_calls[i];
        items[count + i] = (struct manual_item){
            arena_printf(arena, "%s %s", call->method, call->path), call_text(arena, call)};
    }
    return items;
}

static void print_members(const struct control_call *call) {
    bool query = strcmp(call->method, "POST") != 0;
    if (!call->members)
        return;
    printf("\n| %s | |\n|---|---|\n", query ? "query" : "member");
    for (const struct control_member *member = call->members; member->name; member++)
        printf("| %s | %s |\n", member->name, member->meaning);
}

void control_print_page(void) {
    for (const struct control_call *call = control_calls; call->method; call++) {
        printf("\n### %s /_sandbox/%s\n\n%s\n", call->method, call->path, call->meaning);
        print_members(call);
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
    if (call->answer)
        call->answer(exchange);
    else if (call->print)
        call->print(&exchange->reply.body);
    else
        call->change();
    if (call->change)
        control_done(exchange, NULL);
    if (call->lock != LOCK_NONE)
        state_done();
}

/* Whether a page of another site made the request: a browser sends a POST of any page to a sandbox
 * on its machine, and names the page's origin (Fetch Standard, 3.2). */
static bool is_of_another_site(const struct exchange *exchange) {
    const char *origin = exchange_header(exchange, "Origin");
    const char *host = exchange_header(exchange, "Host");
    const char *name = origin ? strstr(origin, "://") : NULL;
    return origin && !(host && name && strcmp(name + 3, host) == 0) &&
           strcmp(origin, sandbox_origin(exchange->arena, host)) != 0;
}

void control_answer(struct exchange *exchange) {
    bool known = false;
    exchange->reply.status = 200;
    exchange->reply.type = "application/json";
    if (strcmp(exchange->method, "GET") != 0 && is_of_another_site(exchange)) {
        control_refuse(exchange, 403, "a page of another site may not change the sandbox");
        return;
    }
    for (const struct control_call *call = control_calls; call->method; call++) {
        if (!path_matches(exchange, call->path))
            continue;
        if (strcmp(call->method, exchange->method) == 0) {
            call_answer(exchange, call);
            return;
        }
        known = true;
    }
    control_refuse(exchange, known ? 405 : 404, "no such call; see switchboard-sandbox --help");
}
