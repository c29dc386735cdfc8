#include "wire/node_fields.h"

#include <ctype.h>
#include <stdlib.h>

#include "text/strict_json.h"
#include "wire/graph_error.h"

enum { NAMES_MAX = 200 };

/* One name of a choice, with what stands after it. */
struct choice {
    struct slice name;
    struct slice modifiers; /* `.limit(2).after(x)` */
    struct slice nested;    /* between braces; p NULL: there are none */
};

struct slice fields_chosen(const struct exchange *exchange) {
    return slice_of(exchange_parameter(exchange, "fields"));
}

static struct slice skip_spaces(struct slice text) {
    while (text.n > 0 && isspace((unsigned char)*text.p))
        text = slice_skip(text, 1);
    return text;
}

static struct slice take_name(struct slice *rest) {
    struct slice name = {rest->p, 0};
    while (name.n < rest->n && (isalnum((unsigned char)name.p[name.n]) || name.p[name.n] == '_'))
        name.n++;
    *rest = slice_skip(*rest, name.n);
    return name;
}

/* Takes a text between `open`, which is the next character, and the `close` that belongs to it.
 * Returns p NULL when that is missing. */
static struct slice take_between(struct slice *rest, char open, char close) {
    size_t depth = 0;
    for (size_t i = 0; i < rest->n; i++) {
        depth += rest->p[i] == open;
        depth -= rest->p[i] == close;
        if (depth == 0) {
            struct slice inner = {rest->p + 1, i - 1};
            *rest = slice_skip(*rest, i + 1);
            return inner;
        }
    }
    return (struct slice){NULL, 0};
}

/* Takes `.name(arguments)`, as often as it stands there. */
static bool take_modifiers(struct slice *rest, struct slice *modifiers) {
    modifiers->p = rest->p;
    while (rest->n > 0 && *rest->p == '.') {
        *rest = slice_skip(*rest, 1);
        if (take_name(rest).n == 0 || rest->n == 0 || *rest->p != '(' ||
            !take_between(rest, '(', ')').p)
            return false;
    }
    modifiers->n = (size_t)(rest->p - modifiers->p);
    return true;
}

/* Takes the next name of a choice. Returns false when it is not well formed. */
static bool take_choice(struct slice *rest, struct choice *choice) {
    *choice = (struct choice){0};
    *rest = skip_spaces(*rest);
    choice->name = take_name(rest);
    if (choice->name.n == 0 || !take_modifiers(rest, &choice->modifiers))
        return false;
    *rest = skip_spaces(*rest);
    if (rest->n > 0 && *rest->p == '{') {
        choice->nested = take_between(rest, '{', '}');
        if (!choice->nested.p)
            return false;
    }
    *rest = skip_spaces(*rest);
    if (rest->n > 0 && *rest->p != ',')
        return false;
    *rest = skip_spaces(slice_skip(*rest, 1));
    return true;
}

static bool refuse_syntax(struct exchange *exchange, struct slice rest) {
    reply_error(
        exchange, 2500,
        "Syntax error \"Expected end of string instead of \"%.1s\".\" in the fields: %.100s",
        rest.n > 0 ? arena_copy(exchange->arena, rest) : "",
        arena_copy(exchange->arena, fields_chosen(exchange)));
    return false;
}

static const struct node_shape *shape_of(const struct node_shape *shape, struct slice name) {
    const struct node_member *member = shape->members;
    while (member && member->name && !slice_equal(slice_of(member->name), name))
        member++;
    return member && member->name ? member->shape : NULL;
}

/* Returns the number of a modifier `.limit(N)`, or INT64_MAX. */
static int64_t limit_of(struct arena *arena, struct slice modifiers) {
    const char *limit = strstr(arena_copy(arena, modifiers), ".limit(");
    return limit ? strtoll(limit + 7, NULL, 10) : INT64_MAX;
}

/* A member that is an object inside of a node has no type of its own, and no id is added to it. */
static const struct node_shape plain_shape = {.type = "Object", .without_id = true, .known = NULL};

/* What a list in a choice selects of each of its elements. */
struct selection {
    const struct node_shape *shape;
    struct slice nested;
    int64_t limit;
};

static bool print_element(struct exchange *exchange, struct slice value,
                          const struct selection *selection);

static bool print_elements(struct exchange *exchange, struct slice list,
                           const struct selection *selection) {
    struct slice element;
    size_t cursor = 0;
    buffer_add_char(&exchange->reply.body, '[');
    for (int64_t i = 0; i < selection->limit && json_element(list, &cursor, &element); i++) {
        buffer_add_text(&exchange->reply.body, i == 0 ? "" : ",");
        if (!print_element(exchange, element, selection))
            return false;
    }
    buffer_add_char(&exchange->reply.body, ']');
    return true;
}

/* Appends a value: of a list, or of the list in `data`, each element; of an object its choice. */
static bool print_value(struct exchange *exchange, struct slice value,
                        const struct selection *selection) {
    struct slice data;
    if (*value.p == '[')
        return print_elements(exchange, value, selection);
    if (*value.p == '{' && json_member(value, "data", &data) && *data.p == '[') {
        buffer_add_text(&exchange->reply.body, "{\"data\":");
        bool good = print_elements(exchange, data, selection);
        buffer_add_text(&exchange->reply.body, good ? "}" : "");
        return good;
    }
    return print_element(exchange, value, selection);
}

/* Appends the member that `choice` names, preceded by `*before`, which becomes a comma. */
static bool print_choice(struct exchange *exchange, struct slice whole,
                         const struct node_shape *shape, const struct choice *choice,
                         char *before) {
    const char *name = arena_copy(exchange->arena, choice->name);
    const struct node_shape *inner = shape_of(shape, choice->name);
    struct selection selection = {inner ? inner : &plain_shape, choice->nested,
                                  limit_of(exchange->arena, choice->modifiers)};
    struct slice value;
    if (!json_member(whole, name, &value)) {
        if (slice_has_word(slice_of(shape->known), ',', choice->name) ||
            slice_has_word(slice_of(shape->standard), ',', choice->name) || shape == &plain_shape)
            return true;
        reply_error(exchange, 100,
                    "(#100) Tried accessing nonexisting field (%.100s) on node type (%s)", name,
                    shape->type);
        return false;
    }
    buffer_printf(&exchange->reply.body, "%c\"%s\":", *before, name);
    *before = ',';
    if (inner || choice->nested.p || choice->modifiers.n > 0)
        return print_value(exchange, value, &selection);
    buffer_add_slice(&exchange->reply.body, value);
    return true;
}

/* The names of a choice at one depth. */
struct names {
    struct slice list[NAMES_MAX];
    size_t count;
};

/* Adds a name. Returns false after answering with the error when it is there already, or when there
 * are too many. */
static bool add_name(struct exchange *exchange, struct names *names, struct slice name) {
    bool full = names->count == NAMES_MAX;
    for (size_t i = 0; i < names->count && !full; i++)
        full = slice_equal(names->list[i], name);
    if (full)
        reply_error(exchange, 2500,
                    "Syntax error \"Field %.100s specified more than once. This is only possible "
                    "before version 2.1\"",
                    arena_copy(exchange->arena, name));
    else
        names->list[names->count++] = name;
    return !full;
}

/* Appends the members of a choice that is not empty. `*before` becomes a comma. */
static bool print_choices(struct exchange *exchange, struct slice whole,
                          const struct node_shape *shape, struct slice rest, char *before) {
    struct names names; /* its list is not cleared: it is large */
    struct choice one;
    names.count = 0;
    while (rest.n > 0) {
        if (!take_choice(&rest, &one))
            return refuse_syntax(exchange, rest);
        if (!add_name(exchange, &names, one.name) ||
            !print_choice(exchange, whole, shape, &one, before))
            return false;
    }
    return true;
}

/* Whether the choice names the id. */
static bool names_id(struct slice rest) {
    struct choice one;
    while (rest.n > 0 && take_choice(&rest, &one))
        if (slice_equal(one.name, SLICE("id")))
            return true;
    return false;
}

bool fields_print(struct exchange *exchange, struct slice whole, const struct node_shape *shape,
                  struct slice choice) {
    struct slice rest = skip_spaces(choice.n > 0 ? choice : slice_of(shape->standard));
    struct slice id;
    char before = '{';
    if (rest.n == 0) {
        buffer_add_slice(&exchange->reply.body, whole);
        return true;
    }
    if (!print_choices(exchange, whole, shape, rest, &before))
        return false;
    if (choice.n > 0 && !shape->without_id && !names_id(rest) && json_member(whole, "id", &id)) {
        buffer_printf(&exchange->reply.body, "%c\"id\":", before);
        buffer_add_slice(&exchange->reply.body, id);
        before = ',';
    }
    buffer_add_text(&exchange->reply.body, before == '{' ? "{}" : "}");
    return true;
}

static bool print_element(struct exchange *exchange, struct slice value,
                          const struct selection *selection) {
    if (*value.p == '{')
        return fields_print(exchange, value, selection->shape, selection->nested);
    buffer_add_slice(&exchange->reply.body, value);
    return true;
}

bool fields_modified(const struct exchange *exchange, const char *name, const char *modifier) {
    struct slice rest = fields_chosen(exchange);
    const char *want = arena_printf(exchange->arena, ".%s", modifier);
    struct choice one;
    while (rest.n > 0 && take_choice(&rest, &one))
        if (slice_equal(one.name, slice_of(name)) && slice_equal(one.modifiers, slice_of(want)))
            return true;
    return false;
}
