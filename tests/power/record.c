#include "record.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct record *record_map(const char *path) {
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return NULL;
    fchmod(file, 0666); /* the programs of Apache have another user */
    void *map = MAP_FAILED;
    struct stat found;
    if (fstat(file, &found) == 0 &&
        (found.st_size == RECORD_SIZE || ftruncate(file, RECORD_SIZE) == 0))
        map = mmap(NULL, RECORD_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map == MAP_FAILED)
        return NULL;
    uint64_t none = 0;
    struct record *record = map;
    atomic_compare_exchange_strong(&record->used, &none, sizeof *record);
    return record;
}

struct record_entry *record_add(struct record *record, enum record_kind kind, uint32_t file,
                                int64_t at, const void *bytes, uint64_t n) {
    const uint64_t size = sizeof(struct record_entry) + (n + 7) / 8 * 8;
    const uint64_t where = atomic_fetch_add(&record->used, size);
    if (where + size > RECORD_SIZE) {
        atomic_store(&record->is_full, 1);
        return NULL;
    }
    struct record_entry *entry = (struct record_entry *)(void *)((char *)record + where);
    entry->file = file;
    entry->at = at;
    entry->n = n;
    if (n)
        memcpy(entry + 1, bytes, n);
    atomic_store(&entry->kind, kind);
    return entry;
}

void record_end(struct record *record, struct record_entry *entry) {
    if (entry)
        atomic_store(&entry->ended, atomic_load(&record->used));
}
