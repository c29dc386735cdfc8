#include "payload/excerpt.h"

#include "store/forward_parts.h"

static void flush(struct excerpt *excerpt) {
    if (excerpt->pending.n)
        forward_add_kept(&excerpt->recipe, excerpt->text, excerpt->pending);
    excerpt->pending = (struct slice){NULL, 0};
}

/* Keeps the bytes from `from` up to `to`; joins them with what was kept last. */
static void keep(struct excerpt *excerpt, const char *from, const char *to) {
    struct slice *pending = &excerpt->pending;
    if (pending->n && pending->p + pending->n == from) {
        pending->n = (size_t)(to - pending->p);
        return;
    }
    flush(excerpt);
    *pending = (struct slice){from, (size_t)(to - from)};
}

static const char *start_of(struct json value) {
    return json_raw(value).p;
}

static const char *end_of(struct json value) {
    struct slice raw = json_raw(value);
    return raw.p + raw.n;
}

/* The first byte of a member: the quote before its name. */
static const char *member_start(struct json member) {
    return json_raw_name(member).p - 1;
}

struct excerpt excerpt_start(struct arena *arena, struct slice text) {
    return (struct excerpt){.recipe = buffer_in(arena), .text = text};
}

void excerpt_add_text(struct excerpt *excerpt, struct slice text) {
    flush(excerpt);
    forward_add_text(&excerpt->recipe, text);
}

void excerpt_add_list(struct excerpt *excerpt, const struct excerpt_value *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i && start_of(json_next(items[i - 1].value)) == start_of(items[i].value))
            keep(excerpt, end_of(items[i - 1].value), start_of(items[i].value));
        else if (i)
            excerpt_add_text(excerpt, SLICE(","));
        excerpt_add_value(excerpt, &items[i]);
    }
}

/* The edit of a member; NULL: it is kept unchanged. */
static const struct excerpt_edit *edit_of(const struct excerpt_value *object, struct json member) {
    for (size_t i = 0; i < object->edit_count; i++)
        if (json_is_named(member, object->edits[i].name))
            return &object->edits[i];
    return NULL;
}

static bool is_kept(const struct excerpt_value *object, struct json member) {
    const struct excerpt_edit *edit = edit_of(object, member);
    return !edit || start_of(edit->value) == start_of(member);
}

/* Adds the value of a member that is kept. */
static void add_member(struct excerpt *excerpt, const struct excerpt_edit *edit,
                       struct json member) {
    const char *from = start_of(member), *to = end_of(member);
    keep(excerpt, member_start(member), from);
    if (!edit) {
        keep(excerpt, from, to);
    } else if (edit->object) {
        excerpt_add_value(excerpt, edit->object);
    } else {
        keep(excerpt, from, from + 1);
        excerpt_add_list(excerpt, edit->items, edit->item_count);
        keep(excerpt, to - 1, to);
    }
}

static void add_object(struct excerpt *excerpt, const struct excerpt_value *object) {
    const char *from = start_of(object->value), *to = end_of(object->value);
    const char *before = from + 1,
               *kept = before; /* where the last member ends, the last kept one */
    keep(excerpt, from, kept);
    for (struct json m = json_first(object->value); json_is(m); m = json_next(m)) {
        if (is_kept(object, m)) {
            if (before == kept)
                keep(excerpt, kept, member_start(m));
            else if (kept != from + 1)
                excerpt_add_text(excerpt, SLICE(","));
            add_member(excerpt, edit_of(object, m), m);
            kept = end_of(m);
        }
        before = end_of(m);
    }
    keep(excerpt, before == kept ? kept : to - 1, to);
}

void excerpt_add_value(struct excerpt *excerpt, const struct excerpt_value *value) {
    if (value->edit_count)
        add_object(excerpt, value);
    else
        keep(excerpt, start_of(value->value), end_of(value->value));
}

const char *excerpt_end(struct excerpt *excerpt) {
    flush(excerpt);
    buffer_add(&excerpt->recipe, "", 0);
    return excerpt->recipe.p;
}
