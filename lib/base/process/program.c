#include "base/process/program.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/product.h"

enum { EXIT_USAGE = 2, MOST_OPTIONS = 16, TERM_WIDTH = 24 };

/* The options that every program has, after its own. */
enum common { COMMON_HELP, COMMON_VERSION, COMMON_MAN, COMMON_COUNT };

static const struct program_option common_options[] = {
    [COMMON_HELP] = {.name = "help", .meaning = "print this text"},
    [COMMON_VERSION] = {.name = "version", .meaning = "print name and version"},
    [COMMON_MAN] = {.name = "man", .meaning = "print the manual page, for man -l -"},
    [COMMON_COUNT] = {0},
};

int program_fail_usage(const struct program *program, const char *what) {
    if (what)
        fprintf(stderr, "%s: %s\n", program->name, what);
    fprintf(stderr, "usage: %s\n`%s --help` describes the options\n", program->manual.synopsis,
            program->name);
    return EXIT_USAGE;
}

/* --- --help and --man --- */

static void print_item(const char *term, const char *text) {
    printf("  %-*s ", TERM_WIDTH, term);
    if (strlen(term) > TERM_WIDTH)
        printf("\n%*s", TERM_WIDTH + 3, "");
    for (; *text; text++) {
        putchar(*text);
        if (*text == '\n' && text[1] != '\n')
            printf("%*s", TERM_WIDTH + 3, "");
    }
    putchar('\n');
}

void program_print_items(const char *title, const struct manual_item *items) {
    if (items)
        printf("\n%s%s", title ? title : "", title ? ":\n" : "");
    for (; items && items->term; items++)
        print_item(items->term, items->text);
}

static void each_option(const struct program_option *options,
                        void (*print)(const char *term, const char *text)) {
    for (const struct program_option *option = options; option->name; option++) {
        char term[64], text[256], preset[32] = "";
        snprintf(term, sizeof term, "--%s%s%s", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
        if (option->preset)
            snprintf(preset, sizeof preset, "; default: %ld", option->preset);
        snprintf(text, sizeof text, "%s%s", option->meaning, preset);
        print(term, text);
    }
}

static void print_help(const struct program *program) {
    const struct manual *manual = &program->manual;
    printf("usage: %s\n\n%s\n", manual->synopsis, manual->description);
    program_print_items(NULL, manual->behaviour);
    puts("\nOptions:");
    each_option(program->options, print_item);
    each_option(common_options, print_item);
    program_print_items("Environment", manual->environment);
    program_print_items("Files", manual->files);
    program_print_items("Exit status", manual->statuses);
}

static void print_manual(const struct program *program) {
    manual_begin(&program->manual);
    manual_section("OPTIONS");
    each_option(program->options, manual_item);
    each_option(common_options, manual_item);
    manual_end(&program->manual);
}

static int print_common(const struct program *program, enum common option) {
    switch (option) {
    case COMMON_HELP: print_help(program); break;
    case COMMON_MAN: print_manual(program); break;
    default: puts(SWITCHBOARD_NAME " " SWITCHBOARD_VERSION);
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --- the values --- */

/* Sets the member of an option. Returns 0 or EXIT_USAGE. */
static int set_option(const struct program *program, const struct program_option *option,
                      void *values, const char *value) {
    void *member = (char *)values + option->member;
    if (!option->value) {
        *(bool *)member = true;
        return 0;
    }
    if (!option->most) {
        *(const char **)member = value;
        return 0;
    }
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < option->least || number > option->most) {
        fprintf(stderr, "%s: --%s takes a number from %ld to %ld, not %s\n", program->name,
                option->name, option->least, option->most, value);
        return EXIT_USAGE;
    }
    *(long *)member = number;
    return 0;
}

/* Fills the table of getopt_long, and sets the presets. Returns the number of the own options. */
static int prepare(const struct program *program, void *values, struct option *table) {
    int count = 0;
    for (const struct program_option *own = program->options; own->name; own++, count++) {
        table[count] =
            (struct option){own->name, own->value ? required_argument : no_argument, NULL, count};
        if (own->most)
            *(long *)(void *)((char *)values + own->member) = own->preset;
    }
    for (int i = 0; i < COMMON_COUNT; i++)
        table[count + i] = (struct option){common_options[i].name, no_argument, NULL, count + i};
    return count;
}

int program_read_options(const struct program *program, int argc, char **argv, void *values,
                         int *operand) {
    struct option table[MOST_OPTIONS + COMMON_COUNT + 1] = {{0}};
    int own = prepare(program, values, table);
    for (int found; (found = getopt_long(argc, argv, "+", table, NULL)) != -1;) {
        if (found == '?')
            return program_fail_usage(program, NULL); /* getopt_long has printed the reason */
        if (found >= own)
            return print_common(program, (enum common)(found - own));
        if (set_option(program, &program->options[found], values, optarg) != 0)
            return EXIT_USAGE;
    }
    *operand = optind;
    return -1;
}
