/* Twins: processes that make calls of the store on the same rows at the same time. A case has a
 * user of its own. Its calls are made in rounds: all twins begin a round together, and the next
 * round begins when all have ended it. After the rounds the case and run_twins() compare the
 * database with what any order of the calls, one after the other, leads to. */
#ifndef SWITCHBOARD_TEST_TWIN_H
#define SWITCHBOARD_TEST_TWIN_H

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "account_line.h"
#include "base/clock.h"
#include "engine/sql.h"

enum { TWINS = 8, MOST_ROUNDS = 100, LEAST_ROUNDS = 6, CELLS = 1024 };
enum { TWIN_SECONDS = 120 };                /* a case has ended by then */
enum { CASE_MS = 100, FULL_CASE_MS = 300 }; /* a case's time, and with TEST_FULL */

struct twins {
    const char *use_cases; /* names of the store's functions, separated by spaces */
    void (*prepare)(void); /* before the twins start; NULL: nothing */
    void (*act)(int twin, int round);
    void (*verify)(int rounds); /* after them; NULL: only what all cases have in common */
    bool waits_for_none;        /* no two transactions wait for each other */
};

/* What the twins share. */
static struct board {
    pthread_barrier_t barrier;
    bool goes_on;
    int rounds;
    _Atomic int calls, faults;
    char fault[300];          /* the first one */
    _Atomic int cells[CELLS]; /* for the case; zero at its start */
} * board;

static char user_id[ID_SIZE], email[64], webhook_id[ID_SIZE];
static int64_t case_time; /* of the messages and events of the case; other cases have other times */
static struct arena scratch; /* reset after each round */

/* --- calls of a twin --- */

__attribute__((format(printf, 1, 2))) static void fault(const char *format, ...) {
    va_list args;
    if (atomic_fetch_add(&board->faults, 1) > 0)
        return;
    va_start(args, format);
    vsnprintf(board->fault, sizeof board->fault, format, args);
    va_end(args);
}

/* Counts the call, whose result must be in `allowed`; whether it was STORE_OK. */
static bool did(const char *call, enum store_result result, unsigned allowed) {
    atomic_fetch_add(&board->calls, 1);
    if (!(allowed & 1U << result))
        fault("%.40s: result %d, %s", call, (int)result, store_reason(store));
    return result == STORE_OK;
}
#define does(call)       did(#call, call, 1U << STORE_OK)
#define may(call, other) did(#call, call, 1U << STORE_OK | 1U << (other))

#define text(...) arena_printf(&scratch, __VA_ARGS__)

/* An id that no other call of this function returns in this round. */
static inline const char *new_id(const char *prefix) {
    char *id = arena_alloc(&scratch, ID_SIZE);
    id_make(id, prefix, now);
    return id;
}

/* One of the phases that the rounds of a case repeat. */
static inline bool is_phase(int round, int phase, int of) {
    return round % of == phase;
}

/* Waits for at most so many ms, differently in each twin and round. */
static inline void pause_twin(int round, unsigned most) {
    const uint64_t mixed = (uint64_t)getpid() * 7919 + (uint64_t)round * 104729;
    usleep((useconds_t)(mixed % (2 * most) * 500));
}

/* --- the database --- */

static inline struct statement *start_query(const char *sql) {
    struct statement *s = arena_alloc(&arena, sizeof *s);
    *s = (struct statement){.sql = sql};
    sql_start_with(store, s, NULL, 0);
    return s;
}

/* The integer, or the text, that the query selects; -1 or NULL on failure and for none. */
static inline int64_t ask(const char *sql) {
    struct statement *s = start_query(sql);
    int64_t found = sql_row(store, s) ? column_integer(s, 0) : -1;
    sql_stop(s);
    if (sql_result(store) != STORE_OK)
        fault("%.100s: %s", sql, store_reason(store));
    return found;
}

static inline const char *ask_text(const char *sql) {
    struct statement *s = start_query(sql);
    const char *found = sql_row(store, s) ? column_text(s, 0, &scratch) : NULL;
    sql_stop(s);
    if (sql_result(store) != STORE_OK)
        fault("%.100s: %s", sql, store_reason(store));
    return found;
}

static inline void change(const char *sql) {
    while (sql_transact(store))
        sql_row(store, start_query(sql));
    does(sql_result(store));
}

#define holds(value, ...)                                                                          \
    do {                                                                                           \
        const char *sql_ = arena_printf(&arena, __VA_ARGS__);                                      \
        const int64_t expected_ = (value), found_ = ask(sql_);                                     \
        check(found_ == expected_, "%s: %lld, not %lld", sql_, (long long)found_,                  \
              (long long)expected_);                                                               \
    } while (0)

/* --- a user --- */

/* The id of the member with the email of a user. */
static inline const char *member_of(const char *id) {
    return id ? arena_printf(&arena, "mbr_%s", id + 4) : NULL;
}

static inline void insert_user(const char *id, const char *address) {
    struct store_new_user user = {
        .id = id, .member_id = member_of(id), .email = address, .now = now};
    snprintf((char *)user.token_hash, sizeof user.token_hash, "%s", id + 4);
    check_ok(store_insert_user(store, &user));
}

static const struct store_secret any_code = {.seal = seal_nothing};

/* Makes the user of a case, with a webhook, an account and a line. */
static inline void make_user(void) {
    static int number;
    number++;
    case_time = now + number * 60 * 1000;
    snprintf(user_id, sizeof user_id, "usr_%d", number);
    snprintf(email, sizeof email, "%d@example.org", number);
    insert_user(user_id, email);
    check_ok(store_upsert_webhook_config(store, user_id, "http://127.0.0.1:9/", &any_code, now));
    snprintf(
        webhook_id, sizeof webhook_id, "%s",
        ask_text(arena_printf(&arena, "SELECT id FROM webhook WHERE user_id = '%s'", user_id)));
    make_line_of(email, number);
}

/* --- running a case --- */

static inline void open_twin_store(void) {
    check(store_open(database, &store) == STORE_OK, "%s", store_reason(store));
}

static inline int64_t milliseconds(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * INT64_C(1000) + at.tv_nsec / 1000000;
}

static inline void run_rounds(const struct twins *twins, int twin) {
    const int length = getenv("TEST_FULL") ? FULL_CASE_MS : CASE_MS;
    int64_t end = 0;
    for (int round = 0; board->goes_on; round++) {
        if (round < 2) /* a server prepares statements in the first round */
            end = milliseconds() + length;
        pthread_barrier_wait(&board->barrier);
        twins->act(twin, round);
        arena_reset(&scratch);
        pthread_barrier_wait(&board->barrier);
        if (twin == 0) {
            board->rounds = round + 1;
            board->goes_on = round + 1 < MOST_ROUNDS && !board->faults &&
                             (round + 1 < LEAST_ROUNDS || milliseconds() < end);
        }
        pthread_barrier_wait(&board->barrier);
    }
}

static inline pid_t start_twin(const struct twins *twins, int twin) {
    char id[ID_SIZE];
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    alarm(TWIN_SECONDS);       /* a twin that crashes leaves the others waiting */
    id_make(id, "non_", twin); /* the next id is random again, and not that of another twin */
    check_failed = 0;
    open_twin_store();
    run_rounds(twins, twin);
    store_close(store);
    _exit(check_failed != 0);
}

/* A process that prints what the sessions of the server do if the case takes too long. */
static inline pid_t start_watch(void) {
    pid_t pid = *database == '/' ? 0 : fork();
    if (pid != 0 || *database == '/')
        return pid;
    sleep(TWIN_SECONDS - 20);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execlp("psql", "psql", "-X", "-d", database, "-c",
           "SELECT pid, state, wait_event_type, wait_event, now() - xact_start AS since, "
           "pg_blocking_pids(pid) AS behind, left(query, 100) AS query FROM pg_stat_activity "
           "WHERE datname = current_database()",
           (char *)NULL);
    _exit(1);
}

static inline void end_watch(pid_t pid) {
    if (pid <= 0)
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static inline void start_board(void) {
    pthread_barrierattr_t shared;
    if (!board)
        board =
            mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(board != MAP_FAILED, "mmap");
    *board = (struct board){.goes_on = true};
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&board->barrier, &shared, TWINS);
}

/* Transactions that the server has ended because they waited for each other; 0 for SQLite. */
static inline int64_t count_deadlocks(void) {
    return *database == '/'
               ? 0
               : ask("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
}

/* What holds after any calls. */
static inline void verify_all(void) {
    holds(0,
          "SELECT count(*) FROM \"user\" u WHERE event_sequence <> (SELECT count(*) FROM event e "
          "WHERE e.user_id = u.id AND is_forward = 0) AND email NOT LIKE 'pruned%%'");
    holds(0, "SELECT count(*) FROM event e WHERE (state = 'pending') <> EXISTS (SELECT 1 FROM "
             "delivery d WHERE d.event_id = e.id AND d.state = 'pending')");
    holds(0, "SELECT count(*) FROM event WHERE (state = 'pending') <> (finished_at IS NULL)");
    holds(0, "SELECT count(*) FROM delivery d JOIN webhook w ON w.id = d.webhook_id "
             "WHERE d.state = 'pending' AND (w.deleted_at IS NOT NULL OR w.url = '')");
    holds(0, "SELECT count(*) FROM delivery d JOIN contact_merge m ON m.merged_id = d.order_key "
             "WHERE d.state = 'pending'");
    holds(0, "SELECT count(*) FROM contact_alias a JOIN contact c ON c.account_id = a.account_id "
             "AND c.id <> a.contact_id AND (c.phone = a.identity OR c.bsuid = a.identity)");
    holds(0, "SELECT count(*) FROM \"user\" u WHERE change_sequence < "
             "(SELECT max(t.changed) FROM thread t WHERE t.user_id = u.id)");
}

static inline void run_twins(const struct twins *twins, bool is_verbose) {
    pid_t pids[TWINS];
    const int64_t began = milliseconds();
    start_board();
    make_user();
    if (twins->prepare)
        twins->prepare();
    const int64_t deadlocks = count_deadlocks();
    store_close(store); /* its statements are those of the twins too */
    fflush(stdout);
    for (int i = 0; i < TWINS; i++)
        pids[i] = start_twin(twins, i);
    const pid_t watch = start_watch();
    for (int i = 0; i < TWINS; i++) {
        int status;
        waitpid(pids[i], &status, 0);
        check(status == 0, "%s: a twin ended with %d", twins->use_cases, status);
    }
    end_watch(watch);
    open_twin_store();
    check(!board->faults, "%s: %d of %d calls: %s", twins->use_cases, board->faults, board->calls,
          board->fault);
    const int64_t waits = count_deadlocks() - deadlocks;
    check(!twins->waits_for_none || !waits, "%s: %lld deadlocks", twins->use_cases,
          (long long)waits);
    const int failed = check_failed;
    if (twins->verify)
        twins->verify(board->rounds);
    verify_all();
    check(failed == check_failed, "%s", twins->use_cases);
    if (is_verbose)
        printf("%5lld ms, %3d rounds, %5d calls, %2lld deadlocks: %s\n",
               (long long)(milliseconds() - began), board->rounds, board->calls, (long long)waits,
               twins->use_cases);
}

#endif
