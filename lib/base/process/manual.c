#include "base/process/manual.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/product.h"

enum { LINE_LENGTH = 70 }; /* escapes are not counted; a line has at most 80 bytes */

/* A dash must stay a dash that can be copied into a shell, so it is written as the minus sign, for
 * which every device has the ASCII character. */
static void put_char(char c) {
    switch (c) {
    case '\\': fputs("\\e", stdout); break;
    case '-': fputs("\\-", stdout); break;
    case '\'': fputs("\\(aq", stdout); break;
    case '^': fputs("\\(ha", stdout); break;
    case '~': fputs("\\(ti", stdout); break;
    default: putchar(c);
    }
}

static void put_bytes(const char *p, size_t n) {
    while (n--)
        put_char(*p++);
}

/* Writes a word of a text; a backquote begins or ends a literal. */
static void put_word(const char *word, size_t n, bool *is_literal) {
    for (size_t i = 0; i < n; i++) {
        if (word[i] != '`') {
            put_char(word[i]);
            continue;
        }
        *is_literal = !*is_literal;
        fputs(*is_literal ? "\\fB" : "\\fR", stdout);
    }
}

void manual_text(const char *text) {
    bool is_literal = false;
    size_t column = 0;
    while (*(text += strspn(text, " \n"))) {
        size_t n = strcspn(text, " \n");
        if (column && column + 1 + n > LINE_LENGTH) {
            putchar('\n');
            column = 0;
        }
        fputs(column ? " " : *text == '.' ? "\\&" : "", stdout);
        put_word(text, n, &is_literal);
        column += n + 1;
        text += n;
        bool ends_paragraph = strncmp(text, "\n\n", 2) == 0;
        if (!ends_paragraph && *text && text[-1] != '.')
            continue;
        puts(ends_paragraph ? "\n.sp" : "");
        column = 0;
    }
}

void manual_break(void) {
    puts(".br");
}

/* Whether a word of a term is a value: in capitals. */
static bool is_value(const char *word, size_t n) {
    bool has_capital = false;
    for (size_t i = 0; i < n; i++) {
        if (islower((unsigned char)word[i]) || word[i] == '-')
            return false;
        has_capital = has_capital || isupper((unsigned char)word[i]);
    }
    return has_capital;
}

static void put_term(const char *term) {
    while (*term) {
        size_t outside = strspn(term, " []"), n = strcspn(term + outside, " []");
        put_bytes(term, outside);
        term += outside;
        if (n) {
            fputs(is_value(term, n) ? "\\fI" : "\\fB", stdout);
            put_bytes(term, n);
            fputs("\\fR", stdout);
        }
        term += n;
    }
    putchar('\n');
}

void manual_section(const char *title) {
    printf(".SH %s\n", title);
}

void manual_item(const char *term, const char *text) {
    puts(".TP");
    put_term(term);
    manual_text(text);
}

void manual_indent(void) {
    puts(".RS");
}

void manual_outdent(void) {
    puts(".RE");
}

static void put_items(const char *title, const struct manual_item *items) {
    if (items && title)
        manual_section(title);
    for (; items && items->term; items++)
        manual_item(items->term, items->text);
}

static void put_title(const struct manual *manual) {
    fputs(".TH ", stdout);
    for (const char *p = manual->page; *p; p++)
        putchar(toupper((unsigned char)*p));
    printf(" %s \"" SWITCHBOARD_DATE "\" \"" SWITCHBOARD_NAME " " SWITCHBOARD_VERSION "\"\n",
           manual->section);
}

void manual_begin(const struct manual *manual) {
    put_title(manual);
    manual_section("NAME");
    put_bytes(manual->page, strlen(manual->page));
    printf(" \\- ");
    put_bytes(manual->summary, strlen(manual->summary));
    putchar('\n');
    if (manual->synopsis) {
        manual_section("SYNOPSIS");
        put_term(manual->synopsis);
    }
    manual_section("DESCRIPTION");
    manual_text(manual->description);
    put_items(NULL, manual->behaviour);
}

void manual_end(const struct manual *manual) {
    put_items("ENVIRONMENT", manual->environment);
    put_items("FILES", manual->files);
    put_items("EXIT STATUS", manual->statuses);
    if (manual->see_also) {
        manual_section("SEE ALSO");
        put_term(manual->see_also);
    }
}
