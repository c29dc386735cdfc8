/* The last uses of tokens in the file of the requests (base/request_log.h). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/request_log.h"
#include "compare.h"

enum { SLOTS_SIZE = TOKEN_USE_SLOTS * 64 };

static uint64_t (*slots)[8]; /* the end of the file */

static void open_log(void) {
    char path[] = "/tmp/switchboard-uses-XXXXXX", problem[MAPPED_FILE_PROBLEM_SIZE];
    const int made = mkstemp(path);
    CHECK_INTEGER(made >= 0 && close(made) == 0 && unlink(path) == 0, true);
    request_log_open(path, problem);
    CHECK_TEXT(problem, "");
    const int file = open(path, O_RDWR | O_CLOEXEC);
    CHECK_INTEGER(unlink(path), 0);
    void *uses = mmap(NULL, SLOTS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                      REQUEST_LOG_FILE_SIZE - SLOTS_SIZE);
    if (uses == MAP_FAILED)
        abort();
    slots = uses;
}

static void note(int number, int64_t time) {
    struct token_use use = {.time = time};
    snprintf(use.id, sizeof use.id, "tok_%026d", number);
    request_log_note_use(&use);
}

/* The time of the token's use in the table; 0: it has none. */
static int64_t find(int number) {
    struct token_use use;
    char id[ID_SIZE];
    int64_t time = 0;
    snprintf(id, sizeof id, "tok_%026d", number);
    for (size_t i = 0; i < TOKEN_USE_SLOTS; i++)
        if (request_log_read_use(i, &use) && strcmp(use.id, id) == 0) {
            CHECK_INTEGER(time, 0); /* one slot for each token */
            time = use.time;
        }
    return time;
}

static size_t count(void) {
    struct token_use use;
    size_t n = 0;
    for (size_t i = 0; i < TOKEN_USE_SLOTS; i++)
        n += request_log_read_use(i, &use);
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
    memset(slots, 0, SLOTS_SIZE);
    note(7, 5000);
    for (size_t i = 0; i < TOKEN_USE_SLOTS; i++)
        slots[i][1] = 1; /* the times */
    CHECK_INTEGER(count(), 0);
    note(7, 5000 + TOKEN_USE_PRECISION);
    CHECK_INTEGER(find(7), 5000 + TOKEN_USE_PRECISION);
    memset(slots, 0xff, SLOTS_SIZE);
    CHECK_INTEGER(count(), 0);
    note(7, 6000);
    CHECK_INTEGER(find(7), 6000);
}

/* Only what can be the id of a token is read. */
static void check_ids(void) {
    static const char *const wrong[] = {"", "tok", "usr_1", "tok_'", "tok_\xff", "TOK_1", "tok_ 1"};
    memset(slots, 0, SLOTS_SIZE);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct token_use use = {.time = 1000};
        snprintf(use.id, sizeof use.id, "%s", wrong[i]);
        request_log_note_use(&use);
        CHECK_INTEGER(count(), 0);
    }
    note(1, -1);
    CHECK_INTEGER(count(), 0);
}

int main(void) {
    open_log();
    check_precision();
    check_full();
    check_damage();
    check_ids();
    return check_failures();
}
