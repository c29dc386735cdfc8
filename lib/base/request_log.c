#include "base/request_log.h"

#include <stdatomic.h>
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

/* The words of the last use of a token. The last one is unused. */
enum {
    USE_CHECK = 0, /* the checksum of the others; 0: never written */
    USE_TIME,
    USE_ID,
    USE_WORDS = USE_ID + ID_SIZE / sizeof(uint64_t)
};

struct use_slot {
    _Atomic uint64_t words[8];
};

struct file {
    struct header header;
    struct slot slots[REQUEST_LOG_RECORDS];
    struct use_slot uses[TOKEN_USE_SLOTS];
};

_Static_assert(sizeof(struct slot) == 192, "a record is three cache lines");
_Static_assert(ID_SIZE % sizeof(uint64_t) == 0, "an id is whole words");
_Static_assert(sizeof(struct use_slot) == 64, "a use is a cache line");
_Static_assert(sizeof(struct file) == REQUEST_LOG_FILE_SIZE, "the size of the file");

static struct file *table; /* NULL: nothing is recorded */

void request_log_open(const char *path, char problem[MAPPED_FILE_PROBLEM_SIZE]) {
    static const struct mapped_kind kind = {
        .header = {.magic = "SWBREQU", .version = VERSION, .slots = REQUEST_LOG_RECORDS},
        .size = sizeof *table,
        .key = "requests_file",
        .lost = "no request is recorded for /v2/requests",
        .anew = "the list of requests begins anew"};
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

static uint64_t checksum_of_use(const uint64_t words[USE_WORDS]) {
    return mapped_file_hash(&words[USE_TIME], USE_WORDS - USE_TIME);
}

static void encode_use(const struct token_use *use, uint64_t words[USE_WORDS]) {
    memset(words, 0, USE_WORDS * sizeof *words);
    words[USE_TIME] = (uint64_t)use->time;
    memcpy(&words[USE_ID], use->id, strnlen(use->id, ID_SIZE - 1));
    words[USE_CHECK] = checksum_of_use(words);
}

static uint64_t load(struct use_slot *slot, size_t word) {
    return atomic_load_explicit(&slot->words[word], memory_order_relaxed);
}

static bool has_id(struct use_slot *slot, const uint64_t words[USE_WORDS]) {
    for (size_t i = USE_ID; i < USE_WORDS; i++)
        if (load(slot, i) != words[i])
            return false;
    return true;
}

/* Finds the slot of the token, else the one to replace: an empty one or that of the oldest use. */
static struct use_slot *find_use(const uint64_t words[USE_WORDS]) {
    enum { PLACES = 16 }; /* slots that may hold the use of one token */
    const uint64_t first = mapped_file_hash(&words[USE_ID], USE_WORDS - USE_ID);
    struct use_slot *oldest = NULL;
    for (uint64_t i = 0; i < PLACES; i++) {
        struct use_slot *slot = &table->uses[(first + i) % TOKEN_USE_SLOTS];
        if (has_id(slot, words))
            return slot;
        if (!oldest || load(slot, USE_TIME) < load(oldest, USE_TIME))
            oldest = slot;
    }
    return oldest;
}

/* Two processes may write one slot: then the checksum may not match, until the next use. */
static void write_use(const uint64_t words[USE_WORDS]) {
    struct use_slot *slot = find_use(words);
    if (has_id(slot, words) && words[USE_TIME] - load(slot, USE_TIME) < TOKEN_USE_PRECISION)
        return;
    for (size_t i = 0; i < USE_WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_relaxed);
}

void request_log_note_use(const struct token_use *use) {
    uint64_t words[USE_WORDS];
    encode_use(use, words);
    if (!table || !MAPPED_FILE_ENTER(table))
        return;
    write_use(words);
    mapped_file_leave();
}

/* Whether it is the id of a scoped token: `tok_`, letters and digits, and NULs to its end. */
static bool is_id(const char id[ID_SIZE]) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const size_t n = strnlen(id, ID_SIZE);
    return n < ID_SIZE && strncmp(id, "tok_", 4) == 0 && strspn(id, allowed) == n;
}

/* What is read is not trusted: the use may be not whole, or its id none. */
static bool read_use(struct use_slot *slot, struct token_use *use) {
    uint64_t words[USE_WORDS];
    for (size_t i = 0; i < USE_WORDS; i++)
        words[i] = load(slot, i);
    if (!words[USE_CHECK] || words[USE_CHECK] != checksum_of_use(words))
        return false;
    use->time = (int64_t)words[USE_TIME];
    memcpy(use->id, &words[USE_ID], sizeof use->id);
    return use->time > 0 && is_id(use->id);
}

bool request_log_read_use(size_t i, struct token_use *use) {
    if (!table || !MAPPED_FILE_ENTER(table))
        return false;
    const bool is_read = read_use(&table->uses[i], use);
    mapped_file_leave();
    return is_read;
}
