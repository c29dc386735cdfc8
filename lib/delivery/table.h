/* A table of fixed size with named entries. A new name replaces the least recently used entry that
 * has no load when the table is full. */
#ifndef SWITCHBOARD_DELIVERY_TABLE_H
#define SWITCHBOARD_DELIVERY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TABLE_NAME_SIZE = 280 };

/* The first member of each entry. */
struct table_entry {
    char name[TABLE_NAME_SIZE];
    uint64_t used; /* the number of the last lookup of it */
    size_t load;   /* an entry with a load is not replaced */
};

struct table {
    void *entries;
    size_t size; /* of an entry, bytes */
    size_t most; /* entries that there is memory for; more than those that have a load at once */
    uint32_t *hashes; /* of their names */
    size_t count;     /* entries in use */
    uint64_t lookups;
};

/* A table of all entries of an array, with an array for as many hashes. */
#define TABLE_OF(array, hashes_)                                                                   \
    (struct table) {                                                                               \
        .entries = (array), .size = sizeof *(array), .most = sizeof(array) / sizeof *(array),      \
        .hashes = (hashes_)                                                                        \
    }

/* Returns the entry with that name. *is_new: the name was not in the table, and the entry is all
 * zeros but for `entry`. The pointer is valid while the entry has a load, and for as many more
 * lookups of other names as there are entries without a load. */
void *table_find(struct table *table, const char *name, bool *is_new);

#endif
