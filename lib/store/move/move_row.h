/* Internal to the store: rows of a table in the order of their keys, and their form that is the
 * same on every kind of database. */
#ifndef SWITCHBOARD_STORE_MOVE_ROW_H
#define SWITCHBOARD_STORE_MOVE_ROW_H

#include "base/crypto.h"
#include "engine/mover.h"
#include "engine/row.h"

/* A table as one of the two databases has it. */
struct move_side {
    struct store *store;
    const struct move_table *table;
    struct statement first, next; /* pages of rows, in the order of the key */
    struct statement find, drop;  /* of the row with a key */
    struct statement insert, count;
};

/* Makes the statements; their texts are in the arena. */
void move_side_make(struct move_side *side, struct store *store, const struct move_table *table,
                    struct arena *arena);

/* Reads the rows of a table, a page at a time. */
struct move_reader {
    struct move_side *side;
    struct parameter values[MOVE_COLUMNS]; /* the row; valid until the next call */
    struct parameter key[MOVE_COLUMNS];    /* of the row */
    struct arena latest, bound;            /* of `key`; of the parameters of the page */
    struct statement *page;                /* NULL: before the first one */
    size_t limit, rows, bytes;             /* of the page */
};

void move_reader_open(struct move_reader *reader, struct move_side *side);
bool move_reader_next(struct move_reader *reader); /* false: the end, or a failure */
void move_reader_close(struct move_reader *reader);

/* Reads the values of the statement's row. */
void move_read_values(const struct move_table *table, const struct statement *statement,
                      struct parameter *values);

/* Sets `key` to the values of the key's columns. */
void move_key_of(const struct move_table *table, const struct parameter *values,
                 struct parameter *key);

/* Adds the key in a form whose bytes have the order of the keys. */
void move_encode_key(const struct move_table *table, const struct parameter *key,
                     struct buffer *out);

/* Reads such a form; the bytes of the key are in the arena. */
void move_decode_key(const struct move_table *table, struct slice text, struct parameter *key,
                     struct arena *arena);

/* The SHA-256 of the row's values with their types and lengths. `scratch` is overwritten. */
void move_hash(const struct move_table *table, const struct parameter *values,
               struct buffer *scratch, unsigned char hash[CRYPTO_HASH_SIZE]);

/* Returns the first column whose text has a NUL or is not UTF-8; -1: none. */
int move_bad_text(const struct move_table *table, const struct parameter *values);

/* Returns the key for a message. */
const char *move_show_key(const struct move_table *table, const struct parameter *key,
                          struct arena *arena);

#endif
