/* Errors and warnings on standard error. */
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "command.h"

/* Prints one line, which a value cannot break (utf8_show). */
__attribute__((format(printf, 2, 0))) static void print_message(const char *before,
                                                                const char *format, va_list args) {
    char text[4096];
    vsnprintf(text, sizeof text, format, args);
    utf8_show(text, false);
    fflush(stdout);
    fprintf(stderr, "%s%s\n", before, text);
}

int fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message("switchboard: ", format, args);
    va_end(args);
    return EXIT_FAILED;
}

void warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message("switchboard: warning: ", format, args);
    va_end(args);
}

int fail_usage(struct invocation *call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message("switchboard: ", format, args);
    va_end(args);
    if (call->command)
        fprintf(stderr, "usage: %s\n", command_usage(&call->arena, call->command));
    else
        fputs("usage: switchboard COMMAND [OPTIONS]; `switchboard --help` lists the commands\n",
              stderr);
    return EXIT_USAGE;
}

int fail_store(const struct invocation *call, enum store_result result) {
    static const char *const meanings[] = {
        [STORE_NOT_FOUND] = "there is no such row",
        [STORE_CONFLICT] = "it would break a rule of the database",
        [STORE_BUSY] = "it was locked for 5 s by another process; try again",
        [STORE_FULL] = "the disk is full; nothing was changed",
        [STORE_UNAVAILABLE] = "it cannot be used",
        [STORE_CORRUPT] = "it is damaged, or no SQLite database",
        [STORE_UNKNOWN] = "it failed",
        [STORE_EXCESSIVE] = "it took too much work; nothing was changed",
    };
    const char *reason = store_reason(call->store);
    return fail("database %s: %s%s%s", call->config.database_name,
                result == STORE_OK ? "" : meanings[result], *reason ? ": " : "", reason);
}

int fail_missing(enum row_kind kind, const char *name) {
    static const struct {
        const char *what, *noun; /* the noun of the command that lists them; NULL: not shown */
    } kinds[] = {
        [ROW_USER] = {"user", NULL},
        [ROW_MEMBER] = {"member", NULL},
        [ROW_ACCOUNT] = {"account", "account"},
        [ROW_LINE] = {"line", "line"},
        [ROW_CONTACT] = {"contact", "contact"},
        [ROW_EVENT] = {"event", "event"},
        [ROW_REFUSAL] = {"refused payload", "refusal"},
        [ROW_WEBHOOK] = {"webhook", "webhook"},
    };
    if (!kinds[kind].noun)
        return fail("there is no %s %s", kinds[kind].what, name);
    return fail("there is no %s %s; `switchboard %s list` shows all", kinds[kind].what, name,
                kinds[kind].noun);
}

int fail_row(const struct invocation *call, enum store_result result, enum row_kind kind,
             const char *name) {
    return result == STORE_NOT_FOUND ? fail_missing(kind, name) : fail_store(call, result);
}
