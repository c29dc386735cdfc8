#include "nodes/edges.h"

#include "state/node_state.h"
#include "text/json_merge.h"
#include "text/json_print.h"
#include "text/text.h"
#include "wire/graph_error.h"
#include "wire/node_fields.h"
#include "wire/parameters.h"

static const char initial[] = "{\"about\":\"Hey there! I am using WhatsApp.\"}";

enum { WEBSITES_MAX = 2, WEBSITE_MAX = 256 };

/* The texts of a profile, with their limits in characters. */
static const struct profile_text {
    const char *name;
    size_t min;
    size_t max;
} texts[] = {{"about", 1, 139}, {"address", 0, 256}, {"description", 0, 512}, {"email", 0, 128}};

static const char verticals[] =
    "UNDEFINED|OTHER|AUTO|BEAUTY|APPAREL|EDU|ENTERTAIN|EVENT_PLAN|FINANCE|GROCERY|GOVT|HOTEL|"
    "HEALTH|NONPROFIT|PROF_SERVICES|RETAIL|TRAVEL|RESTAURANT|NOT_A_BIZ|ALCOHOL|ONLINE_GAMBLING|"
    "PHYSICAL_GAMBLING|OTC_DRUGS|MATRIMONY_SERVICE";

static const struct node_shape profile_shape = {
    .type = "WhatsAppBusinessProfile",
    .known = "about,address,description,email,profile_picture_url,websites,vertical",
    .without_id = true,
};

/* Appends the profile as one object. */
static void print_one(struct buffer *out, const char *phone_id) {
    cJSON *profile = node_state_read("profile", phone_id, initial);
    cJSON_AddStringToObject(profile, "messaging_product", "whatsapp");
    json_print(out, profile);
    cJSON_Delete(profile);
}

void profile_print(struct buffer *out, const char *phone_id) {
    buffer_add_text(out, "{\"data\":[");
    print_one(out, phone_id);
    buffer_add_text(out, "]}");
}

void profile_show(struct exchange *exchange, const struct target *target) {
    struct buffer whole = buffer_in(exchange->arena);
    print_one(&whole, target->id);
    buffer_add_text(&exchange->reply.body, "{\"data\":[");
    if (fields_print(exchange, buffer_slice(&whole), &profile_shape, fields_chosen(exchange)))
        buffer_add_text(&exchange->reply.body, "]}");
}

/* Sets a member; an empty text deletes it. */
static void set_text(cJSON *profile, const char *name, const char *text) {
    json_set(profile, name, *text != '\0' ? cJSON_CreateString(text) : NULL);
}

static bool set_texts(struct exchange *exchange, cJSON *profile) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = parameter_text(exchange, texts[i].name);
        size_t length = text ? text_characters(text) : 0;
        if (!text)
            continue;
        if (length < texts[i].min || length > texts[i].max) {
            reply_error(exchange, 100, "(#100) Param %s must be at most %zu characters long.",
                        texts[i].name, texts[i].max);
            return false;
        }
        set_text(profile, texts[i].name, text);
    }
    return true;
}

static bool set_vertical(struct exchange *exchange, cJSON *profile) {
    const char *vertical = parameter_text(exchange, "vertical");
    if (!vertical)
        return true;
    if (*vertical != '\0' && !slice_has_word(slice_of(verticals), '|', slice_of(vertical))) {
        reply_error(exchange, 100,
                    "(#100) Param vertical must be a known industry - got \"%.100s\".", vertical);
        return false;
    }
    set_text(profile, "vertical", vertical);
    return true;
}

static bool set_websites(struct exchange *exchange, cJSON *profile) {
    const cJSON *websites = parameter(exchange, "websites");
    const cJSON *item;
    bool good =
        !websites || (cJSON_IsArray(websites) && cJSON_GetArraySize(websites) <= WEBSITES_MAX);
    cJSON_ArrayForEach(item, websites) {
        good = good && cJSON_IsString(item) && text_characters(item->valuestring) <= WEBSITE_MAX;
    }
    if (!good) {
        reply_error(exchange, 100,
                    "(#100) Param websites must be a list of at most %d URLs of at most %d "
                    "characters.",
                    WEBSITES_MAX, WEBSITE_MAX);
    } else if (websites) {
        json_set(profile, "websites", cJSON_Duplicate(websites, true));
    }
    return good;
}

/* A picture is the handle of an upload; its URL is made of the handle's end. */
static void set_picture(struct exchange *exchange, cJSON *profile) {
    const char *handle = parameter_text(exchange, "profile_picture_handle");
    if (!handle)
        return;
    size_t skip = strlen(handle) > 16 ? strlen(handle) - 16 : 0;
    set_text(profile, "profile_picture_url",
             arena_printf(exchange->arena, "https://pps.whatsapp.net/v/%s.jpg", handle + skip));
}

void profile_change(struct exchange *exchange, const struct target *target) {
    if (!parameter_product(exchange))
        return;
    cJSON *profile = node_state_read("profile", target->id, initial);
    if (set_texts(exchange, profile) && set_vertical(exchange, profile) &&
        set_websites(exchange, profile)) {
        set_picture(exchange, profile);
        node_state_write("profile", target->id, profile);
        reply_success(exchange);
    }
    cJSON_Delete(profile);
}
