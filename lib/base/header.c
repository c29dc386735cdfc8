#include "base/header.h"

#include <ctype.h>

#include "base/buffer.h"
#include "base/utf8.h"

enum { LONGEST_FILE_NAME = 240 };

bool header_is_token(struct slice text) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < text.n; i++)
        if (!isalnum((unsigned char)text.p[i]) && !memchr(others, text.p[i], sizeof others - 1))
            return false;
    return text.n > 0;
}

const char *header_file_name(struct arena *arena, const char *name) {
    struct buffer out = buffer_in(arena);
    for (const char *p = name; *p; p++)
        if (*p == '/' || *p == '\\')
            name = p + 1;
    struct slice rest = slice_of(name);
    while (rest.n && out.n < LONGEST_FILE_NAME) {
        size_t length = utf8_length(rest.p, rest.n);
        if (!length)
            buffer_add_char(&out, '_');
        else if (length > 1 ||
                 ((unsigned char)*rest.p >= 0x20 && *rest.p != '"' && *rest.p != 0x7f))
            buffer_add(&out, rest.p, length);
        rest = slice_skip(rest, length ? length : 1);
    }
    return out.n ? out.p : "file";
}
