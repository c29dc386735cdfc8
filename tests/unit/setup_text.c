/* The texts of the check of a set-up: each has a code of its own, which en.json has with the same
 * words, and no other; the values stand in place of their names. */
#include "setup/setup_text.h"

#include "base/json.h"
#include "check.h"

static struct arena arena;

static const char *read_english(void) {
    static char text[1 << 20];
    FILE *file = fopen("htdocs/dashboard/i18n/en.json", "re");
    check(file != NULL, "run it in the directory of the project");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    return text;
}

static void test_codes(void) {
    struct json json;
    struct json_error error;
    size_t count = 0;
    check(json_read(&arena, slice_of(read_english()), &json, &error) == 0, "en.json");
    struct json said = json_find(json, "setup.texts");
    for (enum setup_text text = SETUP_NOTHING + 1; text < SETUP_TEXTS; text++, count++) {
        const char *code = setup_code(text), *english = setup_english(text);
        check(code && english, "text %d has no row", (int)text);
        check(code && json_equals(json_get(said, code), english), "%s", code);
        for (enum setup_text other = SETUP_NOTHING + 1; other < text; other++)
            check(strcmp(setup_code(other), code) != 0, "%s stands twice", code);
    }
    check(json_count(said) == count, "%zu texts, %zu in en.json", count, json_count(said));
    check(!setup_code(SETUP_NOTHING) && !setup_english(SETUP_NOTHING), "SETUP_NOTHING");
}

static void test_values(void) {
    static const struct {
        enum setup_text text;
        struct setup_values values;
        const char *said;
    } cases[] = {
        {SETUP_ENDLESS, {{{0}}}, "it does not end"},
        {SETUP_NUMBER, {{{"id", "1065"}}}, "number 1065"},
        {SETUP_URL, {{{"url", "https://{own}/"}}}, "https://{own}/"},
        {SETUP_URL, {{{"url", ""}}}, ""},
        {SETUP_WEBHOOK_ELSEWHERE, {{{"own", "B"}, {"url", "A"}}}, "webhooks go to A instead of B"},
        {SETUP_WEBHOOK_ELSEWHERE, {{{"url", "A"}}}, "webhooks go to A instead of "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = setup_say(&arena, cases[i].text, &cases[i].values);
        check(said && strcmp(said, cases[i].said) == 0, "%s", said ? said : "NULL");
    }
    check(!setup_say(&arena, SETUP_NOTHING, &cases[0].values), "SETUP_NOTHING has a text");
}

int main(void) {
    arena_init(&arena, 1 << 24, NULL);
    test_codes();
    test_values();
    arena_free(&arena);
    return check_failures();
}
