#include "graph/splice.h"

/* A text that is copied with changes. */
struct splice {
    struct buffer out;
    struct slice rest; /* what was not copied yet */
    const struct link_change *change;
};

static struct splice splice_start(struct arena *arena, struct json value,
                                  const struct link_change *change) {
    return (struct splice){.out = buffer_in(arena), .rest = json_raw(value), .change = change};
}

/* Copies up to `piece`, a part of the rest, and skips it. */
static void replace(struct splice *splice, struct slice piece) {
    size_t before = (size_t)(piece.p - splice->rest.p);
    buffer_add(&splice->out, splice->rest.p, before);
    splice->rest = slice_skip(splice->rest, before + piece.n);
}

static struct slice splice_end(struct splice *splice) {
    buffer_add_slice(&splice->out, splice->rest);
    return buffer_slice(&splice->out);
}

static void change_links(struct splice *splice, struct json paging, bool is_nested) {
    for (struct json m = json_first(paging); json_is(m); m = json_next(m)) {
        struct slice link = json_inside(m);
        if (!link.p || !(json_is_named(m, "next") || json_is_named(m, "previous")) ||
            (is_nested && !link_has_token(link)))
            continue;
        replace(splice, link);
        link_add(&splice->out, link, splice->change);
    }
}

/* Changes the links within an object or array. The reader limits the depth of the recursion. */
static void change_within(struct splice *splice, struct json container, int depth) {
    bool is_object = json_type(container) == JSON_OBJECT;
    for (struct json m = json_first(container); json_is(m); m = json_next(m)) {
        if (is_object && json_type(m) == JSON_OBJECT && json_is_named(m, "paging"))
            change_links(splice, json_alone(m), depth > 0);
        else if (json_type(m) == JSON_OBJECT || json_type(m) == JSON_ARRAY)
            change_within(splice, json_alone(m), depth + 1);
    }
}

struct slice splice_paging(struct arena *arena, struct json answer,
                           const struct link_change *change) {
    struct splice splice = splice_start(arena, answer, change);
    change_within(&splice, answer, 0);
    return splice_end(&splice);
}

struct slice splice_media_url(struct arena *arena, struct json media, const char *url) {
    struct splice splice = splice_start(arena, media, NULL);
    for (struct json m = json_first(media); json_is(m); m = json_next(m)) {
        struct slice old = json_inside(m);
        if (!old.p || !json_is_named(m, "url"))
            continue;
        replace(&splice, old);
        buffer_add_text(&splice.out, url);
    }
    return splice_end(&splice);
}

/* --- members --- */

/* The name of the member; NULL: it is not replaced. */
static const char *replaced_name(const struct member_change *change, struct json member) {
    for (const char *const *name = change->names; *name; name++)
        if (json_is_named(member, *name))
            return *name;
    return NULL;
}

bool splice_has_members(struct json answer, const struct member_change *change) {
    const bool is_object = json_type(answer) == JSON_OBJECT;
    if (change->added)
        return true;
    for (struct json m = json_first(answer); json_is(m); m = json_next(m))
        if ((is_object && replaced_name(change, m)) || splice_has_members(json_alone(m), change))
            return true;
    return false;
}

/* Adds a member at the end of an object, all of which is copied then. */
static void add_member(struct splice *splice, struct json object, const char *name,
                       struct slice value) {
    const struct slice raw = json_raw(object);
    replace(splice, (struct slice){raw.p + raw.n - 1, 0}); /* before its bracket */
    buffer_printf(&splice->out, "%s\"%s\":", json_is(json_first(object)) ? "," : "", name);
    buffer_add_slice(&splice->out, value);
}

/* Replaces members within an object or array. `depth` counts containers: the answer has 0. */
static void change_members(struct splice *splice, struct json container,
                           const struct member_change *change, int depth, bool is_node) {
    const bool is_object = json_type(container) == JSON_OBJECT;
    const bool is_list = depth == 0 && json_type(json_get(container, "data")) == JSON_ARRAY;
    for (struct json m = json_first(container); json_is(m); m = json_next(m)) {
        const char *name = is_object ? replaced_name(change, m) : NULL;
        if (name) {
            replace(splice, json_raw(m));
            buffer_add_slice(&splice->out, change->make(change->context, container, name));
        } else if (json_type(m) == JSON_OBJECT || json_type(m) == JSON_ARRAY) {
            const bool is_data = is_list && json_is_named(m, "data");
            change_members(splice, json_alone(m), change, depth + 1,
                           is_data || (!is_object && is_node));
        }
    }
    if (is_object && is_node && !is_list && change->added &&
        !json_is(json_get(container, change->added)))
        add_member(splice, container, change->added,
                   change->make(change->context, container, change->added));
}

struct slice splice_members(struct arena *arena, struct json answer,
                            const struct member_change *change) {
    struct splice splice = splice_start(arena, answer, NULL);
    change_members(&splice, answer, change, 0, true);
    return splice_end(&splice);
}
