/* Internal to the PostgreSQL driver: the connection, and the functions that its files share. Of
 * those in the driver's table, driver.h says what they do. */
#ifndef SWITCHBOARD_ENGINE_POSTGRESQL_CONNECTION_H
#define SWITCHBOARD_ENGINE_POSTGRESQL_CONNECTION_H

#include "engine/postgresql.h"
#include "engine/postgresql_target.h"

/* Why a call failed, as far as a repetition can help. */
enum fault {
    FAULT_OTHER,
    FAULT_DEADLOCK,
    FAULT_SERIALIZATION,
    FAULT_CONNECTION, /* it is lost, or the server cannot be used any more */
};

/* A connection to a PostgreSQL server. */
struct connection {
    struct store store;
    PGconn *db;
    char *target, *url; /* url: without what libpq does not have */
    struct hosts hosts; /* of the URL */
    bool is_reader;
    bool may_connect; /* again, after the connection was lost */
    bool is_broken;   /* it is open, and cannot be used any more */
    bool is_hanging;  /* the reason is a COMMIT that the server did not answer */
    struct {          /* postgresql_primary.c */
        bool is_alone;
        int64_t system, timeline;
        int64_t judged_at, accepted_until; /* by clock_boot */
    } primary;
    enum fault fault; /* of store.failure */
    int64_t until;    /* monotonic time; a failed transaction is repeated until then */
    bool is_pooled;   /* by transaction: the next one may run on another connection of the server */
    bool is_open;     /* a transaction was begun, on the server or in `pending` */
    bool is_sent;     /* its begin was sent */
    char **pending;   /* BEGIN and locks, sent with the next statement */
    size_t pending_count, pending_room;
    struct awaited { /* a command that was sent, and whose result was not read yet */
        enum { COMMAND, PREPARATION, EXECUTION, COMMITMENT } kind;
        struct prepared *p; /* it gets the result, or was prepared; NULL: the result is dropped */
    } * awaited;
    size_t awaited_count, awaited_room;
    unsigned named; /* statements that the server has prepared */
    int lock_timeout_ms;
    int64_t next_statistics;  /* monotonic time: postgresql_statistics.c */
    int64_t asked, answer_by; /* monotonic times */
    bool is_committing;       /* only the answer of a COMMIT is missing */
    int changes;
    int64_t total_changes;
    struct {                     /* postgresql_exchange.c */
        int64_t work, most_work; /* of the transaction, in units; most_work 0: no limit */
        int64_t ms, end;         /* end: monotonic time; 0: no limit */
        int64_t renewal;         /* when the server gets the time that is left */
    } limit;
};

static inline struct connection *connection_of(const struct store *store) {
    return (struct connection *)(size_t)store;
}

/* The prepared form of a statement. */
struct prepared {
    char *text;      /* with $1 in place of ?1 */
    char name[24];   /* on the server; "": not prepared there */
    bool is_awaited; /* its result was not read yet */
    PGresult *rows;  /* the whole result */
    int row;
};

/* --- postgresql_arguments.c --- */

enum { MOST_PARAMETERS = 32 };

/* The parameters of a statement in libpq's form, binary. */
struct arguments {
    int count;
    Oid types[MOST_PARAMETERS];
    const char *values[MOST_PARAMETERS];
    int lengths[MOST_PARAMETERS], formats[MOST_PARAMETERS];
    uint64_t integers[MOST_PARAMETERS];
    char *replaced[MOST_PARAMETERS]; /* texts; NULL: the parameter's own bytes */
};

/* Converts the parameters, whose bytes must outlive `to`. Returns NULL, or why they cannot be sent.
 * In both cases the caller calls postgresql_free_arguments. */
const char *postgresql_read_arguments(struct arguments *to, const struct parameter *from,
                                      size_t count);

void postgresql_free_arguments(struct arguments *arguments);

/* --- postgresql_failure.c --- */

#define UNDEFINED_TABLE "42P01"

/* Sets what the latched failure means to a repetition. */
void postgresql_set_fault(struct connection *c, enum fault fault);

/* Whether the message of a connection that failed is that of a standby. */
bool postgresql_is_refused_by_standby(const char *message);

/* Latches the failure of a command, if it failed; NULL: there is no answer. */
void postgresql_latch(struct connection *c, const PGresult *result);

/* Latches a failure that is not the server's. */
void postgresql_latch_reason(struct connection *c, const char *reason);
void postgresql_latch_memory(struct connection *c);

/* Refuses a connection that PQconnectdbParams or PQreset could not make. */
enum store_result postgresql_refuse_connection(struct connection *c);

/* Whether the limit of time is reached. */
bool postgresql_is_late(const struct connection *c);

/* Latches that it is reached: STORE_EXCESSIVE or STORE_BUSY. */
void postgresql_latch_delay(struct connection *c);

/* --- postgresql_connection.c --- */

/* postgresql_connect, for a store of this driver. */
enum store_result postgresql_make(const struct driver *driver, const char *target, bool for_reading,
                                  struct store **store);

/* Uses `db` in place of the former connection. The new session has no prepared statement. */
void postgresql_replace(struct connection *c, PGconn *db);

/* --- postgresql_primary.c --- */

/* SQL of three columns: whether commits wait for a synchronous standby that is not there, the
 * identifier of the cluster, and the server's timeline, 0 on a standby. */
extern const char postgresql_standing[];

/* Takes them out of the result of a new connection, from `column` on. */
void postgresql_read_standing(struct connection *c, const PGresult *result, int column);

/* Whether the server may be a former primary, which another one has replaced. */
bool postgresql_is_suspect(const struct connection *c);

/* Asks the other hosts of the URL. PRIMARY_MOVED: the connection is one to another primary now,
 * whose session is to be started. PRIMARY_UNDECIDED: another host is a standby, which may become
 * the primary. */
enum primary { PRIMARY_STAYS, PRIMARY_UNDECIDED, PRIMARY_MOVED };
enum primary postgresql_find_primary(struct connection *c);

/* Uses a suspect for some seconds, since there is no other primary; fails if there was one. */
enum store_result postgresql_accept(struct connection *c);

/* Whether the wait for a decision may go on, which began at the monotonic time `since`. */
bool postgresql_may_wait(int64_t since);
void postgresql_pause(void);

/* Before a request: whether the server is still the primary, as far as is known without asking
 * others; if not, sets the reason. */
bool postgresql_is_primary(struct connection *c);

/* --- postgresql_session.c --- */

/* Starts a session with the primary, on a new connection. */
enum store_result postgresql_begin_session(struct store *store);

/* Connects again, without the prepared statements. False after latching the failure. */
bool postgresql_connect_again(struct connection *c);

bool postgresql_is_alive(struct store *store, const char *target);

/* --- postgresql_exchange.c --- */

/* Whether a command can be sent. */
bool postgresql_is_usable(const struct connection *c);

/* Keeps a command for the next statement. */
void postgresql_add_pending(struct connection *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Drops the commands that are kept. */
void postgresql_forget_pending(struct connection *c);

/* Sends the pending commands and the statement; postgresql_receive reads the results. Latches a
 * failure. */
void postgresql_send(struct connection *c, struct prepared *p, const struct arguments *arguments);

/* Reads the results of all that was sent, if there are any, in one round trip. Latches the first
 * failure. */
void postgresql_receive(struct connection *c);

/* Drops the results of all that was sent, with a connection that is lost. */
void postgresql_forget_awaited(struct connection *c);

/* Runs COMMIT or ROLLBACK after all that was sent, and reads the results; NULL without an answer.
 */
PGresult *postgresql_finish(struct connection *c, const char *command);

/* Keeps the command that has the server end statements when the limit of time is reached, if the
 * server needs it again. Latches a failure if it is reached. */
void postgresql_renew_timeout(struct connection *c);

void postgresql_limit_work(struct store *store, int64_t most);
void postgresql_limit_time(struct store *store, int64_t ms);
bool postgresql_is_within_limit(struct store *store, int64_t own);

/* --- postgresql_repetition.c --- */

/* After a statement: whether it failed and is to be sent again, on a new connection. */
bool postgresql_is_read_again(struct connection *c);

bool postgresql_repeat(struct store *store);

/* --- postgresql_statistics.c --- */

enum store_result postgresql_tend(struct store *store, int64_t now);

/* --- postgresql_lock.c --- */

void postgresql_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                     const char *const *names, size_t count);
int64_t postgresql_lock_space(enum sql_lock_kind kind, const char *owner);
bool postgresql_try_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                         const char *const *names, size_t count);

/* The text of a statement that takes a lock, with the lock; NULL: out of memory. The caller frees
 * it. */
char *postgresql_with_lock(const char *sql);

#endif
