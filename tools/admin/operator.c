/* Who acts on the command line. */
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "payload/trail_row.h"

/* The name of the login, which sudo keeps; root can write the database itself, so that the name
 * needs no proof. */
static const char *login_name(struct arena *arena) {
    static const char *const variables[] = {"SUDO_USER", "LOGNAME", "USER"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *name = getenv(variables[i]);
        if (name && *name)
            return name;
    }
    return arena_printf(arena, "%ld", (long)getuid());
}

/* A command names no fields. */
static void describe(struct store_deed *deed) {
    struct invocation *call = deed->context;
    struct json_writer out;
    json_write_start(&out, &call->arena);
    json_write_object(&out, NULL);
    deed_json_write(&out, deed);
    json_write_end(&out);
    deed->details = arena_copy(&call->arena, json_written(&out));
}

void deed_begin(struct invocation *call) {
    const struct command *command = call->command;
    const char *name = login_name(&call->arena);
    call->deed = (struct store_deed){
        .actor = arena_printf(&call->arena, "cli:%s", name),
        .actor_name = name,
        .address = "",
        .request_id = "",
        .now = call->now,
        .action = arena_printf(&call->arena, "%s.%s", command->noun,
                               command->verb ? command->verb : "run"),
        .describe = describe,
        .context = call,
        .arena = &call->arena,
    };
    id_make(call->deed.id, "trl_", call->now);
    store_begin_deed(&call->deed);
}
