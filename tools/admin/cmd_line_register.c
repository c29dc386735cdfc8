/* switchboard line register */
#include <stdio.h>

#include "base/crypto.h"
#include "base/json.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "platform_call.h"
#include "secret.h"
#include "store/admin.h"
#include "store/line.h"

enum { PIN_DIGITS = 6, CALL_MS = 30000 };

/* What to do after a refusal of the platform (Meta, "Error codes", registration). */
static const struct {
    int64_t code;
    const char *todo;
} refusals[] = {
    {133000, "deregister the number at the platform, then register it again"},
    {133005, "give the PIN that the number has, or set another in WhatsApp Manager: Phone numbers, "
             "Settings, Two-step verification"},
    {133006, "verify the number by a code first: request_code, then verify_code"},
    {133008, "too many wrong PINs: wait as long as the platform says"},
    {133009, "PINs came too fast after each other: wait some minutes"},
    {133015, "the number was deleted a short time ago: wait five minutes"},
    {133016, "ten attempts in 72 hours are allowed: wait"},
};

/* Reads the PIN of the two-step verification into `pin`, which ends with a NUL. */
static int read_pin(char pin[PIN_DIGITS + 1]) {
    char text[PIN_DIGITS + 64];
    const ssize_t n = secret_read("PIN", text, sizeof text);
    const struct slice given = secret_trim((struct slice){text, n < 0 ? 0 : (size_t)n});
    size_t digits = 0;
    while (digits < given.n && given.p[digits] >= '0' && given.p[digits] <= '9')
        digits++;
    const bool is_valid = given.n == PIN_DIGITS && digits == PIN_DIGITS;
    if (is_valid)
        memcpy(pin, given.p, PIN_DIGITS);
    pin[is_valid ? PIN_DIGITS : 0] = '\0';
    crypto_wipe(text, sizeof text);
    if (n < 0)
        return EXIT_FAILED;
    return is_valid ? EXIT_DONE : fail("the PIN on standard input must be six digits");
}

/* Prints the platform's refusal, with what to do about it. */
static int fail_refused(struct invocation *call, const struct graph_answer *answer) {
    struct json body;
    struct json_error error;
    int64_t code = 0;
    if (!answer->status || json_read(&call->arena, answer->body, &body, &error) != 0 ||
        !json_integer(json_find(body, "error.code"), &code))
        return platform_fail(call, answer, "success");
    const char *message = json_text(json_find(body, "error.message"), &call->arena);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].code == code)
            return fail("the platform answered %d: %s; %s", answer->status,
                        message ? message : "no message", refusals[i].todo);
    return platform_fail(call, answer, "success");
}

/* Asks the platform to register the number. */
static int ask_platform(struct invocation *call, const char *phone_number_id, const char *token,
                        const char *pin) {
    struct arena *arena = &call->arena;
    struct graph_answer answer;
    struct json body;
    struct json_error error;
    char text[64];
    const int n =
        snprintf(text, sizeof text, "{\"messaging_product\":\"whatsapp\",\"pin\":\"%s\"}", pin);
    const struct graph_call registration = {
        .method = "POST",
        .path = arena_printf(arena, "%s/register", graph_escape(arena, slice_of(phone_number_id))),
        .token = token,
        .body = {text, (size_t)n},
        .limit_ms = CALL_MS,
    };
    platform_ask(call, &registration, &answer);
    crypto_wipe(text, sizeof text);
    if (answer.status == 200 && json_read(arena, answer.body, &body, &error) == 0 &&
        json_type(json_get(body, "success")) == JSON_TRUE)
        return EXIT_DONE;
    return fail_refused(call, &answer);
}

int line_register(struct invocation *call) {
    const char *phone_number_id = call->operands[0], *token;
    char pin[PIN_DIGITS + 1];
    struct line line;
    enum store_result result =
        store_find_line(call->store, &call->arena, WHOLE_VIEW(NULL), phone_number_id, &line);
    if (result == STORE_NOT_FOUND)
        return fail("no line %s is in use; `switchboard line list` shows all, archived ones too",
                    phone_number_id);
    if (result != STORE_OK)
        return fail_store(call, result);
    int status = secret_open_token(call, &line.account, &token);
    if (status == EXIT_DONE)
        status = read_pin(pin);
    if (status == EXIT_DONE)
        status = ask_platform(call, phone_number_id, token, pin);
    crypto_wipe(pin, sizeof pin);
    if (status != EXIT_DONE)
        return status;
    result = store_register_line(call->store, phone_number_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_LINE, phone_number_id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "phoneNumberId", phone_number_id);
    json_write_bool(&json, "isRegistered", true);
    return object_print(call, &json, "registered line %s", phone_number_id);
}
