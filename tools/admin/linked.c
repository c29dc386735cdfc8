#include "linked.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/product.h"

enum { NOT_RUN = 127 };

void linked_print(void) {
    puts(SWITCHBOARD_NAME " " SWITCHBOARD_VERSION);
    for (const struct linked *row = linked; row->name; row++)
        printf("  with %s %s\n", row->name, row->version);
}

/* Reads to the end of the file, and closes it. */
static void read_all(int fd, struct buffer *out) {
    for (ssize_t n; (n = read(fd, buffer_reserve(out, 4096), 4096)) > 0;)
        out->n += (size_t)n;
    close(fd);
}

/* Runs a program with its standard output in `out` and no error output. Returns its exit status;
 * NOT_RUN when it could not be run. */
static int run(const char *const *words, struct buffer *out) {
    int ends[2], status = 0;
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0)
        return NOT_RUN;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(STDERR_FILENO);
        execvp(words[0], (char *const *)(void *)words);
        _exit(NOT_RUN);
    }
    close(ends[1]);
    read_all(ends[0], out);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : NOT_RUN;
}

/* --- this machine --- */

/* The value of a line `KEY=VALUE` or `KEY="VALUE"`. `key` includes the sign. */
static struct slice value_of(struct slice text, struct slice key) {
    while (text.n) {
        struct slice line = slice_cut(&text, '\n');
        if (!slice_starts(line, key))
            continue;
        struct slice value = slice_skip(line, key.n);
        if (value.n && *value.p == '"') {
            value = slice_skip(value, 1);
            return slice_cut(&value, '"');
        }
        return value;
    }
    return SLICE("");
}

/* Like linked_system, for this machine. */
static const char *find_system(struct arena *arena) {
    struct buffer text = buffer_in(arena), system = buffer_in(arena);
    int fd = open("/etc/os-release", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        read_all(fd, &text);
    buffer_add_slice(&system, value_of(buffer_slice(&text), SLICE("ID=")));
    buffer_add_char(&system, ' ');
    buffer_add_slice(&system, value_of(buffer_slice(&text), SLICE("VERSION_ID=")));
    return arena_copy(arena, buffer_slice(&system));
}

/* Whether the version `a` is older than `b`. */
static bool is_older(struct arena *arena, const char *a, const char *b) {
    struct buffer none = buffer_in(arena);
    const char *const words[] = {"dpkg", "--compare-versions", a, "lt", b, NULL};
    return strcmp(a, b) != 0 && run(words, &none) == 0;
}

/* The newest version of a source package of which `installed`, lines of STATUS, SOURCE and VERSION,
 * has an installed package; NULL: none. A foreign or an obsolete package may be older. */
static const char *newest_of(struct arena *arena, struct slice installed, const char *source) {
    const char *newest = NULL;
    while (installed.n) {
        struct slice line = slice_cut(&installed, '\n');
        struct slice status = slice_cut(&line, '\t'), package = slice_cut(&line, '\t');
        if (!slice_is_word(status, "installed") || !slice_is_word(package, source))
            continue;
        const char *version = arena_copy(arena, line);
        if (!newest || is_older(arena, newest, version))
            newest = version;
    }
    return newest;
}

/* --- the comparison --- */

static struct linked_comparison not_compared(struct arena *arena, const char *obstacle) {
    struct buffer all = buffer_in(arena);
    for (const struct linked *row = linked; row->name; row++)
        buffer_printf(&all, "%s%s %s", all.n ? ", " : "", row->name, row->version);
    return (struct linked_comparison){obstacle, "", arena_copy(arena, buffer_slice(&all))};
}

static struct linked_comparison compare(struct arena *arena, struct slice installed) {
    struct buffer older = buffer_in(arena), unknown = buffer_in(arena);
    for (const struct linked *row = linked; row->name; row++) {
        const char *newest = newest_of(arena, installed, row->source);
        if (!newest)
            buffer_printf(&unknown, "%s%s %s", unknown.n ? ", " : "", row->name, row->version);
        else if (is_older(arena, row->version, newest))
            buffer_printf(&older, "%s%s %s (installed: %s)", older.n ? ", " : "", row->name,
                          row->version, newest);
    }
    return (struct linked_comparison){.older = arena_copy(arena, buffer_slice(&older)),
                                      .unknown = arena_copy(arena, buffer_slice(&unknown))};
}

struct linked_comparison linked_compare(struct arena *arena) {
    static const char *const query[] = {
        "dpkg-query", "-W", "-f", "${db:Status-Status}\t${source:Package}\t${source:Version}\n",
        NULL};
    struct buffer installed = buffer_in(arena);
    if (!linked->name)
        return not_compared(arena, "the programs were built without dpkg");
    if (run(query, &installed) != 0)
        return not_compared(arena, "this machine has no dpkg");
    /* Versions of different distributions, and of different releases, are no older and newer. */
    const char *system = find_system(arena);
    if (strcmp(system, linked_system) != 0)
        return not_compared(arena,
                            arena_printf(arena, "the programs were built on %s, and this is %s",
                                         linked_system, system));
    return compare(arena, buffer_slice(&installed));
}
