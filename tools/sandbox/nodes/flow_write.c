#include "nodes/edges.h"

#include <inttypes.h>
#include <sodium.h>

#include "state/flow_asset.h"
#include "state/flow_list.h"
#include "state/flow_problems.h"
#include "state/node_state.h"
#include "text/json_merge.h"
#include "text/json_print.h"
#include "text/strict_json.h"
#include "text/text.h"
#include "wire/graph_error.h"
#include "wire/multipart_stream.h"
#include "wire/parameters.h"

enum { FLOWS_MAX = 1000, TEXT_MAX = 1000, CATEGORIES_MAX = 9, VERSION_MAX = 16 };

static const char categories_known[] = "SIGN_UP|SIGN_IN|APPOINTMENT_BOOKING|LEAD_GENERATION|"
                                       "CONTACT_US|CUSTOMER_SUPPORT|SURVEY|OTHER|SHOPPING";

/* The texts of a request that a flow keeps as they are. */
static const char *const kept_texts[] = {"name", "endpoint_uri", "application_id"};

static cJSON *flow_read(const char *id) {
    const struct item *item = collection_find(&flows, id);
    return item ? cJSON_ParseWithLength(item->raw.p, item->raw.n) : NULL;
}

/* Keeps the changed flow and ends it. */
static void flow_keep(struct exchange *exchange, const char *id, cJSON *flow) {
    struct buffer raw = buffer_in(exchange->arena);
    json_print(&raw, flow);
    collection_replace(&flows, id, buffer_slice(&raw));
    cJSON_Delete(flow);
}

static bool has_status(const cJSON *flow, const char *status) {
    return text_matches(json_text(flow, "status"), status);
}

static bool check_categories(struct exchange *exchange, const cJSON *categories) {
    const cJSON *item;
    int count = cJSON_GetArraySize(categories);
    bool good = cJSON_IsArray(categories) && count > 0 && count <= CATEGORIES_MAX;
    cJSON_ArrayForEach(item, categories) {
        const char *name = cJSON_GetStringValue(item);
        good = good && name && slice_has_word(slice_of(categories_known), '|', slice_of(name));
    }
    if (!good)
        reply_error(exchange, 100,
                    "(#100) Param categories must be a list of flow categories such as OTHER.");
    return good;
}

/* Whether these texts are not too long. */
static bool check_texts(struct exchange *exchange) {
    for (size_t i = 0; i < sizeof kept_texts / sizeof *kept_texts; i++) {
        const char *text = parameter_text(exchange, kept_texts[i]);
        if (text && strlen(text) > TEXT_MAX) {
            reply_error(exchange, 100, "(#100) Param %s must be at most %d characters long.",
                        kept_texts[i], TEXT_MAX);
            return false;
        }
    }
    return true;
}

/* Whether no other flow of the account has this name. */
static bool check_unique(struct exchange *exchange, const struct account *account, const char *name,
                         const char *own_id) {
    for (size_t i = 0; i < flows.count; i++) {
        const struct item *item = &flows.items[i];
        const char *other = json_member_text(exchange->arena, item->raw, "name");
        if (strcmp(item->owner, account->waba_id) == 0 && other && strcmp(other, name) == 0 &&
            strcmp(item->id, own_id) != 0) {
            reply_error_user(exchange, 4016019, "Flow name is not unique",
                             "Another flow of the account has this name.");
            return false;
        }
    }
    return true;
}

/* Returns a text of at most VERSION_MAX bytes, or NULL. */
static const char *short_text(const cJSON *json, const char *name) {
    const char *text = json_text(json, name);
    return text && strlen(text) <= VERSION_MAX ? text : NULL;
}

/* Keeps a Flow JSON and what the flow takes from it: version, and the errors in it. */
static void flow_use_json(cJSON *flow, const char *id, struct slice bytes) {
    cJSON *json = json_parse(bytes);
    const char *version = short_text(json, "version");
    const char *data_api = short_text(json, "data_api_version");
    json_set(flow, "validation_errors", flow_problems(bytes));
    if (version)
        json_set(flow, "json_version", cJSON_CreateString(version));
    if (data_api)
        json_set(flow, "data_api_version", cJSON_CreateString(data_api));
    cJSON_Delete(json);
    flow_asset_put(id, bytes);
}

/* Publishes the flow. Returns false after answering with an error. */
static bool publish(struct exchange *exchange, cJSON *flow) {
    if (!has_status(flow, "DRAFT") || cJSON_GetArraySize(json_get(flow, "validation_errors")) > 0) {
        reply_error_as(exchange, 139002, 0, NULL, NULL);
        return false;
    }
    json_set(flow, "status", cJSON_CreateString("PUBLISHED"));
    return true;
}

static cJSON *flow_new(struct exchange *exchange, const char *id, const char *name) {
    const char *clone = parameter_text(exchange, "clone_flow_id");
    const char *endpoint = parameter_text(exchange, "endpoint_uri");
    cJSON *flow = clone ? flow_read(clone) : NULL;
    if (!flow)
        flow = cJSON_CreateObject();
    json_set(flow, "id", cJSON_CreateString(id));
    json_set(flow, "name", cJSON_CreateString(name));
    json_set(flow, "status", cJSON_CreateString("DRAFT"));
    json_set(flow, "categories", cJSON_Duplicate(parameter(exchange, "categories"), true));
    if (!json_get(flow, "validation_errors"))
        json_set(flow, "validation_errors", cJSON_CreateArray());
    if (endpoint)
        json_set(flow, "endpoint_uri", cJSON_CreateString(endpoint));
    return flow;
}

/* Adds the flow of the request and answers with its id. */
static void create(struct exchange *exchange, const struct target *target, const char *name) {
    static int64_t count;
    const char *text = parameter_text(exchange, "flow_json");
    const cJSON *object = parameter(exchange, "flow_json");
    struct buffer json = buffer_in(exchange->arena);
    bool publishes = false;
    const char *id =
        arena_printf(exchange->arena, "43%07u%06" PRId64, randombytes_uniform(10000000), ++count);
    if (!text && object)
        json_print(&json, object);
    struct slice bytes = text ? slice_of(text) : buffer_slice(&json);
    if (!flow_asset_fits(bytes.n)) {
        reply_error(exchange, 100, "(#100) Param flow_json is too large.");
        return;
    }
    cJSON *flow = flow_new(exchange, id, name);
    if (!object && parameter_text(exchange, "clone_flow_id"))
        flow_asset_copy(parameter_text(exchange, "clone_flow_id"), id);
    if (object)
        flow_use_json(flow, id, bytes);
    if (parameter_flag(exchange, "publish", &publishes) &&
        (!publishes || publish(exchange, flow))) {
        collection_insert(&flows, target->id, id, SLICE("{}"));
        buffer_printf(&exchange->reply.body, "{\"id\":\"%s\",\"success\":true,", id);
        buffer_add_text(&exchange->reply.body, "\"validation_errors\":");
        json_print(&exchange->reply.body, json_get(flow, "validation_errors"));
        buffer_add_char(&exchange->reply.body, '}');
        flow_keep(exchange, id, flow);
    } else {
        flow_asset_remove(id);
        cJSON_Delete(flow);
    }
}

void flow_create(struct exchange *exchange, const struct target *target) {
    const char *name = parameter_needed(exchange, "name");
    const char *clone = parameter_text(exchange, "clone_flow_id");
    if (!name || !check_texts(exchange) ||
        !check_categories(exchange, parameter(exchange, "categories")) ||
        !check_unique(exchange, target->account, name, ""))
        return;
    if (clone && flow_owner(clone) != target->account)
        reply_unknown_object(exchange, clone);
    else if (collection_count(&flows, target->id) >= FLOWS_MAX)
        reply_error(exchange, 100, "(#100) An account has at most %d flows.", FLOWS_MAX);
    else
        create(exchange, target, name);
}

void flow_change(struct exchange *exchange, const struct target *target) {
    const char *name = parameter_text(exchange, "name");
    const cJSON *categories = parameter(exchange, "categories");
    if (!check_texts(exchange) || (categories && !check_categories(exchange, categories)) ||
        (name && !check_unique(exchange, target->account, name, target->id)))
        return;
    cJSON *flow = flow_read(target->id);
    for (size_t i = 0; i < sizeof kept_texts / sizeof *kept_texts; i++) {
        const char *text = parameter_text(exchange, kept_texts[i]);
        if (text)
            json_set(flow, kept_texts[i], cJSON_CreateString(text));
    }
    if (categories)
        json_set(flow, "categories", cJSON_Duplicate(categories, true));
    flow_keep(exchange, target->id, flow);
    reply_success(exchange);
}

void flow_publish(struct exchange *exchange, const struct target *target) {
    cJSON *flow = flow_read(target->id);
    if (!publish(exchange, flow)) {
        cJSON_Delete(flow);
        return;
    }
    flow_keep(exchange, target->id, flow);
    reply_success(exchange);
}

void flow_deprecate(struct exchange *exchange, const struct target *target) {
    cJSON *flow = flow_read(target->id);
    if (!has_status(flow, "PUBLISHED")) {
        cJSON_Delete(flow);
        reply_error_as(exchange, 139003, 0, NULL, NULL);
        return;
    }
    json_set(flow, "status", cJSON_CreateString("DEPRECATED"));
    flow_keep(exchange, target->id, flow);
    reply_success(exchange);
}

void flow_delete(struct exchange *exchange, const struct target *target) {
    cJSON *flow = flow_read(target->id);
    bool draft = has_status(flow, "DRAFT");
    cJSON_Delete(flow);
    if (!draft) {
        reply_error_as(exchange, 139004, 0, NULL, NULL);
        return;
    }
    collection_remove(&flows, target->id);
    flow_asset_remove(target->id);
    node_state_delete("preview", target->id);
    reply_success(exchange);
}

void flow_assets_show(struct exchange *exchange, const struct target *target) {
    flow_asset_print(exchange, &exchange->reply.body, target->id);
}

/* Whether the form has what an asset needs; else answers with the error. */
static bool check_asset(struct exchange *exchange, struct slice file) {
    const char *type = parameter_needed(exchange, "asset_type");
    if (!type || !parameter_needed(exchange, "name"))
        return false;
    if (strcmp(type, "FLOW_JSON") != 0)
        reply_error(exchange, 100, "(#100) Param asset_type must be one of {FLOW_JSON}.");
    else if (!file.p)
        reply_error(exchange, 100, "(#100) The parameter file is required.");
    else if (!flow_asset_fits(file.n))
        reply_error(exchange, 100, "(#100) Param file is too large.");
    else
        return true;
    return false;
}

struct form {
    struct arena *arena; /* of the request */
    struct buffer value; /* of the part that is read */
    struct slice file;
    bool in_file;
};

static void form_part_begin(void *cls, const char *headers) {
    struct form *form = cls;
    const char *disposition = part_header(form->arena, headers, "Content-Disposition");
    const char *name = header_parameter(form->arena, disposition, "name");
    form->in_file = !form->file.p && name && strcmp(name, "file") == 0;
    form->value = buffer_in(form->arena);
}

static void form_part_data(void *cls, struct slice piece) {
    struct form *form = cls;
    if (form->in_file)
        buffer_add_slice(&form->value, piece);
}

static void form_part_end(void *cls) {
    struct form *form = cls;
    if (form->in_file)
        form->file = form->value.n > 0 ? buffer_slice(&form->value) : SLICE("");
}

/* Sets `*bytes` to the content of the first part with the name `file`; p NULL: there is none.
 * Returns NULL, or the error in the body as a text. */
static const char *form_file(const struct exchange *exchange, struct slice *bytes) {
    static const struct multipart_events events = {form_part_begin, form_part_data, form_part_end};
    struct form form = {.arena = exchange->arena};
    struct multipart multipart;
    multipart_start(&multipart, exchange->arena, exchange_header(exchange, "Content-Type"), &events,
                    &form);
    multipart_feed(&multipart, exchange_body(exchange));
    *bytes = form.file;
    return multipart_finish(&multipart);
}

void flow_assets_put(struct exchange *exchange, const struct target *target) {
    struct slice file;
    const char *problem = form_file(exchange, &file);
    if (problem) {
        reply_error(exchange, 100, "(#100) %s", problem);
        return;
    }
    if (!check_asset(exchange, file))
        return;
    cJSON *flow = flow_read(target->id);
    if (!has_status(flow, "DRAFT")) {
        cJSON_Delete(flow);
        reply_error_as(exchange, 139001, 0, NULL, NULL);
        return;
    }
    flow_use_json(flow, target->id, file);
    buffer_add_text(&exchange->reply.body, "{\"success\":true,\"validation_errors\":");
    json_print(&exchange->reply.body, json_get(flow, "validation_errors"));
    buffer_add_char(&exchange->reply.body, '}');
    flow_keep(exchange, target->id, flow);
}
