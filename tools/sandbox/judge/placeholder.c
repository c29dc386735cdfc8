#include "judge/placeholder.h"

#include <strings.h>

const char *placeholder_next(const char *text, struct slice *name) {
    const char *open = text ? strstr(text, "{{") : NULL;
    const char *close = open ? strstr(open + 2, "}}") : NULL;
    if (!close)
        return NULL;
    *name = (struct slice){open + 2, (size_t)(close - open - 2)};
    return close + 2;
}

/* Whether `text` has the variable `name` before the one at `name`. */
static bool is_repeated(const char *text, struct slice name) {
    struct slice earlier;
    while ((text = placeholder_next(text, &earlier)) && earlier.p < name.p)
        if (earlier.n == name.n && strncasecmp(earlier.p, name.p, name.n) == 0)
            return true;
    return false;
}

int placeholder_count(const char *text) {
    const char *rest = text;
    struct slice name;
    int count = 0;
    while ((rest = placeholder_next(rest, &name)))
        count += !is_repeated(text, name);
    return count;
}
