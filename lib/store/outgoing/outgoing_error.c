/* Why the platform refused a send. */

#include <stdio.h>

#include "base/json.h"
#include "store/outgoing.h"

enum { MEMORY = 128 * 1024 * 1024 }; /* for the index of an answer of the greatest size */

bool outgoing_read_code(struct slice error, char code[OUTGOING_CODE_SIZE]) {
    struct arena arena;
    struct json json;
    struct json_error problem;
    int64_t number;
    *code = '\0';
    if (!error.n)
        return false;
    arena_init(&arena, MEMORY, NULL);
    if (json_read(&arena, error, &json, &problem) == 0) {
        const struct json first =
            json_type(json) == JSON_ARRAY ? json_first(json) : json_get(json, "error");
        if (json_integer(json_get(first, "code"), &number))
            snprintf(code, OUTGOING_CODE_SIZE, "%lld", (long long)number);
    }
    arena_free(&arena);
    return *code != '\0';
}
