#include "store/forward_parts.h"

void forward_add_kept(struct buffer *recipe, struct slice post, struct slice kept) {
    buffer_printf(recipe, "%zu+%zu,", (size_t)(kept.p - post.p), kept.n);
}

void forward_add_text(struct buffer *recipe, struct slice text) {
    buffer_printf(recipe, "%zu:", text.n);
    buffer_add_slice(recipe, text);
}

/* Reads the number at `*at`; false when there is none, or one above `most`. */
static bool read_number(const char **at, size_t most, size_t *number) {
    const char *first = *at;
    *number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if ((*number = *number * 10 + (size_t)(**at - '0')) > most)
            return false;
    return *at != first;
}

/* Adds the piece at `*at` to the body; false when it is none. */
static bool add_piece(struct buffer *body, struct slice post, const char **at, const char *end) {
    size_t first, length;
    if (!read_number(at, post.n + (size_t)(end - *at), &first))
        return false;
    if (**at == ':' && first <= (size_t)(end - *at - 1)) {
        buffer_add(body, *at + 1, first);
        *at += 1 + first;
        return true;
    }
    if (**at != '+' || first > post.n)
        return false;
    ++*at;
    if (!read_number(at, post.n - first, &length) || **at != ',')
        return false;
    ++*at;
    buffer_add(body, post.p + first, length);
    return true;
}

struct slice forward_assemble(struct arena *arena, struct slice post, const char *parts) {
    struct buffer body = buffer_in(arena);
    if (!parts)
        return post;
    const char *end = parts + strlen(parts);
    while (*parts)
        if (!add_piece(&body, post, &parts, end))
            return (struct slice){NULL, 0};
    return buffer_slice(&body);
}
