#include "web/prefer.h"

/* Returns the number of bytes before the first character of `ends` outside of quotes. */
static size_t span(struct slice text, const char *ends) {
    bool quoted = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '"')
            quoted = !quoted;
        else if (quoted && c == '\\')
            i++;
        else if (!quoted && c && strchr(ends, c))
            return i;
    }
    return text.n;
}

/* Takes the bytes before the next character of `ends`, and that character, off the front of
 * `*rest`. Returns the bytes without white space at both ends. */
static struct slice cut(struct slice *rest, const char *ends) {
    size_t n = span(*rest, ends);
    struct slice part = slice_trim((struct slice){rest->p, n});
    *rest = slice_skip(*rest, n < rest->n ? n + 1 : n);
    return part;
}

/* Whether a token or a quoted string, without its escapes, is `word`. */
static bool value_is(struct slice value, const char *word) {
    char text[64];
    size_t n = 0;
    if (!value.n || *value.p != '"')
        return slice_is_word(value, word);
    if (value.n < 2 || value.p[value.n - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < value.n && n < sizeof text; i++) {
        if (value.p[i] == '\\' && i + 2 < value.n)
            i++;
        text[n++] = value.p[i];
    }
    return n < sizeof text && slice_is_word((struct slice){text, n}, word);
}

bool prefer_has(const char *header, const char *name, const char *value) {
    struct slice rest = slice_of(header);
    while (rest.n) {
        struct slice preference = cut(&rest, ",");
        struct slice first = cut(&preference, ";");
        if (slice_is_word(cut(&first, "="), name))
            return value_is(slice_trim(first), value);
    }
    return false;
}
