#include "nodes/edges.h"

#include <inttypes.h>
#include <sodium.h>

#include "judge/judge.h"
#include "state/template_list.h"
#include "text/json_merge.h"
#include "text/json_print.h"
#include "text/strict_json.h"
#include "text/text.h"
#include "webhooks/webhook_call.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

enum { TEMPLATES_MAX = 6000, TEMPLATE_BYTES_MAX = 64 << 10, NAME_MAX_LENGTH = 512 };

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

/* Gives the template the parameters of the request, without another name or language. */
static void replace(struct exchange *exchange, const struct item *item) {
    cJSON *template = cJSON_ParseWithLength(item->raw.p, item->raw.n);
    const char *name = item_text(exchange->arena, item, "name");
    const char *language = item_text(exchange->arena, item, "language");
    copy_kept(exchange, template);
    set_text(template, "name", name);
    set_text(template, "language", language);
    set_text(template, "status", "PENDING");
    collection_replace(&templates, item->id, print(exchange->arena, template));
    cJSON_Delete(template);
    reply_success(exchange);
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
        reply_error_user(exchange, 2388003, "Message template can't be edited",
                         "Only templates with the status APPROVED, REJECTED or PAUSED can be "
                         "edited.");
    else if (check_category(exchange, category) &&
             (!has_components ||
              check_components(exchange, item_text(arena, item, "language"), kind)))
        replace(exchange, item);
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
    for (; id; id = find_named(exchange, target, name, hsm_id))
        collection_remove(&templates, id);
    reply_success(exchange);
}

/* Sends the platform's webhook about a template whose status was changed, as webhook_notify. */
static bool status_notify(struct exchange *exchange, const char *id, const cJSON *template) {
    static const char *const copied[][2] = {{"rejected_reason", "reason"},
                                            {"category", "message_template_category"}};
    const struct account *account = template_owner(id);
    cJSON *update = cJSON_CreateObject();
    cJSON *message = cJSON_AddObjectToObject(update, "message");
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        if (json_text(template, copied[i][0]))
            cJSON_AddStringToObject(message, copied[i][1], json_text(template, copied[i][0]));
    cJSON_AddStringToObject(update, "kind", "template_status");
    cJSON_AddStringToObject(update, "wabaId", account ? account->waba_id : "");
    cJSON_AddStringToObject(update, "templateId", id);
    cJSON_AddStringToObject(update, "event", json_text(template, "status"));
    bool sent = webhook_notify(exchange, update);
    cJSON_Delete(update);
    return sent;
}

const char *template_control(struct exchange *exchange, const char *id, bool *waits) {
    struct arena *arena = exchange->arena;
    const cJSON *change = exchange->json;
    const struct item *item = collection_find(&templates, id);
    if (!item)
        return "there is no template with this id";
    if (!cJSON_IsObject(change) || json_get(change, "id"))
        return "an object without a member id is needed";
    cJSON *template = cJSON_ParseWithLength(item->raw.p, item->raw.n);
    const char *before = text_copy(arena, json_text(template, "status"));
    json_merge(template, change);
    collection_replace(&templates, id, print(arena, template));
    const char *after = json_text(template, "status");
    *waits = after && !text_matches(before, after) && status_notify(exchange, id, template);
    cJSON_Delete(template);
    return NULL;
}
