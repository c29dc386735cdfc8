/* The last uses of tokens in the file of the requests (base/token_use.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/token_use.h"
#include "compare.h"

static struct token_use_slot slots[TOKEN_USE_SLOTS];

static void note(int number, int64_t time) {
    struct token_use use = {.time = time};
    snprintf(use.id, sizeof use.id, "tok_%026d", number);
    token_use_note(slots, &use);
}

/* The time of the token's use in the table; 0: it has none. */
static int64_t find(int number) {
    struct token_use use;
    char id[ID_SIZE];
    int64_t time = 0;
    snprintf(id, sizeof id, "tok_%026d", number);
    for (size_t i = 0; i < TOKEN_USE_SLOTS; i++)
        if (token_use_read(&slots[i], &use) && strcmp(use.id, id) == 0) {
            CHECK_INTEGER(time, 0); /* one slot for each token */
            time = use.time;
        }
    return time;
}

static size_t count(void) {
    struct token_use use;
    size_t n = 0;
    for (size_t i = 0; i < TOKEN_USE_SLOTS; i++)
        n += token_use_read(&slots[i], &use);
    return n;
}

static void check_precision(void) {
    enum { TIME = 1000000 };
    CHECK_INTEGER(count(), 0);
    note(1, TIME);
    note(1, TIME + TOKEN_USE_PRECISION - 1);
    CHECK_INTEGER(find(1), TIME);
    note(1, TIME + TOKEN_USE_PRECISION);
    CHECK_INTEGER(find(1), TIME + TOKEN_USE_PRECISION);
    note(1, TIME - 1); /* the clock was set back */
    CHECK_INTEGER(find(1), TIME - 1);
    CHECK_INTEGER(count(), 1);
}

/* A full table takes each new use, and forgets an old one. */
static void check_full(void) {
    enum { TOKENS = 3 * TOKEN_USE_SLOTS };
    for (int i = 0; i < TOKENS; i++) {
        note(i, 1 + i * (int64_t)TOKEN_USE_PRECISION);
        if (i % 1000 == 0 || i == TOKENS - 1)
            CHECK_INTEGER(find(i), 1 + i * (int64_t)TOKEN_USE_PRECISION);
    }
    CHECK_INTEGER(count() > TOKEN_USE_SLOTS * 9 / 10, true);
    CHECK_INTEGER(find(0), 0);
}

/* A slot that is not whole is left out, and the next use of the token mends it. */
static void check_damage(void) {
    memset(slots, 0, sizeof slots);
    note(7, 5000);
    for (size_t i = 0; i < TOKEN_USE_SLOTS; i++)
        slots[i].words[1] = 1; /* the times */
    CHECK_INTEGER(count(), 0);
    note(7, 5000 + TOKEN_USE_PRECISION);
    CHECK_INTEGER(find(7), 5000 + TOKEN_USE_PRECISION);
    memset(slots, 0xff, sizeof slots);
    CHECK_INTEGER(count(), 0);
    note(7, 6000);
    CHECK_INTEGER(find(7), 6000);
}

/* Only what can be the id of a token is read. */
static void check_ids(void) {
    static const char *const wrong[] = {"", "tok", "usr_1", "tok_'", "tok_\xff", "TOK_1", "tok_ 1"};
    memset(slots, 0, sizeof slots);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct token_use use = {.time = 1000};
        snprintf(use.id, sizeof use.id, "%s", wrong[i]);
        token_use_note(slots, &use);
        CHECK_INTEGER(count(), 0);
    }
    note(1, -1);
    CHECK_INTEGER(count(), 0);
}

int main(void) {
    check_precision();
    check_full();
    check_damage();
    check_ids();
    return check_failures();
}
