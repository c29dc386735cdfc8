#include "web/plain_name.h"

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* Takes the plain characters off the front of `*rest`. */
static struct slice take_plain(struct slice *rest) {
    struct slice text = {rest->p, 0};
    while (text.n < rest->n && is_plain(rest->p[text.n]))
        text.n++;
    *rest = slice_skip(*rest, text.n);
    return text;
}

/* Takes `[KEY]` off the front of `*rest`; p == NULL when there is none. */
static struct slice take_key(struct slice *rest) {
    if (!rest->n || rest->p[0] != '[')
        return (struct slice){NULL, 0};
    *rest = slice_skip(*rest, 1);
    struct slice key = take_plain(rest);
    if (!rest->n || rest->p[0] != ']')
        return (struct slice){NULL, 0};
    *rest = slice_skip(*rest, 1);
    return key;
}

bool plain_name_check(struct slice name) {
    if (!take_plain(&name).n)
        return false;
    for (size_t keys = 0; name.n; keys++)
        if (keys == PLAIN_NAME_MAX_KEYS || !take_key(&name).p)
            return false;
    return true;
}

bool plain_name_is_raw(struct slice name, struct slice raw) {
    while (name.n && raw.n) {
        const char *escaped = name.p[0] == '[' ? "%5b" : "%5d";
        bool is_bracket = name.p[0] == '[' || name.p[0] == ']';
        if (is_bracket && raw.n >= 3 && strncasecmp(raw.p, escaped, 3) == 0)
            raw = slice_skip(raw, 2);
        else if (raw.p[0] != name.p[0])
            return false;
        name = slice_skip(name, 1);
        raw = slice_skip(raw, 1);
    }
    return !name.n && !raw.n;
}

static char fold(char c) {
    return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool is_same(struct slice a, struct slice b) {
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (fold(a.p[i]) != fold(b.p[i]))
            return false;
    return true;
}

bool plain_name_is(struct slice name, const char *word) {
    return is_same(take_plain(&name), slice_of(word));
}

bool plain_name_clash(struct slice a, struct slice b) {
    if (!is_same(take_plain(&a), take_plain(&b)))
        return false;
    while (a.n && b.n) {
        struct slice key = take_key(&a), other = take_key(&b);
        if (!key.n || !other.n)
            return key.n || other.n;
        if (!is_same(key, other))
            return false;
    }
    return true;
}
