/* Internal to the store: what the open transaction collects about rows in memory, and writes once:
 * before it commits, when a tally has no room, or when tally_write is called. A server keeps each
 * version of a row that a transaction writes, and every later access in it reads them all; SQLite
 * saves the statements. Every transaction collects, and a repetition begins with empty tallies. */
#ifndef SWITCHBOARD_ENGINE_TALLY_H
#define SWITCHBOARD_ENGINE_TALLY_H

#include "engine/sql.h"

/* A static object beside the functions that collect in it. All transactions write the same rows in
 * the same order: the tallies by their names, the entries of each by `order`. */
struct tally {
    const char *name;
    void *entries; /* set with `size` and `most` by TALLY_IN */
    size_t size, most;
    int (*order)(const void *a, const void *b);      /* as for qsort */
    bool (*write)(struct store *store, void *entry); /* false on failure */

    /* of tally.c */
    size_t count, saved;
    struct store *store; /* the transaction's; NULL: nothing is collected */
    struct tally *next;
};

/* The room is a static array: half of it for entries, half for those that a savepoint saves. */
#define TALLY_IN(room)                                                                             \
    .entries = (room), .size = sizeof *(room), .most = sizeof(room) / sizeof *(room) / 2

/* The order of entries that begin with a text, such as an id, which can be the key too. */
int tally_by_text(const void *a, const void *b);

/* Returns the entry for which `compare(entry, key)` is 0; NULL: there is none. It is valid until
 * the next tally_add or tally_write. */
void *tally_find(const struct tally *tally, int (*compare)(const void *entry, const void *key),
                 const void *key);

/* Adds a copy of the entry, which the tally does not have, and returns it. Writes the others first
 * if there is no room. NULL on failure. */
void *tally_add(struct store *store, struct tally *tally, const void *entry);

/* Writes what is collected and forgets it: before the rows are read or moved. False on failure. */
bool tally_write(struct store *store, struct tally *tally);

/* Beside a savepoint of the caller: saves what all tallies have; and restores it when the
 * transaction rolls back to the savepoint. */
void tally_save_all(struct store *store);
void tally_restore_all(struct store *store);

#endif
