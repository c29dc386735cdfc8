/* `switchboard manual`: the manual pages of this tool and of the configuration file, from the same
 * tables as --help and the reader of the file. */
#include "base/config.h"
#include "command.h"
#include "nouns.h"

static void print_options(struct arena *arena, uint64_t options) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options & OPTION_BIT(i))
            manual_item(option_term(arena, i), option_rules[i].meaning);
}

static void print_command(struct arena *arena, const struct command *command) {
    manual_item(command_usage(arena, command), command->summary);
    if (command->details) {
        manual_break();
        manual_text(command->details);
    }
    if (!(command->required | command->options))
        return;
    manual_indent();
    print_options(arena, command->required);
    print_options(arena, command->options);
    manual_outdent();
}

/* The form of a value: what the check of an empty value demands. */
static const char *form_of(enum value_kind kind) {
    static const char demand[] = "must be ";
    const char *wrong = value_check(kind, "");
    return strncmp(wrong, demand, strlen(demand)) == 0 ? wrong + strlen(demand) : wrong;
}

/* Whether an earlier kind has the same name and form. */
static bool is_repeated(enum value_kind kind) {
    for (enum value_kind i = VALUE_NONE + 1; i < kind; i++)
        if (strcmp(value_name(i), value_name(kind)) == 0 && form_of(i) == form_of(kind))
            return true;
    return false;
}

static void print_tool_page(struct arena *arena) {
    manual_begin(&tool_manual);
    manual_section("OPTIONS");
    manual_text("At any position of the command line:");
    print_options(arena, TOOL_OPTIONS);
    manual_section("COMMANDS");
    for (const struct command *command = commands; command->noun; command++)
        print_command(arena, command);
    manual_section("VALUES");
    for (enum value_kind kind = VALUE_NONE + 1; kind < VALUE_COUNT; kind++)
        if (!is_repeated(kind))
            manual_item(value_name(kind), form_of(kind));
    manual_end(&tool_manual);
}

/* --- switchboard.conf(5) --- */

static const struct manual config_manual = {
    .page = "switchboard.conf",
    .section = "5",
    .summary = "configuration of a Switchboard gateway",
    .description =
        "The file has lines of the form `key = value`. Spaces around key and value are ignored,\n"
        "and so are empty lines and lines that begin with `#`. A value ends with its line; it is\n"
        "not quoted. A key that is not set has its default; of a key that is set twice, the last\n"
        "value is used. An unknown key or an invalid value is an error with its line: "
        "`switchboard\n"
        "doctor` prints it.\n\n"
        "The processes of the pools read the file again after it has changed, the courier on\n"
        "SIGHUP. If it then names other files, restart the courier and the pools.",
    .environment = config_path_environment,
    .files = config_path_files,
    .see_also = "switchboard(8), switchboard-courier(8), switchboard-pool(8)",
};

static void print_config_page(struct arena *arena) {
    manual_begin(&config_manual);
    manual_section("KEYS");
    for (const struct config_key *key = config_keys; key->name; key++) {
        bool may_be_empty =
            (key->kind == CONFIG_PATH || key->kind == CONFIG_TARGET) && !key->preset[0];
        manual_item(key->name, key->meaning);
        manual_break();
        manual_text(arena_printf(arena, "Value: %s%s%s", config_form(key),
                                 may_be_empty ? ", or nothing" : "",
                                 key->kind == CONFIG_SECRET ? "; never printed" : ""));
        manual_break();
        manual_text(*key->preset ? arena_printf(arena, "Default: `%s`", key->preset)
                                 : "Default: nothing");
    }
    manual_end(&config_manual);
}

int manual_run(struct invocation *call) {
    if (strcmp(call->operands[0], config_manual.page) == 0)
        print_config_page(&call->arena);
    else
        print_tool_page(&call->arena);
    return EXIT_DONE;
}
