#include "webhook_build.h"

#include "accounts.h"
#include "graph_error.h"
#include "media.h"
#include "messages.h"
#include "state.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

/* The variables of the templates, which have the same names as the members of the control call. */
static const struct json_field update_fields[] = {
    {"kind", JSON_TEXT, offsetof(struct update, kind_name)},
    {"wabaId", JSON_TEXT, offsetof(struct update, waba_id)},
    {"phoneNumberId", JSON_TEXT, offsetof(struct update, phone_number_id)},
    {"line", JSON_TEXT, offsetof(struct update, line)},
    {"phone", JSON_TEXT, offsetof(struct update, phone)},
    {"bsuid", JSON_TEXT, offsetof(struct update, bsuid)},
    {"parentBsuid", JSON_TEXT, offsetof(struct update, parent_bsuid)},
    {"bsuidOnly", JSON_TEXT, offsetof(struct update, bsuid_only)},
    {"parentBsuidOnly", JSON_TEXT, offsetof(struct update, parent_bsuid_only)},
    {"name", JSON_TEXT, offsetof(struct update, name)},
    {"username", JSON_TEXT, offsetof(struct update, username)},
    {"groupId", JSON_TEXT, offsetof(struct update, group_id)},
    {"id", JSON_TEXT, offsetof(struct update, id)},
    {"timestamp", JSON_TEXT, offsetof(struct update, timestamp)},
    {"context", JSON_TEXT, offsetof(struct update, context)},
    {"text", JSON_TEXT, offsetof(struct update, text)},
    {"title", JSON_TEXT, offsetof(struct update, title)},
    {"newPhone", JSON_TEXT, offsetof(struct update, new_phone)},
    {"newBsuid", JSON_TEXT, offsetof(struct update, new_bsuid)},
    {"newParentBsuid", JSON_TEXT, offsetof(struct update, new_parent_bsuid)},
    {"mediaId", JSON_TEXT, offsetof(struct update, media_id)},
    {"mediaType", JSON_TEXT, offsetof(struct update, media_type)},
    {"mediaSha256", JSON_TEXT, offsetof(struct update, media_sha256)},
    {"mediaUrl", JSON_TEXT, offsetof(struct update, media_url)},
    {"flowId", JSON_TEXT, offsetof(struct update, flow_id)},
    {"flowResponse", JSON_TEXT, offsetof(struct update, flow_response)},
    {"templateId", JSON_TEXT, offsetof(struct update, template_id)},
    {"templateName", JSON_TEXT, offsetof(struct update, template_name)},
    {"language", JSON_TEXT, offsetof(struct update, language)},
    {"event", JSON_TEXT, offsetof(struct update, event)},
    {"clickId", JSON_TEXT, offsetof(struct update, click_id)},
    {"callbackData", JSON_TEXT, offsetof(struct update, callback_data)},
    {"code", JSON_NUMBER, offsetof(struct update, code)},
    {"count", JSON_NUMBER, offsetof(struct update, count)},
    {"message", JSON_ELSEWHERE, 0},
    {"contact", JSON_ELSEWHERE, 0},
    {"value", JSON_ELSEWHERE, 0},
    {NULL, JSON_ELSEWHERE, 0},
};

void update_release(struct update *update) {
    json_fields_release(update, update_fields);
}

static const char *update_variable(const struct update *update, const char *name, size_t length) {
    for (const struct json_field *field = update_fields; field->name != NULL; field++) {
        if (field->kind == JSON_TEXT && strlen(field->name) == length &&
            strncmp(field->name, name, length) == 0) {
            return *(char *const *)(const void *)((const char *)update + field->offset);
        }
    }
    return NULL;
}

static void set_default(char **target, const char *text) {
    if (*target == NULL) {
        *target = memory_text(text);
    }
}

/* Derives a user's BSUID from the phone, so that one phone is always the same user. */
static char *bsuid_of_phone(const char *phone) {
    static const unsigned char key[crypto_shorthash_KEYBYTES] = "sandbox-bsuid";
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t number;

    crypto_shorthash(hash, (const unsigned char *)phone, strlen(phone), key);
    memcpy(&number, hash, sizeof number);
    return memory_format("US.%016llu", (unsigned long long)(number % 10000000000000000ULL));
}

/* Sets the new phone and BSUIDs of a user whose number or id changes. */
static void fill_new_user(struct update *update, const cJSON *json) {
    set_default(&update->new_phone, "16505550199");
    if (update->bsuid != NULL && !cJSON_HasObjectItem(json, "newBsuid")) {
        update->new_bsuid =
            bsuid_of_phone(update->phone == NULL ? update->bsuid : update->new_phone);
    }
    if (update->parent_bsuid != NULL && !cJSON_HasObjectItem(json, "newParentBsuid")) {
        update->new_parent_bsuid = memory_format("US.ENT.%s", update->new_phone);
    }
}

/* Sets the user of the update. The default is a user with phone and BSUID; a BSUID alone is a user
 * whose phone is withheld; `bsuid: null` is a user without BSUID, as before they were
 * introduced. */
static void fill_user(struct update *update, const cJSON *json) {
    bool bsuid_given = cJSON_HasObjectItem(json, "bsuid");

    if (update->phone == NULL && !cJSON_HasObjectItem(json, "phone") && update->bsuid == NULL) {
        update->phone = memory_text("16505550123");
    }
    if (!bsuid_given && update->phone != NULL) {
        update->bsuid = bsuid_of_phone(update->phone);
    }
    if (update->phone == NULL) {
        set_default(&update->bsuid_only, update->bsuid);
        set_default(&update->parent_bsuid_only, update->parent_bsuid);
    }
    fill_new_user(update, json);
}

static char *fill_line(struct update *update) {
    const struct phone *phone = NULL;
    const struct account *account = NULL;

    if (update->phone_number_id != NULL) {
        account = account_by_phone(update->phone_number_id, &phone);
    } else if (update->waba_id != NULL) {
        account = account_by_waba(update->waba_id);
    } else {
        account = account_first();
    }
    if (phone == NULL && account != NULL && account->phone_count > 0) {
        phone = &account->phones[0];
    }
    if (account != NULL) {
        set_default(&update->waba_id, account->waba_id);
    }
    if (phone != NULL) {
        set_default(&update->phone_number_id, phone->id);
        set_default(&update->line, phone->display);
    }
    if (update->waba_id == NULL) {
        return memory_text("an unknown phoneNumberId needs a wabaId beside it");
    }
    set_default(&update->phone_number_id, "0");
    set_default(&update->line, "15550100000");
    return NULL;
}

static void fill_media(struct update *update) {
    if (update->kind->media == NULL) {
        return;
    }
    media_for_webhook(update->waba_id, update->kind->media, &update->media_id, &update->media_type,
                      &update->media_sha256, &update->media_url);
    if (strcmp(update->kind->name, "voice") == 0) {
        free(update->media_type);
        update->media_type = memory_text("audio/ogg; codecs=opus");
    }
}

static void fill_rest(struct update *update) {
    if (update->timestamp == NULL) {
        update->timestamp = memory_format("%llu", (unsigned long long)clock_unix() / 1000);
    }
    if (update->context == NULL) {
        update->context = wamid_new("15550100001");
    }
    if (update->flow_response == NULL) {
        update->flow_response =
            memory_format("{\"flow_token\":\"token-%s\",\"date\":\"2026-12-01\",\"guests\":\"4\"}",
                          update->flow_id == NULL ? "1" : update->flow_id);
    }
    set_default(&update->name, "Ada Example");
    set_default(&update->text, "Is the caf\xc3\xa9 open? \xf0\x9f\x8d\xb5 https://tea.example/x");
    set_default(&update->title, "Oolong");
    set_default(&update->flow_id, "410000000000001");
    set_default(&update->template_id, "310000000000003");
    set_default(&update->template_name, "order_shipped");
    set_default(&update->language, "en_US");
    if (strstr(update->kind->name, "group") != NULL) {
        set_default(&update->group_id, "120363000000000001");
    }
    set_default(&update->click_id, "ARAkLkA8rmlFeiCktEJQ");
    if (strcmp(update->kind->name, "user_preferences") == 0) {
        set_default(&update->event, "stop");
    }
    set_default(&update->event,
                strcmp(update->kind->field, "flows") == 0 ? "PUBLISHED" : "APPROVED");
    if (update->code == 0) {
        update->code = strstr(update->kind->name, "status") != NULL ? 131047 : 131051;
    }
}

char *update_read(struct update *update, const cJSON *json) {
    char *problem;

    memset(update, 0, sizeof *update);
    update->count = 1;
    problem = json_fill(update, update_fields, json);
    if (problem != NULL) {
        return problem;
    }
    update->kind = webhook_kind_find(update->kind_name);
    if (update->kind == NULL) {
        return memory_format("webhook kind '%s' is not known",
                             update->kind_name == NULL ? "" : update->kind_name);
    }
    update->message = cJSON_GetObjectItemCaseSensitive(json, "message");
    update->contact = cJSON_GetObjectItemCaseSensitive(json, "contact");
    update->value = cJSON_GetObjectItemCaseSensitive(json, "value");
    problem = fill_line(update);
    if (problem == NULL) {
        fill_user(update, json);
        fill_media(update);
        fill_rest(update);
    }
    return problem;
}

/* Returns the text with its ${...} replaced; NULL if it is only a variable that is not set. */
static char *fill_text(const struct update *update, const char *text) {
    struct bytes out = {0};
    const char *at = text;
    const char *open;

    while ((open = strstr(at, "${")) != NULL) {
        const char *close = strchr(open, '}');
        const char *value = update_variable(update, open + 2, (size_t)(close - open - 2));

        if (value == NULL && open == text && close[1] == '\0') {
            return NULL;
        }
        bytes_append(&out, at, (size_t)(open - at));
        bytes_text(&out, value == NULL ? "" : value);
        at = close + 1;
    }
    bytes_text(&out, at);
    return bytes_take(&out);
}

static cJSON *error_object(uint64_t code) {
    struct bytes text = {0};
    cJSON *error;

    graph_error_webhook(&text, (int)code, NULL);
    error = cJSON_ParseWithLength(text.data, text.length);
    bytes_release(&text);
    return error;
}

/* Returns the value for a string of the template; NULL if its member is to be left out. */
static cJSON *fill_string(const struct update *update, const char *text) {
    cJSON *value = NULL;
    char *filled;

    if (strcmp(text, "@error") == 0) {
        return error_object(update->code);
    }
    if (strncmp(text, "#{", 2) == 0) {
        const char *number = update_variable(update, text + 2, strlen(text) - 3);

        return number == NULL ? NULL : cJSON_CreateNumber(strtod(number, NULL));
    }
    filled = fill_text(update, text);
    if (filled != NULL) {
        value = cJSON_CreateString(filled);
    }
    free(filled);
    return value;
}

/* Returns a copy of the template with all variables replaced. */
static cJSON *fill_tree(const struct update *update, const cJSON *tree) {
    cJSON *copy;
    const cJSON *item;

    if (cJSON_IsString(tree)) {
        return fill_string(update, tree->valuestring);
    }
    if (!cJSON_IsObject(tree) && !cJSON_IsArray(tree)) {
        return cJSON_Duplicate(tree, true);
    }
    copy = cJSON_IsObject(tree) ? cJSON_CreateObject() : cJSON_CreateArray();
    cJSON_ArrayForEach(item, tree) {
        cJSON *filled = fill_tree(update, item);

        if (filled == NULL) {
            continue;
        }
        if (cJSON_IsObject(tree)) {
            cJSON_AddItemToObject(copy, item->string, filled);
        } else {
            cJSON_AddItemToArray(copy, filled);
        }
    }
    return copy;
}

static cJSON *fill_template(const struct update *update, const char *template) {
    char *text = memory_text(template);
    cJSON *tree;
    cJSON *filled;

    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    tree = cJSON_Parse(text);
    filled = fill_tree(update, tree);
    cJSON_Delete(tree);
    free(text);
    return filled;
}

/* RFC 7396: null removes a member, objects are merged, every other value replaces. */
static void merge(cJSON *target, const cJSON *patch) {
    const cJSON *item;

    cJSON_ArrayForEach(item, patch) {
        cJSON *known = cJSON_GetObjectItemCaseSensitive(target, item->string);

        if (cJSON_IsNull(item)) {
            cJSON_DeleteItemFromObjectCaseSensitive(target, item->string);
        } else if (cJSON_IsObject(item) && cJSON_IsObject(known)) {
            merge(known, item);
        } else if (known != NULL) {
            cJSON_ReplaceItemInObjectCaseSensitive(target, item->string,
                                                   cJSON_Duplicate(item, true));
        } else {
            cJSON_AddItemToObject(target, item->string, cJSON_Duplicate(item, true));
        }
    }
}

static cJSON *make_element(const struct update *update) {
    cJSON *element = fill_template(update, update->kind->element);

    if (settings.webhook_version >= 24) {
        cJSON_DeleteItemFromObjectCaseSensitive(element, "conversation");
    }
    merge(element, update->message);
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
    cJSON *contact = fill_template(update, templates[update->kind->contact]);

    merge(contact, update->contact);
    return contact;
}

static cJSON *make_value(const struct update *update) {
    cJSON *value;

    if (update->kind->list == NULL) {
        value = make_element(update);
    } else {
        value = fill_template(update, "{'messaging_product':'whatsapp','metadata':{"
                                      "'display_phone_number':'${line}','phone_number_id':"
                                      "'${phoneNumberId}'}}");
        if (update->kind->contact != CONTACT_NONE) {
            cJSON *contacts = cJSON_AddArrayToObject(value, "contacts");

            cJSON_AddItemToArray(contacts, make_contact(update));
        }
        cJSON_AddItemToArray(cJSON_AddArrayToObject(value, update->kind->list),
                             make_element(update));
    }
    if (update->kind->value != NULL) {
        cJSON *more = fill_template(update, update->kind->value);

        merge(value, more);
        cJSON_Delete(more);
    }
    merge(value, update->value);
    return value;
}

static cJSON *last_of(const cJSON *list) {
    return cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
}

static cJSON *add_entry(cJSON *entries, const struct update *update) {
    cJSON *entry = cJSON_CreateObject();

    cJSON_AddStringToObject(entry, "id", update->waba_id);
    if (update->kind->list == NULL) {
        cJSON_AddNumberToObject(entry, "time", strtod(update->timestamp, NULL));
    }
    cJSON_AddItemToArray(entries, entry);
    return entry;
}

static void append_all(cJSON *list, cJSON *more) {
    while (list != NULL && more != NULL && more->child != NULL) {
        cJSON_AddItemToArray(list, cJSON_DetachItemFromArray(more, 0));
    }
}

static bool member_equal(const cJSON *a, const cJSON *b, const char *name) {
    const char *text = json_text(a, name);

    return text != NULL && text_matches(json_text(b, name), text);
}

/* Moves the value's lists into the change if both have the same field and line, else returns
 * false. */
static bool merge_change(cJSON *change, const struct update *update, cJSON *value) {
    cJSON *into = cJSON_GetObjectItemCaseSensitive(change, "value");

    if (update->kind->list == NULL ||
        !text_matches(json_text(change, "field"), update->kind->field) || change == NULL ||
        !member_equal(cJSON_GetObjectItemCaseSensitive(into, "metadata"),
                      cJSON_GetObjectItemCaseSensitive(value, "metadata"), "phone_number_id") ||
        !cJSON_HasObjectItem(into, update->kind->list)) {
        return false;
    }
    append_all(cJSON_GetObjectItemCaseSensitive(into, "contacts"),
               cJSON_GetObjectItemCaseSensitive(value, "contacts"));
    append_all(cJSON_GetObjectItemCaseSensitive(into, update->kind->list),
               cJSON_GetObjectItemCaseSensitive(value, update->kind->list));
    cJSON_Delete(value);
    return true;
}

void payload_add(struct payload *payload, const struct update *update, enum batch batch) {
    cJSON *value = make_value(update);
    cJSON *entries;
    cJSON *entry;
    cJSON *changes;
    cJSON *change;

    if (payload->root == NULL) {
        payload->root = cJSON_CreateObject();
        payload->ids = cJSON_CreateArray();
        cJSON_AddStringToObject(payload->root, "object", "whatsapp_business_account");
        cJSON_AddArrayToObject(payload->root, "entry");
    }
    cJSON_AddItemToArray(payload->ids, cJSON_CreateString(update->id));
    entries = cJSON_GetObjectItemCaseSensitive(payload->root, "entry");
    entry = last_of(entries);
    if (batch < BATCH_CHANGES || !text_matches(json_text(entry, "id"), update->waba_id)) {
        entry = add_entry(entries, update);
    }
    changes = cJSON_GetObjectItemCaseSensitive(entry, "changes");
    if (changes == NULL) {
        changes = cJSON_AddArrayToObject(entry, "changes");
    }
    if (batch == BATCH_MESSAGES && merge_change(last_of(changes), update, value)) {
        return;
    }
    change = cJSON_CreateObject();
    cJSON_AddItemToObject(change, "value", value);
    cJSON_AddStringToObject(change, "field", update->kind->field);
    cJSON_AddItemToArray(changes, change);
}

void payload_encode(struct payload *payload, struct bytes *body) {
    json_print(body, payload->root);
    cJSON_Delete(payload->root);
    payload->root = NULL;
}
