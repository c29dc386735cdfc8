/* switchboard contact */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "nouns.h"
#include "output.h"
#include "payload/person_json.h"
#include "payload/recipient.h"
#include "store/admin.h"
#include "store/contact.h"
#include "store/contact_split.h"
#include "store/erasure.h"
#include "store/retention.h"

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

/* --- list --- */

/* A contact and its threads. */
struct listed {
    struct contact contact;
    struct contact_thread *threads;
    size_t thread_count;
};

static void write_contact(struct json_writer *json, const struct listed *listed) {
    const struct contact *contact = &listed->contact;
    json_write_object(json, NULL);
    json_write_text(json, "id", contact->id);
    json_write_text(json, "accountId", contact->account_id);
    contact_write_person(json, contact);
    json_write_array(json, "threads");
    for (size_t i = 0; i < listed->thread_count; i++) {
        json_write_object(json, NULL);
        json_write_text(json, "id", listed->threads[i].id);
        json_write_text(json, "phoneNumberId", listed->threads[i].phone_number_id);
        json_write_end(json);
    }
    json_write_end(json);
    json_write_end(json);
}

/* The lines of the contact's threads, such as `1065, 1066`. */
static const char *lines_text(struct arena *arena, const struct listed *listed) {
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < listed->thread_count; i++)
        buffer_printf(&text, "%s%s", i ? ", " : "", listed->threads[i].phone_number_id);
    return text.p;
}

static void add_contact(struct list *list, const struct listed *listed) {
    const struct contact *contact = &listed->contact;
    write_contact(&list->json, listed);
    table_cell(&list->table, contact->id);
    table_cell(&list->table, contact->phone);
    table_cell(&list->table, contact->bsuid);
#define CELL(number, column, json, title) table_cell(&list->table, contact->column);
    CONTACT_PROFILE(CELL)
#undef CELL
    table_cell(&list->table, lines_text(&list->arena, listed));
}

/* Reads a page and fills the list with it. */
static enum store_result add_page(struct list *list, const char *account_id,
                                  struct contact **contacts, size_t *count) {
    struct store *store = list->call->store;
    const struct contact_filter filter = {
        .account_id = account_id, .after = list->page.after, .limit = list->page.limit};
    struct store_account account;
    enum store_result result =
        account_id ? store_find_account(store, &list->arena, NULL, account_id, &account) : STORE_OK;
    if (result == STORE_OK)
        result = store_list_contacts(store, &list->arena, &filter, contacts, count);
    for (size_t i = 0; result == STORE_OK && i < *count; i++) {
        struct listed listed = {.contact = (*contacts)[i]};
        result =
            store_list_contact_threads(store, &list->arena, WHOLE_VIEW(NULL), (*contacts)[i].id,
                                       &listed.threads, &listed.thread_count);
        add_contact(list, &listed);
    }
    return result;
}

int contact_list(struct invocation *call) {
    const char *account_id = call->options[OPTION_ACCOUNT];
    struct list list;
    enum store_result result = STORE_OK;
#define TITLE(number, column, json, title) title,
    LIST_OPEN(&list, call, "ID", "PHONE", "USER ID", CONTACT_PROFILE(TITLE) "LINES");
#undef TITLE
    while (result == STORE_OK && list_next(&list)) {
        struct contact *contacts;
        size_t count;
        store_hold_view(call->store);
        result = add_page(&list, account_id, &contacts, &count);
        store_release_view(call->store);
        if (result == STORE_OK)
            list_print_page(&list, count, count ? contacts[count - 1].id : NULL);
    }
    if (result == STORE_OK)
        return list_close(&list);
    list_abandon(&list);
    return fail_row(call, result, ROW_ACCOUNT, account_id);
}

/* --- split --- */

static void write_change(struct invocation *call, struct json_writer *json,
                         const struct store_reported_change *change) {
    json_write_object(json, NULL);
    json_write_text(json, "at", time_text(&call->arena, change->at));
    json_write_text(json, "phone", change->phone);
    json_write_text(json, "userId", change->bsuid);
    json_write_bool(json, "refused", change->is_refused);
    json_write_end(json);
}

static void write_identity(struct invocation *call, struct json_writer *json,
                           const struct store_shown_identity *identity) {
    json_write_object(json, NULL);
    json_write_text(json, "phone", identity->phone);
    json_write_text(json, "userId", identity->bsuid);
    json_write_text(json, "firstShownAt", time_text(&call->arena, identity->first_at));
    json_write_text(json, "lastShownAt", time_text(&call->arena, identity->last_at));
    json_write_array(json, "changesFrom");
    for (size_t i = 0; i < identity->change_count; i++)
        write_change(call, json, &identity->changes[i]);
    json_write_end(json);
    json_write_end(json);
}

/* The identities before the changes, such as `15550001 US.1 (refused), 15550002`. */
static const char *changes_text(struct arena *arena, const struct store_shown_identity *identity) {
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < identity->change_count; i++) {
        const struct store_reported_change *change = &identity->changes[i];
        buffer_printf(&text, "%s%s%s%s%s", i ? ", " : "", change->phone ? change->phone : "",
                      change->phone && change->bsuid ? " " : "", change->bsuid ? change->bsuid : "",
                      change->is_refused ? " (refused)" : "");
    }
    return text.p;
}

static int print_identities(struct invocation *call, const struct store_contact_split *split) {
    struct json_writer json = list_start(call);
    struct table table =
        TABLE(&call->arena, "PHONE", "USER ID", "FIRST SHOWN", "LAST SHOWN", "CHANGED FROM");
    for (size_t i = 0; i < split->identity_count; i++) {
        const struct store_shown_identity *identity = &split->identities[i];
        write_identity(call, &json, identity);
        table_cell(&table, identity->phone);
        table_cell(&table, identity->bsuid);
        table_cell(&table, time_text(&call->arena, identity->first_at));
        table_cell(&table, time_text(&call->arena, identity->last_at));
        table_cell(&table, changes_text(&call->arena, identity));
    }
    return list_print(call, &json, &table);
}

static int print_split(struct invocation *call, const struct store_contact_split *split) {
    struct json_writer json = object_start(call);
    json_write_text(&json, "identity", split->identity);
    json_write_text(&json, "contactId", split->other_id);
    json_write_integer(&json, "refusedChanges", (int64_t)split->refused);
    return object_print(call, &json, "%s %s of contact %s%s", split->identity,
                        split->refused ? "is now" : "was split before: it is", split->other_id,
                        split->refused ? ", without the others" : "");
}

int contact_split(struct invocation *call) {
    struct store_contact_split split = {.contact_id = call->operands[0], .now = call->now};
    if (call->operand_count > 1) {
        const struct slice identity = slice_of(call->operands[1]);
        split.identity =
            recipient_is_bsuid(identity) ? identity.p : recipient_digits(&call->arena, identity);
    }
    enum store_result result = store_split_contact(call->store, &call->arena, &split);
    if (result == STORE_CONFLICT)
        return fail("%s", store_reason(call->store));
    if (result != STORE_OK)
        return fail_row(call, result, ROW_CONTACT, call->operands[0]);
    return split.identity ? print_split(call, &split) : print_identities(call, &split);
}

/* --- hold, release --- */

static int set_hold(struct invocation *call, bool is_held) {
    const char *id = call->operands[0];
    struct store_hold hold = {.contact_id = id, .is_held = is_held, .now = call->now};
    enum store_result result = store_hold_contact(call->store, &hold);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_CONTACT, id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "contactId", id);
    json_write_bool(&json, "held", is_held);
    return object_print(call, &json, "%s is %s", id, is_held ? "on hold" : "not on hold any more");
}

int contact_hold(struct invocation *call) {
    return set_hold(call, true);
}

int contact_release(struct invocation *call) {
    return set_hold(call, false);
}

/* --- erase --- */

int contact_erase(struct invocation *call) {
    const char *id = call->operands[0];
    struct store_erasure erasure;
    enum store_result result =
        store_erase_contact(call->store, &call->arena, NULL, id, call->now, &erasure);
    if (result == STORE_CONFLICT)
        return fail("%s: `switchboard contact release` ends it", store_reason(call->store));
    if (result != STORE_OK)
        return fail_row(call, result, ROW_CONTACT, id);
    const bool has_ended = erasure.ended_at != INT64_MAX;
    struct json_writer json = object_start(call);
    json_write_text(&json, "contactId", erasure.contact_id);
    json_write_text(&json, "erasedAt", time_text(&call->arena, erasure.erased_at));
    json_write_text(&json, "endedAt", has_ended ? time_text(&call->arena, erasure.ended_at) : NULL);
    return object_print(call, &json, "%s %s", erasure.contact_id,
                        has_ended ? "is erased"
                                  : "is being erased: the courier deletes what is left");
}
