/* The form of each kind of value on the command line. */
#include "base/clock.h"
#include "base/utf8.h"
#include "command.h"
#include "payload/recipient.h"

static const char digits[] = "0123456789";

/* Valid UTF-8 without control characters. */
static bool is_text(const char *text, size_t longest) {
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return n >= 1 && n <= longest && utf8_valid(slice_of(text));
}

static const char *check_label(const char *text) {
    return is_text(text, 512) ? NULL : "must be 1 to 512 bytes of text without control characters";
}

static const char *check_id(const char *text) {
    return is_text(text, 64) && !strchr(text, ' ') ? NULL : "must be an id as `list` prints it";
}

static const char *check_email(const char *text) {
    const char *at = strchr(text, '@');
    bool is_email = is_text(text, 320) && !strchr(text, ' ') && at && at != text && at[1] &&
                    !strchr(at + 1, '@');
    return is_email ? NULL : "must be one address such as name@example.com: one @, no spaces";
}

static const char *check_digits(const char *text) {
    size_t n = strspn(text, digits);
    return n >= 1 && n <= 32 && !text[n]
               ? NULL
               : "must be the platform's id, which is only digits, such as 102290129340398";
}

static const char *check_limit(const char *text) {
    size_t n = strspn(text, digits);
    return n >= 1 && n <= 9 && !text[n] && text[0] != '0' ? NULL
                                                          : "must be a number from 1 to 999999999";
}

static const char *check_number(const char *text) {
    size_t n = text[0] == '+' ? strspn(text + 1, digits) : 0;
    return n >= 5 && n <= 20 && !text[n + 1]
               ? NULL
               : "must be in E.164 form: + and 5 to 20 digits, such as +15550783881";
}

/* A phone may hold the usual separators. Letters are refused, so that a mistyped BSUID is not read
 * as the phone of another person. */
static const char *check_identity(const char *text) {
    size_t n = 0;
    for (const char *p = text; *p; p++)
        n += *p >= '0' && *p <= '9';
    bool is_phone = n >= 5 && n <= 20 && !text[strspn(text, "0123456789 +-()./")];
    return is_phone || recipient_is_bsuid(slice_of(text))
               ? NULL
               : "must be a phone number of 5 to 20 digits, or a business-scoped user id such as "
                 "US.13491208655302741918";
}

static const char *check_time(const char *text) {
    int64_t ms;
    return clock_parse(text, &ms) ? NULL
                                  : "must be ISO 8601, such as 2027-01-31 or 2027-01-31T18:00:00Z";
}

static const char *check_event_type(const char *text) {
    return strcmp(text, "message.status") == 0 ? NULL
                                               : "must be message.status; others are always on";
}

static const char *check_file(const char *text) {
    return *text ? NULL : "must be the path of a file";
}

static const struct {
    const char *name;
    const char *(*check)(const char *text);
} kinds[] = {
    [VALUE_ACCOUNT_ID] = {"ACCOUNT_ID", check_id},
    [VALUE_CONFIG] = {"FILE", check_file},
    [VALUE_CONTACT_ID] = {"ID", check_id},
    [VALUE_EMAIL] = {"EMAIL", check_email},
    [VALUE_EVENT_ID] = {"ID", check_id},
    [VALUE_EVENT_TYPE] = {"TYPE", check_event_type},
    [VALUE_FILE] = {"FILE", check_file},
    [VALUE_IDENTITY] = {"PHONE_OR_BSUID", check_identity},
    [VALUE_LABEL] = {"NAME", check_label},
    [VALUE_LIMIT] = {"N", check_limit},
    [VALUE_NUMBER] = {"+E164", check_number},
    [VALUE_PHONE_NUMBER_ID] = {"PHONE_NUMBER_ID", check_digits},
    [VALUE_PLAN] = {"NAME", check_label},
    [VALUE_PLATFORM_TYPE] = {"TYPE", check_label},
    [VALUE_ROW_ID] = {"ID", check_id},
    [VALUE_TIME] = {"ISO8601", check_time},
    [VALUE_WABA_ID] = {"WABA_ID", check_digits},
};

const char *value_name(enum value_kind kind) {
    return kinds[kind].name;
}

const char *value_check(enum value_kind kind, const char *text) {
    return kinds[kind].check(text);
}
