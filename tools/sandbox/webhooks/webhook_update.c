#include "webhooks/webhook_update.h"

#include <inttypes.h>
#include <sodium.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "state/media_url.h"
#include "state/number.h"
#include "state/template_list.h"
#include "state/wamid.h"
#include "text/strict_json.h"

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

static void set_default(const char **target, const char *text) {
    if (!*target)
        *target = text;
}

/* Sets the new phone and BSUIDs of a user whose number or id changes. */
static void fill_new_user(struct update *update, const cJSON *json) {
    set_default(&update->new_phone, "16505550199");
    if (update->bsuid && !cJSON_HasObjectItem(json, "newBsuid"))
        update->new_bsuid =
            number_bsuid(update->arena, update->phone ? update->new_phone : update->bsuid);
    if (update->parent_bsuid && !cJSON_HasObjectItem(json, "newParentBsuid"))
        update->new_parent_bsuid = arena_printf(update->arena, "US.ENT.%s", update->new_phone);
}

/* Sets the user of the update. The default is a user with phone and BSUID; a BSUID alone is a user
 * whose phone is withheld; `bsuid: null` is a user without BSUID, as before they were
 * introduced. */
static void fill_user(struct update *update, const cJSON *json) {
    bool bsuid_given = cJSON_HasObjectItem(json, "bsuid");
    if (!update->phone && !cJSON_HasObjectItem(json, "phone") && !update->bsuid)
        update->phone = "16505550123";
    if (!bsuid_given && update->phone)
        update->bsuid = number_bsuid(update->arena, update->phone);
    if (!update->phone) {
        set_default(&update->bsuid_only, update->bsuid);
        set_default(&update->parent_bsuid_only, update->parent_bsuid);
    }
    fill_new_user(update, json);
}

static const char *fill_line(struct update *update) {
    const struct phone *phone = NULL;
    const struct account *account = NULL;
    if (update->phone_number_id)
        account = account_by_phone(update->phone_number_id, &phone);
    else if (update->waba_id)
        account = account_by_waba(update->waba_id);
    else
        account = account_first();
    if (!phone && account && account->phone_count > 0)
        phone = &account->phones[0];
    if (account)
        set_default(&update->waba_id, account->waba_id);
    if (phone) {
        set_default(&update->phone_number_id, phone->id);
        set_default(&update->line, phone->display);
    }
    if (!update->waba_id)
        return "an unknown phoneNumberId needs a wabaId beside it";
    set_default(&update->phone_number_id, "0");
    set_default(&update->line, "15550100000");
    return NULL;
}

/* Sets the media of the update that are not given: from the media with the given id, else from the
 * account's first media of the kind's type, else invented. */
static void fill_media(struct update *update) {
    static const unsigned char no_digest[CRYPTO_HASH_SIZE];
    const char *type = update->kind->media;
    if (!type)
        return;
    const struct media *media = media_select(update->media_id, update->waba_id, type);
    bool whole = type[strlen(type) - 1] != '/';
    unsigned char digest[CRYPTO_HASH_SIZE];
    if (!update->media_id)
        update->media_id =
            media ? media->id : arena_printf(update->arena, "19%014u", randombytes_random());
    if (!update->media_type)
        update->media_type =
            media ? media->mime : arena_printf(update->arena, "%s%s", type, whole ? "" : "mp4");
    if (!media || !crypto_unhex(slice_of(media->sha256), digest, sizeof digest))
        memcpy(digest, no_digest, sizeof digest);
    set_default(&update->media_sha256, crypto_base64(update->arena, digest, sizeof digest));
    set_default(&update->media_url, media_webhook_url(update->arena, media, update->media_id));
    if (strcmp(update->kind->name, "voice") == 0)
        update->media_type = "audio/ogg; codecs=opus";
}

/* Sets name and language that are not given to those of the template with the given id. */
static void fill_template(struct update *update) {
    const struct item *item =
        update->template_id ? collection_find(&templates, update->template_id) : NULL;
    if (!item)
        return;
    set_default(&update->template_name, json_member_text(update->arena, item->raw, "name"));
    set_default(&update->language, json_member_text(update->arena, item->raw, "language"));
}

/* The texts that do not depend on the update. */
static void fill_fixed(struct update *update) {
    set_default(&update->name, "Ada Example");
    set_default(&update->text, "Is the caf\xc3\xa9 open? \xf0\x9f\x8d\xb5 https://tea.example/x");
    set_default(&update->title, "Oolong");
    set_default(&update->flow_id, "410000000000001");
    set_default(&update->template_id, "310000000000003");
    set_default(&update->template_name, "order_shipped");
    set_default(&update->language, "en_US");
    set_default(&update->click_id, "ARAkLkA8rmlFeiCktEJQ");
}

static void fill_rest(struct update *update) {
    const struct webhook_kind *kind = update->kind;
    if (!update->timestamp)
        update->timestamp = arena_printf(update->arena, "%" PRId64, clock_now() / 1000);
    if (!update->context)
        update->context = wamid_new(update->arena, "15550100001");
    if (!update->flow_response)
        update->flow_response = arena_printf(
            update->arena, "{\"flow_token\":\"token-%s\",\"date\":\"2026-12-01\",\"guests\":\"4\"}",
            update->flow_id ? update->flow_id : "1");
    fill_template(update);
    fill_fixed(update);
    if (strstr(kind->name, "group"))
        set_default(&update->group_id, "120363000000000001");
    if (strcmp(kind->name, "user_preferences") == 0)
        set_default(&update->event, "stop");
    set_default(&update->event, strcmp(kind->field, "flows") == 0 ? "PUBLISHED" : "APPROVED");
    if (update->code == 0)
        update->code = strstr(kind->name, "status") ? 131047 : 131051;
}

const char *update_read(struct arena *arena, struct update *update, const cJSON *json) {
    *update = (struct update){.arena = arena, .count = 1};
    const char *problem = json_fill(arena, update, update_fields, json);
    if (problem)
        return problem;
    update->kind = webhook_kind_find(update->kind_name);
    if (!update->kind)
        return arena_printf(arena, "webhook kind '%s' is not known",
                            update->kind_name ? update->kind_name : "");
    update->message = json_get(json, "message");
    update->contact = json_get(json, "contact");
    update->value = json_get(json, "value");
    problem = fill_line(update);
    if (problem)
        return problem;
    fill_user(update, json);
    fill_media(update);
    fill_rest(update);
    return NULL;
}

const char *update_variable(const struct update *update, struct slice name) {
    for (const struct json_field *field = update_fields; field->name; field++)
        if (field->kind == JSON_TEXT && slice_equal(slice_of(field->name), name))
            return *(const char *const *)(const void *)((const char *)update + field->offset);
    return NULL;
}
