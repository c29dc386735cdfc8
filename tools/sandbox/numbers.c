#include "numbers.h"

#include <stdlib.h>
#include <string.h>

static struct number *numbers;

static const struct json_field number_fields[] = {
    {"number", JSON_TEXT, offsetof(struct number, digits)},
    {"waId", JSON_TEXT, offsetof(struct number, wa_id)},
    {"failCode", JSON_NUMBER, offsetof(struct number, fail_code)},
    {NULL, JSON_ELSEWHERE, 0},
};

static void number_free(struct number *number) {
    json_fields_release(number, number_fields);
    free(number);
}

char *number_put(const cJSON *json) {
    struct number *number = memory_new(sizeof *number);
    char *problem = json_fill(number, number_fields, json);

    if (problem == NULL && number->digits == NULL) {
        problem = memory_text("number is missing");
    }
    if (problem != NULL) {
        number_free(number);
        return problem;
    }
    number->next = numbers;
    numbers = number;
    return NULL;
}

const struct number *number_find(const char *digits) {
    const struct number *number = numbers;

    while (number != NULL && strcmp(number->digits, digits) != 0) {
        number = number->next;
    }
    return number;
}

void number_clear(void) {
    while (numbers != NULL) {
        struct number *gone = numbers;

        numbers = gone->next;
        number_free(gone);
    }
}
