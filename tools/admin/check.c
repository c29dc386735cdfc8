/* The form of each kind of value on the command line. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/target.h"
#include "base/url.h"
#include "base/utf8.h"
#include "command.h"
#include "payload/recipient.h"
#include "payload/webhook_rules.h"
#include "store/event_type.h"
#include "store/member.h"
#include "store/retention.h"
#include "web/scope.h"

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
    return is_text(text, 160) && !strchr(text, ' ') ? NULL : "must be an id as `list` prints it";
}

static const char *check_email(const char *text) {
    const char *at = strchr(text, '@');
    bool is_email = is_text(text, 320) && !strchr(text, ' ') && at && at != text && at[1] &&
                    !strchr(at + 1, '@');
    return is_email ? NULL : "must be one address such as name@example.com: one @, no spaces";
}

/* An id of the platform. */
static bool is_digits(struct slice text) {
    size_t n = 0;
    while (n < text.n && strchr(digits, text.p[n]))
        n++;
    return n >= 1 && n <= 32 && n == text.n;
}

static const char *check_digits(const char *text) {
    return is_digits(slice_of(text))
               ? NULL
               : "must be the platform's id, which is only digits, such as 102290129340398";
}

static const char *check_limit(const char *text) {
    size_t n = strspn(text, digits);
    return n >= 1 && n <= 9 && !text[n] && text[0] != '0' ? NULL
                                                          : "must be a number from 1 to 999999999";
}

static const char *check_key_id(const char *text) {
    size_t n = strspn(text, digits);
    return n >= 1 && n <= 3 && !text[n] && text[0] != '0' && strtol(text, NULL, 10) <= 255
               ? NULL
               : "must be the id of a key, from 1 to 255, as `switchboard key list` prints it";
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

static bool is_choice(enum value_kind kind, const char *text) {
    return slice_has_word(slice_of(value_choices(kind)), ' ', slice_of(text));
}

static const char *check_event_type(const char *text) {
    return is_choice(VALUE_EVENT_TYPE, text) ? NULL
                                             : "must be" EVENT_TYPES_OFF "; others are always on";
}

static const char *check_page(const char *text) {
    return is_choice(VALUE_PAGE, text) ? NULL : "must be switchboard or switchboard.conf";
}

static const char *check_shell(const char *text) {
    return is_choice(VALUE_SHELL, text) ? NULL : "must be bash or zsh";
}

static const char *check_file(const char *text) {
    return *text ? NULL : "must be the path of a file";
}

static const char *check_target(const char *text) {
    if (target_has_password(text))
        return "has a password, which every user of this machine can see in the list of processes: "
               "give - as TARGET and the URL on standard input, or the password in PGPASSFILE";
    return target_file(text) || target_scheme(text) || strcmp(text, "-") == 0
               ? NULL
               : "must be the absolute path of a SQLite database, "
                 "postgresql://USER@HOST:PORT/NAME, or - to read it from standard input";
}

static const char *check_url(const char *text) {
    size_t n = strlen(text);
    return !url_check(slice_of(text)) && !strpbrk(text, "?#") && text[n - 1] != '/'
               ? NULL
               : "must be such as https://api.example.org, without a slash at its end";
}

static const char *check_hook_url(const char *text) {
    return url_check(slice_of(text))
               ? "must be an absolute http: or https: URL without user name and password"
               : NULL;
}

static const char *check_kind(const char *text) {
    return is_choice(VALUE_KIND, text) ? NULL : "must be event or forward";
}

static const char *check_threads(const char *text) {
    return is_choice(VALUE_THREADS, text) ? NULL : "must be all or own";
}

/* --- lists, whose items are separated by commas --- */

static bool is_one_of(struct slice text, const char *const *words) {
    while (*words && !slice_equal(text, slice_of(*words)))
        words++;
    return *words != NULL;
}

static bool is_event_type(struct slice text) {
    return is_one_of(text, webhook_event_types);
}

static bool is_update(struct slice text) {
    return is_one_of(text, webhook_updates);
}

static bool is_field(struct slice text) {
    return text.n <= webhook_field_rule.longest && !webhook_field_rule.check(text) &&
           !slice_equal(text, SLICE(WEBHOOK_ALL_FIELDS));
}

/* Whether `item` accepts all items, of which no two are equal. */
static bool is_list(const char *text, bool (*item)(struct slice text)) {
    struct slice rest = slice_of(text);
    do {
        struct slice one = slice_cut(&rest, ','), others = rest;
        if (!item(one))
            return false;
        while (others.n)
            if (slice_equal(slice_cut(&others, ','), one))
                return false;
    } while (rest.n);
    return text[strlen(text) - 1] != ',';
}

#define LISTED(state, name, meaning) name " "

static const char *check_event_types(const char *text) {
    return strcmp(text, "default") == 0 || is_list(text, is_event_type)
               ? NULL
               : "must be default, or some of " EVENT_TYPES(
                     LISTED) "separated by commas, each once";
}

static const char *check_fields(const char *text) {
    return strcmp(text, "default") == 0 || strcmp(text, "all") == 0 || is_list(text, is_field)
               ? NULL
               : "must be default, all, or fields of the platform's webhooks, each once, such as "
                 "messages,account_update";
}

static const char *check_updates(const char *text) {
    return strcmp(text, "all") == 0 || is_list(text, is_update)
               ? NULL
               : "must be all, or some of messages,statuses,echoes, each once";
}

static const char *check_lines(const char *text) {
    return strcmp(text, "all") == 0 || is_list(text, is_digits)
               ? NULL
               : "must be all, or the platform's ids of lines, each once, separated by commas";
}

static const char *check_days(const char *text) {
    size_t n = strspn(text, digits);
    bool is_number =
        n >= 1 && n <= 4 && !text[n] && text[0] != '0' && strtol(text, NULL, 10) <= 3650;
    return is_number || strcmp(text, "never") == 0 ? NULL
                                                   : "must be never, or a number from 1 to 3650";
}

static const char *check_rate(const char *text) {
    size_t n = strspn(text, digits);
    long rate = n >= 1 && n <= 4 && !text[n] ? strtol(text, NULL, 10) : 0;
    return (rate >= 1 && rate <= 1000) || strcmp(text, "default") == 0
               ? NULL
               : "must be default, or a number from 1 to 1000";
}

static const char *check_retention(const char *text) {
    size_t n = strspn(text, digits);
    long days = n >= 1 && n <= 5 && !text[n] ? strtol(text, NULL, 10) : 0;
    bool is_number = days >= RETENTION_LEAST_DAYS && days <= RETENTION_MOST_DAYS;
    return is_number || strcmp(text, "never") == 0 ? NULL
                                                   : "must be never, or a number from 8 to 36500";
}

static bool is_scope(struct slice text) {
    return scope_set(text) != 0;
}

static const char *check_scopes(const char *text) {
    return is_list(text, is_scope)
               ? NULL
               : "must be some of basic,read,send,inbox,events,manage, each once";
}

static const char *check_role(const char *text) {
    return role_find(text) ? NULL : "must be viewer, agent, admin or owner";
}

static const struct {
    const char *name;
    const char *(*check)(const char *text);
    const char *choices;
} kinds[] = {
    [VALUE_ACCOUNT_ID] = {"ACCOUNT_ID", check_id, NULL},
    [VALUE_CONFIG] = {"FILE", check_file, NULL},
    [VALUE_CONTACT_ID] = {"ID", check_id, NULL},
    [VALUE_DAYS] = {"DAYS", check_days, NULL},
    [VALUE_DIRECTORY] = {"DIRECTORY", check_file, NULL},
    [VALUE_EMAIL] = {"EMAIL", check_email, NULL},
    [VALUE_EVENT_ID] = {"ID", check_id, NULL},
    [VALUE_EVENT_TYPE] = {"TYPE", check_event_type, &EVENT_TYPES_OFF[1]},
    [VALUE_EVENT_TYPES] = {"TYPE,TYPE", check_event_types, NULL},
    [VALUE_FIELDS] = {"FIELD,FIELD", check_fields, NULL},
    [VALUE_FILE] = {"FILE", check_file, NULL},
    [VALUE_HOOK_URL] = {"URL", check_hook_url, NULL},
    [VALUE_IDENTITY] = {"PHONE_OR_BSUID", check_identity, NULL},
    [VALUE_KEY_ID] = {"ID", check_key_id, NULL},
    [VALUE_KIND] = {"KIND", check_kind, "event forward"},
    [VALUE_LABEL] = {"NAME", check_label, NULL},
    [VALUE_LIMIT] = {"N", check_limit, NULL},
    [VALUE_LINES] = {"PHONE_NUMBER_ID,PHONE_NUMBER_ID", check_lines, NULL},
    [VALUE_NUMBER] = {"+E164", check_number, NULL},
    [VALUE_PAGE] = {"PAGE", check_page, "switchboard switchboard.conf"},
    [VALUE_PHONE_NUMBER_ID] = {"PHONE_NUMBER_ID", check_digits, NULL},
    [VALUE_PLAN] = {"NAME", check_label, NULL},
    [VALUE_PLATFORM_TYPE] = {"TYPE", check_label, NULL},
    [VALUE_RATE] = {"N|default", check_rate, NULL},
    [VALUE_RETENTION] = {"DAYS", check_retention, NULL},
    [VALUE_ROLE] = {"ROLE", check_role, "viewer agent admin owner"},
    [VALUE_ROW_ID] = {"ID", check_id, NULL},
    [VALUE_SCOPES] = {"SCOPE,SCOPE", check_scopes, NULL},
    [VALUE_SHELL] = {"SHELL", check_shell, "bash zsh"},
    [VALUE_TARGET] = {"TARGET", check_target, NULL},
    [VALUE_THREADS] = {"THREADS", check_threads, "all own"},
    [VALUE_TIME] = {"ISO8601", check_time, NULL},
    [VALUE_UPDATES] = {"UPDATE,UPDATE", check_updates, NULL},
    [VALUE_URL] = {"URL", check_url, NULL},
    [VALUE_WABA_ID] = {"WABA_ID", check_digits, NULL},
    [VALUE_WEBHOOK_ID] = {"WEBHOOK_ID", check_id, NULL},
};

const char *value_name(enum value_kind kind) {
    return kinds[kind].name;
}

const char *value_choices(enum value_kind kind) {
    return kinds[kind].choices;
}

const char *value_check(enum value_kind kind, const char *text) {
    return kinds[kind].check(text);
}

const char *value_shown(struct arena *arena, const char *word) {
    return strstr(word, ":/") ? target_name(arena, word) : word;
}
