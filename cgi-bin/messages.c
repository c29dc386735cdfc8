/* POST /v2/messages/...: free-form messages (spec 4.3). Each kind is a table of fields and a
 * function that writes the platform's object. send.h sends, records and answers all kinds in the
 * same way. */
#include "api/send.h"
#include "api/upstream.h"
#include "payload/recipient.h"

/* --- text --- */

static const struct field text_fields[] = {
    SEND_FIELDS,
    {.name = "text", .type = FIELD_STRING, .required = true},
    {0},
};

static void write_text(struct json_writer *out, struct request *rq) {
    send_copy(out, "body", rq->json, "text");
}

static const struct message_kind text = {"text", text_fields, write_text, NULL};

/* --- media: media.type is the platform's message type --- */

static const char *const media_types[] = {"image", "video", "audio", "document", NULL};

static const struct field media_members[] = {
    {.name = "type", .type = FIELD_STRING, .required = true, .values = media_types},
    {.name = "mediaId", .type = FIELD_STRING, .required = true},
    {.name = "caption", .type = FIELD_STRING},
    {.name = "filename", .type = FIELD_STRING},
    {0},
};

static const struct field media_fields[] = {
    SEND_FIELDS,
    {.name = "media", .type = FIELD_OBJECT, .required = true, .fields = media_members},
    {0},
};

static void write_media(struct json_writer *out, struct request *rq) {
    struct json media = json_get(rq->json, "media"), type = json_get(media, "type");
    send_copy(out, "id", media, "mediaId");
    if (json_equals(type, "document"))
        send_copy(out, "filename", media, "filename");
    if (!json_equals(type, "audio"))
        send_copy(out, "caption", media, "caption");
}

static const struct message_kind media = {NULL, media_fields, write_media, NULL};

/* --- location --- */

static const struct field location_members[] = {
    {.name = "latitude", .type = FIELD_STRING_OR_NUMBER, .required = true},
    {.name = "longitude", .type = FIELD_STRING_OR_NUMBER, .required = true},
    {.name = "name", .type = FIELD_STRING},
    {.name = "address", .type = FIELD_STRING},
    {0},
};

static const struct field location_fields[] = {
    SEND_FIELDS,
    {.name = "location", .type = FIELD_OBJECT, .required = true, .fields = location_members},
    {0},
};

static void write_location(struct json_writer *out, struct request *rq) {
    struct json object = json_get(rq->json, "location");
    for (const struct field *member = location_members; member->type; member++)
        send_copy(out, member->name, object, member->name);
}

static const struct message_kind location = {"location", location_fields, write_location, NULL};

/* --- interactive: the common part of all kinds --- */

/* Writes {"text": VALUE} under `name`, with the value of `member`; nothing when it is absent. */
static void write_part(struct json_writer *out, const char *name, struct request *rq,
                       const char *member) {
    if (!json_is(json_get(rq->json, member)))
        return;
    json_write_object(out, name);
    send_copy(out, "text", rq->json, member);
    json_write_end(out);
}

static bool declares(const struct field *fields, const char *name) {
    for (; fields->type; fields++)
        if (fields->name && strcmp(fields->name, name) == 0)
            return true;
    return false;
}

/* Writes the type of an interactive object, then header, body and footer if the kind declares them
 * and the request has them, and opens the object `action`. */
static void open_interactive(struct json_writer *out, struct request *rq, const char *type,
                             const struct field *fields) {
    json_write_text(out, "type", type);
    if (declares(fields, "headerText") && json_is(json_get(rq->json, "headerText"))) {
        json_write_object(out, "header");
        json_write_text(out, "type", "text");
        send_copy(out, "text", rq->json, "headerText");
        json_write_end(out);
    }
    write_part(out, "body", rq, "bodyText");
    if (declares(fields, "footerText"))
        write_part(out, "footer", rq, "footerText");
    json_write_object(out, "action");
}

/* Writes the array `name` with the objects of `items`; of each only `members` are copied. */
static void write_items(struct json_writer *out, const char *name, struct json items,
                        const struct field *members) {
    json_write_array(out, name);
    for (struct json item = json_first(items); json_is(item); item = json_next(item)) {
        json_write_object(out, NULL);
        for (const struct field *member = members; member->type; member++)
            send_copy(out, member->name, item, member->name);
        json_write_end(out);
    }
    json_write_end(out);
}

/* Writes the sections of the request's body, each with its title and the items of its `array`. */
static void write_sections(struct json_writer *out, struct request *rq, const char *array,
                           const struct field *members) {
    struct json sections = json_get(rq->json, "sections");
    json_write_array(out, "sections");
    for (struct json section = json_first(sections); json_is(section);
         section = json_next(section)) {
        json_write_object(out, NULL);
        send_copy(out, "title", section, "title");
        write_items(out, array, json_get(section, array), members);
        json_write_end(out);
    }
    json_write_end(out);
}

#define REQUIRED_TEXT(member)                                                                      \
    { .name = member, .type = FIELD_STRING, .required = true }
#define OPTIONAL_TEXT(member)                                                                      \
    { .name = member, .type = FIELD_STRING }

/* --- catalog message --- */

static const struct field catalog_fields[] = {
    SEND_FIELDS,
    REQUIRED_TEXT("bodyText"),
    OPTIONAL_TEXT("footerText"),
    OPTIONAL_TEXT("thumbnailProductRetailerId"),
    {0},
};

static void write_catalog(struct json_writer *out, struct request *rq) {
    open_interactive(out, rq, "catalog_message", catalog_fields);
    json_write_text(out, "name", "catalog_message");
    if (json_is(json_get(rq->json, "thumbnailProductRetailerId"))) {
        json_write_object(out, "parameters");
        send_copy(out, "thumbnail_product_retailer_id", rq->json, "thumbnailProductRetailerId");
        json_write_end(out);
    }
    json_write_end(out);
}

static const struct message_kind catalog = {"interactive", catalog_fields, write_catalog, NULL};

/* --- single product --- */

static const struct field product_fields[] = {
    SEND_FIELDS,
    REQUIRED_TEXT("catalogId"),
    REQUIRED_TEXT("productRetailerId"),
    OPTIONAL_TEXT("bodyText"),
    OPTIONAL_TEXT("footerText"),
    {0},
};

static void write_product(struct json_writer *out, struct request *rq) {
    open_interactive(out, rq, "product", product_fields);
    send_copy(out, "catalog_id", rq->json, "catalogId");
    send_copy(out, "product_retailer_id", rq->json, "productRetailerId");
    json_write_end(out);
}

static const struct message_kind product = {"interactive", product_fields, write_product, NULL};

/* --- product list --- */

static const struct field product_item_members[] = {
    REQUIRED_TEXT("product_retailer_id"),
    {0},
};

static const struct field product_section_members[] = {
    REQUIRED_TEXT("title"),
    {.name = "product_items",
     .type = FIELD_ARRAY,
     .required = true,
     .min = 1,
     .fields = product_item_members},
    {0},
};

static const struct field product_list_fields[] = {
    SEND_FIELDS,
    REQUIRED_TEXT("catalogId"),
    REQUIRED_TEXT("headerText"),
    REQUIRED_TEXT("bodyText"),
    OPTIONAL_TEXT("footerText"),
    {.name = "sections",
     .type = FIELD_ARRAY,
     .required = true,
     .min = 1,
     .fields = product_section_members},
    {0},
};

static void write_product_list(struct json_writer *out, struct request *rq) {
    open_interactive(out, rq, "product_list", product_list_fields);
    send_copy(out, "catalog_id", rq->json, "catalogId");
    write_sections(out, rq, "product_items", product_item_members);
    json_write_end(out);
}

static const struct message_kind product_list = {"interactive", product_list_fields,
                                                 write_product_list, NULL};

/* --- product carousel --- */

static const struct field card_members[] = {
    REQUIRED_TEXT("catalogId"),
    REQUIRED_TEXT("productRetailerId"),
    {0},
};

static const struct field carousel_fields[] = {
    SEND_FIELDS,
    REQUIRED_TEXT("bodyText"),
    {.name = "cards", .type = FIELD_ARRAY, .required = true, .min = 2, .fields = card_members},
    {0},
};

static void write_carousel(struct json_writer *out, struct request *rq) {
    struct json cards = json_get(rq->json, "cards");
    int64_t index = 0;
    open_interactive(out, rq, "carousel", carousel_fields);
    json_write_array(out, "cards");
    for (struct json card = json_first(cards); json_is(card); card = json_next(card)) {
        json_write_object(out, NULL);
        json_write_integer(out, "card_index", index++);
        json_write_text(out, "type", "product");
        json_write_object(out, "action");
        send_copy(out, "product_retailer_id", card, "productRetailerId");
        send_copy(out, "catalog_id", card, "catalogId");
        json_write_end(out);
        json_write_end(out);
    }
    json_write_end(out);
    json_write_end(out);
}

static const struct message_kind carousel = {"interactive", carousel_fields, write_carousel, NULL};

/* --- reply buttons --- */

static const struct field button_members[] = {
    REQUIRED_TEXT("id"),
    REQUIRED_TEXT("title"),
    {0},
};

static const struct field buttons_fields[] = {
    SEND_FIELDS,
    REQUIRED_TEXT("bodyText"),
    {.name = "buttons",
     .type = FIELD_ARRAY,
     .required = true,
     .min = 1,
     .max = 3,
     .fields = button_members},
    {0},
};

static void write_buttons(struct json_writer *out, struct request *rq) {
    struct json buttons = json_get(rq->json, "buttons");
    open_interactive(out, rq, "button", buttons_fields);
    json_write_array(out, "buttons");
    for (struct json button = json_first(buttons); json_is(button); button = json_next(button)) {
        json_write_object(out, NULL);
        json_write_text(out, "type", "reply");
        json_write_object(out, "reply");
        send_copy(out, "id", button, "id");
        send_copy(out, "title", button, "title");
        json_write_end(out);
        json_write_end(out);
    }
    json_write_end(out);
    json_write_end(out);
}

static const struct message_kind buttons = {"interactive", buttons_fields, write_buttons, NULL};

/* --- list --- */

static const struct field row_members[] = {
    REQUIRED_TEXT("id"),
    REQUIRED_TEXT("title"),
    OPTIONAL_TEXT("description"),
    {0},
};

static const struct field list_section_members[] = {
    REQUIRED_TEXT("title"),
    {.name = "rows", .type = FIELD_ARRAY, .required = true, .min = 1, .fields = row_members},
    {0},
};

static const struct field list_fields[] = {
    SEND_FIELDS,
    REQUIRED_TEXT("bodyText"),
    REQUIRED_TEXT("buttonText"),
    OPTIONAL_TEXT("headerText"),
    OPTIONAL_TEXT("footerText"),
    {.name = "sections",
     .type = FIELD_ARRAY,
     .required = true,
     .min = 1,
     .fields = list_section_members},
    {0},
};

static void write_list(struct json_writer *out, struct request *rq) {
    open_interactive(out, rq, "list", list_fields);
    send_copy(out, "button", rq->json, "buttonText");
    write_sections(out, rq, "rows", row_members);
    json_write_end(out);
}

static const struct message_kind list = {"interactive", list_fields, write_list, NULL};

/* --- the dispatcher: the first row whose conditions are all met decides the kind --- */

enum shape { NOTHING, ANYTHING, STRING, ARRAY, OBJECT };

static const char *const shape_names[] = {
    [ANYTHING] = "any", [STRING] = "string", [ARRAY] = "array", [OBJECT] = "object"};

static const struct branch {
    const struct message_kind *kind;
    struct {
        const char *member;
        enum shape shape;
    } conditions[3];
} branches[] = {
    {&text, {{"text", STRING}}},
    {&media, {{"media", OBJECT}}},
    {&location, {{"location", OBJECT}}},
    {&product, {{"bodyText", STRING}, {"catalogId", ANYTHING}, {"productRetailerId", ANYTHING}}},
    {&carousel, {{"bodyText", STRING}, {"cards", ARRAY}}},
    {&product_list, {{"bodyText", STRING}, {"catalogId", ANYTHING}, {"sections", ARRAY}}},
    {&buttons, {{"bodyText", STRING}, {"buttons", ARRAY}}},
    {&list, {{"bodyText", STRING}, {"buttonText", ANYTHING}, {"sections", ARRAY}}},
    /* last, since footerText is an optional field of other kinds too */
    {&catalog, {{"bodyText", STRING}, {"thumbnailProductRetailerId", ANYTHING}}},
    {&catalog, {{"bodyText", STRING}, {"footerText", ANYTHING}}},
};

static bool has_shape(struct json value, enum shape shape) {
    switch (shape) {
    case NOTHING: return true;
    case ANYTHING: return json_is(value);
    case STRING: return json_type(value) == JSON_STRING;
    case ARRAY: return json_type(value) == JSON_ARRAY;
    case OBJECT: return json_type(value) == JSON_OBJECT;
    }
    return false;
}

static const struct message_kind *infer_kind(struct json body) {
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
        bool matches = true;
        for (size_t j = 0; j < 3 && branches[i].conditions[j].shape && matches; j++)
            matches = has_shape(json_get(body, branches[i].conditions[j].member),
                                branches[i].conditions[j].shape);
        if (matches)
            return branches[i].kind;
    }
    return NULL;
}

/* --- the handlers --- */

/* The media kind has no fixed type: the body names it. */
static int send_kind(struct request *rq, const struct message_kind *kind) {
    if (kind->type)
        return send_message(rq, kind);
    struct message_kind named = *kind;
    named.type = json_text(json_find(rq->json, "media.type"), rq->arena);
    return send_message(rq, &named);
}

static int post_message(struct request *rq) {
    return send_kind(rq, rq->route->data);
}

/* The path of a kind's own route, relative to the dispatcher's. In the table these routes follow
 * the dispatcher's. */
static const char *kind_name(const struct route *dispatcher, const struct message_kind *kind) {
    const struct route *route = dispatcher + 1;
    while (route->data != kind)
        route++;
    return route->path + strlen(dispatcher->path) + 1;
}

/* Writes the members that make the dispatcher choose a kind, each with its required shape. */
static void write_conditions(struct json_writer *out, const struct branch *branch) {
    json_write_object(out, "members");
    for (size_t i = 0; i < 3 && branch->conditions[i].shape; i++)
        json_write_text(out, branch->conditions[i].member,
                        shape_names[branch->conditions[i].shape]);
    json_write_end(out);
}

/* `details` lists every kind by its path, with its conditions. */
static int fail_unsupported(struct request *rq) {
    struct json_writer details;
    json_write_start(&details, rq->arena);
    json_write_array(&details, NULL);
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
        json_write_object(&details, NULL);
        json_write_text(&details, "kind", kind_name(rq->route, branches[i].kind));
        write_conditions(&details, &branches[i]);
        json_write_end(&details);
    }
    json_write_end(&details);
    fail(rq, INVALID, "Unsupported message payload.");
    return fail_with_details(rq, json_written(&details));
}

static int post_any_message(struct request *rq) {
    const struct message_kind *kind = infer_kind(rq->json);
    if (!kind)
        return fail_unsupported(rq);
    struct issues issues;
    request_start_issues(rq, &issues);
    field_check(kind->fields, rq->json, "", &issues);
    return fail_on_issues(rq, &issues) ? -1 : send_kind(rq, kind);
}

static const struct field no_fields[] = {{0}}; /* post_any_message checks those of the kind */

#define SENDS(route_path, message)                                                                 \
    {                                                                                              \
        .method = "POST", .path = "/v2/messages/send" route_path, .guard = &line_guard,            \
        .handle = post_message, .body = BODY_JSON, .fields = message##_fields, .data = &message    \
    }

/* clang-format off */
static const struct route routes[] = {
    {.method = "POST", .path = "/v2/messages/send",
     .guard = &line_guard, .handle = post_any_message, .body = BODY_JSON,
     .fields = no_fields, .handler_checks_fields = true},
    SENDS("/text", text),
    SENDS("/media", media),
    SENDS("/location", location),
    SENDS("/interactive/catalog-message", catalog),
    SENDS("/interactive/product", product),
    SENDS("/interactive/product-list", product_list),
    SENDS("/interactive/product-carousel", carousel),
    SENDS("/interactive/button", buttons),
    SENDS("/interactive/list", list),
    {0},
};
/* clang-format on */

int main(void) {
    return serve(&(struct service){.name = "messages",
                                   .routes = routes,
                                   .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM,
                                   .prepare = upstream_prepare});
}
