/* The buttons are those of the platform's page about components, the rules of variables those of
 * its page about templates: their numbers are sequential, names have no upper-case letters and no
 * spaces. */
#include "judge/template_members.h"

#include <stdlib.h>
#include <strings.h>

#include "judge/placeholder.h"
#include "text/json_fields.h"

static const struct {
    const char *type;
    const char *members[3]; /* ended by NULL */
} button_members[] = {
    {"QUICK_REPLY", {"text"}},
    {"URL", {"text", "url"}},
    {"PHONE_NUMBER", {"text", "phone_number"}},
    {"COPY_CODE", {"example"}},
    {"FLOW", {"text"}},
    {"OTP", {"otp_type"}},
};

/* Whether the member is there and, if it is a text, not empty. */
static bool has_member(const cJSON *button, const char *name) {
    const cJSON *member = json_get(button, name);
    const char *text = cJSON_GetStringValue(member);
    return member && !cJSON_IsNull(member) && (!text || *text != '\0');
}

const char *template_button_lacks(const cJSON *button) {
    const char *type = json_text(button, "type");
    for (size_t i = 0; type && i < sizeof button_members / sizeof *button_members; i++)
        if (strcasecmp(button_members[i].type, type) == 0)
            for (const char *const *name = button_members[i].members; *name; name++)
                if (!has_member(button, *name))
                    return *name;
    return NULL;
}

bool template_component_known(const char *type) {
    static const char *const known[] = {"HEADER",   "BODY",
                                        "FOOTER",   "BUTTONS",
                                        "CAROUSEL", "LIMITED_TIME_OFFER",
                                        "GREETING", "CALL_PERMISSION_REQUEST"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(known[i], type) == 0)
            return true;
    return false;
}

/* The number of a variable; 0: the name is none. */
static long number_of(struct slice name) {
    char *end;
    long number = name.n > 0 && *name.p >= '1' && *name.p <= '9' ? strtol(name.p, &end, 10) : 0;
    return number > 0 && end == name.p + name.n ? number : 0;
}

static bool is_name(struct slice name) {
    return strspn(name.p, "0123456789") == 0 &&
           strspn(name.p, "abcdefghijklmnopqrstuvwxyz0123456789_") == name.n && name.n > 0;
}

bool template_variables_valid(const char *text) {
    const char *rest = text, *after;
    struct slice name;
    long largest = 0;
    int named = 0;
    for (; (after = placeholder_next(rest, &name)); rest = after) {
        long number = number_of(name);
        if (number == 0 && !is_name(name))
            return false;
        named += number == 0;
        largest = number > largest ? number : largest;
    }
    if (rest && strstr(rest, "{{"))
        return false;
    /* as many different numbers as the largest one says */
    return named > 0 ? largest == 0 : largest == placeholder_count(text);
}
