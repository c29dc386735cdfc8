#include "text/json_fields.h"

#include <inttypes.h>

#include "text/json_print.h"
#include "text/text.h"

const char *json_text(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(json_get(object, name));
}

const cJSON *json_get(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is_whole(const cJSON *value) {
    return cJSON_IsNumber(value) && value->valuedouble >= 0 &&
           value->valuedouble < 9007199254740992.0 &&
           (double)(int64_t)value->valuedouble == value->valuedouble;
}

const char *json_digits(struct arena *arena, const cJSON *value) {
    return is_whole(value) ? arena_printf(arena, "%" PRId64, (int64_t)value->valuedouble)
                           : cJSON_GetStringValue(value);
}

static const char *fill_one(struct arena *arena, void *member, const struct json_field *field,
                            const cJSON *value) {
    static const char *const wanted[] = {"a string", "a whole number", "true or false"};
    if (field->kind == JSON_TEXT && (cJSON_IsString(value) || cJSON_IsNull(value)))
        *(const char **)member = text_copy(arena, cJSON_GetStringValue(value));
    else if (field->kind == JSON_NUMBER && is_whole(value))
        *(int64_t *)member = (int64_t)value->valuedouble;
    else if (field->kind == JSON_FLAG && cJSON_IsBool(value))
        *(bool *)member = cJSON_IsTrue(value);
    else if (field->kind != JSON_ELSEWHERE)
        return arena_printf(arena, "'%s' must be %s", field->name, wanted[field->kind]);
    return NULL;
}

const char *json_fill(struct arena *arena, void *target, const struct json_field *fields,
                      const cJSON *object) {
    if (!cJSON_IsObject(object))
        return "a JSON object is needed";
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        const struct json_field *field = fields;
        while (field->name && strcmp(field->name, item->string) != 0)
            field++;
        if (!field->name)
            return arena_printf(arena, "'%s' is not known here", item->string);
        const char *problem = fill_one(arena, (char *)target + field->offset, field, item);
        if (problem)
            return problem;
    }
    return NULL;
}

void json_fields_copy(struct arena *arena, void *target, const struct json_field *fields) {
    for (; fields->name; fields++) {
        if (fields->kind == JSON_TEXT) {
            const char **text = (void *)((char *)target + fields->offset);
            *text = text_copy(arena, *text);
        }
    }
}

static void print_one(struct buffer *out, const void *member, enum json_kind kind) {
    if (kind == JSON_NUMBER)
        buffer_printf(out, "%" PRId64, *(const int64_t *)member);
    else if (kind == JSON_FLAG)
        buffer_add_text(out, *(const bool *)member ? "true" : "false");
    else
        json_quote_text(out, *(const char *const *)member);
}

void json_fields_print(struct buffer *out, const void *target, const struct json_field *fields) {
    char before = '{';
    for (; fields->name; fields++) {
        if (fields->kind == JSON_ELSEWHERE)
            continue;
        buffer_printf(out, "%c\"%s\":", before, fields->name);
        print_one(out, (const char *)target + fields->offset, fields->kind);
        before = ',';
    }
    buffer_add_char(out, '}');
}
