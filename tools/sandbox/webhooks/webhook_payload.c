#include "webhooks/webhook_payload.h"

#include <stdlib.h>

#include "state/settings.h"
#include "text/json_merge.h"
#include "text/json_print.h"
#include "text/text.h"
#include "webhooks/webhook_template.h"

static cJSON *make_element(const struct update *update) {
    cJSON *element = webhook_template_fill(update, update->kind->element);
    if (settings.webhook_version >= 24)
        cJSON_DeleteItemFromObjectCaseSensitive(element, "conversation");
    json_merge(element, update->message);
    return element;
}

static cJSON *make_contact(const struct update *update) {
    static const char *const templates[] = {
        [CONTACT_INBOUND] = "{'profile':{'name':'${name}','username':'${username}'},'wa_id':"
                            "'${phone}','user_id':'${bsuid}','parent_user_id':'${parentBsuid}'}",
        [CONTACT_SENT] = "{'profile':{'name':'${name}'},'wa_id':'${phone}','user_id':'${bsuid}',"
                         "'parent_user_id':'${parentBsuid}'}",
        [CONTACT_UPDATED] = "{'profile':{'name':'${name}'},'wa_id':'${phone}'}",
    };
    cJSON *contact = webhook_template_fill(update, templates[update->kind->contact]);
    json_merge(contact, update->contact);
    return contact;
}

static cJSON *make_value(const struct update *update) {
    cJSON *value;
    if (!update->kind->list) {
        value = make_element(update);
    } else {
        value = webhook_template_fill(update, "{'messaging_product':'whatsapp','metadata':{"
                                              "'display_phone_number':'${line}','phone_number_id':"
                                              "'${phoneNumberId}'}}");
        if (update->kind->contact != CONTACT_NONE) {
            cJSON *contacts = cJSON_AddArrayToObject(value, "contacts");
            cJSON_AddItemToArray(contacts, make_contact(update));
        }
        cJSON_AddItemToArray(cJSON_AddArrayToObject(value, update->kind->list),
                             make_element(update));
    }
    if (update->kind->value) {
        cJSON *more = webhook_template_fill(update, update->kind->value);
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
