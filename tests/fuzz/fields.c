/* Field tables: any JSON object is checked without a crash. */
#include "fuzz.h"
#include "web/field.h"

static const char *const kinds[] = {"image", "video", NULL};
static const char *const either[] = {"to", "recipient", NULL};
static const struct field rows[] = {
    {.name = "id", .type = FIELD_STRING, .required = true},
    {.name = "n", .type = FIELD_INTEGER, .min = 1, .max = 50},
    {0},
};
static const struct field fields[] = {
    {.name = "to", .type = FIELD_STRING},
    {.name = "recipient", .type = FIELD_STRING, .may_be_empty = true},
    {.type = FIELD_ONE_OF, .names = either},
    {.name = "type", .type = FIELD_STRING, .values = kinds},
    {.name = "where", .type = FIELD_STRING_OR_NUMBER},
    {.name = "one", .type = FIELD_OBJECT, .fields = rows},
    {.name = "names", .type = FIELD_STRINGS, .may_be_null = true, .max = 3, .values = kinds},
    {.name = "rows", .type = FIELD_ARRAY, .required = true, .min = 1, .max = 3, .fields = rows},
    {0},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct json value, list;
    struct json_error error;
    struct issues issues, strict;
    struct slice text = fuzz_copy(data, size);
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    if (json_read(&arena, text, &value, &error) == 0 && json_type(value) == JSON_OBJECT) {
        issues_start(&issues, &arena);
        field_check(fields, value, "", &issues);
        MUST(json_read(&arena, issues_written(&issues), &list, &error) == 0);
        MUST(json_type(list) == JSON_ARRAY && (json_count(list) > 0) == (issues.count > 0));
        issues_start(&strict, &arena);
        strict.is_strict = true;
        field_check(fields, value, "", &strict);
        MUST(strict.count >= issues.count);
        MUST(json_read(&arena, issues_written(&strict), &list, &error) == 0);
    }
    arena_free(&arena);
    free((char *)(size_t)text.p);
    return 0;
}
