/* The parameters of a statement. */
#include "engine/postgresql_connection.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum {
    LONGEST_VALUE = 1 << 30, /* bytes of a parameter: the server's limit */
    TYPE_BYTEA = 17,
    TYPE_BIGINT = 20,
    TYPE_TEXT = 25,
};

/* Returns the text with U+FFFD for each byte that is not part of valid UTF-8, and for NUL: the
 * server refuses both. Such bytes come from outside, in reasons of failed transfers for example,
 * and must not make the use-case fail. `*n` is its length; NULL without memory. */
static char *with_valid_utf8(struct slice text, int *n) {
    char *out = malloc(3 * text.n + 1);
    size_t used = 0;
    for (size_t i = 0, length; out && i < text.n; i += length ? length : 1) {
        length = text.p[i] ? utf8_length(text.p + i, text.n - i) : 0;
        memcpy(out + used, length ? text.p + i : "\xef\xbf\xbd", length ? length : 3);
        used += length ? length : 3;
    }
    *n = (int)used;
    return out;
}

/* False without memory. */
static bool replace_invalid(struct arguments *to, int i, struct slice text) {
    to->replaced[i] = NULL;
    if (!text.p || (utf8_valid(text) && !memchr(text.p, '\0', text.n)))
        return true;
    to->replaced[i] = with_valid_utf8(text, &to->lengths[i]);
    to->values[i] = to->replaced[i];
    return to->replaced[i];
}

void postgresql_free_arguments(struct arguments *arguments) {
    for (int i = 0; i < arguments->count; i++)
        free(arguments->replaced[i]);
}

const char *postgresql_read_arguments(struct arguments *to, const struct parameter *from,
                                      size_t count) {
    bool ok = true;
    to->count = 0;
    if (count > MOST_PARAMETERS)
        return "a statement has too many parameters";
    for (size_t i = 0; i < count; i++)
        if (from[i].bytes.n >= LONGEST_VALUE)
            return "a value is larger than the 1 GB that the server takes";
    to->count = (int)count;
    for (size_t i = 0; i < count; i++) {
        const bool is_bytes = from[i].kind == PARAMETER_TEXT || from[i].kind == PARAMETER_BLOB;
        to->integers[i] = htobe64((uint64_t)from[i].integer);
        to->formats[i] = 1;
        to->types[i] = !is_bytes                        ? TYPE_BIGINT
                       : from[i].kind == PARAMETER_TEXT ? TYPE_TEXT
                                                        : TYPE_BYTEA;
        to->values[i] = is_bytes                               ? from[i].bytes.p
                        : from[i].kind == PARAMETER_NO_INTEGER ? NULL
                                                               : (char *)&to->integers[i];
        to->lengths[i] = is_bytes ? (int)from[i].bytes.n : (int)sizeof to->integers[i];
        const struct slice nothing = {NULL, 0};
        ok =
            replace_invalid(to, (int)i, from[i].kind == PARAMETER_TEXT ? from[i].bytes : nothing) &&
            ok;
    }
    return ok ? NULL : "out of memory";
}
