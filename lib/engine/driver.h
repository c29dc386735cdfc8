/* Internal to the store: what a kind of database provides. The use-cases run the same statements on
 * all of them (sql.h). A driver is a file that defines a struct driver; a row of drivers.c picks it
 * by the target. What only the CLI needs is in struct upkeep (maintenance.h), which a row of
 * upkeep.c picks by the driver, so that the other programs do not contain it. */
#ifndef SWITCHBOARD_ENGINE_DRIVER_H
#define SWITCHBOARD_ENGINE_DRIVER_H

#include "engine/sql.h"

/* An open store: the first member of the driver's own struct. */
struct store {
    const struct driver *driver; /* NULL: no driver supports the target */
    enum store_result failure;   /* the first since the last sql_result; STORE_OK: none */
    char reason[1024];           /* for store_reason */
    bool is_unreachable;         /* for store_is_unreachable */
    bool is_moved;               /* for store_is_moved */
    bool is_stuck;               /* for store_is_stuck */
    struct statement *prepared;  /* all statements prepared on it */
    void *kept;                  /* what the store's caller keeps with it; NULL: nothing */
    void (*free_kept)(void *kept);
    struct tally *tallies; /* those in which the open transaction has collected (tally.h) */
    struct {               /* of sql_transact */
        bool is_open;
        int count;               /* how often the transaction was repeated */
        bool may_have_committed; /* for sql_may_have_committed */
        bool is_cautious;        /* for sql_repeat_conflict: this run is the second one, */
        bool is_hopeful;         /* or the first one */
    } repeat;
};

/* The functions that are named like a function of sql.h or store.h do what is said there. A failure
 * of a function without a store_result is latched: it sets `failure` and `reason`, unless an
 * earlier one is set. Of the functions on statements and columns, none is called after a failure
 * but `stop` and `drop`. */
struct driver {
    /* Opens the database and sets `*store`, on failure too; NULL only without memory. */
    enum store_result (*open)(const char *target, bool for_reading, struct store **store);
    void (*close)(struct store *store); /* frees the store */
    bool (*is_alive)(struct store *store, const char *target);
    enum store_result (*set_lock_timeout)(struct store *store, int ms);
    enum store_result (*tend)(struct store *store, int64_t now);

    bool (*prepare)(struct store *store, struct statement *statement); /* sets `prepared` */
    void (*drop)(struct statement *statement);                         /* frees `prepared` */
    void (*start)(struct store *store, struct statement *statement,
                  const struct parameter *parameters, size_t count);
    bool (*row)(struct store *store, struct statement *statement);
    void (*stop)(struct statement *statement);
    /* For a driver that reads the results of several statements of a transaction in one round trip,
     * when one of them is needed: drops the result of the statement that was started last, and
     * reads all results. NULL: `start` and `row` run the statement. */
    void (*ignore)(struct statement *statement);
    void (*wait)(struct store *store);
    int (*changes)(const struct store *store);
    int64_t (*total_changes)(const struct store *store);

    /* The bytes of a column, which stay valid until the next call for the statement; p == NULL:
     * NULL. */
    struct slice (*column)(const struct statement *statement, int column);
    int64_t (*integer)(const struct statement *statement, int column);
    bool (*is_null)(const struct statement *statement, int column);

    /* NULL: each statement sees what was committed before it. */
    void (*hold_view)(struct store *store);
    void (*release_view)(struct store *store);
    int (*forbid_reconnecting)(struct store *store); /* NULL: the driver never reconnects */
    bool (*begin)(struct store *store);
    void (*commit)(struct store *store); /* or rolls back, if there was a failure */
    /* After `commit` failed: whether the transaction is to be repeated as a whole. Then the failure
     * is cleared, and the connection can be used. NULL: never. */
    bool (*repeat)(struct store *store);
    /* The names are sorted and none is NULL. NULL: one transaction writes at a time. */
    void (*lock)(struct store *store, enum sql_lock_kind kind, const char *owner,
                 const char *const *names, size_t count);
    /* The first parameter of a statement that takes a lock; set if `lock` is. */
    int64_t (*lock_space)(enum sql_lock_kind kind, const char *owner);
    /* The same as `lock` without waiting; NULL: the lock is always free. */
    bool (*try_lock)(struct store *store, enum sql_lock_kind kind, const char *owner,
                     const char *const *names, size_t count);
    void (*limit_work)(struct store *store, int64_t most);
    void (*limit_time)(struct store *store, int64_t ms); /* NULL: there is none */
    bool (*is_within_limit)(struct store *store, int64_t own);
};

extern const struct driver sqlite_driver;

/* Returns the driver of the target; NULL: none. */
const struct driver *driver_of(const char *target);

/* Sets `*store` to a store that is not open, whose reason says which targets are supported; NULL
 * without memory. Returns the failure. */
enum store_result driver_refuse(const char *target, struct store **store);

/* As sql_refuse, for a database whose content is being moved or was moved: sets store_is_moved. */
enum store_result sql_refuse_moved(struct store *store, enum store_result result,
                                   const char *reason);

/* Writes what the transaction has collected, before its commit; false on failure. And forgets it,
 * after the end of the transaction. */
bool tally_write_all(struct store *store);
void tally_forget_all(struct store *store);

/* Prepares the statement, if it is not prepared yet; false on failure. A statement that is prepared
 * on another open store is a failure. */
bool sql_prepare(struct store *store, struct statement *statement);

#endif
