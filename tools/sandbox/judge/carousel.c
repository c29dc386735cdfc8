#include "judge/carousel.h"

#include "judge/media_reference.h"
#include "judge/url_button.h"
#include "text/json_fields.h"
#include "wire/graph_error.h"

#define END                                                                                        \
    { .name = NULL }
#define TYPE                                                                                       \
    { .name = "type", .kind = RULE_STRING, .required = true }
#define CARD_INDEX                                                                                 \
    { .name = "card_index", .kind = RULE_NUMBER, .required = true }

enum { LINE_BREAKS_MAX = 2 }; /* of a card's body */

static const struct rule body_1024[] = {
    {.name = "text", .kind = RULE_STRING, .required = true, .min = 1, .max = 1024},
    END,
};

/* --- of products --- */

static const struct rule product_action[] = {
    {.name = "catalog_id", .kind = RULE_STRING, .required = true, .min = 1},
    {.name = "product_retailer_id", .kind = RULE_STRING, .required = true, .min = 1},
    END,
};

static const struct rule product_card[] = {
    CARD_INDEX,
    {.name = "type", .kind = RULE_STRING, .required = true, .choices = "product"},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = product_action},
    END,
};

static const struct rule product_cards[] = {
    {.name = "cards",
     .kind = RULE_LIST,
     .required = true,
     .min = 2,
     .max = 10,
     .members = product_card},
    END,
};

static const struct rule product_rules[] = {
    TYPE,
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = product_cards},
    END,
};

static bool refuse(struct send *send, const char *details) {
    reply_error_details(send->exchange, 131009, "%s", details);
    return false;
}

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

static bool products_check(struct send *send, const cJSON *interactive) {
    const cJSON *cards = cards_of(interactive);
    const char *catalog = json_text(json_get(cards->child, "action"), "catalog_id");
    const cJSON *card;
    cJSON_ArrayForEach(card, cards) {
        if (strcmp(json_text(json_get(card, "action"), "catalog_id"), catalog) != 0)
            return refuse(send, "All cards must have the same catalog_id.");
    }
    return indexes_check(send, cards);
}

/* --- of media --- */

static const struct rule media_header[] = {
    {.name = "type", .kind = RULE_STRING, .required = true, .choices = "image|video"},
    {.name = "image", .kind = RULE_OBJECT},
    {.name = "video", .kind = RULE_OBJECT},
    END,
};

static const struct rule body_160[] = {
    {.name = "text", .kind = RULE_STRING, .required = true, .min = 1, .max = 160},
    END,
};

static const struct rule quick_reply[] = {
    {.name = "id", .kind = RULE_STRING, .required = true, .min = 1, .max = 256},
    {.name = "title", .kind = RULE_STRING, .required = true, .min = 1, .max = 20},
    END,
};

static const struct rule quick_reply_button[] = {
    {.name = "type", .kind = RULE_STRING, .required = true, .choices = "quick_reply"},
    {.name = "quick_reply", .kind = RULE_OBJECT, .required = true, .members = quick_reply},
    END,
};

static const struct rule media_action[] = {
    {.name = "name", .kind = RULE_STRING, .choices = "cta_url"},
    {.name = "parameters", .kind = RULE_OBJECT, .members = url_button_rules},
    {.name = "buttons", .kind = RULE_LIST, .min = 1, .members = quick_reply_button},
    END,
};

static const struct rule media_card[] = {
    CARD_INDEX,
    {.name = "type", .kind = RULE_STRING, .required = true, .choices = "cta_url"},
    {.name = "header", .kind = RULE_OBJECT, .required = true, .members = media_header},
    {.name = "body", .kind = RULE_OBJECT, .members = body_160},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = media_action},
    END,
};

static const struct rule media_cards[] = {
    {.name = "cards",
     .kind = RULE_LIST,
     .required = true,
     .min = 2,
     .max = 10,
     .members = media_card},
    END,
};

static const struct rule media_rules[] = {
    TYPE,
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = media_cards},
    END,
};

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

static bool media_check(struct send *send, const cJSON *interactive) {
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

const struct message_type *carousel_kind(const cJSON *interactive) {
    static const struct message_type products = {"carousel", product_rules, products_check, false};
    static const struct message_type media = {"carousel", media_rules, media_check, false};
    const cJSON *cards = cards_of(interactive);
    const char *type = cJSON_IsArray(cards) ? json_text(cards->child, "type") : NULL;
    return type && strcmp(type, "cta_url") == 0 ? &media : &products;
}
