/* Internal to the store: the columns of contacts and messages as inbox.h has them. */
#ifndef SWITCHBOARD_STORE_INBOX_ROW_H
#define SWITCHBOARD_STORE_INBOX_ROW_H

#include "engine/sql.h"
#include "store/inbox.h"

#define INBOX_CONTACT_COLUMNS                                                                      \
    "c.id, c.account_id, c.phone, c.bsuid, c.parent_bsuid, c.username, c.name, c.created_at, "     \
    "c.updated_at"

/* Reads those columns, which begin at the column `first`. */
static inline void inbox_read_contact(struct statement *s, int first, struct arena *arena,
                                      struct inbox_contact *contact) {
    *contact = (struct inbox_contact){
        .id = column_text(s, first, arena),
        .account_id = column_text(s, first + 1, arena),
        .phone = column_text(s, first + 2, arena),
        .bsuid = column_text(s, first + 3, arena),
        .parent_bsuid = column_text(s, first + 4, arena),
        .username = column_text(s, first + 5, arena),
        .name = column_text(s, first + 6, arena),
        .created_at = column_integer(s, first + 7),
        .updated_at = column_integer(s, first + 8),
    };
}

/* Reads the contact with this id, or the one that it was merged into. False if there is none, and
 * on failure, which sql_result then returns. */
bool inbox_contact_find(struct store *store, struct arena *arena, const char *user_id,
                        const char *id, struct inbox_contact *contact);

#define INBOX_MESSAGE_COLUMNS                                                                      \
    "m.id, m.wamid, m.thread_id, m.line_id, m.direction, m.source, m.type, m.status, "             \
    "m.status_at, m.timestamp, m.context_wamid, m.body, m.error, m.changed"

/* Reads those columns, which are the first ones. */
static inline void inbox_read_message(struct statement *s, struct arena *arena,
                                      struct inbox_message *message) {
    *message = (struct inbox_message){
        .id = column_text(s, 0, arena),
        .wamid = column_text(s, 1, arena),
        .thread_id = column_text(s, 2, arena),
        .line_id = column_text(s, 3, arena),
        .direction = column_text(s, 4, arena),
        .source = column_text(s, 5, arena),
        .type = column_text(s, 6, arena),
        .status = column_text(s, 7, arena),
        .status_at = column_integer(s, 8),
        .timestamp = column_integer(s, 9),
        .context_wamid = column_text(s, 10, arena),
        .body = column_blob(s, 11, arena),
        .error = column_blob(s, 12, arena),
        .change = column_integer(s, 13),
    };
}

#endif
