#include "base/request_log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "the records need 64-bit atomic operations");

/* The layout of the file. Any change needs another version. A record is an array of words, since
 * each is read and written by one atomic operation. */
enum {
    VERSION = 2,
    CHECK = 0, /* the checksum of the other words; 0: never written */
    NUMBER,
    TIME,
    NUMBERS, /* status, kind of authorization, ms */
    METHOD,
    USER,
    ID = USER + 4,
    ROUTE = ID + 8,
    WORDS = ROUTE + 7
};

struct header {
    struct mapped_header kind;
    _Atomic uint64_t last; /* the number of the newest record */
    char unused[4072];
};

struct slot {
    _Atomic uint64_t words[WORDS];
};

struct file {
    struct header header;
    struct slot slots[REQUEST_LOG_RECORDS];
    struct token_use_slot uses[TOKEN_USE_SLOTS];
};

_Static_assert(sizeof(struct slot) == 192, "a record is three cache lines");
_Static_assert(sizeof(struct file) == REQUEST_LOG_FILE_SIZE, "the size of the file");

static struct file *table; /* NULL: nothing is recorded */

void request_log_open(const char *path, char problem[MAPPED_FILE_PROBLEM_SIZE]) {
    static const struct mapped_kind kind = {
        .header = {.magic = "SWBREQU", .version = VERSION, .slots = REQUEST_LOG_RECORDS},
        .size = sizeof *table,
        .key = "requests_file",
        .lost = "no request is recorded for /v2/requests",
        .anew = "the list of requests begins anew"};
    problem[0] = '\0';
    if (*path)
        table = mapped_file_open(path, &kind, problem);
}

bool request_log_is_kept(void) {
    return table != NULL;
}

/* --- records --- */

static uint64_t checksum(const uint64_t words[WORDS]) {
    return mapped_file_hash(&words[NUMBER], WORDS - NUMBER);
}

/* Copies a text into words, without its NUL; it is cut to their length. */
static void pack(uint64_t *words, size_t count, const char *text) {
    memcpy(words, text, strnlen(text, count * sizeof *words));
}

/* The words are followed by a NUL in `text`. */
static void unpack(char *text, const uint64_t *words, size_t count) {
    memcpy(text, words, count * sizeof *words);
    text[count * sizeof *words] = '\0';
}

static void encode(const struct request_record *record, uint64_t words[WORDS]) {
    const uint64_t ms = record->ms < 0            ? 0
                        : record->ms > UINT32_MAX ? UINT32_MAX
                                                  : (uint64_t)record->ms;
    words[TIME] = (uint64_t)record->time;
    words[NUMBERS] = ((uint64_t)record->status & 0xffff) | (uint64_t)record->is_session << 16 |
                     (uint64_t)record->is_scoped << 17 | ms << 32;
    pack(&words[METHOD], 1, record->method);
    pack(&words[USER], ID - USER, record->user_id);
    pack(&words[ID], ROUTE - ID, record->id);
    pack(&words[ROUTE], WORDS - ROUTE, record->route);
}

static void decode(const uint64_t words[WORDS], struct request_record *record) {
    record->number = words[NUMBER];
    record->time = (int64_t)words[TIME];
    record->status = (int)(words[NUMBERS] & 0xffff);
    record->is_session = words[NUMBERS] >> 16 & 1;
    record->is_scoped = words[NUMBERS] >> 17 & 1;
    record->ms = (int64_t)(words[NUMBERS] >> 32);
    unpack(record->method, &words[METHOD], 1);
    memcpy(record->user_id, &words[USER], sizeof record->user_id);
    record->user_id[sizeof record->user_id - 1] = '\0';
    unpack(record->id, &words[ID], ROUTE - ID);
    unpack(record->route, &words[ROUTE], WORDS - ROUTE);
}

static struct slot *slot_of(uint64_t number) {
    return &table->slots[number % REQUEST_LOG_RECORDS];
}

/* --- writing --- */

/* Two processes write the same slot only if one of them stops for REQUEST_LOG_RECORDS requests;
 * then the checksum does not match, and the record is lost. */
static void write_record(uint64_t words[WORDS]) {
    words[NUMBER] = atomic_fetch_add_explicit(&table->header.last, 1, memory_order_relaxed) + 1;
    words[CHECK] = checksum(words);
    struct slot *slot = slot_of(words[NUMBER]);
    for (size_t i = 0; i < WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_relaxed);
}

void request_log_add(const struct request_record *record) {
    uint64_t words[WORDS] = {0};
    if (!table)
        return;
    encode(record, words);
    if (!MAPPED_FILE_ENTER(table))
        return;
    write_record(words);
    mapped_file_leave();
}

/* --- reading --- */

/* Whether the slot of this number has the user's record; cheap, so that the records of other users
 * cost little. */
static bool is_of_user(const struct slot *slot, const uint64_t user[ID - USER]) {
    for (size_t i = 0; i < ID - USER; i++)
        if (atomic_load_explicit(&slot->words[USER + i], memory_order_relaxed) != user[i])
            return false;
    return true;
}

/* Copies the record of this number; false when it is not whole, or overwritten. */
static bool read_record(const struct slot *slot, uint64_t number, const uint64_t user[ID - USER],
                        struct request_record *record) {
    uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_relaxed);
    if (words[NUMBER] != number || words[CHECK] != checksum(words) ||
        memcmp(&words[USER], user, (ID - USER) * sizeof *words) != 0)
        return false;
    decode(words, record);
    return true;
}

bool request_log_next(const char *user_id, uint64_t *before, struct request_record *record) {
    uint64_t user[ID - USER] = {0};
    volatile bool is_found = false; /* its value must survive siglongjmp */
    pack(user, ID - USER, user_id);
    if (!table || !MAPPED_FILE_ENTER(table))
        return false;
    const uint64_t last = atomic_load_explicit(&table->header.last, memory_order_relaxed);
    const uint64_t first = last > REQUEST_LOG_RECORDS ? last - REQUEST_LOG_RECORDS : 0;
    uint64_t number = *before > last ? last + 1 : *before;
    while (!is_found && number > first + 1) {
        const struct slot *slot = slot_of(--number);
        is_found = is_of_user(slot, user) && read_record(slot, number, user, record);
    }
    *before = number;
    mapped_file_leave();
    return is_found;
}

/* --- the last uses of tokens --- */

void request_log_note_use(const struct token_use *use) {
    if (!table || !MAPPED_FILE_ENTER(table))
        return;
    token_use_note(table->uses, use);
    mapped_file_leave();
}

bool request_log_read_use(size_t i, struct token_use *use) {
    if (!table || !MAPPED_FILE_ENTER(table))
        return false;
    const bool is_read = token_use_read(&table->uses[i], use);
    mapped_file_leave();
    return is_read;
}
