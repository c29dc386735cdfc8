/* What the platform refuses in the definition of a template. The limits and the groups of buttons
 * are those of its page about components, the subcodes those of its list of errors; 2388043 has the
 * texts that its answers have. What has no subcode there is error 100 without one. The texts of
 * authentication templates, which the platform writes, are not judged. */
#include "judge/judge.h"

#include <strings.h>

#include "judge/placeholder.h"
#include "judge/template_members.h"
#include "text/json_fields.h"
#include "text/text.h"
#include "wire/graph_error.h"

enum { BUTTONS_MAX = 10 };

/* A definition while it is checked. */
struct definition {
    struct exchange *exchange;
    const char *language;
    bool authentication;
};

static bool refuse(const struct definition *definition, int subcode, const char *title,
                   const char *message) {
    reply_error_user(definition->exchange, subcode, title, message);
    return false;
}

static bool refuse_missing(const struct definition *definition, const char *type,
                           const char *field) {
    return refuse(
        definition, 2388043, "Message template \"components\" param is missing expected field(s)",
        arena_printf(definition->exchange->arena,
                     "component of type %s is missing expected field(s) (%s)", type, field));
}

/* Refuses with error 100 without a subcode. */
static bool refuse_plain(const struct definition *definition, const char *message) {
    reply_error(definition->exchange, 100, "(#100) %s", message);
    return false;
}

/* Whether `text` (NULL: "") has at most `max` characters. */
static bool check_length(const struct definition *definition, const char *where, const char *text,
                         size_t max) {
    size_t characters = text_characters(text ? text : "");
    return characters <= max ||
           refuse(definition, 2388040, "Character Limit Exceeded",
                  arena_printf(definition->exchange->arena,
                               "The %s has %zu characters. The largest number is %zu.", where,
                               characters, max));
}

/* Whether the component has examples below one of the two names: those of variables with numbers
 * and with names. */
static bool has_example(const cJSON *component, const char *numbered, const char *named) {
    const cJSON *example = json_get(component, "example");
    return cJSON_GetArraySize(json_get(example, numbered)) > 0 ||
           cJSON_GetArraySize(json_get(example, named)) > 0;
}

/* What the variables of a text must be. */
static const char variable_form[] =
    "Variables are {{1}}, {{2}} and so on without a gap, or {{names}} of lower-case letters.";

static bool check_media_header(const struct definition *definition, const cJSON *header) {
    return has_example(header, "header_handle", "header_handle") ||
           refuse_missing(definition, "HEADER", "example");
}

static bool check_text_header(const struct definition *definition, const cJSON *header) {
    const char *text = json_text(header, "text");
    int variables = placeholder_count(text);
    if (!text)
        return refuse_missing(definition, "HEADER", "text");
    if (!template_variables_valid(text))
        return refuse(definition, 2388047, "Message Header Format Is Incorrect", variable_form);
    if (variables > 1)
        return refuse(definition, 2388047, "Message Header Format Is Incorrect",
                      "A header has at most one variable.");
    if (variables > 0 && !has_example(header, "header_text", "header_text_named_params"))
        return refuse_missing(definition, "HEADER", "example");
    return check_length(definition, "header", text, 60);
}

static bool check_header(const struct definition *definition, const cJSON *header) {
    static const char *const media[] = {"IMAGE", "VIDEO", "GIF", "DOCUMENT"};
    const char *format = json_text(header, "format");
    if (!format)
        return refuse_missing(definition, "HEADER", "format");
    if (strcasecmp(format, "TEXT") == 0)
        return check_text_header(definition, header);
    for (size_t i = 0; i < sizeof media / sizeof *media; i++)
        if (strcasecmp(format, media[i]) == 0)
            return check_media_header(definition, header);
    if (strcasecmp(format, "LOCATION") == 0 || strcasecmp(format, "PRODUCT") == 0)
        return true;
    reply_error(definition->exchange, 100,
                "(#100) Param components['format'] must be one of {TEXT, IMAGE, VIDEO, GIF, "
                "DOCUMENT, LOCATION, PRODUCT} - got \"%.100s\".",
                format);
    return false;
}

/* Whether the text begins or ends with a variable. A full stop after it is enough: a sample in the
 * documentation ends so. */
static bool has_edge_variable(const char *text) {
    static const char space[] = " \t\r\n";
    const char *start = text + strspn(text, space);
    struct slice name;
    bool edge = false;
    for (const char *at = start; !edge && (at = placeholder_next(at, &name));)
        edge = name.p == start + 2 || at[strspn(at, space)] == '\0';
    return edge;
}

/* Whether the language is written without spaces between words, so that they cannot be counted. */
static bool is_unspaced(const char *language) {
    static const char *const unspaced[] = {"zh", "ja", "th", "lo"};
    for (size_t i = 0; i < sizeof unspaced / sizeof *unspaced; i++)
        if (strncmp(language, unspaced[i], 2) == 0)
            return true;
    return false;
}

/* Returns the number of words without a variable in them. */
static int count_words(struct slice text) {
    int count = 0;
    while (text.n > 0) {
        struct slice word = slice_cut(&text, ' '), name;
        for (; word.n > 0; count++) {
            struct slice line = slice_cut(&word, '\n');
            const char *open = line.n > 0 ? placeholder_next(line.p, &name) : NULL;
            count -= line.n == 0 || (open && name.p < line.p + line.n);
        }
    }
    return count;
}

/* The platform refuses too many variables for the length of a text, and does not say how many.
 * Those who tried it found that it wants two words for each variable and one more. */
static bool has_words(const struct definition *definition, const char *text, int variables) {
    return variables == 0 || is_unspaced(definition->language) ||
           count_words(slice_of(text)) > 2 * variables;
}

static bool check_body(const struct definition *definition, const cJSON *body) {
    const char *text = json_text(body, "text");
    int variables = placeholder_count(text);
    if (definition->authentication)
        return true;
    if (!text || *text == '\0')
        return refuse_missing(definition, "BODY", "text");
    if (!template_variables_valid(text))
        return refuse(definition, 2388072, "Message Body Format Is Incorrect", variable_form);
    if (variables > 0 && !has_example(body, "body_text", "body_text_named_params"))
        return refuse_missing(definition, "BODY", "example");
    if (has_edge_variable(text))
        return refuse(definition, 2388299, "Leading or trailing params not allowed",
                      "Variables can't be at the start or end of the template.");
    if (!has_words(definition, text, variables))
        return refuse(definition, 2388293, "Parameters words ratio exceeds limit",
                      "This template has too many variables for its length. Reduce the number of "
                      "variables or increase the message length.");
    return check_length(definition, "body", text, 1024);
}

static bool check_footer(const struct definition *definition, const cJSON *footer) {
    const char *text = json_text(footer, "text");
    if (definition->authentication)
        return true;
    if (!text || *text == '\0')
        return refuse_missing(definition, "FOOTER", "text");
    if (placeholder_count(text) > 0)
        return refuse(definition, 2388073, "Message Footer Format Is Incorrect",
                      "A footer has no variables.");
    return check_length(definition, "footer", text, 60);
}

/* How many buttons of a type a template has at most. */
static const struct button_limit {
    const char *type;
    int max;
} button_limits[] = {{"URL", 2}, {"PHONE_NUMBER", 1}, {"COPY_CODE", 1}};

static int count_type(const cJSON *list, const char *type) {
    const cJSON *item;
    int count = 0;
    cJSON_ArrayForEach(item, list) {
        const char *given = json_text(item, "type");
        count += given && strcasecmp(given, type) == 0;
    }
    return count;
}

/* Whether the quick replies stand together, before or after all others. */
static bool is_grouped(const cJSON *buttons) {
    const cJSON *button;
    int changes = 0, before = -1;
    cJSON_ArrayForEach(button, buttons) {
        const char *type = json_text(button, "type");
        int reply = type && strcasecmp(type, "QUICK_REPLY") == 0;
        changes += before >= 0 && reply != before;
        before = reply;
    }
    return changes < 2;
}

static bool check_button(const struct definition *definition, const cJSON *button) {
    const char *url = json_text(button, "url"), *lacking = template_button_lacks(button);
    if (!json_text(button, "type"))
        return refuse_missing(definition, "BUTTONS", "type");
    if (lacking)
        return refuse_missing(definition, "BUTTONS", lacking);
    if (placeholder_count(url) > 0 && !json_get(button, "example") && !definition->authentication)
        return refuse_missing(definition, "BUTTONS", "example");
    return check_length(definition, "text of a button", json_text(button, "text"), 25) &&
           check_length(definition, "URL of a button", url, 2000) &&
           check_length(definition, "phone number of a button", json_text(button, "phone_number"),
                        20);
}

static bool check_buttons(const struct definition *definition, const cJSON *component) {
    const cJSON *buttons = json_get(component, "buttons"), *button;
    const char *problem = cJSON_GetArraySize(buttons) > BUTTONS_MAX ? "at most 10 buttons" : NULL;
    if (cJSON_GetArraySize(buttons) == 0)
        return refuse_missing(definition, "BUTTONS", "buttons");
    for (size_t i = 0; i < sizeof button_limits / sizeof *button_limits; i++)
        if (count_type(buttons, button_limits[i].type) > button_limits[i].max)
            problem = arena_printf(definition->exchange->arena, "at most %d buttons of type %s",
                                   button_limits[i].max, button_limits[i].type);
    if (!is_grouped(buttons))
        problem = "its quick replies together, an invalid combination";
    if (problem) {
        reply_error(definition->exchange, 100, "(#100) A template has %s.", problem);
        return false;
    }
    cJSON_ArrayForEach(button, buttons) {
        if (!check_button(definition, button))
            return false;
    }
    return true;
}

/* --- authentication templates --- */

/* What the button with the code needs for its type: the programs that it opens, and the consent to
 * have the code taken without a tap. */
static bool check_code_button(const struct definition *definition, const cJSON *button) {
    const char *type = json_text(button, "otp_type");
    if (!type)
        return refuse_missing(definition, "BUTTONS", "otp_type");
    if (strcasecmp(type, "COPY_CODE") == 0)
        return true;
    const bool is_zero = strcasecmp(type, "ZERO_TAP") == 0;
    if (!is_zero && strcasecmp(type, "ONE_TAP") != 0)
        return refuse_plain(definition, "Param otp_type must be one of {COPY_CODE, ONE_TAP, "
                                        "ZERO_TAP}.");
    if (cJSON_GetArraySize(json_get(button, "supported_apps")) == 0)
        return refuse_missing(definition, "BUTTONS", "supported_apps");
    return !is_zero || cJSON_IsTrue(json_get(button, "zero_tap_terms_accepted")) ||
           refuse_missing(definition, "BUTTONS", "zero_tap_terms_accepted");
}

static const cJSON *find_component(const cJSON *components, const char *type) {
    const cJSON *item;
    cJSON_ArrayForEach(item, components) {
        const char *given = json_text(item, "type");
        if (given && strcasecmp(given, type) == 0)
            return item;
    }
    return NULL;
}

static bool check_authentication(const struct definition *definition, const cJSON *components) {
    const cJSON *buttons = json_get(find_component(components, "BUTTONS"), "buttons");
    const cJSON *minutes =
        json_get(find_component(components, "FOOTER"), "code_expiration_minutes");
    if (find_component(components, "HEADER"))
        return refuse_plain(definition, "An authentication template has no header.");
    if (minutes &&
        !(cJSON_IsNumber(minutes) && minutes->valuedouble >= 1 && minutes->valuedouble <= 90))
        return refuse_plain(definition, "Param code_expiration_minutes must be from 1 to 90.");
    if (cJSON_GetArraySize(buttons) != 1 || count_type(buttons, "OTP") != 1)
        return refuse_plain(definition, "An authentication template has one button of type OTP.");
    return check_code_button(definition, buttons->child);
}

/* --- carousels --- */

enum { CARDS_MIN = 2, CARDS_MAX = 10, CARD_BODY_MAX = 160, CARD_BUTTONS_MAX = 2 };

static bool check_card_header(const struct definition *definition, const cJSON *header) {
    const char *format = json_text(header, "format");
    if (!header)
        return refuse_missing(definition, "CAROUSEL", "HEADER");
    if (format && strcasecmp(format, "IMAGE") != 0 && strcasecmp(format, "VIDEO") != 0 &&
        strcasecmp(format, "PRODUCT") != 0)
        return refuse_plain(definition, "The header of a card is an IMAGE, VIDEO or PRODUCT.");
    return check_header(definition, header);
}

static bool check_card(const struct definition *definition, const cJSON *card) {
    const cJSON *components = json_get(card, "components");
    const cJSON *body = find_component(components, "BODY");
    const cJSON *list = find_component(components, "BUTTONS"), *buttons = json_get(list, "buttons");
    const int count = cJSON_GetArraySize(buttons);
    if (cJSON_GetArraySize(components) == 0)
        return refuse_missing(definition, "CAROUSEL", "components");
    if (count < 1 || count > CARD_BUTTONS_MAX)
        return refuse_plain(definition, "A card has 1 or 2 buttons.");
    return check_card_header(definition, find_component(components, "HEADER")) &&
           (!body ||
            (check_length(definition, "body of a card", json_text(body, "text"), CARD_BODY_MAX) &&
             check_body(definition, body))) &&
           check_buttons(definition, list);
}

/* Whether two cards have the same parts: a body or none, the same format, buttons of the same types
 * in the same order. */
static bool are_alike(const cJSON *one, const cJSON *other) {
    const cJSON *of = json_get(one, "components"), *with = json_get(other, "components");
    const cJSON *button = json_get(find_component(of, "BUTTONS"), "buttons")->child;
    const cJSON *match = json_get(find_component(with, "BUTTONS"), "buttons")->child;
    if (!find_component(of, "BODY") != !find_component(with, "BODY") ||
        strcasecmp(json_text(find_component(of, "HEADER"), "format"),
                   json_text(find_component(with, "HEADER"), "format")) != 0)
        return false;
    for (; button && match; button = button->next, match = match->next)
        if (strcasecmp(json_text(button, "type"), json_text(match, "type")) != 0)
            return false;
    return !button && !match;
}

static bool check_carousel(const struct definition *definition, const cJSON *carousel) {
    const cJSON *cards = json_get(carousel, "cards"), *card;
    const int count = cJSON_GetArraySize(cards);
    if (count == 0)
        return refuse_missing(definition, "CAROUSEL", "cards");
    if (count < CARDS_MIN || count > CARDS_MAX)
        return refuse_plain(definition, "A carousel has 2 to 10 cards.");
    cJSON_ArrayForEach(card, cards) {
        if (!check_card(definition, card))
            return false;
        if (!are_alike(cards->child, card))
            return refuse_plain(definition, "All cards must have the same components.");
    }
    return true;
}

/* --- all components --- */

static const struct {
    const char *type;
    bool (*check)(const struct definition *definition, const cJSON *component);
} parts[] = {{"HEADER", check_header},
             {"BODY", check_body},
             {"FOOTER", check_footer},
             {"BUTTONS", check_buttons},
             {"CAROUSEL", check_carousel}};

static bool check_component(const struct definition *definition, const cJSON *component) {
    const char *type = json_text(component, "type");
    for (size_t i = 0; type && i < sizeof parts / sizeof *parts; i++)
        if (strcasecmp(parts[i].type, type) == 0)
            return parts[i].check(definition, component);
    if (!type) {
        reply_error(definition->exchange, 100,
                    "(#100) The parameter components['type'] is required.");
    } else if (!template_component_known(type)) {
        reply_error(
            definition->exchange, 100,
            "(#100) Param components['type'] must be one of {HEADER, BODY, FOOTER, BUTTONS, "
            "CAROUSEL, LIMITED_TIME_OFFER, GREETING, CALL_PERMISSION_REQUEST} - got "
            "\"%.100s\".",
            type);
    } else {
        return true;
    }
    return false;
}

bool template_definition_check(struct exchange *exchange, const char *language,
                               const char *category, const cJSON *components) {
    struct definition definition = {.exchange = exchange,
                                    .language = language,
                                    .authentication = strcmp(category, "AUTHENTICATION") == 0};
    const cJSON *item;
    if (!cJSON_IsArray(components)) {
        reply_error(exchange, 100, "(#100) The parameter components is required.");
        return false;
    }
    cJSON_ArrayForEach(item, components) {
        const char *type = json_text(item, "type");
        if (!check_component(&definition, item))
            return false;
        if (count_type(components, type) > 1) {
            reply_error(exchange, 100, "(#100) Param components may have one component of type %s.",
                        type);
            return false;
        }
    }
    if (count_type(components, "BODY") == 0) {
        reply_error(exchange, 100, "(#100) Param components must have a component of type BODY.");
        return false;
    }
    return !definition.authentication || check_authentication(&definition, components);
}

bool template_language_check(struct exchange *exchange, const char *language) {
    static const char known[] =
        "af,sq,ar,ar_EG,ar_AE,ar_LB,ar_MA,ar_QA,az,be_BY,bn,bn_IN,bg,ca,zh_CN,zh_HK,zh_TW,hr,cs,da,"
        "prs_AF,nl,nl_BE,en,en_GB,en_US,en_AE,en_AU,en_CA,en_GH,en_IE,en_IN,en_JM,en_MY,en_NZ,en_"
        "QA,"
        "en_SG,en_UG,en_ZA,et,fil,fi,fr,fr_BE,fr_CA,fr_CH,fr_CI,fr_MA,ka,de,de_AT,de_CH,el,gu,ha,"
        "he,"
        "hi,hu,id,ga,it,ja,kn,kk,rw_RW,ko,ky_KG,lo,lv,lt,mk,ms,ml,mr,nb,ps_AF,fa,pl,pt_BR,pt_PT,pa,"
        "ro,ru,sr,si_LK,sk,sl,es,es_AR,es_CL,es_CO,es_CR,es_DO,es_EC,es_HN,es_MX,es_PA,es_PE,es_ES,"
        "es_UY,sw,sv,ta,te,th,tr,uk,ur,uz,vi,zu";
    if (slice_has_word(slice_of(known), ',', slice_of(language)))
        return true;
    reply_error(exchange, 100,
                "(#100) Param language is not a language of templates - got \"%.100s\".", language);
    return false;
}
