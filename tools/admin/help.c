/* --help and usage lines, built from the tables of commands and options. */
#include <stdio.h>

#include "command.h"

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
        if (command->required & 1u << i)
            add_option(&usage, i, true);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (command->options & 1u << i)
            add_option(&usage, i, false);
    return usage.p;
}

static void print_options(struct arena *arena, unsigned options) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_rule *rule = &option_rules[i];
        if (!(options & 1u << i))
            continue;
        const char *shown = rule->value == VALUE_NONE
                                ? rule->name
                                : arena_printf(arena, "%s %s", rule->name, value_name(rule->value));
        printf("  %-34s %s\n", shown, rule->meaning);
    }
}

static void print_command(struct arena *arena, const struct command *command) {
    printf("usage: %s\n\n%s\n", command_usage(arena, command), command->summary);
    if (command->details)
        printf("\n%s\n", command->details);
    putchar('\n');
    print_options(arena, command->required);
    print_options(arena, command->options);
    print_options(arena, OPTION(CONFIG) | OPTION(JSON) | OPTION(HELP));
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
    printf(
        "usage: switchboard COMMAND [OPTIONS]\n\n"
        "Administers a Switchboard gateway: its database, users, business accounts and lines.\n\n"
        "Commands (`switchboard COMMAND --help` prints details):\n");
    print_list(arena, NULL);
    printf("\nOptions, at any position:\n");
    print_options(arena, OPTION(CONFIG) | OPTION(JSON) | OPTION(HELP) | OPTION(VERSION));
    printf("\nThe configuration file is --config FILE, else $SWITCHBOARD_CONFIG, else\n"
           "%s. Exit status: 0 done, 1 failed, 2 wrong usage.\n",
           CONFIG_DEFAULT_PATH);
}

void help_print(struct invocation *call) {
    if (call->command)
        print_command(&call->arena, call->command);
    else if (!call->operand_count || !print_list(&call->arena, call->operands[0]))
        print_tool(&call->arena);
}
