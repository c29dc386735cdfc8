#include "engine/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/driver.h"

static void *entry_at(const struct tally *tally, size_t i) {
    return (char *)tally->entries + i * tally->size;
}

int tally_by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

void *tally_find(const struct tally *tally, int (*compare)(const void *entry, const void *key),
                 const void *key) {
    for (size_t i = 0; i < tally->count; i++)
        if (compare(entry_at(tally, i), key) == 0)
            return entry_at(tally, i);
    return NULL;
}

/* Adds the tally to those of the store's transaction, in the order of the names. */
static void enlist(struct store *store, struct tally *tally) {
    struct tally **place = &store->tallies;
    while (*place && strcmp((*place)->name, tally->name) < 0)
        place = &(*place)->next;
    tally->store = store;
    tally->next = *place;
    *place = tally;
}

static void refuse_other(struct store *store) {
    if (store->failure)
        return;
    store->failure = STORE_UNKNOWN;
    snprintf(store->reason, sizeof store->reason, "another store has an open transaction");
}

void *tally_add(struct store *store, struct tally *tally, const void *entry) {
    if (!tally->store)
        enlist(store, tally);
    if (tally->store != store) /* it would be written to the other database */
        refuse_other(store);
    if (store->failure || (tally->count == tally->most && !tally_write(store, tally)))
        return NULL;
    return memcpy(entry_at(tally, tally->count++), entry, tally->size);
}

bool tally_write(struct store *store, struct tally *tally) {
    qsort(tally->entries, tally->count, tally->size, tally->order);
    for (size_t i = 0; i < tally->count; i++)
        if (!tally->write(store, entry_at(tally, i)))
            return false;
    tally->count = 0;
    return !store->failure;
}

void tally_save_all(struct store *store) {
    for (struct tally *t = store->tallies; t; t = t->next) {
        memcpy(entry_at(t, t->most), t->entries, t->count * t->size);
        t->saved = t->count;
    }
}

void tally_restore_all(struct store *store) {
    for (struct tally *t = store->tallies; t; t = t->next) {
        memcpy(t->entries, entry_at(t, t->most), t->saved * t->size);
        t->count = t->saved;
    }
}

bool tally_write_all(struct store *store) {
    for (struct tally *t = store->tallies; t && !store->failure; t = t->next)
        if (!tally_write(store, t))
            return false;
    return !store->failure;
}

void tally_forget_all(struct store *store) {
    for (struct tally *t = store->tallies, *next; t; t = next) {
        next = t->next;
        t->count = t->saved = 0;
        t->store = NULL;
    }
    store->tallies = NULL;
}
