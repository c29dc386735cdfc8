#include "judge/judge.h"

#include "state/flow_list.h"
#include "text/json_fields.h"
#include "text/text.h"
#include "wire/graph_error.h"

enum {
    ROWS_MAX = 10,
    PRODUCTS_MAX = 30,
    CALL_MINUTES_MAX = 43200,
    LINE_BREAKS_MAX = 2 /* of a card's body */
};

static bool refuse(struct send *send, const char *details) {
    reply_error_details(send->exchange, 131009, "%s", details);
    return false;
}

/* True if no two objects of a list have the same text in member `name`; `inner` is the member that
 * holds the object with that text, NULL for the list's object itself. */
static bool texts_unique(const cJSON *list, const char *inner, const char *name) {
    const cJSON *a;
    cJSON_ArrayForEach(a, list) {
        const char *text = json_text(inner ? json_get(a, inner) : a, name);
        for (const cJSON *b = a->next; b; b = b->next)
            if (strcmp(text, json_text(inner ? json_get(b, inner) : b, name)) == 0)
                return false;
    }
    return true;
}

static bool header_check(struct send *send, const cJSON *header) {
    const char *type = json_text(header, "type");
    const cJSON *content = type ? json_get(header, type) : NULL;
    if (!header)
        return true;
    if (!content)
        return refuse(send, "The header has no content of its type.");
    if (cJSON_IsString(content))
        return true;
    const char *path = arena_printf(send->exchange->arena, "interactive.header.%s", type);
    return media_reference_check(send, path, content);
}

static bool button_check(struct send *send, const cJSON *interactive) {
    const cJSON *buttons = json_get(json_get(interactive, "action"), "buttons");
    if (!texts_unique(buttons, "reply", "title"))
        return refuse(send, "Duplicated title of button.");
    if (!texts_unique(buttons, "reply", "id"))
        return refuse(send, "Duplicated id of button.");
    return header_check(send, json_get(interactive, "header"));
}

/* Checks the URL of a button that opens one. */
static bool url_button_check(struct send *send, const cJSON *action) {
    return is_web_url(json_text(json_get(action, "parameters"), "url")) ||
           refuse(send, "The URL of the button is not a valid URL.");
}

static bool cta_url_check(struct send *send, const cJSON *interactive) {
    return url_button_check(send, json_get(interactive, "action")) &&
           header_check(send, json_get(interactive, "header"));
}

/* Checks that the flow belongs to the account and may be opened. A flow that is given by its name
 * is not looked up. */
static bool flow_usable(struct send *send, const cJSON *parameters) {
    const char *id = json_text(parameters, "flow_id"), *mode = json_text(parameters, "mode");
    const struct item *item = id ? collection_find(&flows, id) : NULL;
    if (!id)
        return true;
    if (!item || collection_owner(&flows, id) != send->account)
        return refuse(send, "The flow_id belongs to no flow of this account.");
    cJSON *flow = cJSON_ParseWithLength(item->raw.p, item->raw.n);
    const char *status = json_text(flow, "status");
    bool draft = text_matches(status, "DRAFT"), published = text_matches(status, "PUBLISHED");
    bool blocked = text_matches(status, "BLOCKED"), throttled = text_matches(status, "THROTTLED");
    cJSON_Delete(flow);
    if (blocked || throttled) {
        reply_error_as(send->exchange, blocked ? 132068 : 132069, 0, NULL, NULL);
        return false;
    }
    return (mode && strcmp(mode, "draft") == 0 ? draft : published) ||
           refuse(send, "The flow is not in the mode of the message.");
}

static bool flow_check(struct send *send, const cJSON *interactive) {
    const cJSON *parameters = json_get(json_get(interactive, "action"), "parameters");
    const cJSON *payload = json_get(parameters, "flow_action_payload");
    const cJSON *data = json_get(payload, "data");
    const char *action = json_text(parameters, "flow_action");
    if (!json_get(parameters, "flow_id") == !json_get(parameters, "flow_name"))
        return refuse(send, "Exactly one of flow_id and flow_name is required.");
    if (payload && action && strcmp(action, "data_exchange") == 0)
        return refuse(send, "flow_action_payload is not allowed with data_exchange.");
    if (data && !data->child)
        return refuse(send, "The data of flow_action_payload must not be empty.");
    return flow_usable(send, parameters) && header_check(send, json_get(interactive, "header"));
}

static bool address_check(struct send *send, const cJSON *interactive) {
    return header_check(send, json_get(interactive, "header"));
}

static bool call_check(struct send *send, const cJSON *interactive) {
    const cJSON *parameters = json_get(json_get(interactive, "action"), "parameters");
    const cJSON *minutes = json_get(parameters, "ttl_minutes");
    double value = minutes ? minutes->valuedouble : 1;
    return (value >= 1 && value <= (int)CALL_MINUTES_MAX && value == (int)value) ||
           refuse(send, "ttl_minutes must be 1 to 43200.");
}

/* True if every section has a title, or if there is only one section. */
static bool section_titles_given(const cJSON *sections) {
    const cJSON *section;
    bool given = true;
    cJSON_ArrayForEach(section, sections) {
        const char *title = json_text(section, "title");
        given = given && title && *title != '\0';
    }
    return given || cJSON_GetArraySize(sections) < 2;
}

/* Returns the number of items of all sections together; *unique is false if two rows share an
 * id. */
static int section_items(const cJSON *sections, const char *name, bool *unique) {
    const cJSON *section;
    cJSON *all = cJSON_CreateArray();
    int count;
    cJSON_ArrayForEach(section, sections) {
        cJSON *item;
        cJSON_ArrayForEach(item, json_get(section, name)) {
            cJSON_AddItemReferenceToArray(all, item);
        }
    }
    count = cJSON_GetArraySize(all);
    *unique = strcmp(name, "rows") != 0 || texts_unique(all, NULL, "id");
    cJSON_Delete(all);
    return count;
}

static bool list_check(struct send *send, const cJSON *interactive) {
    const cJSON *sections = json_get(json_get(interactive, "action"), "sections");
    bool unique;
    if (section_items(sections, "rows", &unique) > ROWS_MAX)
        return refuse(send, "Total row count exceeds the allowed 10.");
    if (!unique)
        return refuse(send, "Duplicated row id.");
    return section_titles_given(sections) ||
           refuse(send, "Section title is required when there is more than one section.");
}

static bool product_list_check(struct send *send, const cJSON *interactive) {
    const cJSON *sections = json_get(json_get(interactive, "action"), "sections");
    bool unique;
    if (section_items(sections, "product_items", &unique) > PRODUCTS_MAX)
        return refuse(send, "Total product count exceeds the allowed 30.");
    return section_titles_given(sections) ||
           refuse(send, "Section title is required when there is more than one section.");
}

/* --- Carousels, of products or of media with buttons --- */

static const cJSON *cards_of(const cJSON *interactive) {
    return json_get(json_get(interactive, "action"), "cards");
}

static bool indexes_check(struct send *send, const cJSON *cards) {
    unsigned seen = 0;
    const cJSON *card;
    cJSON_ArrayForEach(card, cards) {
        double index = json_get(card, "card_index")->valuedouble;
        if (!(index >= 0 && index <= 9) || index != (int)index)
            return refuse(send, "card_index must be 0 to 9.");
        unsigned bit = 1U << (int)index;
        if ((seen & bit) != 0)
            return refuse(send, "Duplicated card_index.");
        seen |= bit;
    }
    return true;
}

static bool carousel_products_check(struct send *send, const cJSON *interactive) {
    const cJSON *cards = cards_of(interactive);
    const char *catalog = json_text(json_get(cards->child, "action"), "catalog_id");
    const cJSON *card;
    cJSON_ArrayForEach(card, cards) {
        if (strcmp(json_text(json_get(card, "action"), "catalog_id"), catalog) != 0)
            return refuse(send, "All cards must have the same catalog_id.");
    }
    return indexes_check(send, cards);
}

static int line_breaks(const char *text) {
    int count = 0;
    while (text && (text = strchr(text, '\n')) != NULL) {
        count++;
        text++;
    }
    return count;
}

static bool card_header_check(struct send *send, const cJSON *card) {
    const cJSON *header = json_get(card, "header");
    const char *type = json_text(header, "type");
    const cJSON *media = json_get(header, type);
    if (!media)
        return refuse(send, "The header of a card has no content of its type.");
    const char *path = arena_printf(send->exchange->arena, "card.header.%s", type);
    return media_reference_check(send, path, media);
}

/* Checks the buttons of a card, and that they match those of the first card. */
static bool card_buttons_check(struct send *send, const cJSON *action, const cJSON *first) {
    const cJSON *buttons = json_get(action, "buttons"), *url = json_get(action, "parameters");
    if (!buttons == !url || !url != !json_get(action, "name"))
        return refuse(send, "A card needs a URL button or quick-reply buttons.");
    if (cJSON_GetArraySize(buttons) != cJSON_GetArraySize(json_get(first, "buttons")))
        return refuse(send, "All cards must have the same type and number of buttons.");
    return !url || url_button_check(send, action);
}

static bool carousel_media_check(struct send *send, const cJSON *interactive) {
    const cJSON *cards = cards_of(interactive), *first = json_get(cards->child, "action");
    const cJSON *card;
    cJSON_ArrayForEach(card, cards) {
        if (line_breaks(json_text(json_get(card, "body"), "text")) > LINE_BREAKS_MAX)
            return refuse(send, "The body of a card has more than 2 line breaks.");
        if (!card_header_check(send, card) ||
            !card_buttons_check(send, json_get(card, "action"), first))
            return false;
    }
    return indexes_check(send, cards);
}

/* Returns the kind of the interactive object. The first card decides what a carousel is. */
static const struct message_type *kind_find(const cJSON *interactive) {
    static const struct message_type products = {"carousel_products", carousel_products_check,
                                                 false};
    static const struct message_type media = {"carousel_media", carousel_media_check, false};
    static const struct message_type kinds[] = {
        {"button", button_check, false},
        {"list", list_check, false},
        {"product", NULL, false},
        {"product_list", product_list_check, false},
        {"catalog_message", NULL, false},
        {"cta_url", cta_url_check, false},
        {"flow", flow_check, false},
        {"address_message", address_check, false},
        {"location_request_message", NULL, false},
        {"call_permission_request", NULL, false},
        {"request_contact_info", NULL, false},
        {"voice_call", call_check, false},
    };
    const char *type = json_text(interactive, "type");
    const struct message_type *kind = kinds;
    if (strcmp(type, "carousel") == 0) {
        const cJSON *cards = cards_of(interactive);
        const char *card = cJSON_IsArray(cards) ? json_text(cards->child, "type") : NULL;
        return card && strcmp(card, "cta_url") == 0 ? &media : &products;
    }
    while (strcmp(kind->name, type) != 0)
        kind++;
    return kind;
}

bool interactive_check(struct send *send, const cJSON *interactive) {
    const struct message_type *kind = kind_find(interactive);
    const struct rule *rules = rules_find(kind->name);
    rules_settle(cJSON_GetObjectItemCaseSensitive(send->body, "interactive"), rules,
                 send->exchange->form);
    return rules_check(send->exchange, "interactive", interactive, rules) &&
           (!kind->check || kind->check(send, interactive));
}
