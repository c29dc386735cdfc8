#include "payload/graph_form.h"

#include <stdio.h>

#include "base/utf8.h"
#include "web/field.h"
#include "web/multipart.h"

enum { MAX_PARTS = 16 }; /* of a name */

bool graph_form_is_urlencoded(const char *content_type) {
    struct slice rest = slice_of(content_type);
    return slice_is_word(slice_trim(slice_cut(&rest, ';')), "application/x-www-form-urlencoded");
}

bool graph_form_is(const char *content_type) {
    return graph_form_is_urlencoded(content_type) || multipart_is(content_type);
}

/* --- the tree of the fields --- */

/* A part of a name, with a value or with the parts that follow it. */
struct node {
    struct slice name;
    struct slice value; /* p == NULL: it has members */
    struct node *first, *last, *next;
};

/* Returns the member of the name. A part without a name, as of `to[]`, is a new one each time. */
static struct node *member_of(struct arena *arena, struct node *parent, struct slice name) {
    for (struct node *m = parent->first; m && name.n; m = m->next)
        if (slice_equal(m->name, name))
            return m;
    struct node *made = arena_alloc(arena, sizeof *made);
    *made = (struct node){.name = name};
    *(parent->last ? &parent->last->next : &parent->first) = made;
    return parent->last = made;
}

/* Cuts the first part of a name off: the text before the first bracket, then each text in brackets.
 */
static struct slice cut_part(struct slice *name, bool is_first) {
    if (!is_first)
        *name = slice_skip(*name, 1);
    const char *end = name->n ? memchr(name->p, is_first ? '[' : ']', name->n) : NULL;
    struct slice part = {name->p, end ? (size_t)(end - name->p) : name->n};
    *name = slice_skip(*name, part.n + (is_first ? 0 : 1));
    return part;
}

static int add_field(struct arena *arena, struct node *root, struct slice name, struct slice value,
                     const char **error) {
    struct node *node = root;
    struct slice rest = name;
    for (size_t parts = 0; parts == 0 || (rest.n && rest.p[0] == '['); parts++) {
        if (parts == MAX_PARTS) {
            *error = "A field of the form has a name of more than 16 parts.";
            return -1;
        }
        node = member_of(arena, node, cut_part(&rest, parts == 0));
    }
    node->value = value.p ? value : SLICE("");
    return 0;
}

/* --- its JSON --- */

/* Whether the members of the node are the items of an array: numbered from 0, or without names. */
static bool is_array(const struct node *node) {
    char number[16];
    size_t i = 0;
    for (const struct node *m = node->first; m; m = m->next) {
        snprintf(number, sizeof number, "%zu", i++);
        if (m->name.n && !slice_equal(m->name, slice_of(number)))
            return false;
    }
    return true;
}

static void add_string(struct buffer *out, struct slice text) {
    struct json_writer string;
    json_write_start(&string, out->arena);
    json_write_string(&string, NULL, text);
    buffer_add_slice(out, json_written(&string));
}

/* Adds a value, as it is when it is a JSON object or array. */
static void add_value(struct buffer *out, struct slice value) {
    struct json json;
    struct json_error error;
    bool may_be_json = value.n && (value.p[0] == '{' || value.p[0] == '[');
    if (may_be_json && json_read(out->arena, value, &json, &error) == 0)
        buffer_add_slice(out, json_raw(json));
    else
        add_string(out, value);
}

/* The names have at most MAX_PARTS parts, which limits the recursion. */
static void add_node(struct buffer *out, const struct node *node, bool is_root) {
    bool has_names = is_root || !is_array(node);
    if (node->value.p) {
        add_value(out, node->value);
        return;
    }
    buffer_add_char(out, has_names ? '{' : '[');
    for (const struct node *m = node->first; m; m = m->next) {
        if (m != node->first)
            buffer_add_char(out, ',');
        if (has_names) {
            add_string(out, m->name);
            buffer_add_char(out, ':');
        }
        add_node(out, m, false);
    }
    buffer_add_char(out, has_names ? '}' : ']');
}

/* --- the two encodings --- */

static int read_urlencoded(struct arena *arena, struct slice body, struct node *root,
                           const char **error) {
    static const char malformed[] = "The form must be percent-encoded UTF-8 text without NUL, with "
                                    "at most 100 fields.";
    struct query fields;
    if ((body.n && memchr(body.p, '\0', body.n)) ||
        query_read(arena, arena_copy(arena, body), &fields, error)) {
        *error = malformed;
        return -1;
    }
    for (size_t i = 0; i < fields.count; i++)
        if (add_field(arena, root, fields.values[i].name, fields.values[i].value, error))
            return -1;
    return 0;
}

static int read_part(struct multipart *form, struct buffer *value) {
    struct slice bytes;
    int more;
    while ((more = multipart_read(form, &bytes)) > 0)
        buffer_add_slice(value, bytes);
    return more;
}

static int read_multipart(struct arena *arena, const char *content_type, struct slice body,
                          struct node *root, const char **error) {
    struct multipart form;
    struct part part;
    int more = multipart_start(&form, arena, content_type, multipart_from_slice, &body);
    while (more >= 0 && (more = multipart_next(&form, &part)) > 0) {
        struct buffer value = buffer_in(arena);
        struct slice name = slice_of(part.name);
        if (part.filename) {
            *error = "A field of a message may not be a file.";
            return -1;
        }
        if ((more = read_part(&form, &value)) < 0)
            break;
        if (!utf8_valid(name) || !utf8_valid(buffer_slice(&value)) ||
            (value.n && memchr(value.p, '\0', value.n))) {
            *error = "The fields of the form must be UTF-8 text without NUL.";
            return -1;
        }
        if (add_field(arena, root, name, buffer_slice(&value), error))
            return -1;
    }
    if (more < 0)
        *error = form.error;
    return more;
}

int graph_form_read(struct arena *arena, const char *content_type, struct slice body,
                    struct json *object, const char **error) {
    struct node root = {.name = {NULL, 0}};
    struct json_error wrong;
    struct buffer text = buffer_in(arena);
    if (multipart_is(content_type) ? read_multipart(arena, content_type, body, &root, error)
                                   : read_urlencoded(arena, body, &root, error))
        return -1;
    add_node(&text, &root, true);
    if (json_read(arena, buffer_slice(&text), object, &wrong) == 0)
        return 0;
    *error = "The form has more values than the gateway reads.";
    return -1;
}
