#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "command.h"

struct table table_start(struct arena *arena, size_t columns, const char *const *titles) {
    struct table table = {.arena = arena, .columns = columns, .cells = buffer_in(arena)};
    for (size_t i = 0; titles && i < columns; i++)
        table_cell(&table, titles[i]);
    return table;
}

void table_cell(struct table *table, const char *text) {
    char *cell = arena_copy(table->arena, slice_of(text && *text ? text : "-"));
    utf8_show(cell, false);
    buffer_add(&table->cells, &cell, sizeof cell);
}

/* The width of a text in terminal columns, one for each character. */
static size_t text_width(const char *text) {
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void table_print(const struct table *table) {
    const char *const *cells = (const char *const *)(const void *)table->cells.p;
    size_t count = table->cells.n / sizeof *cells;
    size_t *widths =
        table->widths ? table->widths : arena_alloc(table->arena, table->columns * sizeof *widths);
    for (size_t i = 0; i < count; i++) {
        size_t width = text_width(cells[i]);
        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_last = (i + 1) % table->columns == 0;
        size_t padding = is_last ? 0 : widths[i % table->columns] - text_width(cells[i]) + 2;
        printf("%s%*s%s", cells[i], (int)padding, "", is_last ? "\n" : "");
    }
}

static void json_print(struct json_writer *json) {
    json_write_end(json);
    struct slice text = json_written(json);
    fwrite(text.p, 1, text.n, stdout);
    putchar('\n');
}

struct json_writer list_start(struct invocation *call) {
    struct json_writer json;
    json_write_start(&json, &call->arena);
    json_write_array(&json, NULL);
    return json;
}

int list_print(struct invocation *call, struct json_writer *json, const struct table *table) {
    if (call->options[OPTION_JSON])
        json_print(json);
    else
        table_print(table);
    return EXIT_DONE;
}

enum { LIST_PAGE = 500 };

static const size_t list_memory = (size_t)256 << 20; /* of a page; a row is at most a few KB */

void list_open(struct list *list, struct invocation *call, size_t columns,
               const char *const *titles) {
    const char *limit = call->options[OPTION_LIMIT], *after = call->options[OPTION_AFTER];
    *list = (struct list){.call = call, .columns = columns, .titles = titles};
    list->left = limit ? (size_t)strtoull(limit, NULL, 10) : SIZE_MAX;
    list->page.after = after;
    arena_init(&list->arena, list_memory, NULL);
}

bool list_next(struct list *list) {
    if (list->is_over || !list->left)
        return false;
    arena_reset(&list->arena);
    list->page.limit = list->left < LIST_PAGE ? list->left : LIST_PAGE;
    json_write_start(&list->json, &list->arena);
    json_write_array(&list->json, NULL);
    list->table = table_start(&list->arena, list->columns, list->has_begun ? NULL : list->titles);
    list->table.widths = list->widths;
    return true;
}

/* Prints the elements of the page's array as a continuation of one array over all pages. */
static void print_elements(struct list *list, size_t count) {
    json_write_end(&list->json);
    struct slice array = json_written(&list->json);
    if (!list->has_begun)
        putchar('[');
    else if (count)
        putchar(',');
    fwrite(array.p + 1, 1, array.n - 2, stdout);
}

void list_print_page(struct list *list, size_t count, const char *last_id) {
    if (list->call->options[OPTION_JSON])
        print_elements(list, count);
    else
        table_print(&list->table);
    list->has_begun = true;
    list->is_over = count < list->page.limit;
    list->left -= count;
    snprintf(list->after, sizeof list->after, "%s", last_id ? last_id : "");
    list->page.after = list->after;
}

int list_close(struct list *list) {
    if (list->call->options[OPTION_JSON])
        puts("]");
    list_abandon(list);
    return EXIT_DONE;
}

void list_abandon(struct list *list) {
    arena_free(&list->arena);
}

struct json_writer object_start(struct invocation *call) {
    struct json_writer json;
    json_write_start(&json, &call->arena);
    json_write_object(&json, NULL);
    return json;
}

int object_print(struct invocation *call, struct json_writer *json, const char *format, ...) {
    va_list args;
    if (call->options[OPTION_JSON]) {
        json_print(json);
        return EXIT_DONE;
    }
    va_start(args, format);
    const size_t size = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    va_end(args);
    char *text = arena_alloc(&call->arena, size);
    va_start(args, format);
    vsnprintf(text, size, format, args);
    va_end(args);
    utf8_show(text, true);
    puts(text);
    return EXIT_DONE;
}

const char *time_text(struct arena *arena, int64_t ms) {
    char text[CLOCK_ISO8601_SIZE];
    if (ms == INT64_MAX)
        return NULL;
    clock_format(ms, text);
    return arena_copy(arena, slice_of(text));
}
