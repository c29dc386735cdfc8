/* Locks that last until the transaction ends. */
#include "engine/postgresql_connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "engine/schema.h"

enum { LOCK_BUCKETS = 1024 }; /* of one kind and owner: bounds the server's table of locks */

static uint32_t hash_of(const char *text, uint32_t seed) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    char bytes[600];
    int n = snprintf(bytes, sizeof bytes, "%u:%s", seed, text);
    crypto_sha256((struct slice){bytes, n < (int)sizeof bytes ? (size_t)n : sizeof bytes - 1},
                  hash);
    return (uint32_t)hash[0] << 24 | (uint32_t)hash[1] << 16 | (uint32_t)hash[2] << 8 | hash[3];
}

/* Locks the rows in the order of their ids. It is the lock that raising a counter takes. */
static void lock_counters(struct connection *c, const char *const *ids, size_t count) {
    struct arena arena;
    struct buffer list;
    arena_init(&arena, 1024 * 1024, NULL);
    list = buffer_in(&arena);
    for (size_t i = 0; i < count; i++) {
        char *id = PQescapeLiteral(c->db, ids[i], strlen(ids[i]));
        buffer_printf(&list, "%s%s", list.n ? "," : "", id ? id : "NULL");
        PQfreemem(id);
    }
    postgresql_add_pending(c,
                           "SELECT 1 FROM \"%s\" WHERE id IN (%.*s) ORDER BY id FOR NO KEY UPDATE",
                           schema_counters(), (int)list.n, list.p);
    arena_free(&arena);
}

int64_t postgresql_lock_space(enum sql_lock_kind kind, const char *owner) {
    return (int64_t)((uint64_t)hash_of(owner ? owner : "", (uint32_t)kind) << 32);
}

/* The same number as list_locks computes: the last bytes of the four that hash_of takes. */
char *postgresql_with_lock(const char *sql) {
    static const char text[] =
        "SELECT id, pg_advisory_xact_lock(?1 + (get_byte(hash, 2) * 256 + get_byte(hash, 3)) %% %d)"
        " FROM (SELECT id, sha256(convert_to('0:' || id, 'UTF8')) AS hash FROM (%s) AS one(id) "
        "OFFSET 0) AS hashed";
    const size_t size = sizeof text + strlen(sql);
    char *with_lock = malloc(size);
    if (with_lock)
        snprintf(with_lock, size, text, LOCK_BUCKETS, sql);
    return with_lock;
}

/* Returns the numbers of the locks, sorted, as the text of an array. A lock is a bucket of names,
 * so that a payload of thousands of names does not fill the server's table of locks. */
static const char *list_locks(struct arena *arena, enum sql_lock_kind kind, const char *owner,
                              const char *const *names, size_t count) {
    const uint64_t space = (uint64_t)postgresql_lock_space(kind, owner);
    bool is_taken[LOCK_BUCKETS + 1] = {false};
    struct buffer list = buffer_in(arena);
    is_taken[LOCK_BUCKETS] = !count; /* the lock of the whole kind and owner */
    for (size_t i = 0; i < count; i++)
        is_taken[hash_of(names[i], 0) % LOCK_BUCKETS] = true;
    for (uint64_t i = 0; i <= LOCK_BUCKETS; i++)
        if (is_taken[i])
            buffer_printf(&list, "%c%lld", list.n ? ',' : '{', (long long)(int64_t)(space | i));
    buffer_add_char(&list, '}');
    buffer_add_char(&list, '\0');
    return list.p;
}

/* Takes advisory locks, in the order of their numbers. */
void postgresql_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                     const char *const *names, size_t count) {
    struct arena arena;
    if (kind == LOCK_COUNTERS) {
        lock_counters(connection_of(store), names, count);
        return;
    }
    arena_init(&arena, 1024 * 1024, NULL);
    postgresql_add_pending(connection_of(store),
                           "SELECT pg_advisory_xact_lock(k) FROM "
                           "(SELECT k FROM unnest('%s'::bigint[]) k ORDER BY k OFFSET 0) keys",
                           list_locks(&arena, kind, owner, names, count));
    arena_free(&arena);
}

bool postgresql_try_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                         const char *const *names, size_t count) {
    static struct statement s = {.sql = "SELECT bool_and(pg_try_advisory_xact_lock(k)) "
                                        "FROM unnest(CAST(?1 AS bigint[])) k"};
    struct arena arena;
    bool is_taken = false;
    arena_init(&arena, 1024 * 1024, NULL);
    sql_start(store, &s, TEXT(list_locks(&arena, kind, owner, names, count)));
    if (sql_row(store, &s)) {
        is_taken = column_integer(&s, 0) == 1;
        sql_stop(&s);
    }
    arena_free(&arena);
    return is_taken;
}
