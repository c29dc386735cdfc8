#include "nodes/edges.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "judge/judge.h"
#include "nodes/template_quota.h"
#include "state/settings.h"
#include "state/template_list.h"
#include "text/json_merge.h"
#include "text/json_print.h"
#include "text/strict_json.h"
#include "text/text.h"
#include "webhooks/statuses.h"
#include "webhooks/webhook_call.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

enum {
    TEMPLATES_MAX = 6000,
    CREATIONS_MAX = 100,
    TEMPLATE_BYTES_MAX = 64 << 10,
    NAME_MAX_LENGTH = 512
};

/* The parameters that a template keeps as they are. */
static const char *const kept[] = {"name",
                                   "parameter_format",
                                   "components",
                                   "language",
                                   "category",
                                   "sub_category",
                                   "message_send_ttl_seconds",
                                   "cta_url_link_tracking_opted_out",
                                   "library_template_name"};

static bool is_category(const char *text) {
    return strcmp(text, "MARKETING") == 0 || strcmp(text, "UTILITY") == 0 ||
           strcmp(text, "AUTHENTICATION") == 0;
}

static bool check_category(struct exchange *exchange, const char *category) {
    if (!category || is_category(category))
        return true;
    reply_error(exchange, 100,
                "(#100) Param category must be one of {UTILITY, MARKETING, AUTHENTICATION} - got "
                "\"%.100s\".",
                category);
    return false;
}

static bool check_name(struct exchange *exchange, const char *name) {
    if (*name != '\0' && strlen(name) <= NAME_MAX_LENGTH &&
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name))
        return true;
    reply_error(exchange, 100,
                "(#100) Param name must be at most 512 lower-case letters, digits and underscores "
                "- got \"%.100s\".",
                name);
    return false;
}

/* Whether the parameter `components` can be kept. A new template may have those of the library. */
static bool check_components(struct exchange *exchange, const char *language,
                             const char *category) {
    const cJSON *components = parameter(exchange, "components");
    if (exchange->body_length > TEMPLATE_BYTES_MAX) {
        reply_error(exchange, 100, "(#100) The template is too long.");
        return false;
    }
    return (!components && parameter(exchange, "library_template_name")) ||
           template_definition_check(exchange, language, category, components);
}

static const char *named_language(struct arena *arena, const char *name, const char *language) {
    return arena_printf(arena, "%s/%s", name, language);
}

/* Whether the account has no template of this name and language yet, and room for one. */
static bool check_new(struct exchange *exchange, const struct target *target, const char *name,
                      const char *language) {
    if (template_find(exchange->arena, target->account, name, language)) {
        reply_error_user(exchange, 2388024, "Content in This Language Already Exists",
                         arena_printf(exchange->arena,
                                      "There is already %s content for this template. You can "
                                      "create a new template and try again.",
                                      language));
        return false;
    }
    if (settings.template_quotas &&
        template_quota_count(TEMPLATE_DELETED, target->id, name) +
                template_quota_count(TEMPLATE_DELETED, target->id,
                                     named_language(exchange->arena, name, language)) >
            0) {
        reply_error_user(exchange, 2388023, "The Message Template Language Is Being Deleted",
                         arena_printf(exchange->arena,
                                      "New %s content can't be added while the existing content "
                                      "is being deleted. Try again in 4 weeks.",
                                      language));
        return false;
    }
    if (settings.template_quotas &&
        template_quota_count(TEMPLATE_CREATED, target->id, "") >= CREATIONS_MAX) {
        reply_error_as(exchange, 80008, 0, NULL, NULL);
        return false;
    }
    if (collection_count(&templates, target->id) >= TEMPLATES_MAX) {
        reply_error_user(exchange, 2388019, "Message Template Limit Exceeded",
                         "The account has the largest number of templates.");
        return false;
    }
    return true;
}

static void copy_kept(struct exchange *exchange, cJSON *template) {
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const cJSON *value = parameter(exchange, kept[i]);
        if (value)
            json_set(template, kept[i], cJSON_Duplicate(value, true));
    }
}

static void set_text(cJSON *template, const char *name, const char *text) {
    json_set(template, name, cJSON_CreateString(text));
}

static struct slice print(struct arena *arena, const cJSON *template) {
    struct buffer raw = buffer_in(arena);
    json_print(&raw, template);
    return buffer_slice(&raw);
}

/* Makes the webhook of a template whose status becomes `event`. */
static cJSON *make_status(const char *waba_id, const char *id, const char *event,
                          const char *category, const char *reason) {
    cJSON *update = cJSON_CreateObject();
    cJSON_AddStringToObject(update, "kind", "template_status");
    cJSON_AddStringToObject(update, "wabaId", waba_id);
    cJSON_AddStringToObject(update, "templateId", id);
    cJSON_AddStringToObject(update, "event", event);
    cJSON *message = cJSON_AddObjectToObject(update, "message");
    if (category)
        cJSON_AddStringToObject(message, "message_template_category", category);
    if (reason)
        cJSON_AddStringToObject(message, "reason", reason);
    return update;
}

/* Has the template, which is PENDING, reviewed after the time of the settings. */
static void start_review(const char *waba_id, const char *id, const char *category) {
    static int64_t count;
    const char *reason = settings.template_review_reason;
    if (settings.template_review_ms == 0)
        return;
    cJSON *update = make_status(waba_id, id, *reason ? "REJECTED" : "APPROVED", category,
                                *reason ? reason : "NONE");
    char review[32];
    snprintf(review, sizeof review, "review-%" PRId64, ++count);
    cJSON_AddStringToObject(update, "id", review);
    statuses_schedule(update, settings.template_review_ms);
}

/* Adds the template of the request and answers with its id. */
static void create(struct exchange *exchange, const struct target *target, const char *category) {
    static int64_t count;
    cJSON *template = cJSON_CreateObject();
    const char *id =
        arena_printf(exchange->arena, "33%07u%06" PRId64, randombytes_uniform(10000000), ++count);
    copy_kept(exchange, template);
    if (!json_get(template, "parameter_format"))
        set_text(template, "parameter_format", "POSITIONAL");
    set_text(template, "status", "PENDING");
    set_text(template, "rejected_reason", "NONE");
    set_text(template, "id", id);
    collection_insert(&templates, target->id, id, print(exchange->arena, template));
    cJSON_Delete(template);
    template_quota_add(TEMPLATE_CREATED, target->id, "");
    start_review(target->id, id, category);
    buffer_printf(&exchange->reply.body,
                  "{\"id\":\"%s\",\"status\":\"PENDING\",\"category\":\"%s\"}", id, category);
}

void template_create(struct exchange *exchange, const struct target *target) {
    const char *name = parameter_needed(exchange, "name");
    const char *language = name ? parameter_needed(exchange, "language") : NULL;
    const char *category = language ? parameter_needed(exchange, "category") : NULL;
    if (category && check_name(exchange, name) && template_language_check(exchange, language) &&
        check_category(exchange, category) && check_components(exchange, language, category) &&
        check_new(exchange, target, name, language))
        create(exchange, target, category);
}

/* Returns a text of a template, "" when it has none. */
static const char *item_text(struct arena *arena, const struct item *item, const char *name) {
    const char *text = json_member_text(arena, item->raw, name);
    return text ? text : "";
}

static bool is_approved(struct arena *arena, const struct item *item) {
    return strcmp(item_text(arena, item, "status"), "APPROVED") == 0;
}

/* Gives the template the parameters of the request, without another name or language. */
static void replace(struct exchange *exchange, const struct item *item) {
    cJSON *template = cJSON_ParseWithLength(item->raw.p, item->raw.n);
    const char *name = item_text(exchange->arena, item, "name");
    const char *language = item_text(exchange->arena, item, "language");
    copy_kept(exchange, template);
    set_text(template, "name", name);
    set_text(template, "language", language);
    set_text(template, "status", "PENDING");
    if (is_approved(exchange->arena, item))
        template_quota_add(TEMPLATE_EDITED, item->id, "");
    start_review(item->owner, item->id, json_text(template, "category"));
    collection_replace(&templates, item->id, print(exchange->arena, template));
    cJSON_Delete(template);
    reply_success(exchange);
}

static void refuse_edit(struct exchange *exchange, const char *why) {
    reply_error_user(exchange, 2388003, "Message template can't be edited", why);
}

void template_change(struct exchange *exchange, const struct target *target) {
    struct arena *arena = exchange->arena;
    const struct item *item = collection_find(&templates, target->id);
    const char *category = parameter_text(exchange, "category");
    const char *kind = category ? category : item_text(arena, item, "category");
    bool has_components = parameter(exchange, "components");
    if (!category && !has_components && !parameter(exchange, "message_send_ttl_seconds"))
        reply_error(exchange, 100, "(#100) The parameter components is required.");
    else if (strcmp(item_text(arena, item, "status"), "PENDING") == 0)
        refuse_edit(exchange, "Only templates with the status APPROVED, REJECTED or PAUSED can be "
                              "edited.");
    else if (is_approved(arena, item) && template_quota_forbids_edit(item->id))
        refuse_edit(exchange,
                    "An approved template can be edited once in 24 hours, and 10 times in "
                    "30 days.");
    else if (check_category(exchange, category) &&
             (!has_components ||
              check_components(exchange, item_text(arena, item, "language"), kind)))
        replace(exchange, item);
}

void template_unpause(struct exchange *exchange, const struct target *target) {
    const struct item *item = collection_find(&templates, target->id);
    if (strcmp(item_text(exchange->arena, item, "status"), "PAUSED") != 0) {
        reply_error(exchange, 100,
                    "(#100) Only a template with the status PAUSED can be unpaused.");
        return;
    }
    cJSON *template = cJSON_ParseWithLength(item->raw.p, item->raw.n);
    set_text(template, "status", "APPROVED");
    collection_replace(&templates, item->id, print(exchange->arena, template));
    cJSON_Delete(template);
    reply_success(exchange);
}

/* Returns the id of an account's template with this name, and unless `id` is NULL with that id;
 * NULL when there is none. */
static const char *find_named(struct exchange *exchange, const struct target *target,
                              const char *name, const char *id) {
    for (size_t i = 0; i < templates.count; i++) {
        const struct item *item = &templates.items[i];
        const char *other = json_member_text(exchange->arena, item->raw, "name");
        if (strcmp(item->owner, target->id) == 0 && text_matches(item->id, id) && other &&
            strcmp(other, name) == 0)
            return arena_copy(exchange->arena, slice_of(item->id));
    }
    return NULL;
}

/* Whether one of the templates that find_named finds is DISABLED. */
static bool find_disabled(struct exchange *exchange, const struct target *target, const char *name,
                          const char *id) {
    for (size_t i = 0; i < templates.count; i++) {
        const struct item *item = &templates.items[i];
        if (strcmp(item->owner, target->id) == 0 && text_matches(item->id, id) &&
            strcmp(item_text(exchange->arena, item, "name"), name) == 0 &&
            strcmp(item_text(exchange->arena, item, "status"), "DISABLED") == 0)
            return true;
    }
    return false;
}

/* Removes a template. The name of an approved one, or with `hsm_id` its language, stays taken. */
static void remove_one(struct exchange *exchange, const struct target *target, const char *id,
                       const char *name, const char *hsm_id) {
    struct arena *arena = exchange->arena;
    const struct item *item = collection_find(&templates, id);
    if (is_approved(arena, item))
        template_quota_add(TEMPLATE_DELETED, target->id,
                           hsm_id ? named_language(arena, name, item_text(arena, item, "language"))
                                  : name);
    collection_remove(&templates, id);
}

void template_delete(struct exchange *exchange, const struct target *target) {
    const char *name = parameter_needed(exchange, "name");
    const char *hsm_id = parameter_text(exchange, "hsm_id");
    if (!name)
        return;
    const char *id = find_named(exchange, target, name, hsm_id);
    if (!id) {
        reply_error_user(
            exchange, 2593002, "Message Template Not Found",
            arena_printf(exchange->arena, "There is no template with the name %s.", name));
        return;
    }
    if (find_disabled(exchange, target, name, hsm_id)) {
        reply_error(exchange, 100, "(#100) A template with the status DISABLED can't be deleted.");
        return;
    }
    for (; id; id = find_named(exchange, target, name, hsm_id))
        remove_one(exchange, target, id, name, hsm_id);
    reply_success(exchange);
}

/* Adds the webhook of a template's status to the list, with what the platform says about it. */
static void add_status(cJSON *list, const struct item *item, const cJSON *template) {
    static const char *const pauses[] = {"FIRST_PAUSE", "SECOND_PAUSE", "DISABLED"};
    const char *status = json_text(template, "status");
    const size_t paused = template_quota_count(TEMPLATE_PAUSED, item->id, "");
    cJSON *update = make_status(item->owner, item->id, status, json_text(template, "category"),
                                json_text(template, "rejected_reason"));
    cJSON *message = cJSON_GetObjectItemCaseSensitive(update, "message");
    if (json_get(template, "rejection_info") && strcmp(status, "REJECTED") == 0)
        cJSON_AddItemToObject(message, "rejection_info",
                              cJSON_Duplicate(json_get(template, "rejection_info"), true));
    if (paused > 0 && (strcmp(status, "PAUSED") == 0 || strcmp(status, "DISABLED") == 0))
        cJSON_AddStringToObject(cJSON_AddObjectToObject(message, "other_info"), "title",
                                pauses[paused < 3 ? paused - 1 : 2]);
    cJSON_AddItemToArray(list, update);
}

/* Adds the webhook of a change from one word to another. */
static void add_change(cJSON *list, const struct item *item, const char *kind, const char *word,
                       const char *before, const char *after) {
    cJSON *update = cJSON_CreateObject();
    char name[64];
    cJSON_AddStringToObject(update, "kind", kind);
    cJSON_AddStringToObject(update, "wabaId", item->owner);
    cJSON_AddStringToObject(update, "templateId", item->id);
    cJSON *message = cJSON_AddObjectToObject(update, "message");
    snprintf(name, sizeof name, "previous_%s", word);
    cJSON_AddStringToObject(message, name, before ? before : "UNKNOWN");
    snprintf(name, sizeof name, "new_%s", word);
    cJSON_AddStringToObject(message, name, after);
    cJSON_AddItemToArray(list, update);
}

static const char *quality_of(const cJSON *template) {
    return json_text(json_get(template, "quality_score"), "score");
}

/* A template whose quality falls to RED is paused, and disabled the third time. */
static void pause_bad(const char *id, cJSON *template) {
    const char *status = json_text(template, "status");
    if (!status || strcmp(status, "APPROVED") != 0)
        return;
    template_quota_add(TEMPLATE_PAUSED, id, "");
    set_text(template, "status",
             template_quota_count(TEMPLATE_PAUSED, id, "") < 3 ? "PAUSED" : "DISABLED");
}

/* Changes the template, and adds the webhooks of what changed to the list. */
static void control_change(const struct item *item, cJSON *template, const cJSON *change,
                           cJSON *list) {
    cJSON *before = cJSON_Duplicate(template, true);
    const char *quality = quality_of(before);
    json_merge(template, change);
    if (quality_of(template) && !text_matches(quality, quality_of(template))) {
        add_change(list, item, "template_quality", "quality_score", quality, quality_of(template));
        if (strcmp(quality_of(template), "RED") == 0)
            pause_bad(item->id, template);
    }
    if (json_text(template, "category") &&
        !text_matches(json_text(before, "category"), json_text(template, "category")))
        add_change(list, item, "template_category", "category", json_text(before, "category"),
                   json_text(template, "category"));
    if (json_text(template, "status") &&
        !text_matches(json_text(before, "status"), json_text(template, "status")))
        add_status(list, item, template);
    cJSON_Delete(before);
}

const char *template_control(struct exchange *exchange, const char *id, bool *waits) {
    const cJSON *change = exchange->json;
    const struct item *item = collection_find(&templates, id);
    if (!item)
        return "there is no template with this id";
    if (!cJSON_IsObject(change) || json_get(change, "id"))
        return "an object without a member id is needed";
    cJSON *template = cJSON_ParseWithLength(item->raw.p, item->raw.n), *list = cJSON_CreateArray();
    control_change(item, template, change, list);
    collection_replace(&templates, id, print(exchange->arena, template));
    *waits = cJSON_GetArraySize(list) > 0 && webhook_notify(exchange, list);
    cJSON_Delete(template);
    cJSON_Delete(list);
    return NULL;
}
