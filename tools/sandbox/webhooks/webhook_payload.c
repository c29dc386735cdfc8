#include "webhooks/webhook_payload.h"

#include <stdlib.h>

#include "state/chat.h"
#include "state/node_state.h"
#include "state/settings.h"
#include "state/template_use.h"
#include "state/window.h"
#include "text/json_merge.h"
#include "text/json_print.h"
#include "text/text.h"
#include "wire/graph_error.h"

/* Returns the text with its ${...} replaced; NULL when it is only a variable that is not set. */
static const char *fill_text(const struct update *update, const char *text) {
    struct buffer out = buffer_in(update->arena);
    const char *at = text;
    const char *open;
    while ((open = strstr(at, "${"))) {
        struct slice rest = slice_of(open + 2);
        struct slice name = slice_cut(&rest, '}');
        const char *value = update_variable(update, name);
        if (!value && open == text && rest.n == 0)
            return NULL;
        buffer_add(&out, at, (size_t)(open - at));
        buffer_add_text(&out, value ? value : "");
        at = rest.p;
    }
    buffer_add_text(&out, at);
    return out.p;
}

static cJSON *error_object(const struct update *update) {
    struct buffer text = buffer_in(update->arena);
    graph_error_webhook(&text, (int)update->code);
    return cJSON_ParseWithLength(text.p, text.n);
}

/* Returns the number in the variable of `#{x}`; NULL when it is not set. */
static cJSON *fill_number(const struct update *update, const char *text) {
    const char *number = update_variable(update, (struct slice){text + 2, strlen(text) - 3});
    return number ? cJSON_CreateNumber(strtod(number, NULL)) : NULL;
}

/* Returns the value for a string of the template; NULL when its member is to be left out. */
static cJSON *fill_string(const struct update *update, const char *text) {
    if (strcmp(text, "@error") == 0)
        return error_object(update);
    if (strncmp(text, "#{", 2) == 0)
        return fill_number(update, text);
    const char *filled = fill_text(update, text);
    return filled ? cJSON_CreateString(filled) : NULL;
}

static cJSON *fill_tree(const struct update *update, const cJSON *tree);

static void fill_members(const struct update *update, cJSON *copy, const cJSON *tree);

/* Adds the members of the parts with these names, which a space separates. */
static void fill_parts(const struct update *update, cJSON *copy, const char *names) {
    for (struct slice rest = slice_of(names); rest.n > 0;)
        fill_members(update, copy, webhook_part(arena_copy(update->arena, slice_cut(&rest, ' '))));
}

/* Adds copies of the members or items of `tree` to `copy`. */
static void fill_members(const struct update *update, cJSON *copy, const cJSON *tree) {
    const cJSON *item;
    cJSON_ArrayForEach(item, tree) {
        if (item->string && strcmp(item->string, "...") == 0) {
            fill_parts(update, copy, item->valuestring);
            continue;
        }
        cJSON *filled = fill_tree(update, item);
        if (filled && cJSON_IsObject(copy))
            cJSON_AddItemToObject(copy, item->string, filled);
        else if (filled)
            cJSON_AddItemToArray(copy, filled);
    }
}

/* Returns a copy of the template with the variables of the update replaced; the caller calls
 * cJSON_Delete. */
static cJSON *fill_tree(const struct update *update, const cJSON *tree) {
    if (cJSON_IsString(tree))
        return fill_string(update, tree->valuestring);
    if (!cJSON_IsObject(tree) && !cJSON_IsArray(tree))
        return cJSON_Duplicate(tree, true);
    cJSON *copy = cJSON_IsObject(tree) ? cJSON_CreateObject() : cJSON_CreateArray();
    fill_members(update, copy, tree);
    return copy;
}

static cJSON *make_element(const struct update *update) {
    cJSON *element = fill_tree(update, update->kind->element);
    if (settings.webhook_version >= 24)
        cJSON_DeleteItemFromObjectCaseSensitive(element, "conversation");
    json_merge(element, update->message);
    return element;
}

static cJSON *make_contact(const struct update *update) {
    cJSON *contact = fill_tree(update, update->kind->contact);
    json_merge(contact, update->contact);
    return contact;
}

static cJSON *make_value(const struct update *update) {
    cJSON *value;
    if (!update->kind->list) {
        value = make_element(update);
    } else {
        value = fill_tree(update, webhook_value());
        if (update->kind->contact) {
            cJSON *contacts = cJSON_AddArrayToObject(value, "contacts");
            cJSON_AddItemToArray(contacts, make_contact(update));
        }
        cJSON_AddItemToArray(cJSON_AddArrayToObject(value, update->kind->list),
                             make_element(update));
    }
    if (update->kind->value) {
        cJSON *more = fill_tree(update, update->kind->value);
        json_merge(value, more);
        cJSON_Delete(more);
    }
    json_merge(value, update->value);
    return value;
}

static cJSON *last_of(const cJSON *list) {
    return cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
}

static cJSON *add_entry(cJSON *entries, const struct update *update) {
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "id", update->waba_id);
    if (!update->kind->list)
        cJSON_AddNumberToObject(entry, "time", strtod(update->timestamp, NULL));
    cJSON_AddItemToArray(entries, entry);
    return entry;
}

static void append_all(cJSON *list, cJSON *more) {
    while (list && more && more->child)
        cJSON_AddItemToArray(list, cJSON_DetachItemFromArray(more, 0));
}

static bool member_equal(const cJSON *a, const cJSON *b, const char *name) {
    const char *text = json_text(a, name);
    return text && text_matches(json_text(b, name), text);
}

/* Moves the value's lists into the change if both have the same field and line, else returns
 * false. */
static bool merge_change(cJSON *change, const struct update *update, cJSON *value) {
    cJSON *into = cJSON_GetObjectItemCaseSensitive(change, "value");
    if (!update->kind->list || !text_matches(json_text(change, "field"), update->kind->field) ||
        !change ||
        !member_equal(cJSON_GetObjectItemCaseSensitive(into, "metadata"),
                      cJSON_GetObjectItemCaseSensitive(value, "metadata"), "phone_number_id") ||
        !cJSON_HasObjectItem(into, update->kind->list))
        return false;
    append_all(cJSON_GetObjectItemCaseSensitive(into, "contacts"),
               cJSON_GetObjectItemCaseSensitive(value, "contacts"));
    append_all(cJSON_GetObjectItemCaseSensitive(into, update->kind->list),
               cJSON_GetObjectItemCaseSensitive(value, update->kind->list));
    cJSON_Delete(value);
    return true;
}

/* Returns the entry for the update: a new one, or the last one of the same account when the batch
 * combines changes. */
static cJSON *entry_for(struct payload *payload, const struct update *update) {
    cJSON *entries = cJSON_GetObjectItemCaseSensitive(payload->root, "entry");
    cJSON *entry = last_of(entries);
    if (payload->batch >= BATCH_CHANGES && text_matches(json_text(entry, "id"), update->waba_id))
        return entry;
    return add_entry(entries, update);
}

static void payload_start(struct payload *payload) {
    payload->root = cJSON_CreateObject();
    payload->ids = cJSON_CreateArray();
    cJSON_AddStringToObject(payload->root, "object", "whatsapp_business_account");
    cJSON_AddArrayToObject(payload->root, "entry");
}

void payload_add(struct payload *payload, const struct update *update) {
    cJSON *value = make_value(update);
    if (!payload->root)
        payload_start(payload);
    cJSON_AddItemToArray(payload->ids, cJSON_CreateString(update->id));
    cJSON *entry = entry_for(payload, update);
    cJSON *changes = cJSON_GetObjectItemCaseSensitive(entry, "changes");
    if (!changes)
        changes = cJSON_AddArrayToObject(entry, "changes");
    if (payload->batch == BATCH_MESSAGES && merge_change(last_of(changes), update, value))
        return;
    cJSON *change = cJSON_CreateObject();
    cJSON_AddItemToObject(change, "value", value);
    cJSON_AddStringToObject(change, "field", update->kind->field);
    cJSON_AddItemToArray(changes, change);
}

/* Keeps that the user of the update wrote or called, by each of the user's names. */
static void open_windows(const struct update *update) {
    int64_t wrote_at = strtoll(update->timestamp, NULL, 10) * 1000;
    if (update->phone)
        window_open(update->phone_number_id, update->phone, wrote_at);
    if (update->bsuid)
        window_open(update->phone_number_id, update->bsuid, wrote_at);
}

/* Counts a status, and a tap on a button, of a message with a template. */
static void count_use(const struct update *update, const cJSON *shown, bool is_message) {
    const char *context = json_text(json_get(shown, "context"), "id");
    const char *button = json_text(json_get(shown, "button"), "text");
    if (!is_message)
        template_use_status(update->id, json_text(shown, "status"));
    else if (context && button)
        template_use_click(context, button);
}

void payload_show(const struct payload *payload, const struct update *update) {
    const char *list = strcmp(update->kind->field, "messages") == 0 ? update->kind->list : NULL;
    struct chat chat = {.line = update->phone_number_id,
                        .user = update->phone ? update->phone : update->bsuid};
    if (strcmp(update->kind->field, "calls") == 0)
        open_windows(update);
    if (!list || !chat.user || update->group_id)
        return;
    const cJSON *entry = last_of(json_get(payload->root, "entry"));
    const cJSON *value = json_get(last_of(json_get(entry, "changes")), "value");
    bool message = strcmp(list, "messages") == 0;
    if (!message && strcmp(list, "statuses") != 0)
        return;
    const cJSON *shown = last_of(json_get(value, list));
    if (message && !text_matches(json_text(shown, "type"), "system"))
        open_windows(update);
    count_use(update, shown, message);
    struct buffer members = buffer_in(update->arena);
    buffer_add_text(&members, ",\"message\":");
    json_print(&members, shown);
    chat_add(&chat, message ? "received" : "status", update->id, buffer_slice(&members));
}

/* Prints a value into `arena` and deletes it. */
static struct slice print_out(struct arena *arena, cJSON *value) {
    struct buffer out = buffer_in(arena);
    json_print(&out, value);
    cJSON_Delete(value);
    return buffer_slice(&out);
}

void payload_end(struct payload *payload, struct arena *arena, struct slice *body,
                 struct slice *ids) {
    *body = print_out(arena, payload->root);
    *ids = print_out(arena, payload->ids);
    payload->root = payload->ids = NULL;
}

/* Returns the override that a node has in this kind of its state, in `arena`, or NULL. */
static const char *override_of(struct arena *arena, const char *kind, const char *id) {
    cJSON *state = id ? node_state_read(kind, id, "{}") : NULL;
    const char *url = text_copy(arena, json_text(state, "override_callback_uri"));
    cJSON_Delete(state);
    return url;
}

const char *callback_url(struct arena *arena, const struct update *update) {
    const char *url = NULL;
    if (strcmp(update->kind->field, "messages") == 0)
        url = override_of(arena, "webhook", update->phone_number_id);
    if (!url)
        url = override_of(arena, "subscription", update->waba_id);
    return url ? url : text_copy(arena, settings.webhook_url);
}
