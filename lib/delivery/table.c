#include "delivery/table.h"

#include <stdio.h>
#include <string.h>

static uint32_t hash_of(const char *name) { /* FNV-1a */
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

static struct table_entry *entry_at(const struct table *table, size_t index) {
    return (struct table_entry *)(void *)((char *)table->entries + index * table->size);
}

/* The index of a free entry; else of the least recently used one that has no load. */
static size_t index_for_new(struct table *table) {
    size_t oldest = table->most;
    if (table->count < table->most)
        return table->count++;
    for (size_t i = 0; i < table->most; i++)
        if (!entry_at(table, i)->load &&
            (oldest == table->most || entry_at(table, i)->used < entry_at(table, oldest)->used))
            oldest = i;
    return oldest;
}

void *table_find(struct table *table, const char *name, bool *is_new) {
    char key[TABLE_NAME_SIZE];
    size_t i = 0;
    snprintf(key, sizeof key, "%s", name); /* cuts only what is too long for a host */
    const uint32_t hash = hash_of(key);
    while (i < table->count &&
           (table->hashes[i] != hash || strcmp(entry_at(table, i)->name, key) != 0))
        i++;
    *is_new = i == table->count;
    if (*is_new) {
        i = index_for_new(table);
        table->hashes[i] = hash;
        memset(entry_at(table, i), 0, table->size);
        memcpy(entry_at(table, i)->name, key, sizeof key);
    }
    struct table_entry *entry = entry_at(table, i);
    entry->used = ++table->lookups;
    return entry;
}
