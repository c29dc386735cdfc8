#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_LIMIT = 500 };

static const char *skip_value(const char *at, const char *end, int depth);

static const char *skip_space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) {
        at++;
    }
    return at;
}

static bool is_digit(const char *at, const char *end) {
    return at < end && *at >= '0' && *at <= '9';
}

static const char *skip_digits(const char *at, const char *end) {
    if (!is_digit(at, end)) {
        return NULL;
    }
    while (is_digit(at, end)) {
        at++;
    }
    return at;
}

static const char *skip_number(const char *at, const char *end) {
    if (at < end && *at == '-') {
        at++;
    }
    if (at < end && *at == '0') {
        at++;
    } else {
        at = skip_digits(at, end);
    }
    if (at != NULL && at < end && *at == '.') {
        at = skip_digits(at + 1, end);
    }
    if (at != NULL && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) {
            at++;
        }
        at = skip_digits(at, end);
    }
    return at;
}

static const char *skip_word(const char *at, const char *end, const char *word) {
    size_t length = strlen(word);

    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

static const char *skip_escape(const char *at, const char *end) {
    if (at >= end || strchr("\"\\/bfnrtu", *at) == NULL || *at == '\0') {
        return NULL;
    }
    if (*at != 'u') {
        return at + 1;
    }
    at++;
    for (int i = 0; i < 4; i++, at++) {
        if (at >= end || *at == '\0' || strchr("0123456789abcdefABCDEF", *at) == NULL) {
            return NULL;
        }
    }
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
        if (*byte < forms[i].first || *byte > forms[i].last) {
            continue;
        }
        if (end - at <= forms[i].more) {
            return NULL;
        }
        for (int more = 1; more <= forms[i].more; more++) {
            unsigned char low = more == 1 ? forms[i].low : 0x80;
            unsigned char high = more == 1 ? forms[i].high : 0xBF;

            if (byte[more] < low || byte[more] > high) {
                return NULL;
            }
        }
        return at + 1 + forms[i].more;
    }
    return NULL;
}

static const char *skip_string(const char *at, const char *end) {
    if (at >= end || *at != '"') {
        return NULL;
    }
    at++;
    while (at != NULL && at < end && *at != '"') {
        if ((unsigned char)*at < 0x20) {
            return NULL;
        }
        at = *at == '\\' ? skip_escape(at + 1, end) : skip_utf8(at, end);
    }
    return at != NULL && at < end ? at + 1 : NULL;
}

static const char *skip_member(const char *at, const char *end, int depth) {
    at = skip_string(skip_space(at, end), end);
    if (at == NULL) {
        return NULL;
    }
    at = skip_space(at, end);
    if (at >= end || *at != ':') {
        return NULL;
    }
    return skip_value(skip_space(at + 1, end), end, depth);
}

static const char *skip_list(const char *at, const char *end, int depth) {
    char close = *at == '{' ? '}' : ']';

    at = skip_space(at + 1, end);
    if (at < end && *at == close) {
        return at + 1;
    }
    for (;;) {
        at = skip_space(at, end);
        at = close == '}' ? skip_member(at, end, depth) : skip_value(at, end, depth);
        if (at == NULL) {
            return NULL;
        }
        at = skip_space(at, end);
        if (at >= end || (*at != ',' && *at != close)) {
            return NULL;
        }
        if (*at++ == close) {
            return at;
        }
    }
}

/* Returns the end of the JSON value at `at`, or NULL if there is no valid value. */
static const char *skip_value(const char *at, const char *end, int depth) {
    if (at >= end || depth > DEPTH_LIMIT) {
        return NULL;
    }
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

bool json_valid(const char *text, size_t length) {
    const char *end = text + length;
    const char *at;

    if (text == NULL) {
        return false;
    }
    at = skip_value(skip_space(text, end), end, 0);
    return at != NULL && skip_space(at, end) == end;
}

cJSON *json_parse(const char *text, size_t length) {
    return json_valid(text, length) ? cJSON_ParseWithLength(text, length) : NULL;
}

/* Returns the start of the next element or member in `outer`, after the opening bracket or a comma;
 * NULL at the end. */
static const char *list_next(struct slice outer, size_t cursor, const char **end) {
    const char *at = skip_space(outer.text, outer.text + outer.length);

    *end = outer.text + outer.length;
    if (at >= *end || (*at != '[' && *at != '{')) {
        return NULL;
    }
    at = cursor == 0 ? at + 1 : outer.text + cursor;
    at = skip_space(at, *end);
    if (at < *end && *at == ',') {
        at = skip_space(at + 1, *end);
    }
    return at < *end && *at != ']' && *at != '}' ? at : NULL;
}

bool json_element(struct slice array, size_t *cursor, struct slice *element) {
    const char *end;
    const char *at = list_next(array, *cursor, &end);
    const char *after = at == NULL ? NULL : skip_value(at, end, 0);

    if (after == NULL) {
        return false;
    }
    *element = (struct slice){at, (size_t)(after - at)};
    *cursor = (size_t)(after - array.text);
    return true;
}

bool json_member(struct slice object, const char *name, struct slice *value) {
    size_t cursor = 0;
    size_t length = strlen(name);
    const char *end;
    const char *at;

    while ((at = list_next(object, cursor, &end)) != NULL && *at == '"') {
        const char *name_end = skip_string(at, end);
        const char *after = skip_member(at, end, 0);
        const char *start;

        if (name_end == NULL || after == NULL) {
            return false;
        }
        start = skip_space(skip_space(name_end, end) + 1, end);
        if ((size_t)(name_end - at) == length + 2 && memcmp(at + 1, name, length) == 0) {
            *value = (struct slice){start, (size_t)(after - start)};
            return true;
        }
        cursor = (size_t)(after - object.text);
    }
    return false;
}

char *json_member_text(struct slice object, const char *name) {
    struct slice value;
    cJSON *json;
    char *text;

    if (!json_member(object, name, &value)) {
        return NULL;
    }
    json = cJSON_ParseWithLength(value.text, value.length);
    text = memory_text(cJSON_GetStringValue(json));
    cJSON_Delete(json);
    return text;
}

static unsigned long decode_utf8(const unsigned char *at, size_t length) {
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    unsigned long point = at[0] & masks[length];

    for (size_t i = 1; i < length; i++) {
        point = point << 6 | (at[i] & 0x3F);
    }
    return point;
}

static void quote_point(struct bytes *out, unsigned long point) {
    if (point >= 0x10000) {
        point -= 0x10000;
        bytes_format(out, "\\u%04lx\\u%04lx", 0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF));
    } else {
        bytes_format(out, "\\u%04lx", point);
    }
}

static void quote_byte(struct bytes *out, char byte) {
    static const char special[] = "\"\"\\\\//\bb\ff\nn\rr\tt";

    for (size_t i = 0; i + 1 < sizeof special; i += 2) {
        if (byte == special[i]) {
            bytes_format(out, "\\%c", special[i + 1]);
            return;
        }
    }
    if ((unsigned char)byte < 0x20) {
        quote_point(out, (unsigned char)byte);
    } else {
        bytes_append(out, &byte, 1);
    }
}

void json_quote(struct bytes *out, const char *text, size_t length) {
    const char *end = text + length;

    bytes_text(out, "\"");
    while (text < end) {
        const char *after = skip_utf8(text, end);

        if (after == NULL) {
            bytes_text(out, "\\ufffd");
            after = text + 1;
        } else if (after == text + 1) {
            quote_byte(out, *text);
        } else {
            quote_point(out, decode_utf8((const unsigned char *)text, (size_t)(after - text)));
        }
        text = after;
    }
    bytes_text(out, "\"");
}

static void print_number(struct bytes *out, double number) {
    if (!isfinite(number)) {
        bytes_text(out, "null");
    } else if (fabs(number) < 9007199254740992.0 && (double)(int64_t)number == number) {
        bytes_format(out, "%.0f", number);
    } else {
        char text[40];

        snprintf(text, sizeof text, "%.15g", number);
        if (strtod(text, NULL) != number) {
            snprintf(text, sizeof text, "%.17g", number);
        }
        bytes_text(out, text);
    }
}

static void print_list(struct bytes *out, const cJSON *list) {
    bool object = cJSON_IsObject(list);
    const cJSON *item;

    bytes_text(out, object ? "{" : "[");
    cJSON_ArrayForEach(item, list) {
        if (item != list->child) {
            bytes_text(out, ",");
        }
        if (object) {
            json_quote(out, item->string, strlen(item->string));
            bytes_text(out, ":");
        }
        json_print(out, item);
    }
    bytes_text(out, object ? "}" : "]");
}

void json_print(struct bytes *out, const cJSON *value) {
    if (cJSON_IsObject(value) || cJSON_IsArray(value)) {
        print_list(out, value);
    } else if (cJSON_IsString(value)) {
        json_quote(out, value->valuestring, strlen(value->valuestring));
    } else if (cJSON_IsNumber(value)) {
        print_number(out, value->valuedouble);
    } else if (cJSON_IsBool(value)) {
        bytes_text(out, cJSON_IsTrue(value) ? "true" : "false");
    } else if (cJSON_IsRaw(value)) {
        bytes_text(out, value->valuestring);
    } else {
        bytes_text(out, "null");
    }
}

const char *json_text(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static char *fill_one(char *target, const struct json_field *field, const cJSON *value) {
    char *member = target + field->offset;

    if (field->kind == JSON_TEXT && (cJSON_IsString(value) || cJSON_IsNull(value))) {
        char **text = (char **)(void *)member;

        free(*text);
        *text = memory_text(cJSON_GetStringValue(value));
    } else if (field->kind == JSON_NUMBER && cJSON_IsNumber(value) && value->valuedouble >= 0 &&
               value->valuedouble < 9007199254740992.0 &&
               (double)(uint64_t)value->valuedouble == value->valuedouble) {
        *(uint64_t *)(void *)member = (uint64_t)value->valuedouble;
    } else if (field->kind == JSON_FLAG && cJSON_IsBool(value)) {
        *(bool *)(void *)member = cJSON_IsTrue(value);
    } else if (field->kind != JSON_ELSEWHERE) {
        static const char *const wanted[] = {"a string", "a whole number", "true or false"};

        return memory_format("'%s' must be %s", field->name, wanted[field->kind]);
    }
    return NULL;
}

char *json_fill(void *target, const struct json_field *fields, const cJSON *object) {
    const cJSON *item;

    if (!cJSON_IsObject(object)) {
        return memory_text("a JSON object is needed");
    }
    cJSON_ArrayForEach(item, object) {
        const struct json_field *field = fields;
        char *problem;

        while (field->name != NULL && strcmp(field->name, item->string) != 0) {
            field++;
        }
        if (field->name == NULL) {
            return memory_format("'%s' is not known here", item->string);
        }
        problem = fill_one(target, field, item);
        if (problem != NULL) {
            return problem;
        }
    }
    return NULL;
}

void json_fields_release(void *target, const struct json_field *fields) {
    for (; fields->name != NULL; fields++) {
        if (fields->kind == JSON_TEXT) {
            char **text = (char **)(void *)((char *)target + fields->offset);

            free(*text);
            *text = NULL;
        }
    }
}

void json_fields_print(struct bytes *out, const void *target, const struct json_field *fields) {
    const char *comma = "{";

    for (; fields->name != NULL; fields++) {
        const char *member = (const char *)target + fields->offset;

        if (fields->kind == JSON_ELSEWHERE) {
            continue;
        }
        bytes_format(out, "%s\"%s\":", comma, fields->name);
        comma = ",";
        if (fields->kind == JSON_NUMBER) {
            bytes_format(out, "%llu", (unsigned long long)*(const uint64_t *)(const void *)member);
        } else if (fields->kind == JSON_FLAG) {
            bytes_text(out, *(const bool *)(const void *)member ? "true" : "false");
        } else {
            const char *text = *(char *const *)(const void *)member;

            if (text == NULL) {
                bytes_text(out, "null");
            } else {
                json_quote(out, text, strlen(text));
            }
        }
    }
    bytes_text(out, "}");
}

bool utf8_valid(const char *text, size_t length) {
    const char *end = text + length;

    while (text != NULL && text < end) {
        text = skip_utf8(text, end);
    }
    return text != NULL;
}
