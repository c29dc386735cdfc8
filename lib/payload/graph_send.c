#include "payload/graph_send.h"

#include "payload/graph_form.h"
#include "payload/recipient.h"
#include "web/plain_name.h"

/* --- the members --- */

/* An object or array that is written as a JSON text in a string, as that; any other value as it is.
 */
static struct json unwrap(struct arena *arena, struct json value) {
    struct slice inside = json_inside(value);
    struct json_error error;
    struct json read;
    if (!inside.n || (inside.p[0] != '{' && inside.p[0] != '['))
        return value;
    return json_read(arena, json_string(value, arena), &read, &error) == 0 ? read : value;
}

static struct json member(struct arena *arena, struct json object, const char *name) {
    return unwrap(arena, json_get(object, name));
}

/* A string, or the digits of a number. NULL for anything else, and for an empty string. */
static const char *text_of(struct arena *arena, struct json value) {
    const char *text = json_type(value) == JSON_NUMBER ? arena_copy(arena, json_raw(value))
                                                       : json_text(value, arena);
    return text && *text ? text : NULL;
}

static const char *text_in(struct arena *arena, struct json object, const char *name) {
    return text_of(arena, json_get(object, name));
}

/* --- the content --- */

/* The flow_token of a template's button; NULL when there is none. */
static const char *token_of_template(struct arena *arena, struct json template) {
    struct json components = member(arena, template, "components");
    for (struct json c = json_first(components); json_is(c); c = json_next(c)) {
        struct json parameters = member(arena, unwrap(arena, json_alone(c)), "parameters");
        for (struct json p = json_first(parameters); json_is(p); p = json_next(p)) {
            struct json action = member(arena, unwrap(arena, json_alone(p)), "action");
            const char *token = text_in(arena, action, "flow_token");
            if (token)
                return token;
        }
    }
    return NULL;
}

static void read_content(struct arena *arena, struct graph_send *send) {
    struct json content = member(arena, send->body, send->type);
    if (strcmp(send->type, "template") == 0) {
        send->template_name = text_in(arena, content, "name");
        send->template_language = text_in(arena, member(arena, content, "language"), "code");
        send->flow_token = token_of_template(arena, content);
    } else if (strcmp(send->type, "interactive") == 0 &&
               json_equals(json_get(content, "type"), "flow")) {
        struct json action = member(arena, content, "action");
        struct json parameters = member(arena, action, "parameters");
        send->flow_id = text_in(arena, parameters, "flow_id");
        send->flow_token = text_in(arena, parameters, "flow_token");
    }
}

/* --- the recipient --- */

static int read_recipient(struct arena *arena, struct graph_send *send, const char **error) {
    const char *kind = text_in(arena, send->body, "recipient_type");
    send->is_to_person = !kind || strcmp(kind, "group") != 0;
    send->to = text_in(arena, send->body, "to");
    send->bsuid = text_in(arena, send->body, "recipient");
    if (!send->to || !send->is_to_person)
        return 0;
    if (recipient_is_bsuid_in_any_case(slice_trim(slice_of(send->to)))) {
        *error = "to is a business-scoped user id: send it as recipient.";
        return -1;
    }
    if (!recipient_is_plain_phone(slice_of(send->to))) {
        *error = "to must be a phone number of the digits 0 to 9; spaces and + - . ( ) / may stand "
                 "between them.";
        return -1;
    }
    const char *digits = recipient_digits(arena, slice_of(send->to));
    send->phone = *digits ? digits : NULL;
    return 0;
}

/* --- the body --- */

/* The members that determine whether a message may be sent, and to whom. */
static const char *const decisive[] = {
    "to", "recipient", "recipient_type", "type", "status", "message_id", NULL};

/* Whether all readers make the same text of the value: it is null, a string without NUL, or an
 * integer of few digits. Of 1.5e10 some make 15000000000. */
static bool is_plain_text(struct arena *arena, struct json value) {
    enum { MOST_DIGITS = 18 };
    struct slice raw = json_raw(value);
    switch (json_type(value)) {
    case JSON_NULL: return true;
    case JSON_STRING: return json_text(value, arena) != NULL;
    case JSON_NUMBER:
        for (size_t i = 0; i < raw.n; i++)
            if (raw.p[i] < '0' || raw.p[i] > '9')
                return false;
        return raw.n <= MOST_DIGITS;
    default: return false;
    }
}

/* Refuses a decisive member whose value is not plain text, and one with another spelling of its
 * name: a reader may take it for the decisive one. */
static int check_members(struct arena *arena, struct json object, const char **error) {
    for (struct json m = json_first(object); json_is(m); m = json_next(m)) {
        struct slice name = json_name(m, arena);
        for (const char *const *word = decisive; *word; word++) {
            if (!plain_name_is(name, *word))
                continue;
            if (slice_equal(name, slice_of(*word)) && is_plain_text(arena, m))
                break;
            *error = arena_printf(arena, "%s must be a string, and its name be spelled so.", *word);
            return -1;
        }
    }
    return 0;
}

static int read_object(struct arena *arena, const char *content_type, struct slice body,
                       struct graph_send *send, const char **error) {
    struct json_error wrong;
    send->is_form = graph_form_is(content_type);
    if (send->is_form)
        return graph_form_read(arena, content_type, body, &send->body, error);
    if (json_read(arena, body, &send->body, &wrong)) {
        *error = arena_printf(
            arena, "The body must be a JSON object or a form: %s (line %zu, column %zu).",
            wrong.reason, wrong.line, wrong.column);
        return -1;
    }
    *error = "The body must be a JSON object or a form.";
    return json_type(send->body) == JSON_OBJECT ? 0 : -1;
}

int graph_send_read(struct arena *arena, const char *content_type, struct slice body,
                    struct graph_send *send, const char **error) {
    *send = (struct graph_send){.type = NULL};
    if (read_object(arena, content_type, body, send, error) ||
        check_members(arena, send->body, error))
        return -1;
    struct json context = member(arena, send->body, "context");
    const char *type = text_in(arena, send->body, "type");
    const char *status = text_in(arena, send->body, "status");
    send->is_message = !status || strcasecmp(status, "read") != 0;
    send->read_wamid = text_in(arena, send->body, "message_id");
    send->context_wamid = text_in(arena, context, "message_id");
    send->type = type ? type : "text";
    send->has_callback_data = json_is(json_get(send->body, "biz_opaque_callback_data"));
    read_content(arena, send);
    return read_recipient(arena, send, error);
}

/* --- what is recorded and sent --- */

/* Writes the members of the request without the access_token, with the content as an object. */
static struct slice rewrite(struct arena *arena, const struct graph_send *send) {
    struct buffer out = buffer_in(arena);
    char mark = '{';
    for (struct json m = json_first(send->body); json_is(m); m = json_next(m)) {
        struct json value = json_alone(m);
        if (json_is_named(m, "access_token"))
            continue;
        if (json_is_named(m, send->type))
            value = unwrap(arena, value);
        buffer_add_char(&out, mark);
        buffer_add_char(&out, '"');
        buffer_add_slice(&out, json_raw_name(m));
        buffer_add_text(&out, "\":");
        buffer_add_slice(&out, json_raw(value));
        mark = ',';
    }
    buffer_add_text(&out, mark == '{' ? "{}" : "}");
    return buffer_slice(&out);
}

struct slice graph_send_record(struct arena *arena, const struct graph_send *send) {
    struct json content = json_get(send->body, send->type);
    struct json unwrapped = unwrap(arena, content);
    bool is_plain = json_raw(unwrapped).p == json_raw(content).p &&
                    !json_is(json_get(send->body, "access_token"));
    return is_plain ? json_raw(send->body) : rewrite(arena, send);
}

struct slice graph_send_add_callback(struct arena *arena, const char *content_type,
                                     const struct graph_send *send, struct slice body,
                                     const char *data) {
    struct buffer out = buffer_in(arena);
    struct slice object = json_raw(send->body);
    if (send->is_form) {
        if (!graph_form_is_urlencoded(content_type))
            return (struct slice){NULL, 0};
        buffer_add_slice(&out, body);
        buffer_printf(&out, "%sbiz_opaque_callback_data=%s", body.n ? "&" : "", data);
        return buffer_slice(&out);
    }
    const char *end = object.p + object.n - 1; /* the closing brace */
    buffer_add(&out, body.p, (size_t)(end - body.p));
    buffer_printf(&out, "%s\"biz_opaque_callback_data\":\"%s\"", json_count(send->body) ? "," : "",
                  data);
    buffer_add(&out, end, (size_t)(body.p + body.n - end));
    return buffer_slice(&out);
}
