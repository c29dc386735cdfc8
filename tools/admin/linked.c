#include "linked.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/product.h"

void linked_print(void) {
    puts(SWITCHBOARD_NAME " " SWITCHBOARD_VERSION);
    for (const struct linked *row = linked; row->name; row++)
        printf("  with %s %s\n", row->name, row->version);
}

/* Runs a program with its standard output in `out` and no error output. Returns its exit status;
 * 127 when it could not be run. */
static int run(const char *const *words, struct buffer *out) {
    int ends[2], status = 0;
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0)
        return 127;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(STDERR_FILENO);
        execvp(words[0], (char *const *)(void *)words);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], buffer_reserve(out, 256), 256)) > 0;)
        out->n += (size_t)n;
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

const char *linked_outdated(struct arena *arena) {
    struct buffer list = buffer_in(arena);
    for (const struct linked *row = linked; row->name; row++) {
        struct buffer version = buffer_in(arena), none = buffer_in(arena);
        const char *const query[] = {"dpkg-query", "-W", "-f", "${Version}", row->shared, NULL};
        int status = run(query, &version);
        if (status == 127)
            return NULL;
        const char *theirs = arena_copy(arena, buffer_slice(&version));
        const char *const compare[] = {"dpkg", "--compare-versions", row->version, "lt", theirs,
                                       NULL};
        if (status == 0 && *theirs && run(compare, &none) == 0)
            buffer_printf(&list, "%s%s %s (Debian has %s)", list.n ? ", " : "", row->name,
                          row->version, theirs);
    }
    return arena_copy(arena, buffer_slice(&list));
}
