#include "payload/message_text.h"

#include "base/fold.h"
#include "base/json.h"

/* The members whose strings are read by a person; `parent`: only in an object of this name. */
static const struct {
    const char *name, *parent;
} read_members[] = {
    {"body", NULL},           {"caption", NULL},        {"filename", NULL},
    {"text", NULL},           {"title", NULL},          {"description", NULL},
    {"display_text", NULL},   {"fallback_value", NULL}, /* of a currency or a date in a template */
    {"flow_cta", NULL},       {"emoji", NULL},          {"button", "action"}, /* of a list */
    {"name", "location"},     {"name", "template"},     {"address", "location"},
    {"formatted_name", NULL}, {"company", "org"},       {"phone", "phones"},
    {"email", "emails"},
};

/* Answers to a flow arrive as JSON in a string. */
static const char flow_answers[] = "response_json";

static bool is_read(struct json member, const char *parent) {
    for (size_t i = 0; i < sizeof read_members / sizeof *read_members; i++)
        if (json_is_named(member, read_members[i].name) &&
            (!read_members[i].parent || strcmp(read_members[i].parent, parent) == 0))
            return true;
    return false;
}

static void add_string(struct buffer *out, struct json value) {
    fold_add(out, json_string(value, out->arena));
    buffer_add_char(out, '\n');
}

/* Adds all strings of the answers, and its numbers, but not the token of the flow. */
static void add_answers(struct buffer *out, struct json value) {
    const enum json_type type = json_type(value);
    if (type == JSON_STRING)
        add_string(out, value);
    if (type == JSON_NUMBER) {
        buffer_add_slice(out, json_raw(value));
        buffer_add_char(out, '\n');
    }
    if (type == JSON_OBJECT || type == JSON_ARRAY)
        for (struct json m = json_first(value); json_is(m); m = json_next(m))
            if (type == JSON_ARRAY || !json_is_named(m, "flow_token"))
                add_answers(out, m);
}

static void add_flow(struct buffer *out, struct json member) {
    struct json answers;
    struct json_error error;
    const struct slice text = json_string(member, out->arena);
    if (text.p && json_read(out->arena, text, &answers, &error) == 0)
        add_answers(out, answers);
}

/* Adds the texts of an object or an array that is the member `name`. */
static void add_members(struct buffer *out, struct json container, const char *name) {
    const bool is_object = json_type(container) == JSON_OBJECT;
    for (struct json m = json_first(container); json_is(m); m = json_next(m)) {
        const enum json_type type = json_type(m);
        if (type == JSON_OBJECT || type == JSON_ARRAY)
            add_members(out, m, is_object ? json_name(m, out->arena).p : name);
        else if (type == JSON_STRING && is_object && json_is_named(m, flow_answers))
            add_flow(out, m);
        else if (type == JSON_STRING && is_object && is_read(m, name))
            add_string(out, m);
    }
}

void message_text_add(struct buffer *out, struct slice body) {
    struct json message;
    struct json_error error;
    if (body.n && json_read(out->arena, body, &message, &error) == 0)
        add_members(out, message, "");
}
