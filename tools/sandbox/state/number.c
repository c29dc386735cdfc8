#include "state/number.h"

#include "text/memory.h"

static struct number *numbers; /* the newest first */

static const struct json_field number_fields[] = {
    {"number", JSON_TEXT, offsetof(struct number, digits)},
    {"waId", JSON_TEXT, offsetof(struct number, wa_id)},
    {"failCode", JSON_NUMBER, offsetof(struct number, fail_code)},
    {NULL, JSON_ELSEWHERE, 0},
};

const char *number_put(struct arena *arena, const cJSON *json) {
    struct number given = {0};
    const char *problem = json_fill(arena, &given, number_fields, json);
    if (problem || !given.digits)
        return problem ? problem : "number is missing";
    given.arena = memory_open();
    given.next = numbers;
    json_fields_copy(given.arena, &given, number_fields);
    numbers = arena_alloc(given.arena, sizeof *numbers);
    *numbers = given;
    return NULL;
}

const struct number *number_find(const char *digits) {
    const struct number *number = numbers;
    while (number && strcmp(number->digits, digits) != 0)
        number = number->next;
    return number;
}

void number_clear(void) {
    while (numbers) {
        struct number *gone = numbers;
        numbers = gone->next;
        memory_close(gone->arena);
    }
}
