/* power: makes the files that a power failure would leave, from a record (record.h).
 *
 *     power mark RECORD TEXT
 *         appends a line that a client saw.
 *     power fail|lie RECORD BEGINNING OUT COUNT SEED
 *         makes OUT/N.db and OUT/N.db-wal for COUNT random moments of the record, and OUT/N.marks,
 *         the lines of the clients until then; and OUT/end.db and OUT/end.db-wal, where the power
 *         does not fail. BEGINNING and BEGINNING-wal are the files when the record began. Prints
 *         the numbers of entries, syncs and marks, and of lost and torn writes. With `lie` the disk
 *         ignores syncs.
 *
 * What was written before a sync of the file began, and was complete, is on the disk when the sync
 * has ended. Of what was written later any part may be there, a write also in part: a disk writes
 * sectors in any order. A file system keeps the order of truncations and removals with what follows
 * them. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { SECTOR = 512 };

static _Noreturn void give_up(const char *what) {
    fprintf(stderr, "power: %s: %s\n", what, errno ? strerror(errno) : "impossible");
    exit(1);
}

/* --- the content of a file --- */

struct content {
    char *bytes;
    size_t size, room;
    bool exists;
};

static void set_size(struct content *content, size_t size) {
    if (size > content->room) {
        content->room = 2 * size;
        content->bytes = realloc(content->bytes, content->room);
        if (!content->bytes)
            give_up("memory");
    }
    if (size > content->size)
        memset(content->bytes + content->size, 0, size - content->size);
    content->size = size;
}

static void put(struct content *content, size_t at, const char *bytes, size_t n) {
    if (at + n > content->size)
        set_size(content, at + n);
    if (n)
        memcpy(content->bytes + at, bytes, n);
    content->exists = true;
}

static void copy(struct content *to, const struct content *from) {
    set_size(to, 0);
    to->exists = false;
    if (from->exists)
        put(to, 0, from->bytes, from->size);
}

static void read_content(const char *path, struct content *content) {
    char block[65536];
    size_t n;
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT)
        return;
    if (!file)
        give_up(path);
    content->exists = true;
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        put(content, content->size, block, n);
    fclose(file);
}

static void write_content(const char *path, const struct content *content) {
    FILE *file = content->exists ? fopen(path, "w") : NULL;
    if (!content->exists)
        return;
    if (!file || fwrite(content->bytes, 1, content->size, file) != content->size ||
        fclose(file) != 0)
        give_up(path);
}

/* --- the record --- */

static struct record *record;

static uint64_t end_of_record(void) {
    return atomic_load(&record->used);
}

static struct record_entry *entry_at(uint64_t where) {
    return (struct record_entry *)(void *)((char *)record + where);
}

/* An entry that has no kind yet was reserved by a process that was killed: its size is unknown. */
static uint64_t after(uint64_t where) {
    const struct record_entry *entry = entry_at(where);
    if (!atomic_load(&entry->kind))
        give_up("an entry is incomplete");
    return where + sizeof *entry + (entry->n + 7) / 8 * 8;
}

static const char *bytes_of(const struct record_entry *entry) {
    return (const char *)(entry + 1);
}

static bool has_ended_by(struct record_entry *entry, uint64_t moment) {
    const uint64_t ended = atomic_load(&entry->ended);
    return ended && ended <= moment;
}

/* --- the disk --- */

/* What is on the disk for certain, and the entries that may be there: writes, truncations and
 * removals of one file, in their order, and the syncs that have not ended. */
struct disk {
    struct content content;
    uint64_t *pending, *syncs;
    size_t pending_count, pending_room, sync_count, sync_room;
};

static struct disk disks[RECORD_FILES];
static bool is_lying; /* the disk ignores syncs */
static size_t lost, torn;

static void append(uint64_t **list, size_t *count, size_t *room, uint64_t where) {
    if (*count == *room) {
        *room = *room ? 2 * *room : 64;
        *list = realloc(*list, *room * sizeof **list);
        if (!*list)
            give_up("memory");
    }
    (*list)[(*count)++] = where;
}

static void apply(struct content *content, const struct record_entry *entry) {
    switch (atomic_load(&entry->kind)) {
    case RECORD_WRITE: put(content, (size_t)entry->at, bytes_of(entry), entry->n); break;
    case RECORD_TRUNCATE: set_size(content, (size_t)entry->at); break;
    default: set_size(content, 0); content->exists = false;
    }
}

/* What the sync at `sync` covers is on the disk. */
static void settle(struct disk *disk, uint64_t sync) {
    size_t left = 0;
    for (size_t i = 0; i < disk->pending_count; i++) {
        const uint64_t where = disk->pending[i];
        if (where < sync && has_ended_by(entry_at(where), sync))
            apply(&disk->content, entry_at(where));
        else
            disk->pending[left++] = where;
    }
    disk->pending_count = left;
}

/* Takes the entry at `where` into account. */
static void take(uint64_t where) {
    const struct record_entry *entry = entry_at(where);
    struct disk *disk = &disks[entry->file];
    const uint32_t kind = atomic_load(&entry->kind);
    if (kind == RECORD_SYNC && !is_lying)
        append(&disk->syncs, &disk->sync_count, &disk->sync_room, where);
    else if (kind != RECORD_SYNC && kind != RECORD_MARK)
        append(&disk->pending, &disk->pending_count, &disk->pending_room, where);
}

static void settle_until(uint64_t moment) {
    for (size_t name = 0; name < RECORD_FILES; name++) {
        struct disk *disk = &disks[name];
        size_t left = 0;
        for (size_t i = 0; i < disk->sync_count; i++) {
            if (has_ended_by(entry_at(disk->syncs[i]), moment))
                settle(disk, disk->syncs[i]);
            else
                disk->syncs[left++] = disk->syncs[i];
        }
        disk->sync_count = left;
    }
}

/* --- a power failure --- */

static uint64_t state;

/* splitmix64 */
static unsigned below(unsigned sides) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (unsigned)((z ^ (z >> 31)) % sides);
}

static bool chance(unsigned percent) {
    return below(100) < percent;
}

/* Some sectors of a write reach the disk. */
static void tear(struct content *content, const struct record_entry *entry) {
    const unsigned kept = below(101);
    for (uint64_t at = 0; at < entry->n; at += SECTOR)
        if (chance(kept))
            put(content, (size_t)entry->at + at, bytes_of(entry) + at,
                entry->n - at < SECTOR ? entry->n - at : SECTOR);
    torn++;
}

/* Writes what the failure leaves of a file. */
static void leave(const struct disk *disk, const char *path) {
    static struct content content;
    const unsigned kept = below(101);
    bool is_over = false;
    copy(&content, &disk->content);
    for (size_t i = 0; i < disk->pending_count && !is_over; i++) {
        const struct record_entry *entry = entry_at(disk->pending[i]);
        const bool is_write = atomic_load(&entry->kind) == RECORD_WRITE;
        if (chance(kept)) {
            apply(&content, entry);
            continue;
        }
        lost++;
        is_over = !is_write;
        if (is_write && chance(30))
            tear(&content, entry);
    }
    write_content(path, &content);
}

static const char *const names[] = {"db", "db-wal"};

static void write_marks(const char *path, uint64_t moment) {
    FILE *file = fopen(path, "w");
    if (!file)
        give_up(path);
    for (uint64_t where = sizeof *record; where < moment; where = after(where))
        if (atomic_load(&entry_at(where)->kind) == RECORD_MARK)
            fprintf(file, "%.*s\n", (int)entry_at(where)->n, bytes_of(entry_at(where)));
    if (fclose(file) != 0)
        give_up(path);
}

static void fail_power(const char *out, unsigned number, uint64_t moment) {
    char path[4096];
    settle_until(moment);
    for (size_t i = 0; i < RECORD_FILES; i++) {
        snprintf(path, sizeof path, "%s/%u.%s", out, number, names[i]);
        leave(&disks[i], path);
    }
    snprintf(path, sizeof path, "%s/%u.marks", out, number);
    write_marks(path, moment);
}

/* Writes the files as they are after all that was recorded. */
static void write_end(const char *out) {
    char path[4096];
    for (size_t name = 0; name < RECORD_FILES; name++) {
        struct disk *disk = &disks[name];
        for (size_t i = 0; i < disk->pending_count; i++)
            apply(&disk->content, entry_at(disk->pending[i]));
        snprintf(path, sizeof path, "%s/end.%s", out, names[name]);
        write_content(path, &disk->content);
    }
}

/* --- the commands --- */

/* Returns the number of entries of a kind, or of all. */
static unsigned count_entries(uint32_t kind) {
    unsigned count = 0;
    for (uint64_t where = sizeof *record; where < end_of_record(); where = after(where))
        count += !kind || atomic_load(&entry_at(where)->kind) == kind;
    return count;
}

/* Each entry has the same chance to be the last one before a failure. */
static void fail_often(const char *out, unsigned wanted) {
    unsigned left = count_entries(0), number = 0;
    for (uint64_t where = sizeof *record; where < end_of_record(); where = after(where), left--) {
        take(where);
        while (number < wanted && below(left) < wanted - number)
            fail_power(out, ++number, after(where));
    }
}

static int fail(char **arguments) {
    char log[4096];
    snprintf(log, sizeof log, "%s-wal", arguments[1]);
    read_content(arguments[1], &disks[RECORD_DATABASE].content);
    read_content(log, &disks[RECORD_LOG].content);
    state = strtoull(arguments[4], NULL, 10);
    fail_often(arguments[2], (unsigned)strtoul(arguments[3], NULL, 10));
    write_end(arguments[2]);
    printf("%u entries, %u syncs, %u removals, %u marks; %zu writes lost, %zu of them torn\n",
           count_entries(0), count_entries(RECORD_SYNC), count_entries(RECORD_REMOVE),
           count_entries(RECORD_MARK), lost, torn);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3 || !(record = record_map(argv[2])))
        give_up("cannot open the record");
    if (atomic_load(&record->is_full))
        give_up("the record is full");
    if (argc == 4 && strcmp(argv[1], "mark") == 0)
        return !record_add(record, RECORD_MARK, 0, 0, argv[3], strlen(argv[3]));
    is_lying = strcmp(argv[1], "lie") == 0;
    if (argc == 7 && (is_lying || strcmp(argv[1], "fail") == 0))
        return fail(argv + 2);
    give_up("usage: power mark RECORD TEXT | fail|lie RECORD BEGINNING OUT COUNT SEED");
}
