#include "state/number.h"

#include <inttypes.h>
#include <sodium.h>

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

const char *number_wa_id(const char *digits) {
    const struct number *number = number_find(digits);
    return number && number->wa_id ? number->wa_id : digits;
}

const char *number_bsuid(struct arena *arena, const char *digits) {
    static const unsigned char key[crypto_shorthash_KEYBYTES] = "sandbox-bsuid";
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t number;
    crypto_shorthash(hash, (const unsigned char *)digits, strlen(digits), key);
    memcpy(&number, hash, sizeof number);
    return arena_printf(arena, "US.%016" PRIu64, number % 10000000000000000U);
}

static void print_from(struct buffer *out, const struct number *number) {
    if (number->next) {
        print_from(out, number->next);
        buffer_add_text(out, ",\n");
    }
    json_fields_print(out, number, number_fields);
}

void number_print(struct buffer *out) {
    if (numbers)
        print_from(out, numbers);
}

void number_clear(void) {
    while (numbers) {
        struct number *gone = numbers;
        numbers = gone->next;
        memory_close(gone->arena);
    }
}
