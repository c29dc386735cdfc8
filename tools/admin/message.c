/* switchboard message */
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/listing.h"

static void write_message(struct json_writer *json, const struct store_message *message) {
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

int message_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    const char *contact_id = call->options[OPTION_CONTACT];
    struct store_message *messages;
    size_t count;
    enum store_result result =
        store_list_messages(call->store, arena, contact_id, &messages, &count);
    if (result == STORE_NOT_FOUND)
        return fail("there is no contact %s; `switchboard contact list` shows all", contact_id);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = list_start(call);
    struct table table = TABLE(arena, "TIME", "WAY", "TYPE", "STATUS", "THREAD", "WAMID", "ERROR");
    for (size_t i = 0; i < count; i++) {
        const struct store_message *message = &messages[i];
        write_message(&json, message);
        table_cell(&table, time_text(arena, message->timestamp));
        table_cell(&table, message->direction);
        table_cell(&table, message->type);
        table_cell(&table, message->status);
        table_cell(&table, message->thread_id);
        table_cell(&table, message->wamid);
        table_cell(&table, message->error.n ? arena_copy(arena, message->error) : NULL);
    }
    return list_print(call, &json, &table);
}
