/* --help and usage lines, built from the tables of commands and options. */
#include <stdio.h>

#include "base/config.h"
#include "base/process/program.h"
#include "command.h"

static const struct manual_item statuses[] = {
    {"0", "done"},
    {"1", "failed, or a check of `doctor` or `account check` failed"},
    {"2", "wrong usage"},
    {0},
};

const struct manual tool_manual = {
    .page = "switchboard",
    .section = "8",
    .summary = "administers a Switchboard gateway",
    .synopsis = "switchboard COMMAND [OPTIONS]",
    .description =
        "Administers a Switchboard gateway: its database, users, business accounts and lines.",
    .environment = config_path_environment,
    .files = config_path_files,
    .statuses = statuses,
    .see_also = "switchboard-courier(8), switchboard-pool(8), switchboard.conf(5)",
};

static void add_option(struct buffer *usage, int option, bool is_required) {
    const struct option_rule *rule = &option_rules[option];
    bool is_flag = rule->value == VALUE_NONE;
    buffer_printf(usage, " %s%s%s%s%s", is_required ? "" : "[", rule->name, is_flag ? "" : " ",
                  is_flag ? "" : value_name(rule->value), is_required ? "" : "]");
}

const char *command_usage(struct arena *arena, const struct command *command) {
    struct buffer usage = buffer_in(arena);
    buffer_printf(&usage, "switchboard %s", command->noun);
    if (command->verb)
        buffer_printf(&usage, " %s", command->verb);
    for (size_t i = 0; i < command->max_operands; i++)
        buffer_printf(&usage, i < command->min_operands ? " %s" : " [%s]",
                      value_name(command->operands[i]));
    for (int i = 0; i < OPTION_COUNT; i++)
        if (command->required & OPTION_BIT(i))
            add_option(&usage, i, true);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (command->options & OPTION_BIT(i))
            add_option(&usage, i, false);
    return usage.p;
}

const char *option_term(struct arena *arena, int option) {
    const struct option_rule *rule = &option_rules[option];
    if (rule->value == VALUE_NONE)
        return rule->name;
    return arena_printf(arena, "%s %s", rule->name, value_name(rule->value));
}

static void print_options(struct arena *arena, uint64_t options) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options & OPTION_BIT(i))
            printf("  %-34s %s\n", option_term(arena, i), option_rules[i].meaning);
}

static void print_command(struct arena *arena, const struct command *command) {
    printf("usage: %s\n\n%s\n", command_usage(arena, command), command->summary);
    if (command->details)
        printf("\n%s\n", command->details);
    putchar('\n');
    print_options(arena, command->required);
    print_options(arena, command->options);
    print_options(arena, COMMON_OPTIONS);
}

/* Prints the commands of one noun, or all if `noun` is NULL. Returns their number. */
static int print_list(struct arena *arena, const char *noun) {
    int count = 0;
    for (const struct command *c = commands; c->noun; c++)
        if (!noun || strcmp(noun, c->noun) == 0) {
            printf("  %s\n      %s\n", command_usage(arena, c), c->summary);
            count++;
        }
    return count;
}

static void print_tool(struct arena *arena) {
    printf("usage: %s\n\n%s\n\nCommands (`switchboard COMMAND --help` prints details):\n",
           tool_manual.synopsis, tool_manual.description);
    print_list(arena, NULL);
    printf("\nOptions, at any position:\n");
    print_options(arena, TOOL_OPTIONS);
    program_print_items("Environment", tool_manual.environment);
    program_print_items("Files", tool_manual.files);
    program_print_items("Exit status", tool_manual.statuses);
}

void help_print(struct invocation *call) {
    if (call->command)
        print_command(&call->arena, call->command);
    else if (!call->operand_count || !print_list(&call->arena, call->operands[0]))
        print_tool(&call->arena);
}
