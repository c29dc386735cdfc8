#include "web/scope.h"

#include "base/buffer.h"

const char *const scope_names[] = {"basic", "read", "send", "inbox", "events", "manage", NULL};

static const char *const session_names[] = {"team", "owner", "self"};

enum { OF_TOKENS = sizeof scope_names / sizeof *scope_names - 1 };

const char *scope_name(unsigned scope) {
    for (size_t i = 0; i < OF_TOKENS; i++)
        if (scope == 1U << i)
            return scope_names[i];
    for (size_t i = 0; i < sizeof session_names / sizeof *session_names; i++)
        if (scope == 1U << (OF_TOKENS + i))
            return session_names[i];
    return NULL;
}

unsigned scope_set(struct slice words) {
    unsigned scopes = 0;
    while (words.n) {
        struct slice word = slice_cut(&words, ' ');
        for (unsigned i = 0; i < OF_TOKENS; i++)
            if (slice_equal(word, slice_of(scope_names[i])))
                scopes |= 1U << i;
    }
    return scopes;
}

const char *scope_words(struct arena *arena, unsigned scopes) {
    struct buffer words = buffer_in(arena);
    for (unsigned i = 0; i < OF_TOKENS; i++)
        if (scopes & 1U << i)
            buffer_printf(&words, "%s%s", words.n ? " " : "", scope_names[i]);
    return words.p;
}
