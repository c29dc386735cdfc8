#include "store/life/person.h"

#include <ctype.h>

#include "base/crypto.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Whether the character would make another name of one that it stands beside. */
static bool continues(char c, bool is_number) {
    return is_number ? is_digit(c) : isalnum((unsigned char)c) || c == '_';
}

static bool has_name(struct slice bytes, struct slice name) {
    if (!bytes.n)
        return false;
    const bool is_number = is_digit(name.p[0]);
    const char *end = bytes.p + bytes.n;
    for (const char *at = bytes.p; (at = memmem(at, (size_t)(end - at), name.p, name.n)); at++)
        if ((at == bytes.p || !continues(at[-1], is_number)) &&
            (at + name.n == end || !continues(at[name.n], is_number)))
            return true;
    return false;
}

static bool has_any_name(const struct person *person, struct slice bytes) {
    struct slice rest = person->names;
    while (rest.n) {
        const struct slice name = slice_cut(&rest, '\n');
        if (name.n && has_name(bytes, name))
            return true;
    }
    return false;
}

static const char wamid[] = "wamid.";

/* The number of characters of base64 at the beginning, without padding, in whole groups. */
static size_t base64_length(struct slice text) {
    size_t n = 0;
    while (n < text.n &&
           (isalnum((unsigned char)text.p[n]) || text.p[n] == '+' || text.p[n] == '/'))
        n++;
    return n - n % 4;
}

bool person_is_named(const struct person *person, struct arena *arena, struct slice bytes) {
    if (!bytes.n)
        return false;
    if (has_any_name(person, bytes))
        return true;
    const char *end = bytes.p + bytes.n;
    const char *at = bytes.p;
    while ((at = memmem(at, (size_t)(end - at), wamid, sizeof wamid - 1))) {
        at += sizeof wamid - 1;
        struct slice text = {at, (size_t)(end - at)};
        text.n = base64_length(text);
        if (text.n && has_any_name(person, crypto_unbase64(arena, text)))
            return true;
    }
    return false;
}

bool person_has(const struct person *person, const char *text) {
    return text && *text && slice_has_word(person->names, '\n', slice_of(text));
}

/* The string after the name of a member; p NULL: it is not followed by one. */
static struct slice value_after(const char *at, const char *end) {
    while (at < end && (isspace((unsigned char)*at) || *at == ':'))
        at++;
    if (at == end || *at != '"')
        return (struct slice){0};
    struct slice rest = {at + 1, (size_t)(end - at) - 1};
    return slice_cut(&rest, '"');
}

bool person_is_alone(const struct person *person, struct slice json) {
    static const char *const members[] = {"\"from\"",         "\"to\"",
                                          "\"wa_id\"",        "\"user_id\"",
                                          "\"recipient_id\"", "\"recipient_user_id\"",
                                          "\"from_user_id\"", "\"to_user_id\""};
    if (!json.n)
        return true;
    const char *end = json.p + json.n;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        for (const char *at = json.p;
             (at = memmem(at, (size_t)(end - at), members[i], strlen(members[i])));) {
            at += strlen(members[i]);
            const struct slice value = value_after(at, end);
            if (value.n && !slice_has_word(person->names, '\n', value))
                return false;
        }
    return true;
}
