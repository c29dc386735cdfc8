#include "store/outgoing/outgoing_read.h"

struct store_outgoing outgoing_of_row(struct statement *s, struct arena *arena) {
    return (struct store_outgoing){
        .id = column_text(s, 0, arena),
        .user_id = column_text(s, 1, arena),
        .account_id = column_text(s, 2, arena),
        .line_id = column_text(s, 3, arena),
        .phone_number_id = column_text(s, 4, arena),
        .recipient = column_text(s, 5, arena),
        .state = column_text(s, 6, arena),
        .reason = column_text(s, 7, arena),
        .error = column_blob(s, 8, arena),
        .attempts = column_integer(s, 9),
        .send_at = column_integer(s, 10),
        .next_at = column_integer(s, 11),
        .expires_at = column_integer(s, 12),
        .created_at = column_integer(s, 13),
        .finished_at = column_time(s, 14),
        .wamid = column_text(s, 15, arena),
        .by = {.id = column_text(s, 16, arena), .name = column_text(s, 17, arena)},
        .retry_of = column_text(s, 18, arena),
        .retried_as = column_text(s, 19, arena),
        .campaign_id = column_text(s, 20, arena),
    };
}

enum store_result outgoing_read_rows(struct store *store, struct statement *s, struct arena *arena,
                                     struct store_outgoing **rows, size_t *count) {
    struct buffer list = buffer_in(arena);
    while (sql_row(store, s)) {
        const struct store_outgoing row = outgoing_of_row(s, arena);
        buffer_add(&list, &row, sizeof row);
    }
    *rows = (struct store_outgoing *)(void *)list.p;
    *count = list.n / sizeof **rows;
    return sql_result(store);
}
