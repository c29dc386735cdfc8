#include "base/header.h"

#include <ctype.h>

bool header_is_token(struct slice text) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < text.n; i++)
        if (!isalnum((unsigned char)text.p[i]) && !memchr(others, text.p[i], sizeof others - 1))
            return false;
    return text.n > 0;
}
