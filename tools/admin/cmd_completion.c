/* `switchboard completion`: the completion of the command line for a shell, from the tables of
 * commands and options. */
#include <stdio.h>

#include "command.h"
#include "nouns.h"

/* Whether a command is the first of its noun. */
static bool begins_noun(const struct command *command) {
    return command == commands || strcmp(command[-1].noun, command->noun) != 0;
}

static uint64_t options_of(const struct command *command) {
    return command->required | command->options | COMMON_OPTIONS;
}

static bool is_file(enum value_kind kind) {
    return kind == VALUE_FILE || kind == VALUE_CONFIG || kind == VALUE_DIRECTORY;
}

/* Prints the names of the options whose values are files, or of those that are not, as a pattern.
 */
static void print_valued(bool files, const char *separator) {
    const char *between = "";
    for (int i = 0; i < OPTION_COUNT; i++) {
        enum value_kind kind = option_rules[i].value;
        if (kind == VALUE_NONE || is_file(kind) != files)
            continue;
        printf("%s%s", between, option_rules[i].name);
        between = separator;
    }
}

/* Prints what an operand may be: `@` for a file, the choices, or nothing. */
static void print_values(const struct command *command) {
    for (size_t i = 0; i < command->max_operands; i++) {
        const char *choices = value_choices(command->operands[i]);
        printf("%s'%s'", i ? " " : "",
               is_file(command->operands[i]) ? "@"
               : choices                     ? choices
                                             : "");
    }
}

/* --- bash --- */

static const char bash_start[] =
    "# Completion of switchboard(8) for bash, printed by `switchboard completion bash`.\n"
    "_switchboard() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local i words='' options='' taken=2\n"
    "    local -a operands=() values=()\n"
    "    # bash takes the sign in --name=VALUE for a word\n"
    "    [[ $previous != '=' ]] || previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    [[ $word != '=' ]] || word=''\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n";

static const char bash_words[] = ")\n"
                                 "            i=$((i + 1))\n"
                                 "            [[ ${COMP_WORDS[i]-} != '=' ]] || i=$((i + 1))\n"
                                 "            ;;\n"
                                 "        -* | '=') ;;\n"
                                 "        *) operands+=(\"${COMP_WORDS[i]}\") ;;\n"
                                 "        esac\n"
                                 "    done\n"
                                 "    case $previous in\n"
                                 "    ";

static const char bash_end[] = "    esac\n"
                               "    i=$((${#operands[@]} - taken))\n"
                               "    ((i < 0)) || words=${values[i]-}\n"
                               "    COMPREPLY=()\n"
                               "    if [[ $word == -* || -z $words ]]; then\n"
                               "        words=$options\n"
                               "    elif [[ $words == @ ]]; then\n"
                               "        compopt -o filenames 2>/dev/null\n"
                               "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                               "        return\n"
                               "    fi\n"
                               "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                               "}\n"
                               "complete -F _switchboard switchboard\n";

/* Prints the words that may follow a noun, or with NULL those that begin a command. */
static void print_words(const char *noun) {
    const char *between = "";
    for (const struct command *command = commands; command->noun; command++) {
        if (noun ? strcmp(command->noun, noun) != 0 : !begins_noun(command))
            continue;
        printf("%s%s", between, noun ? command->verb : command->noun);
        between = " ";
    }
}

static void print_option_names(uint64_t options) {
    const char *between = "";
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options & OPTION_BIT(i)) {
            printf("%s%s", between, option_rules[i].name);
            between = " ";
        }
}

static void print_bash_command(const struct command *command) {
    if (command->verb && begins_noun(command)) {
        printf("    '%s ')\n        words='", command->noun);
        print_words(command->noun);
        printf("' options='");
        print_option_names(COMMON_OPTIONS);
        puts("'\n        ;;");
    }
    if (command->verb)
        printf("    '%s %s')\n", command->noun, command->verb);
    else
        printf("    '%s '*)\n        taken=1\n", command->noun);
    printf("        options='");
    print_option_names(options_of(command));
    printf("'\n        values=(");
    print_values(command);
    puts(")\n        ;;");
}

static void print_bash(void) {
    fputs(bash_start, stdout);
    printf("        ");
    print_valued(true, " | ");
    printf(" | ");
    print_valued(false, " | ");
    fputs(bash_words, stdout);
    print_valued(true, " | ");
    printf(")\n        operands=('' '') values=(@)\n        ;;\n    ");
    print_valued(false, " | ");
    printf(")\n        COMPREPLY=()\n        return\n        ;;\n    esac\n"
           "    case \"${operands[0]-} ${operands[1]-}\" in\n    ' ')\n        words='");
    print_words(NULL);
    printf("' options='");
    print_option_names(TOOL_OPTIONS);
    puts("'\n        ;;");
    for (const struct command *command = commands; command->noun; command++)
        print_bash_command(command);
    fputs(bash_end, stdout);
}

/* --- zsh --- */

static const char zsh_start[] =
    "#compdef switchboard\n"
    "# Completion of switchboard(8) for zsh, printed by `switchboard completion zsh`.\n"
    "_switchboard() {\n"
    "    local i taken=2\n"
    "    local -a operands choices flags values\n"
    "    for ((i = 2; i < CURRENT; i++)); do\n"
    "        case $words[i] in\n"
    "        (";

static const char zsh_end[] = "    esac\n"
                              "    i=$(($#operands - taken + 1))\n"
                              "    if [[ $PREFIX == -* || ($i -lt 1 && $#choices -eq 0) ]]; then\n"
                              "        _describe -o option flags\n"
                              "    elif ((i < 1)); then\n"
                              "        _describe command choices\n"
                              "    elif [[ $values[i] == @ ]]; then\n"
                              "        _files\n"
                              "    elif [[ -n $values[i] ]]; then\n"
                              "        compadd -- ${=values[i]}\n"
                              "    else\n"
                              "        _describe -o option flags\n"
                              "    fi\n"
                              "}\n"
                              "_switchboard \"$@\"\n";

/* Prints `'NAME:MEANING'`, on a line of its own. */
static void print_choice(const char *name, const char *meaning) {
    printf("            '%s:", name);
    for (const char *p = meaning; *p; p++)
        if (*p == '\'')
            printf("'\\''");
        else if (*p == ':')
            printf("\\:");
        else
            putchar(*p);
    puts("'");
}

static void print_zsh_flags(uint64_t options) {
    puts("        flags=(");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options & OPTION_BIT(i))
            print_choice(option_rules[i].name, option_rules[i].meaning);
    puts("        )");
}

/* Prints the words that begin a command. The meaning of a noun is the list of its verbs. */
static void print_zsh_nouns(struct arena *arena) {
    for (const struct command *command = commands; command->noun; command++) {
        if (!begins_noun(command))
            continue;
        struct buffer verbs = buffer_in(arena);
        for (const struct command *c = command; c->verb && strcmp(c->noun, command->noun) == 0; c++)
            buffer_printf(&verbs, "%s%s", verbs.n ? ", " : "", c->verb);
        print_choice(command->noun, command->verb ? verbs.p : command->summary);
    }
}

static void print_zsh_command(const struct command *command) {
    if (command->verb && begins_noun(command)) {
        printf("    ('%s ')\n        choices=(\n", command->noun);
        for (const struct command *c = command; c->noun && strcmp(c->noun, command->noun) == 0; c++)
            print_choice(c->verb, c->summary);
        puts("        )");
        print_zsh_flags(COMMON_OPTIONS);
        puts("        ;;");
    }
    if (command->verb)
        printf("    ('%s %s')\n", command->noun, command->verb);
    else
        printf("    ('%s '*)\n        taken=1\n", command->noun);
    print_zsh_flags(options_of(command));
    printf("        values=(");
    print_values(command);
    puts(")\n        ;;");
}

static void print_zsh(struct arena *arena) {
    fputs(zsh_start, stdout);
    print_valued(true, "|");
    printf("|");
    print_valued(false, "|");
    printf(") ((++i)) ;;\n        (-*) ;;\n        (*) operands+=(\"$words[i]\") ;;\n"
           "        esac\n    done\n    case $words[CURRENT-1] in\n    (");
    print_valued(true, "|");
    printf(") _files; return ;;\n    (");
    print_valued(false, "|");
    printf(") _message 'a value'; return ;;\n    esac\n    case \"$operands[1] $operands[2]\" in\n"
           "    (' ')\n        choices=(\n");
    print_zsh_nouns(arena);
    puts("        )");
    print_zsh_flags(TOOL_OPTIONS);
    puts("        ;;");
    for (const struct command *command = commands; command->noun; command++)
        print_zsh_command(command);
    fputs(zsh_end, stdout);
}

int completion_run(struct invocation *call) {
    if (strcmp(call->operands[0], "bash") == 0)
        print_bash();
    else
        print_zsh(&call->arena);
    return EXIT_DONE;
}
