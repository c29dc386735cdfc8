/* switchboard copy-to */
#include <stdio.h>

#include "base/target.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "secret.h"
#include "store/upkeep.h"

enum { SHOWN_DIGITS = 16 }; /* of a hash; JSON has all */

static int print_json(struct invocation *call, const struct store_move *move, const char *to) {
    struct json_writer json = object_start(call);
    json_write_text(&json, "from", call->config.database_name);
    json_write_text(&json, "to", to);
    json_write_bool(&json, "wasDone", move->was_done);
    json_write_integer(&json, "rows", move->rows);
    json_write_integer(&json, "changes", move->changes);
    json_write_integer(&json, "copyMs", move->copy_ms);
    json_write_integer(&json, "drainMs", move->drain_ms);
    json_write_integer(&json, "stopMs", move->stop_ms);
    json_write_array(&json, "tables");
    for (size_t i = 0; i < move->table_count && !move->was_done; i++) {
        json_write_object(&json, NULL);
        json_write_text(&json, "name", move->tables[i].name);
        json_write_integer(&json, "rows", move->tables[i].rows);
        json_write_text(&json, "hash", move->tables[i].hash);
        json_write_end(&json);
    }
    json_write_end(&json);
    return object_print(call, &json, "%s", "");
}

static void print_tables(struct invocation *call, const struct store_move *move) {
    struct arena *arena = &call->arena;
    struct table table = TABLE(arena, "TABLE", "ROWS", "HASH");
    for (size_t i = 0; i < move->table_count; i++) {
        table_cell(&table, move->tables[i].name);
        table_cell(&table, arena_printf(arena, "%lld", (long long)move->tables[i].rows));
        table_cell(&table, arena_printf(arena, "%.*s", SHOWN_DIGITS, move->tables[i].hash));
    }
    table_print(&table);
    printf("%lld rows are equal in both, by number and hash of each table.\nCopied in %.1f s. ",
           (long long)move->rows, (double)move->copy_ms / 1000);
    if (move->drain_ms)
        printf("New requests were refused for %.1f s, while the running ones ended. ",
               (double)move->drain_ms / 1000);
    printf("Then\nwriters waited for %.2f s, while %lld changed rows were copied.\n",
           (double)move->stop_ms / 1000, (long long)move->changes);
}

/* The target may hold a password. */
static const char *setting(struct invocation *call, const char *to) {
    return target_file(to) ? to
                           : arena_printf(&call->arena, "TARGET of this command, the URL of %s",
                                          target_name(&call->arena, to));
}

/* Reads the target from standard input, which, unlike an argument, no other user can see. NULL
 * after printing the reason. */
static const char *read_target(struct invocation *call) {
    char text[4096];
    const ssize_t n = secret_read("target", text, sizeof text);
    if (n < 0)
        return NULL;
    const struct slice target = secret_trim((struct slice){text, (size_t)n});
    const char *to = arena_copy(&call->arena, target);
    if (n < (ssize_t)sizeof text && !strpbrk(to, "\r\n") && strlen(to) == target.n &&
        (target_file(to) || target_scheme(to)))
        return to;
    fail("the target on standard input must be one line: the absolute path of a SQLite database "
         "or postgresql://USER:PASSWORD@HOST:PORT/NAME");
    return NULL;
}

int copy_to_run(struct invocation *call) {
    const bool is_read = strcmp(call->operands[0], "-") == 0;
    const char *to = is_read ? read_target(call) : call->operands[0];
    struct store_move move;
    if (!to)
        return EXIT_FAILED;
    const char *name = target_name(&call->arena, to);
    enum store_result result =
        store_move(call->config.database, to, &call->arena, call->now, &move);
    if (result != STORE_OK)
        return fail("%s", move.reason);
    if (call->options[OPTION_JSON])
        return print_json(call, &move, name);
    if (move.was_done)
        printf("An earlier run of this command has moved everything to %s.\n", name);
    else
        print_tables(call, &move);
    printf("Programs refuse %s from now on; its content is kept. Now write into %s\n\n"
           "    database = %s\n\n"
           "run `switchboard init`, and restart the courier and the pools.\n",
           call->config.database_name, call->config_path, setting(call, to));
    return EXIT_DONE;
}
