#include "text/strict_json.h"

#include <stdlib.h>

#include "text/memory.h"
#include "text/text.h"

enum { DEPTH_LIMIT = 500 };

static const char *skip_value(const char *at, const char *end, int depth);

static const char *skip_space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

static bool is_digit(const char *at, const char *end) {
    return at < end && *at >= '0' && *at <= '9';
}

static const char *skip_digits(const char *at, const char *end) {
    if (!is_digit(at, end))
        return NULL;
    while (is_digit(at, end))
        at++;
    return at;
}

static const char *skip_number(const char *at, const char *end) {
    if (at < end && *at == '-')
        at++;
    if (at < end && *at == '0')
        at++;
    else
        at = skip_digits(at, end);
    if (at && at < end && *at == '.')
        at = skip_digits(at + 1, end);
    if (at && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        at = skip_digits(at, end);
    }
    return at;
}

static const char *skip_word(const char *at, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

static const char *skip_escape(const char *at, const char *end) {
    if (at >= end || strchr("\"\\/bfnrtu", *at) == NULL || *at == '\0')
        return NULL;
    if (*at != 'u')
        return at + 1;
    at++;
    for (int i = 0; i < 4; i++, at++)
        if (at >= end || *at == '\0' || strchr("0123456789abcdefABCDEF", *at) == NULL)
            return NULL;
    return at;
}

/* Skips one UTF-8 sequence of RFC 3629: no overlong forms, no surrogates, nothing past U+10FFFF.
 * Returns NULL if it is invalid. */
static const char *skip_utf8(const char *at, const char *end) {
    static const struct {
        unsigned char first, last, low, high;
        int more;
    } forms[] = {
        {0x00, 0x7F, 0, 0, 0},       {0xC2, 0xDF, 0x80, 0xBF, 1}, {0xE0, 0xE0, 0xA0, 0xBF, 2},
        {0xE1, 0xEC, 0x80, 0xBF, 2}, {0xED, 0xED, 0x80, 0x9F, 2}, {0xEE, 0xEF, 0x80, 0xBF, 2},
        {0xF0, 0xF0, 0x90, 0xBF, 3}, {0xF1, 0xF3, 0x80, 0xBF, 3}, {0xF4, 0xF4, 0x80, 0x8F, 3},
    };
    const unsigned char *byte = (const unsigned char *)at;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (*byte < forms[i].first || *byte > forms[i].last)
            continue;
        if (end - at <= forms[i].more)
            return NULL;
        for (int more = 1; more <= forms[i].more; more++) {
            unsigned char low = more == 1 ? forms[i].low : 0x80;
            unsigned char high = more == 1 ? forms[i].high : 0xBF;
            if (byte[more] < low || byte[more] > high)
                return NULL;
        }
        return at + 1 + forms[i].more;
    }
    return NULL;
}

static const char *skip_string(const char *at, const char *end) {
    if (at >= end || *at != '"')
        return NULL;
    at++;
    while (at && at < end && *at != '"') {
        if ((unsigned char)*at < 0x20)
            return NULL;
        at = *at == '\\' ? skip_escape(at + 1, end) : skip_utf8(at, end);
    }
    return at && at < end ? at + 1 : NULL;
}

static const char *skip_member(const char *at, const char *end, int depth) {
    at = skip_string(skip_space(at, end), end);
    if (!at)
        return NULL;
    at = skip_space(at, end);
    if (at >= end || *at != ':')
        return NULL;
    return skip_value(skip_space(at + 1, end), end, depth);
}

static const char *skip_list(const char *at, const char *end, int depth) {
    char close = *at == '{' ? '}' : ']';
    at = skip_space(at + 1, end);
    if (at < end && *at == close)
        return at + 1;
    for (;;) {
        at = skip_space(at, end);
        at = close == '}' ? skip_member(at, end, depth) : skip_value(at, end, depth);
        if (!at)
            return NULL;
        at = skip_space(at, end);
        if (at >= end || (*at != ',' && *at != close))
            return NULL;
        if (*at++ == close)
            return at;
    }
}

/* Returns the end of the JSON value at `at`, or NULL if there is no valid value. */
static const char *skip_value(const char *at, const char *end, int depth) {
    if (at >= end || depth > DEPTH_LIMIT)
        return NULL;
    switch (*at) {
    case '{':
    case '[': return skip_list(at, end, depth + 1);
    case '"': return skip_string(at, end);
    case 't': return skip_word(at, end, "true");
    case 'f': return skip_word(at, end, "false");
    case 'n': return skip_word(at, end, "null");
    default: return skip_number(at, end);
    }
}

bool json_valid(struct slice text) {
    if (!text.p)
        return false;
    const char *end = text.p + text.n;
    const char *at = skip_value(skip_space(text.p, end), end, 0);
    return at && skip_space(at, end) == end;
}

/* A member of an object and its place there. */
struct named {
    cJSON *item;
    size_t place;
};

static int compare_named(const void *a, const void *b) {
    const struct named *one = a, *other = b;
    int order = strcmp(one->item->string, other->item->string);
    return order != 0 ? order : (one->place > other->place) - (one->place < other->place);
}

/* Deletes each member that has the name of a later one. */
static void members_keep_last(cJSON *object) {
    size_t count = (size_t)cJSON_GetArraySize(object), place = 0;
    struct named *members = memory_block((count + 1) * sizeof *members);
    for (cJSON *item = object->child; item; item = item->next, place++)
        members[place] = (struct named){item, place};
    qsort(members, count, sizeof *members, compare_named);
    for (size_t i = 1; i < count; i++)
        if (strcmp(members[i - 1].item->string, members[i].item->string) == 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(object, members[i - 1].item));
    free(members);
}

static void keep_last(cJSON *value) {
    if (cJSON_IsObject(value) && value->child && value->child->next)
        members_keep_last(value);
    for (cJSON *item = cJSON_IsString(value) ? NULL : value->child; item; item = item->next)
        keep_last(item);
}

cJSON *json_parse(struct slice text) {
    cJSON *value = json_valid(text) ? cJSON_ParseWithLength(text.p, text.n) : NULL;
    if (value)
        keep_last(value);
    return value;
}

/* Returns the start of the next element or member in `outer`, after the opening bracket or a comma;
 * NULL at the end. */
static const char *list_next(struct slice outer, size_t cursor) {
    const char *end = outer.p + outer.n;
    const char *at = skip_space(outer.p, end);
    if (at >= end || (*at != '[' && *at != '{'))
        return NULL;
    at = skip_space(cursor == 0 ? at + 1 : outer.p + cursor, end);
    if (at < end && *at == ',')
        at = skip_space(at + 1, end);
    return at < end && *at != ']' && *at != '}' ? at : NULL;
}

bool json_element(struct slice array, size_t *cursor, struct slice *element) {
    const char *at = list_next(array, *cursor);
    const char *after = at ? skip_value(at, array.p + array.n, 0) : NULL;
    if (!after)
        return false;
    *element = (struct slice){at, (size_t)(after - at)};
    *cursor = (size_t)(after - array.p);
    return true;
}

bool json_member(struct slice object, const char *name, struct slice *value) {
    size_t cursor = 0;
    size_t length = strlen(name);
    const char *end = object.p + object.n;
    const char *at;
    while ((at = list_next(object, cursor)) && *at == '"') {
        const char *name_end = skip_string(at, end);
        const char *after = skip_member(at, end, 0);
        if (!name_end || !after)
            return false;
        if ((size_t)(name_end - at) == length + 2 && memcmp(at + 1, name, length) == 0) {
            const char *start = skip_space(skip_space(name_end, end) + 1, end);
            *value = (struct slice){start, (size_t)(after - start)};
            return true;
        }
        cursor = (size_t)(after - object.p);
    }
    return false;
}

const char *json_member_text(struct arena *arena, struct slice object, const char *name) {
    struct slice value;
    if (!json_member(object, name, &value))
        return NULL;
    cJSON *json = cJSON_ParseWithLength(value.p, value.n);
    const char *text = text_copy(arena, cJSON_GetStringValue(json));
    cJSON_Delete(json);
    return text;
}
