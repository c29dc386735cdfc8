/* Moving the content of a database to another one of any kind, while programs use the source. */
#ifndef SWITCHBOARD_STORE_MOVING_H
#define SWITCHBOARD_STORE_MOVING_H

#include "store/store.h"

/* The result of a move. Its strings are in the arena. */
struct store_move {
    struct store_moved_table {
        const char *name;
        int64_t rows;
        const char *hash; /* 64 hexadecimal digits: the XOR of the SHA-256 of all rows */
    } * tables;
    size_t table_count;
    int64_t rows;       /* of all tables */
    int64_t changes;    /* rows that changed between the copy and the stop */
    int64_t copy_ms;    /* the duration of the copy, during which programs use the source */
    int64_t drain_ms;   /* how long new requests were refused before the stop */
    int64_t stop_ms;    /* how long writers waited then */
    bool was_done;      /* an interrupted call had moved everything: the fields above are 0 */
    const char *reason; /* of a failure, for the operator; without the password of a target */
};

/* Copies all rows of `source` to `target`, which may be missing (a file) or empty, and must have no
 * rows. Then stops the writers of the source, copies what changed meanwhile, compares number and
 * hash of the rows of every table, and marks the source as moved: programs refuse it from then on,
 * those that have it open too. Until then the target is marked as incomplete, and programs refuse
 * it.
 *
 * A call that fails or is killed leaves the source as it was, or marked as moved to a complete
 * target: repeat it with the same arguments. STORE_CONFLICT: the databases or their content do not
 * allow it. Other failures are those of the database named in `reason`. */
enum store_result store_move(const char *source, const char *target, struct arena *arena,
                             int64_t now, struct store_move *move);

#endif
