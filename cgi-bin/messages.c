/* POST /v2/messages/...: free-form messages (spec 4.3). Each kind is a table of fields, a function
 * that writes the platform's object, and a row of `kinds`, from which its route and its place in
 * the dispatcher are made. send.h sends, records and answers all kinds in the same way. */
#include "api/read_receipt.h"
#include "api/send.h"
#include "api/upstream.h"
#include "base/http_client.h"

/* --- members that are written as their table declares them --- */

/* Returns a name in camelCase as the platform writes it: waId as wa_id. */
static const char *snake_case(struct arena *arena, const char *name) {
    struct buffer out = buffer_in(arena);
    if (!strpbrk(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        return name;
    for (; *name; name++)
        buffer_printf(&out, *name >= 'A' && *name <= 'Z' ? "_%c" : "%c", *name | 0x20);
    return buffer_slice(&out).p;
}

static void write_array(struct json_writer *out, struct request *rq, const char *name,
                        struct json items, const struct field *rows);

/* Writes the members of `object` that have a row, at any depth, in the order of the rows and under
 * the platform's names. */
static void write_declared(struct json_writer *out, struct request *rq, struct json object,
                           const struct field *rows) {
    for (const struct field *row = rows; row->type; row++) {
        const char *name = snake_case(rq->arena, row->name);
        struct json value = json_get(object, row->name);
        if (!row->fields || !json_is(value)) {
            send_copy(out, name, object, row->name);
        } else if (row->type == FIELD_OBJECT) {
            json_write_object(out, name);
            write_declared(out, rq, value, row->fields);
            json_write_end(out);
        } else
            write_array(out, rq, name, value, row->fields);
    }
}

/* Writes each of the items, objects whose members have the rows. */
static void write_objects(struct json_writer *out, struct request *rq, struct json items,
                          const struct field *rows) {
    for (struct json item = json_first(items); json_is(item); item = json_next(item)) {
        json_write_object(out, NULL);
        write_declared(out, rq, item, rows);
        json_write_end(out);
    }
}

/* The same as an array. */
static void write_array(struct json_writer *out, struct request *rq, const char *name,
                        struct json items, const struct field *rows) {
    json_write_array(out, name);
    write_objects(out, rq, items, rows);
    json_write_end(out);
}

/* --- text --- */

static const struct field text_fields[] = {
    QUOTING_FIELDS,
    {.name = "text", .type = FIELD_STRING, .required = true},
    {0},
};

static void write_text(struct json_writer *out, struct request *rq) {
    send_copy(out, "body", rq->json, "text");
}

/* --- media: media.type is the platform's message type --- */

static const char *const media_types[] = {"image", "video", "audio", "document", NULL};

static const char *const media_sources[] = {"mediaId", "link", NULL};

#define URL_FIELD(name_)                                                                           \
    .name = (name_), .type = FIELD_STRING, .rule = &field_url_rule,                                \
    .example = "https://example.com/a"

/* clang-format off */
/* The fields of media: the id of an upload, or a URL that the platform fetches. */
#define MEDIA_SOURCE_FIELDS                                                                        \
    {.name = "mediaId", .type = FIELD_STRING},                                                     \
    {URL_FIELD("link")},                                                                           \
    {.type = FIELD_ONE_OF, .names = media_sources, .max = 1}
/* clang-format on */

static void write_media_source(struct json_writer *out, struct json media) {
    send_copy(out, "id", media, "mediaId");
    send_copy(out, "link", media, "link");
}

static const struct field media_members[] = {
    {.name = "type", .type = FIELD_STRING, .required = true, .values = media_types},
    MEDIA_SOURCE_FIELDS,
    {.name = "caption", .type = FIELD_STRING},
    {.name = "filename", .type = FIELD_STRING},
    {0},
};

static const struct field media_fields[] = {
    QUOTING_FIELDS,
    {.name = "media", .type = FIELD_OBJECT, .required = true, .fields = media_members},
    {0},
};

static void write_media(struct json_writer *out, struct request *rq) {
    struct json media = json_get(rq->json, "media"), type = json_get(media, "type");
    write_media_source(out, media);
    if (json_equals(type, "document"))
        send_copy(out, "filename", media, "filename");
    if (!json_equals(type, "audio"))
        send_copy(out, "caption", media, "caption");
}

/* --- sticker --- */

static const struct field sticker_members[] = {
    MEDIA_SOURCE_FIELDS,
    {0},
};

static const struct field sticker_fields[] = {
    QUOTING_FIELDS,
    {.name = "sticker", .type = FIELD_OBJECT, .required = true, .fields = sticker_members},
    {0},
};

static void write_sticker(struct json_writer *out, struct request *rq) {
    write_media_source(out, json_get(rq->json, "sticker"));
}

/* --- location --- */

static const struct field location_members[] = {
    {.name = "latitude", .type = FIELD_STRING_OR_NUMBER, .required = true},
    {.name = "longitude", .type = FIELD_STRING_OR_NUMBER, .required = true},
    {.name = "name", .type = FIELD_STRING},
    {.name = "address", .type = FIELD_STRING},
    {0},
};

static const struct field location_fields[] = {
    QUOTING_FIELDS,
    {.name = "location", .type = FIELD_OBJECT, .required = true, .fields = location_members},
    {0},
};

static void write_location(struct json_writer *out, struct request *rq) {
    write_declared(out, rq, json_get(rq->json, "location"), location_members);
}

/* --- reaction: an empty emoji removes it --- */

static const struct field reaction_fields[] = {
    SEND_FIELDS,
    {.name = "messageId", .type = FIELD_STRING, .required = true, .example = "wamid.x="},
    {.name = "emoji", .type = FIELD_STRING, .required = true, .may_be_empty = true},
    {0},
};

static void write_reaction(struct json_writer *out, struct request *rq) {
    send_copy(out, "message_id", rq->json, "messageId");
    send_copy(out, "emoji", rq->json, "emoji");
}

/* --- contacts: the platform's names in camelCase --- */

#define REQUIRED_TEXT(member)                                                                      \
    { .name = member, .type = FIELD_STRING, .required = true }
#define OPTIONAL_TEXT(member)                                                                      \
    { .name = member, .type = FIELD_STRING }

static const struct field contact_name_members[] = {
    REQUIRED_TEXT("formattedName"),
    OPTIONAL_TEXT("firstName"),
    OPTIONAL_TEXT("lastName"),
    OPTIONAL_TEXT("middleName"),
    OPTIONAL_TEXT("suffix"),
    OPTIONAL_TEXT("prefix"),
    {0},
};

static const struct field contact_phone_members[] = {
    OPTIONAL_TEXT("phone"),
    OPTIONAL_TEXT("type"),
    OPTIONAL_TEXT("waId"),
    {0},
};

static const struct field contact_email_members[] = {
    OPTIONAL_TEXT("email"),
    OPTIONAL_TEXT("type"),
    {0},
};

static const struct field contact_url_members[] = {
    OPTIONAL_TEXT("url"),
    OPTIONAL_TEXT("type"),
    {0},
};

static const struct field contact_address_members[] = {
    OPTIONAL_TEXT("street"),  OPTIONAL_TEXT("city"),
    OPTIONAL_TEXT("state"),   OPTIONAL_TEXT("zip"),
    OPTIONAL_TEXT("country"), OPTIONAL_TEXT("countryCode"),
    OPTIONAL_TEXT("type"),    {0},
};

static const struct field contact_org_members[] = {
    OPTIONAL_TEXT("company"),
    OPTIONAL_TEXT("department"),
    OPTIONAL_TEXT("title"),
    {0},
};

static const struct field contact_members[] = {
    {.name = "name", .type = FIELD_OBJECT, .required = true, .fields = contact_name_members},
    {.name = "phones", .type = FIELD_ARRAY, .fields = contact_phone_members},
    {.name = "emails", .type = FIELD_ARRAY, .fields = contact_email_members},
    {.name = "urls", .type = FIELD_ARRAY, .fields = contact_url_members},
    {.name = "addresses", .type = FIELD_ARRAY, .fields = contact_address_members},
    {.name = "org", .type = FIELD_OBJECT, .fields = contact_org_members},
    OPTIONAL_TEXT("birthday"),
    {0},
};

static const struct field contacts_fields[] = {
    QUOTING_FIELDS,
    {.name = "contacts",
     .type = FIELD_ARRAY,
     .required = true,
     .min = 1,
     .max = 257, /* the platform's limit */
     .fields = contact_members},
    {0},
};

static void write_contacts(struct json_writer *out, struct request *rq) {
    write_objects(out, rq, json_get(rq->json, "contacts"), contact_members);
}

/* --- interactive: the common part of all kinds --- */

/* Writes {"text": VALUE} under `name`, with the value of `member`; nothing when it is absent. */
static void write_part(struct json_writer *out, const char *name, struct json object,
                       const char *member) {
    if (!json_is(json_get(object, member)))
        return;
    json_write_object(out, name);
    send_copy(out, "text", object, member);
    json_write_end(out);
}

/* Writes the type of an interactive object, then header, body and footer if the kind declares them
 * and the request has them, and opens the object `action`. */
static void open_interactive(struct json_writer *out, struct request *rq, const char *type,
                             const struct field *fields) {
    json_write_text(out, "type", type);
    if (field_is_declared(fields, SLICE("headerText")) &&
        json_is(json_get(rq->json, "headerText"))) {
        json_write_object(out, "header");
        json_write_text(out, "type", "text");
        send_copy(out, "text", rq->json, "headerText");
        json_write_end(out);
    }
    write_part(out, "body", rq->json, "bodyText");
    if (field_is_declared(fields, SLICE("footerText")))
        write_part(out, "footer", rq->json, "footerText");
    json_write_object(out, "action");
}

/* --- catalog message --- */

static const struct field catalog_fields[] = {
    QUOTING_FIELDS,
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

/* --- single product --- */

static const struct field product_fields[] = {
    QUOTING_FIELDS,
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
    QUOTING_FIELDS,
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
    write_array(out, rq, "sections", json_get(rq->json, "sections"), product_section_members);
    json_write_end(out);
}

/* --- product carousel --- */

static const struct field card_members[] = {
    REQUIRED_TEXT("catalogId"),
    REQUIRED_TEXT("productRetailerId"),
    {0},
};

static const struct field carousel_fields[] = {
    QUOTING_FIELDS,
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

/* --- reply buttons --- */

static const struct field button_members[] = {
    REQUIRED_TEXT("id"),
    REQUIRED_TEXT("title"),
    {0},
};

static const struct field buttons_fields[] = {
    QUOTING_FIELDS,
    REQUIRED_TEXT("bodyText"),
    {.name = "buttons",
     .type = FIELD_ARRAY,
     .required = true,
     .min = 1,
     .max = 3,
     .fields = button_members},
    OPTIONAL_TEXT("headerText"),
    OPTIONAL_TEXT("footerText"),
    {0},
};

/* Writes the array `buttons`, each with the platform's type of the button. */
static void write_reply_buttons(struct json_writer *out, struct json buttons, const char *type) {
    json_write_array(out, "buttons");
    for (struct json button = json_first(buttons); json_is(button); button = json_next(button)) {
        json_write_object(out, NULL);
        json_write_text(out, "type", type);
        json_write_object(out, type);
        send_copy(out, "id", button, "id");
        send_copy(out, "title", button, "title");
        json_write_end(out);
        json_write_end(out);
    }
    json_write_end(out);
}

static void write_buttons(struct json_writer *out, struct request *rq) {
    open_interactive(out, rq, "button", buttons_fields);
    write_reply_buttons(out, json_get(rq->json, "buttons"), "reply");
    json_write_end(out);
}

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
    QUOTING_FIELDS,
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
    write_array(out, rq, "sections", json_get(rq->json, "sections"), list_section_members);
    json_write_end(out);
}

/* --- button that opens a URL --- */

/* Writes the button's action, whose object is open already. */
static void write_url_button(struct json_writer *out, struct json object) {
    json_write_text(out, "name", "cta_url");
    json_write_object(out, "parameters");
    send_copy(out, "display_text", object, "buttonText");
    send_copy(out, "url", object, "url");
    json_write_end(out);
}

static const struct field cta_url_fields[] = {
    QUOTING_FIELDS,
    REQUIRED_TEXT("bodyText"),
    REQUIRED_TEXT("buttonText"),
    {URL_FIELD("url"), .required = true},
    OPTIONAL_TEXT("headerText"),
    OPTIONAL_TEXT("footerText"),
    {0},
};

static void write_cta_url(struct json_writer *out, struct request *rq) {
    open_interactive(out, rq, "cta_url", cta_url_fields);
    write_url_button(out, rq->json);
    json_write_end(out);
}

/* --- flow: its replies are counted for it (spec 2.6) --- */

static const char *const flow_modes[] = {"published", "draft", NULL};
static const char *const flow_actions[] = {"navigate", "data_exchange", NULL};

static const struct field flow_fields[] = {
    QUOTING_FIELDS,
    REQUIRED_TEXT("bodyText"),
    REQUIRED_TEXT("buttonText"),
    REQUIRED_TEXT("flowId"),
    OPTIONAL_TEXT("headerText"),
    OPTIONAL_TEXT("footerText"),
    OPTIONAL_TEXT("flowToken"),
    {.name = "flowMode", .type = FIELD_STRING, .values = flow_modes},
    {.name = "flowAction", .type = FIELD_STRING, .values = flow_actions},
    OPTIONAL_TEXT("flowScreen"),
    {.name = "flowData", .type = FIELD_OBJECT},
    {0},
};

static void write_flow(struct json_writer *out, struct request *rq) {
    open_interactive(out, rq, "flow", flow_fields);
    json_write_text(out, "name", "flow");
    json_write_object(out, "parameters");
    json_write_text(out, "flow_message_version", "3");
    send_copy(out, "flow_id", rq->json, "flowId");
    send_copy(out, "flow_cta", rq->json, "buttonText");
    send_copy(out, "flow_token", rq->json, "flowToken");
    send_copy(out, "mode", rq->json, "flowMode");
    send_copy(out, "flow_action", rq->json, "flowAction");
    if (json_is(json_get(rq->json, "flowScreen")) || json_is(json_get(rq->json, "flowData"))) {
        json_write_object(out, "flow_action_payload");
        send_copy(out, "screen", rq->json, "flowScreen");
        send_copy(out, "data", rq->json, "flowData");
        json_write_end(out);
    }
    json_write_end(out);
    json_write_end(out);
}

static void record_flow(struct request *rq, struct store_send *send) {
    send->flow_id = json_text(json_get(rq->json, "flowId"), rq->arena);
    send->flow_token = json_text(json_get(rq->json, "flowToken"), rq->arena);
}

/* --- request for the recipient's location --- */

static const struct field location_request_fields[] = {
    QUOTING_FIELDS,
    REQUIRED_TEXT("bodyText"),
    {.name = "locationRequest", .type = FIELD_BOOLEAN}, /* selects the kind in the dispatcher */
    {0},
};

static void write_location_request(struct json_writer *out, struct request *rq) {
    open_interactive(out, rq, "location_request_message", location_request_fields);
    json_write_text(out, "name", "send_location");
    json_write_end(out);
}

/* --- request for the recipient's address --- */

static const struct field saved_address_members[] = {
    REQUIRED_TEXT("id"),
    {.name = "value", .type = FIELD_OBJECT, .required = true},
    {0},
};

static const struct field address_fields[] = {
    QUOTING_FIELDS,
    REQUIRED_TEXT("bodyText"),
    {.name = "country", .type = FIELD_STRING, .required = true, .example = "IN"},
    OPTIONAL_TEXT("headerText"),
    OPTIONAL_TEXT("footerText"),
    {.name = "values", .type = FIELD_OBJECT},
    {.name = "validationErrors", .type = FIELD_OBJECT},
    {.name = "savedAddresses", .type = FIELD_ARRAY, .fields = saved_address_members},
    {0},
};

static void write_address(struct json_writer *out, struct request *rq) {
    struct json saved = json_get(rq->json, "savedAddresses");
    open_interactive(out, rq, "address_message", address_fields);
    json_write_text(out, "name", "address_message");
    json_write_object(out, "parameters");
    send_copy(out, "country", rq->json, "country");
    send_copy(out, "values", rq->json, "values");
    send_copy(out, "validation_errors", rq->json, "validationErrors");
    if (json_is(saved))
        write_array(out, rq, "saved_addresses", saved, saved_address_members);
    json_write_end(out);
    json_write_end(out);
}

/* --- media carousel --- */

static const char *const card_media_types[] = {"image", "video", NULL};
static const char *const card_actions[] = {"url", "buttons", NULL};
static const char *const card_labels[] = {"buttonText", "buttons", NULL};

static const struct field card_media_members[] = {
    {.name = "type", .type = FIELD_STRING, .required = true, .values = card_media_types},
    MEDIA_SOURCE_FIELDS,
    {0},
};

/* A card has url and buttonText, or buttons. */
static const struct field media_card_members[] = {
    {.name = "media", .type = FIELD_OBJECT, .required = true, .fields = card_media_members},
    OPTIONAL_TEXT("bodyText"),
    OPTIONAL_TEXT("buttonText"),
    {URL_FIELD("url")},
    {.name = "buttons", .type = FIELD_ARRAY, .min = 1, .fields = button_members},
    {.type = FIELD_ONE_OF, .names = card_actions, .max = 1},
    {.type = FIELD_ONE_OF, .names = card_labels, .max = 1},
    {0},
};

static const struct field media_carousel_fields[] = {
    QUOTING_FIELDS,
    REQUIRED_TEXT("bodyText"),
    {.name = "mediaCards",
     .type = FIELD_ARRAY,
     .required = true,
     .min = 2,
     .max = 10, /* the platform's limit */
     .fields = media_card_members},
    {0},
};

static void write_card_header(struct json_writer *out, struct request *rq, struct json media) {
    const char *type = json_text(json_get(media, "type"), rq->arena);
    json_write_object(out, "header");
    json_write_text(out, "type", type);
    json_write_object(out, type);
    write_media_source(out, media);
    json_write_end(out);
    json_write_end(out);
}

static void write_card_action(struct json_writer *out, struct json card) {
    struct json buttons = json_get(card, "buttons");
    json_write_object(out, "action");
    if (json_is(buttons))
        write_reply_buttons(out, buttons, "quick_reply");
    else
        write_url_button(out, card);
    json_write_end(out);
}

/* The platform's type of a card is cta_url with either kind of buttons. */
static void write_media_carousel(struct json_writer *out, struct request *rq) {
    struct json cards = json_get(rq->json, "mediaCards");
    int64_t index = 0;
    open_interactive(out, rq, "carousel", media_carousel_fields);
    json_write_array(out, "cards");
    for (struct json card = json_first(cards); json_is(card); card = json_next(card)) {
        json_write_object(out, NULL);
        json_write_integer(out, "card_index", index++);
        json_write_text(out, "type", "cta_url");
        write_card_header(out, rq, json_get(card, "media"));
        write_part(out, "body", card, "bodyText");
        write_card_action(out, card);
        json_write_end(out);
    }
    json_write_end(out);
    json_write_end(out);
}

/* --- the kinds --- */

enum shape { NOTHING, ANYTHING, STRING, ARRAY, OBJECT, TRUTH };

static const char *const shape_names[] = {[ANYTHING] = "any",
                                          [STRING] = "string",
                                          [ARRAY] = "array",
                                          [OBJECT] = "object",
                                          [TRUTH] = "true"};

enum { CONDITIONS_MAX = 3 };

/* A member of the body, and its required shape. */
struct condition {
    const char *member;
    enum shape shape;
};

#define DISPATCHER "/v2/messages/send"

/* The dispatcher takes the first row whose conditions are all met. Consecutive rows of one path are
 * alternatives of one kind. */
/* clang-format off */
static const struct kind {
    const char *path; /* of the kind's own route */
    struct message_kind message;
    struct condition conditions[CONDITIONS_MAX];
} kinds[] = {
    {DISPATCHER "/text", {"text", text_fields, write_text, NULL, false},
     {{"text", STRING}}},
    /* media.type is the type */
    {DISPATCHER "/media", {NULL, media_fields, write_media, NULL, false},
     {{"media", OBJECT}}},
    {DISPATCHER "/location", {"location", location_fields, write_location, NULL, false},
     {{"location", OBJECT}}},
    {DISPATCHER "/interactive/product", {"interactive", product_fields, write_product, NULL, false},
     {{"bodyText", STRING}, {"catalogId", ANYTHING}, {"productRetailerId", ANYTHING}}},
    {DISPATCHER "/interactive/product-carousel",
     {"interactive", carousel_fields, write_carousel, NULL, false},
     {{"bodyText", STRING}, {"cards", ARRAY}}},
    {DISPATCHER "/interactive/product-list",
     {"interactive", product_list_fields, write_product_list, NULL, false},
     {{"bodyText", STRING}, {"catalogId", ANYTHING}, {"sections", ARRAY}}},
    {DISPATCHER "/interactive/button", {"interactive", buttons_fields, write_buttons, NULL, false},
     {{"bodyText", STRING}, {"buttons", ARRAY}}},
    {DISPATCHER "/interactive/list", {"interactive", list_fields, write_list, NULL, false},
     {{"bodyText", STRING}, {"buttonText", ANYTHING}, {"sections", ARRAY}}},
    {DISPATCHER "/interactive/cta-url",
     {"interactive", cta_url_fields, write_cta_url, NULL, false},
     {{"bodyText", STRING}, {"buttonText", ANYTHING}, {"url", ANYTHING}}},
    {DISPATCHER "/interactive/flow", {"interactive", flow_fields, write_flow, record_flow, false},
     {{"bodyText", STRING}, {"flowId", ANYTHING}}},
    {DISPATCHER "/interactive/location-request",
     {"interactive", location_request_fields, write_location_request, NULL, false},
     {{"bodyText", STRING}, {"locationRequest", TRUTH}}},
    {DISPATCHER "/interactive/address",
     {"interactive", address_fields, write_address, NULL, false},
     {{"bodyText", STRING}, {"country", ANYTHING}}},
    {DISPATCHER "/interactive/media-carousel",
     {"interactive", media_carousel_fields, write_media_carousel, NULL, false},
     {{"bodyText", STRING}, {"mediaCards", ARRAY}}},
    /* after the other kinds in which footerText is an optional field */
    {DISPATCHER "/interactive/catalog-message",
     {"interactive", catalog_fields, write_catalog, NULL, false},
     {{"bodyText", STRING}, {"thumbnailProductRetailerId", ANYTHING}}},
    {DISPATCHER "/interactive/catalog-message",
     {"interactive", catalog_fields, write_catalog, NULL, false},
     {{"bodyText", STRING}, {"footerText", ANYTHING}}},
    {DISPATCHER "/reaction", {"reaction", reaction_fields, write_reaction, NULL, false},
     {{"messageId", STRING}, {"emoji", STRING}}},
    {DISPATCHER "/sticker", {"sticker", sticker_fields, write_sticker, NULL, false},
     {{"sticker", OBJECT}}},
    {DISPATCHER "/contacts",
     {"contacts", contacts_fields, write_contacts, NULL, true},
     {{"contacts", ARRAY}}},
};
/* clang-format on */

enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- the dispatcher --- */

static bool has_shape(struct json value, enum shape shape) {
    switch (shape) {
    case NOTHING: return true;
    case ANYTHING: return json_is(value);
    case STRING: return json_type(value) == JSON_STRING;
    case ARRAY: return json_type(value) == JSON_ARRAY;
    case OBJECT: return json_type(value) == JSON_OBJECT;
    case TRUTH: return json_type(value) == JSON_TRUE;
    }
    return false;
}

static bool meets_conditions(struct json body, const struct kind *kind) {
    for (size_t i = 0; i < CONDITIONS_MAX && kind->conditions[i].shape; i++)
        if (!has_shape(json_get(body, kind->conditions[i].member), kind->conditions[i].shape))
            return false;
    return true;
}

static const struct message_kind *infer_kind(struct json body) {
    for (size_t i = 0; i < KINDS; i++)
        if (meets_conditions(body, &kinds[i]))
            return &kinds[i].message;
    return NULL;
}

/* Writes the members that make the dispatcher choose a kind, each with its required shape. */
static void write_conditions(struct json_writer *out, const struct kind *kind) {
    json_write_object(out, "members");
    for (size_t i = 0; i < CONDITIONS_MAX && kind->conditions[i].shape; i++)
        json_write_text(out, kind->conditions[i].member, shape_names[kind->conditions[i].shape]);
    json_write_end(out);
}

/* Writes every kind: its path below the dispatcher's, and its conditions. */
static void write_kinds(struct json_writer *out, const char *name) {
    json_write_array(out, name);
    for (size_t i = 0; i < KINDS; i++) {
        json_write_object(out, NULL);
        json_write_text(out, "kind", kinds[i].path + strlen(DISPATCHER "/"));
        write_conditions(out, &kinds[i]);
        json_write_end(out);
    }
    json_write_end(out);
}

static int fail_unsupported(struct request *rq) {
    struct json_writer details;
    json_write_start(&details, rq->arena);
    write_kinds(&details, NULL);
    return fail_with_details(rq, INVALID, json_written(&details), "Unsupported message payload.");
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

static int post_any_message(struct request *rq) {
    const struct message_kind *kind = infer_kind(rq->json);
    if (!kind)
        return fail_unsupported(rq);
    struct issues issues;
    request_start_issues(rq, &issues);
    field_check(kind->fields, rq->json, "", &issues);
    return fail_on_issues(rq, &issues) ? -1 : send_kind(rq, kind);
}

static const struct route read_receipt_route = {.method = "POST",
                                                .path = "/v2/messages/read",
                                                .scope = SCOPE_SEND,
                                                .lines = LINES_BY_BODY,
                                                .guard = &line_guard,
                                                .handle = read_receipt_send,
                                                .fields = read_receipt_fields,
                                                .trail = NO_TRAIL("a read receipt")};

/* The dispatcher's route, that of each kind, that of read receipts, and the empty row that ends a
 * table. */
/* clang-format off */
static struct route routes[1 + KINDS + 1 + 1] = {
    {.method = "POST", .path = DISPATCHER,
     .scope = SCOPE_SEND, .lines = LINES_BY_BODY, .guard = &line_guard,
     .handle = post_any_message,
     .fields = field_none /* post_any_message checks those of the kind */,
     .write_kinds = write_kinds, .trail = TRAIL_MESSAGE},
};
/* clang-format on */

static void add_routes(void) {
    size_t count = 1;
    for (size_t i = 0; i < KINDS; i++)
        if (i == 0 || strcmp(kinds[i].path, kinds[i - 1].path) != 0)
            routes[count++] = (struct route){.method = "POST",
                                             .path = kinds[i].path,
                                             .scope = SCOPE_SEND,
                                             .lines = LINES_BY_BODY,
                                             .guard = &line_guard,
                                             .handle = post_message,
                                             .fields = kinds[i].message.fields,
                                             .trail = TRAIL_MESSAGE,
                                             .data = &kinds[i].message};
    routes[count] = read_receipt_route;
}

int main(int argc, char **argv) {
    add_routes();
    return serve(
        &(struct service){.name = "messages",
                          .routes = routes,
                          .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM | KEEPS_RECORDS,
                          .load = http_prepare},
        argc, argv);
}
