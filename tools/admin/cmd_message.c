/* switchboard message */
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/contact.h"
#include "store/message.h"

static void write_message(struct json_writer *json, const struct message *message) {
    json_write_object(json, NULL);
    json_write_text(json, "id", message->id);
    json_write_text(json, "wamid", message->wamid);
    json_write_text(json, "direction", message->direction);
    json_write_text(json, "type", message->type);
    json_write_text(json, "status", message->status);
    json_write_time(json, "timestamp", message->timestamp);
    json_write_text(json, "threadId", message->thread_id);
    json_write_raw(json, "error", message->error);
    json_write_end(json);
}

static void print_messages(struct list *list, const struct message *messages, size_t count) {
    struct table *table = &list->table;
    for (size_t i = 0; i < count; i++) {
        const struct message *message = &messages[i];
        write_message(&list->json, message);
        table_cell(table, time_text(&list->arena, message->timestamp));
        table_cell(table, message->direction);
        table_cell(table, message->type);
        table_cell(table, message->status);
        table_cell(table, message->thread_id);
        table_cell(table, message->wamid);
        table_cell(table, message->error.n ? arena_copy(&list->arena, message->error) : NULL);
    }
    list_print_page(list, count, count ? messages[count - 1].id : NULL);
}

static int fail_listing(struct invocation *call, const struct list *list,
                        enum store_result result) {
    const char *contact_id = call->options[OPTION_CONTACT];
    if (result == STORE_CONFLICT)
        return fail("contact %s has no message %s", contact_id, list->page.after);
    return fail_row(call, result, ROW_CONTACT, contact_id);
}

/* Reads the next page. */
static enum store_result read_page(struct invocation *call, struct list *list,
                                   struct message **messages, size_t *count) {
    struct contact contact;
    store_hold_view(call->store);
    enum store_result result = store_find_contact(call->store, &list->arena, WHOLE_VIEW(NULL),
                                                  call->options[OPTION_CONTACT], &contact);
    if (result == STORE_OK)
        result = store_list_contact_messages(call->store, &list->arena, contact.id, &list->page,
                                             messages, count);
    store_release_view(call->store);
    return result;
}

int message_list(struct invocation *call) {
    struct list list;
    LIST_OPEN(&list, call, "TIME", "WAY", "TYPE", "STATUS", "THREAD", "WAMID", "ERROR");
    while (list_next(&list)) {
        struct message *messages;
        size_t count;
        enum store_result result = read_page(call, &list, &messages, &count);
        if (result != STORE_OK) {
            list_abandon(&list);
            return fail_listing(call, &list, result);
        }
        print_messages(&list, messages, count);
    }
    return list_close(&list);
}
