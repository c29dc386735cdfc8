/* Reads the command line into an invocation. Options are the words that begin with two dashes, as
 * --name VALUE or --name=VALUE, at any position before a word `--`. */
#include <stdio.h>

#include "command.h"

static int usage_error(struct invocation *call, const char *reason) {
    return fail_usage(call, "%s", reason);
}

static int find_option(struct slice name) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (slice_equal(slice_of(option_rules[i].name), name))
            return i;
    return -1;
}

/* Reads the option at argv[*i] and its value, which may be the next word; then *i is that word.
 * Returns NULL or the error. */
static const char *read_option(struct invocation *call, int argc, char **argv, int *i) {
    struct slice value = slice_of(argv[*i]);
    bool has_value = strchr(argv[*i], '=') != NULL;
    struct slice name = slice_cut(&value, '=');
    int option = find_option(name);
    if (option < 0)
        return arena_printf(&call->arena, "there is no option %.*s", (int)name.n, name.p);
    bool is_flag = option_rules[option].value == VALUE_NONE;
    if (is_flag && has_value)
        return arena_printf(&call->arena, "%s takes no value", option_rules[option].name);
    if (!is_flag && call->options[option])
        return arena_printf(&call->arena, "%s is given twice", option_rules[option].name);
    if (!is_flag && !has_value && (*i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0))
        return arena_printf(&call->arena, "%s needs a value: %s %s", option_rules[option].name,
                            option_rules[option].name, value_name(option_rules[option].value));
    call->options[option] = is_flag ? "" : has_value ? value.p : argv[++*i];
    return NULL;
}

static const char *read_words(struct invocation *call, int argc, char **argv) {
    bool options_end = false;
    for (int i = 1; i < argc; i++) {
        const char *wrong = NULL;
        if (!options_end && strcmp(argv[i], "--") == 0)
            options_end = true;
        else if (!options_end && argv[i][0] == '-' && argv[i][1] == '-')
            wrong = read_option(call, argc, argv, &i);
        else if (!options_end && argv[i][0] == '-' && argv[i][1])
            wrong = arena_printf(&call->arena, "there is no option %s", argv[i]);
        else if (call->operand_count == MAX_OPERANDS + 2)
            wrong = arena_printf(&call->arena, "`%s` is one word too many",
                                 value_shown(&call->arena, argv[i]));
        else
            call->operands[call->operand_count++] = argv[i];
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* Sets call->command and removes its words from the operands. */
static void take_command(struct invocation *call) {
    const char **words = call->operands;
    for (const struct command *c = commands; c->noun && !call->command; c++)
        if (call->operand_count && strcmp(c->noun, words[0]) == 0 &&
            (!c->verb || (call->operand_count > 1 && strcmp(c->verb, words[1]) == 0)))
            call->command = c;
    if (!call->command)
        return;
    size_t taken = call->command->verb ? 2 : 1;
    call->operand_count -= taken;
    memmove(words, words + taken, call->operand_count * sizeof *words);
}

/* The error for words that are not a command. */
static const char *explain_unknown(struct invocation *call) {
    struct buffer verbs = buffer_in(&call->arena);
    if (!call->operand_count)
        return "no command was given";
    const char *noun = call->operands[0];
    for (const struct command *c = commands; c->noun; c++)
        if (strcmp(c->noun, noun) == 0)
            buffer_printf(&verbs, "%s%s", verbs.n ? ", " : "", c->verb);
    if (!verbs.n)
        return arena_printf(&call->arena, "there is no command `%s`", noun);
    if (call->operand_count == 1)
        return arena_printf(&call->arena, "`%s` needs a second word: %s", noun, verbs.p);
    return arena_printf(&call->arena, "there is no command `%s %s`; `%s` takes one of: %s", noun,
                        call->operands[1], noun, verbs.p);
}

static const char *check_options(struct invocation *call) {
    const struct command *command = call->command;
    uint64_t allowed = command->options | command->required | COMMON_OPTIONS;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_rule *rule = &option_rules[i];
        const char *wrong = NULL;
        if (call->options[i] && !(allowed & OPTION_BIT(i)))
            return arena_printf(&call->arena, "%s is not an option of this command", rule->name);
        if (!call->options[i] && command->required & OPTION_BIT(i))
            return arena_printf(&call->arena, "%s %s is missing", rule->name,
                                value_name(rule->value));
        if (call->options[i] && rule->value != VALUE_NONE)
            wrong = value_check(rule->value, call->options[i]);
        if (wrong)
            return arena_printf(&call->arena, "%s `%s` %s", rule->name, call->options[i], wrong);
    }
    return NULL;
}

static const char *check_operands(struct invocation *call) {
    const struct command *command = call->command;
    if (call->operand_count < command->min_operands)
        return arena_printf(&call->arena, "%s is missing",
                            value_name(command->operands[call->operand_count]));
    if (call->operand_count > command->max_operands)
        return arena_printf(&call->arena, "`%s` is one word too many",
                            value_shown(&call->arena, call->operands[command->max_operands]));
    for (size_t i = 0; i < call->operand_count; i++) {
        const char *wrong = value_check(command->operands[i], call->operands[i]);
        if (wrong)
            return arena_printf(&call->arena, "%s `%s` %s", value_name(command->operands[i]),
                                value_shown(&call->arena, call->operands[i]), wrong);
    }
    return NULL;
}

int parse_words(struct invocation *call, int argc, char **argv) {
    const char *wrong = read_words(call, argc, argv);
    take_command(call);
    if (wrong)
        return usage_error(call, wrong);
    if (call->options[OPTION_HELP] || (!call->command && call->options[OPTION_VERSION]))
        return EXIT_DONE;
    if (!call->command)
        return usage_error(call, explain_unknown(call));
    if ((wrong = check_options(call)) || (wrong = check_operands(call)))
        return usage_error(call, wrong);
    return EXIT_DONE;
}
