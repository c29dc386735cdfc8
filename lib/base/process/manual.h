/* Manual pages in the macros of man(7), written on standard output.
 *
 * A text is one or more paragraphs with a blank line between them. Words between backquotes are
 * literal. The line breaks of a paragraph are those of --help, which prints it unchanged; a page
 * fills its lines.
 */
#ifndef SWITCHBOARD_MANUAL_H
#define SWITCHBOARD_MANUAL_H

/* A term and its meaning: an environment variable, a file, an exit status, a condition. */
struct manual_item {
    const char *term, *text;
};

/* What a page has in addition to its own sections. The lists of items end with a NULL term; NULL:
 * none. */
struct manual {
    const char *page, *section; /* such as "switchboard-pool", "8" */
    const char *summary;        /* one line without a full stop */
    const char *synopsis;       /* the usage line; NULL: none */
    const char *description;
    const struct manual_item *behaviour; /* a part of the description */
    const struct manual_item *environment, *files, *statuses;
    const char *see_also;
};

/* Writes the start of the page: its name, synopsis and description. */
void manual_begin(const struct manual *manual);

/* Writes environment, files, exit status and references to other pages. */
void manual_end(const struct manual *manual);

void manual_section(const char *title);

/* Writes a term, in which words in capitals are set as values, and its text. manual_text continues
 * the item. */
void manual_item(const char *term, const char *text);

void manual_text(const char *text);

/* Begins a new line of output. */
void manual_break(void);

/* Indents the items until manual_outdent below the last item. */
void manual_indent(void);
void manual_outdent(void);

#endif
