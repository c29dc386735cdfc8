/* Internal to the store: statements that are prepared once, typed parameters, columns and
 * transactions, for every kind of database (driver.h). Included by lib/store/ only. */
#ifndef SWITCHBOARD_ENGINE_SQL_H
#define SWITCHBOARD_ENGINE_SQL_H

#include "base/crypto.h"
#include "engine/database.h"

/* A statement: its text, written beside the function that runs it, and its prepared form. */
struct statement {
    const char *sql;
    void *prepared;         /* the driver's form; NULL: not prepared */
    struct store *store;    /* the store that it is prepared on */
    struct statement *next; /* the next statement prepared on that store */
    bool takes_lock;        /* it is for sql_start_locking */
};

/* A parameter, in the order ?1, ?2, ... */
struct parameter {
    enum { PARAMETER_TEXT, PARAMETER_INTEGER, PARAMETER_NO_INTEGER, PARAMETER_BLOB } kind;
    struct slice bytes; /* p == NULL: NULL */
    int64_t integer;
};

/* SQL: a text column equals a value, where one text, such as '', may be in most rows. PostgreSQL
 * plans for the average value, which would be that text, and then prefers another index. */
#define SQL_IS(column, value) "(" column " >= " value " AND " column " <= " value ")"

#define TEXT(s)     ((struct parameter){.kind = PARAMETER_TEXT, .bytes = slice_of(s)})
#define INTEGER(i)  ((struct parameter){.kind = PARAMETER_INTEGER, .integer = (i)})
#define BLOB(slice) ((struct parameter){.kind = PARAMETER_BLOB, .bytes = (slice)})
#define HASH(bytes) BLOB(((struct slice){(const char *)(bytes), CRYPTO_HASH_SIZE}))
#define NO_INTEGER  ((struct parameter){.kind = PARAMETER_NO_INTEGER}) /* NULL, for an integer */

/* Binds the parameters of `statement` and starts it; sql_row returns its rows. The bytes of the
 * parameters are not copied. Within a transaction a failure may be latched by a later call; so may
 * that of another statement that was started before. */
#define sql_start(store, statement, ...)                                                           \
    sql_start_with(store, statement, (const struct parameter[]){__VA_ARGS__},                      \
                   sizeof((const struct parameter[]){__VA_ARGS__}) / sizeof(struct parameter))
void sql_start_with(struct store *store, struct statement *statement,
                    const struct parameter *parameters, size_t count);

/* Steps to the next row. False at the end or on failure (see sql_result); the statement is then
 * reset. */
bool sql_row(struct store *store, struct statement *statement);

/* Ends a statement before its last row. */
void sql_stop(struct statement *statement);

/* Runs a statement without rows to its end; false on failure. */
#define sql_run(store, statement, ...)                                                             \
    (sql_start(store, statement, __VA_ARGS__), !sql_row(store, statement) && !sql_failed(store))

/* The same for a statement in a transaction whose result is not needed. A server runs it with the
 * next statement whose result is read, or with the commit, in one round trip; a failure is latched
 * then. */
#define sql_run_later(store, statement, ...)                                                       \
    sql_run_later_with(store, statement, (const struct parameter[]){__VA_ARGS__},                  \
                       sizeof((const struct parameter[]){__VA_ARGS__}) / sizeof(struct parameter))
bool sql_run_later_with(struct store *store, struct statement *statement,
                        const struct parameter *parameters, size_t count);

/* Waits for the results of all statements; false after a failure. */
bool sql_wait(struct store *store);

/* Whether statements that are started one after the other take one round trip if their rows are
 * read later: then a result is worth reading ahead. */
bool sql_reads_ahead(const struct store *store);

/* Whether a transaction excludes all other writers (see sql_lock). Then it can read a row and write
 * it with two statements, which costs less there than one with RETURNING: SQLite makes a temporary
 * table for that, and a copy of each page that the statement changes. */
bool sql_is_only_writer(const struct store *store);

/* Whether any call failed since the last sql_result. */
bool sql_failed(const struct store *store);

/* Whether the failure is a violated constraint. */
bool sql_conflicted(const struct store *store);

/* Adds the transaction's work so far and the caller's own, in units of store_limit_work, and makes
 * the transaction fail above the limit. The driver checks the limit within a long statement; this
 * call checks it between many short ones. */
bool sql_is_within_limit(struct store *store, int64_t own);

/* Makes the open transaction fail, if it has not failed already. */
void sql_abandon(struct store *store);

/* Latches the result of a call that ended with sql_result, and was made within the transaction. */
void sql_latch(struct store *store, enum store_result result);

/* The number of rows changed by the last statement. */
int sql_changes(const struct store *store);

/* The number of rows changed by all statements without RETURNING so far. The difference of two
 * calls is that of the statements between, which run later or at once (sql_run_later). */
int64_t sql_total_changes(struct store *store);

/* The first failure since the last sql_result, or STORE_OK; clears it. */
enum store_result sql_result(struct store *store);

/* As sql_result; STORE_NOT_FOUND when nothing failed and the row that the call needs was not
 * found. */
enum store_result sql_found(struct store *store, bool found);

/* Columns of the current row, from 0, copied into the arena. NULL stays NULL (p == NULL). */
const char *column_text(struct statement *statement, int column, struct arena *arena);
struct slice column_blob(struct statement *statement, int column, struct arena *arena);
int64_t column_integer(struct statement *statement, int column);
int64_t column_time(struct statement *statement, int column); /* INT64_MAX for NULL */

/* Copies an id out of the current row, without an arena. False when it is NULL; `id` is "" then. */
bool column_id(struct statement *statement, int column, char id[ID_SIZE]);
bool column_is_null(struct statement *statement, int column);

/* A write transaction, as the condition of a loop whose body is the whole work:
 *
 *     while (sql_transact(store)) {
 *         ... reads and writes ...
 *     }
 *     return sql_result(store);
 *
 * The first call begins the transaction and returns true: the body runs. It excludes other writers,
 * or calls sql_lock first. The next call commits, or rolls back when any call in the body failed,
 * and returns false; sql_result then returns the result of the whole transaction. On a server the
 * call begins anew and returns true after a deadlock, a serialization failure, and a lost
 * connection, until the lock timeout of the store has passed since the first run. So each run of
 * the body starts with the same arguments: it sets what it counts, lists or returns to its initial
 * value, and restores members of arguments that it has changed. It never leaves the loop by break,
 * return or goto. */
bool sql_transact(struct store *store);

/* Whether the body runs again because the result of an earlier commit is unknown. What the earlier
 * run has written may be there: a run that finds its work done returns what the earlier one
 * returned. */
bool sql_may_have_committed(const struct store *store);

/* In the body: has sql_transact run it once more if this run violates a constraint. Returns whether
 * an earlier run did. */
bool sql_repeat_conflict(struct store *store);

/* A transaction that is not repeated, for migrations only. sql_begin returns false on failure.
 * sql_commit commits, or rolls back when any call failed, and returns the result of the whole
 * transaction. */
bool sql_begin(struct store *store);
enum store_result sql_commit(struct store *store);

/* What a lock within a transaction protects. A transaction takes the kinds in this order, so that
 * two of them do not wait for each other. There is one exception: a payload with several updates
 * locks the contacts of each update when it handles it, after the counters of the one before. The
 * server ends one of two transactions that wait for each other, and that one is repeated. */
enum sql_lock_kind {
    LOCK_CHORES,   /* the regular work of one courier; without an owner and names */
    LOCK_LOGIN,    /* the failures of logins; without an owner */
    LOCK_LISTS,    /* flows and templates of a list of the platform; the owner is the account,
                      without names */
    LOCK_REFUSALS, /* the room for refused payloads; without an owner and names */
    LOCK_IDENTITY, /* phones, BSUIDs and other identities, which may lead to no contact yet; the
                      owner is the account */
    LOCK_MESSAGE,  /* ids of messages, which may not be stored yet; the owner is the account */
    LOCK_CONTACT,  /* contacts: what leads to them, their threads, blocks and leads; the owner is
                      the account */
    LOCK_USER,     /* the deliveries, webhooks, plans and logins of users; without an owner */
    LOCK_KEYS,     /* the keys that seal secrets; without an owner and names */
    LOCK_COUNTERS, /* the rows of users, which count changes, events and forwards: who raises a
                      counter has it; without an owner */
};

/* Takes the locks `names` of this kind and owner (NULL: none) until the open transaction ends, so
 * that no other transaction has one of them meanwhile; with `count` 0 it takes one lock for kind
 * and owner. NULL names are skipped. The function sorts the names, so that all transactions take
 * them in the same order: call it once for each kind, before the transaction reads what the
 * lock protects, except to find the names. A failure fails the transaction. SQLite has one writer
 * at a time: there it does nothing. */
void sql_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
              const char *const *names, size_t count);

/* Waits for the locks that sql_lock has taken. On a server it takes them with the next statement,
 * which waits for them; call this function before anything else that the locks protect. */
void sql_wait_for_locks(struct store *store);

/* On a server only: starts a statement that selects one id, its only column, and takes the lock of
 * this kind and owner for that id. ?1 of the statement is left to this function; `parameters` are
 * ?2, ?3, ..., at most 7. What another transaction changed before the lock was free is seen by the
 * statements that are started next, so one of them selects the id again: if it is another one, it
 * is not locked. */
void sql_start_locking(struct store *store, struct statement *statement, enum sql_lock_kind kind,
                       const char *owner, const struct parameter *parameters, size_t count);

/* The same as sql_lock without waiting: false if another transaction has one of the locks, or on
 * failure. A database with one writer at a time always gives them. */
bool sql_try_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                  const char *const *names, size_t count);

/* Copies the id in the first column of the only row, and ends the statement. False: it is NULL, or
 * there is no row; without one `id` is unchanged. */
bool sql_read_id(struct store *store, struct statement *s, char id[ID_SIZE]);

/* Returns the texts in the first column of all rows, in `arena`, and sets their count. sql_failed
 * shows whether all were read. */
const char **sql_read_ids(struct store *store, struct statement *s, struct arena *arena,
                          size_t *count);

/* Seals a secret within the open transaction, which has LOCK_KEYS and fails if sealing fails. NULL
 * stays NULL. */
struct slice sql_seal(struct store *store, const struct store_secret *secret);

/* Returns `result` and sets the message that store_reason returns. */
enum store_result sql_refuse(struct store *store, enum store_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
