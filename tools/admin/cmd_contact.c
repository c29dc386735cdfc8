/* switchboard contact */
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "payload/recipient.h"
#include "store/admin.h"
#include "store/listing.h"

/* The block for the identity in the operands: a BSUID byte for byte, or the digits of a phone
 * (spec 2.3). */
static struct store_block read_block(struct invocation *call) {
    struct slice identity = slice_of(call->operands[1]);
    struct store_block block = {.phone_number_id = call->operands[0], .now = call->now};
    if (recipient_is_bsuid(identity))
        block.bsuid = identity.p;
    else
        block.phone = recipient_digits(&call->arena, identity);
    id_make(block.contact_id, "con_", call->now);
    return block;
}

static int print_block(struct invocation *call, const struct store_block *block, bool blocked) {
    struct json_writer json = object_start(call);
    json_write_text(&json, "contactId", block->contact_id);
    json_write_text(&json, "phone", block->phone);
    json_write_text(&json, "userId", block->bsuid);
    json_write_text(&json, "phoneNumberId", block->phone_number_id);
    json_write_bool(&json, "blocked", blocked);
    return object_print(call, &json, "%s %s on line %s", blocked ? "blocked" : "unblocked",
                        block->phone ? block->phone : block->bsuid, block->phone_number_id);
}

int contact_block(struct invocation *call) {
    struct store_block block = read_block(call);
    enum store_result result = store_block_contact(call->store, &block);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_LINE, block.phone_number_id);
    return print_block(call, &block, true);
}

int contact_unblock(struct invocation *call) {
    struct store_block block = read_block(call);
    bool was_blocked;
    enum store_result result = store_unblock_contact(call->store, &block, &was_blocked);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_LINE, block.phone_number_id);
    if (!was_blocked)
        return fail("%s is not blocked on line %s", block.phone ? block.phone : block.bsuid,
                    block.phone_number_id);
    return print_block(call, &block, false);
}

static void write_contact(struct json_writer *json, const struct store_contact *contact) {
    json_write_object(json, NULL);
    json_write_text(json, "id", contact->id);
    json_write_text(json, "accountId", contact->account_id);
    json_write_text(json, "phone", contact->phone);
    json_write_text(json, "userId", contact->bsuid);
    json_write_text(json, "username", contact->username);
    json_write_text(json, "name", contact->name);
    json_write_array(json, "threads");
    for (size_t i = 0; i < contact->thread_count; i++) {
        json_write_object(json, NULL);
        json_write_text(json, "id", contact->threads[i].id);
        json_write_text(json, "phoneNumberId", contact->threads[i].phone_number_id);
        json_write_end(json);
    }
    json_write_end(json);
    json_write_end(json);
}

/* The lines of the contact's threads, such as `1065, 1066`. */
static const char *lines_text(struct arena *arena, const struct store_contact *contact) {
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < contact->thread_count; i++)
        buffer_printf(&text, "%s%s", i ? ", " : "", contact->threads[i].phone_number_id);
    return text.p;
}

static void print_contacts(struct list *list, const struct store_contact *contacts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        write_contact(&list->json, &contacts[i]);
        table_cell(&list->table, contacts[i].id);
        table_cell(&list->table, contacts[i].phone);
        table_cell(&list->table, contacts[i].bsuid);
        table_cell(&list->table, contacts[i].username);
        table_cell(&list->table, contacts[i].name);
        table_cell(&list->table, lines_text(&list->arena, &contacts[i]));
    }
    list_print_page(list, count, count ? contacts[count - 1].id : NULL);
}

int contact_list(struct invocation *call) {
    const char *account_id = call->options[OPTION_ACCOUNT];
    struct list list;
    LIST_OPEN(&list, call, "ID", "PHONE", "USER ID", "USERNAME", "NAME", "LINES");
    while (list_next(&list)) {
        struct store_contact *contacts;
        size_t count;
        enum store_result result = store_list_contacts(call->store, &list.arena, account_id,
                                                       &list.page, &contacts, &count);
        if (result == STORE_OK) {
            print_contacts(&list, contacts, count);
            continue;
        }
        list_abandon(&list);
        return fail_row(call, result, ROW_ACCOUNT, account_id);
    }
    return list_close(&list);
}
