/* switchboard trail */
#include <stdio.h>

#include "command.h"
#include "nouns.h"
#include "output.h"
#include "payload/trail_row.h"
#include "store/listing.h"

enum { CSV_ROWS_AT_ONCE = 500 };

static void print_rows(struct list *list, const struct store_trail_row *rows, size_t count) {
    struct table *table = &list->table;
    for (size_t i = 0; i < count; i++) {
        const struct store_trail_row *row = &rows[i];
        json_write_object(&list->json, NULL);
        trail_json_write(&list->json, row);
        json_write_end(&list->json);
        table_cell(table, time_text(&list->arena, row->at));
        table_cell(table, row->actor);
        table_cell(table, row->actor_name);
        table_cell(table, row->action);
        table_cell(table, row->object_id);
        table_cell(table, row->details);
        table_cell(table, row->address);
        table_cell(table, row->id);
    }
    list_print_page(list, count, count ? rows[count - 1].id : NULL);
}

static int print_list(struct invocation *call, struct store_trail_filter *filter) {
    struct list list;
    LIST_OPEN(&list, call, "TIME", "ACTOR", "NAME", "ACTION", "OBJECT", "DETAILS", "ADDRESS", "ID");
    while (list_next(&list)) {
        struct store_trail_row *rows;
        size_t count;
        filter->before = list.page.after;
        filter->limit = list.page.limit;
        enum store_result result =
            store_list_trail(call->store, &list.arena, filter, &rows, &count);
        if (result != STORE_OK) {
            list_abandon(&list);
            return fail_store(call, result);
        }
        print_rows(&list, rows, count);
    }
    return list_close(&list);
}

/* Prints the lines of the next rows, and sets the filter to those after them. */
static enum store_result print_lines(struct invocation *call, struct arena *arena,
                                     struct store_trail_filter *filter, char before[ID_SIZE],
                                     bool *more) {
    struct buffer lines = buffer_in(arena);
    struct store_trail_row *rows;
    size_t count;
    enum store_result result = store_list_trail(call->store, arena, filter, &rows, &count);
    *more = result == STORE_OK && count == filter->limit;
    for (size_t i = 0; result == STORE_OK && i < count; i++)
        trail_csv_add(&lines, &rows[i]);
    fwrite(lines.p, 1, lines.n, stdout);
    if (*more)
        snprintf(before, ID_SIZE, "%s", rows[count - 1].id);
    filter->before = before;
    return result;
}

static int print_csv(struct invocation *call, struct store_trail_filter *filter) {
    struct buffer head = buffer_in(&call->arena);
    struct arena arena;
    char before[ID_SIZE];
    bool more = true;
    enum store_result result = STORE_OK;
    filter->limit = CSV_ROWS_AT_ONCE;
    trail_csv_head(&head);
    fwrite(head.p, 1, head.n, stdout);
    arena_init(&arena, call->arena.cap, NULL);
    for (; more && result == STORE_OK; arena_reset(&arena))
        result = print_lines(call, &arena, filter, before, &more);
    arena_free(&arena);
    return result == STORE_OK ? EXIT_DONE : fail_store(call, result);
}

int trail_run(struct invocation *call) {
    const char *email = call->operands[0];
    char user_id[ID_SIZE];
    struct store_trail_filter filter = {.user_id = user_id};
    enum store_result result = store_find_user(call->store, email, user_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, email);
    return call->options[OPTION_CSV] ? print_csv(call, &filter) : print_list(call, &filter);
}
