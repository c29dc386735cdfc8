/* Sends in the platform's own form: what is read of a body, the record of it, and the body with
 * callback data. The first byte chooses the content type. */
#include "payload/graph_send.h"

#include "fuzz.h"

#define CALLBACK "req_1"

static const char *const types[] = {"application/json", "application/x-www-form-urlencoded",
                                    "multipart/form-data; boundary=b", NULL};

static struct json parse(struct arena *arena, struct slice text) {
    struct json json;
    struct json_error error;
    MUST(json_read(arena, text, &json, &error) == 0);
    return json;
}

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The body with callback data is that body in all else. */
static void check_callback(struct arena *arena, const char *type, const struct graph_send *send,
                           struct slice body) {
    struct graph_send again;
    const char *error;
    struct slice extended = graph_send_add_callback(arena, type, send, body, CALLBACK);
    if (!extended.p) {
        MUST(send->is_form);
        return;
    }
    if (graph_send_read(arena, type, extended, &again, &error)) {
        MUST(send->is_form); /* it has more fields than are read */
        return;
    }
    MUST(again.has_callback_data && again.is_message == send->is_message);
    MUST(is_same(again.phone, send->phone) && is_same(again.bsuid, send->bsuid));
    MUST(is_same(again.type, send->type) && is_same(again.flow_token, send->flow_token));
}

static void check(struct arena *arena, const char *type, struct slice body) {
    struct graph_send send;
    const char *error = NULL;
    if (graph_send_read(arena, type, body, &send, &error)) {
        MUST(error && *error);
        return;
    }
    MUST(send.type && json_type(send.body) == JSON_OBJECT);
    MUST(!send.phone || send.phone[strspn(send.phone, "0123456789")] == '\0');
    struct json record = parse(arena, graph_send_record(arena, &send));
    MUST(json_type(record) == JSON_OBJECT && !json_is(json_get(record, "access_token")));
    check_callback(arena, type, &send, body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    if (!size)
        return 0;
    struct slice text = fuzz_copy(data + 1, size - 1);
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    check(&arena, types[*data % 4], text);
    arena_free(&arena);
    free((char *)(size_t)text.p);
    return 0;
}
