#include "base/resolver.h"

#ifdef SWITCHBOARD_STATIC

/* A static program resolves host names by c-ares, which has no modules. */
void resolver_prepare(void) {
}

#else

#include <dlfcn.h>
#include <fcntl.h>
#include <features.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/slice.h"

enum { LONGEST_FILE = 16 * 1024 };

/* Whether the module is part of the C library: `files` and `dns` are since glibc 2.34. */
static bool is_built_in(struct slice module) {
#if __GLIBC_PREREQ(2, 34)
    return slice_equal(module, SLICE("files")) || slice_equal(module, SLICE("dns"));
#else
    (void)module;
    return false;
#endif
}

static struct slice next_word(struct slice *line) {
    struct slice word = *line = slice_trim(*line);
    word.n = 0;
    while (word.n < line->n && word.p[word.n] != ' ' && word.p[word.n] != '\t')
        word.n++;
    *line = slice_skip(*line, word.n);
    return word;
}

/* Loads the modules of a line such as `hosts: files resolve [!UNAVAIL=return] dns`, without its
 * `hosts:`. They stay loaded. */
static void load_modules(struct slice line) {
    bool is_action = false;
    for (struct slice word = next_word(&line); word.n; word = next_word(&line)) {
        char file[64];
        is_action = is_action || word.p[0] == '[';
        if (!is_action && !is_built_in(word) &&
            snprintf(file, sizeof file, "libnss_%.*s.so.2", (int)word.n, word.p) < (int)sizeof file)
            dlopen(file, RTLD_NOW);
        is_action = is_action && word.p[word.n - 1] != ']';
    }
}

void resolver_prepare(void) {
    static char text[LONGEST_FILE]; /* static, so it is not cleared on each call */
    int fd = open("/etc/nsswitch.conf", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    for (struct slice rest = {text, n > 0 ? (size_t)n : 0}; rest.n;) {
        struct slice line = slice_cut(&rest, '\n'), comment = line;
        line = slice_cut(&comment, '#');
        struct slice database = slice_trim(slice_cut(&line, ':'));
        if (slice_equal(database, SLICE("hosts")))
            load_modules(line);
    }
}

#endif
