#include "store/opt_out.h"

#include "engine/row.h"
#include "store/deed.h"
#include "store/inbox/contact_find.h"

/* SQL: the rows of a person. Parameters: the account, the identity that was named, the contact that
 * it leads to. */
#define OF_PERSON                                                                                  \
    "account_id = ?1 AND identity IN (SELECT CAST(?2 AS TEXT) "                                    \
    "UNION ALL SELECT phone FROM contact WHERE id = ?3 "                                           \
    "UNION ALL SELECT bsuid FROM contact WHERE id = ?3 "                                           \
    "UNION ALL SELECT parent_bsuid FROM contact WHERE id = ?3 "                                    \
    "UNION ALL SELECT identity FROM contact_alias WHERE contact_id = ?3)"

/* Finds the contact of the identity; "": there is none. */
static void find_contact(struct store *store, const char *account_id, const char *identity,
                         char id[ID_SIZE]) {
    if (!contact_find(store, account_id, identity, id))
        id[0] = '\0';
}

bool opt_out_insert(struct store *store, const char *account_id, const struct opt_out_names *names,
                    const char *source, int64_t since) {
    static struct statement s = {.sql = "INSERT INTO opt_out (account_id, identity, source, since) "
                                        "VALUES (?1, ?2, ?3, ?4) "
                                        "ON CONFLICT (account_id, identity) DO UPDATE "
                                        "SET source = excluded.source, since = excluded.since "
                                        "WHERE excluded.source = 'platform' "
                                        "AND excluded.since > opt_out.since"};
    const char *const identities[] = {names->phone, names->bsuid};
    for (size_t i = 0; i < 2; i++)
        if (identities[i] && !sql_run(store, &s, TEXT(account_id), TEXT(identities[i]),
                                      TEXT(source), INTEGER(since)))
            return false;
    return true;
}

bool opt_out_delete(struct store *store, const char *account_id, const struct opt_out_names *names,
                    int64_t until) {
    static struct statement s = {.sql = "DELETE FROM opt_out WHERE " OF_PERSON " AND since <= ?4"};
    const char *const identities[] = {names->phone, names->bsuid};
    for (size_t i = 0; i < 2; i++) {
        char contact_id[ID_SIZE];
        if (!identities[i])
            continue;
        find_contact(store, account_id, identities[i], contact_id);
        if (sql_failed(store) || !sql_run(store, &s, TEXT(account_id), TEXT(identities[i]),
                                          TEXT(contact_id), INTEGER(until)))
            return false;
    }
    return true;
}

enum store_result store_insert_opt_out(struct store *store, const char *user_id,
                                       const char *account_id, const struct opt_out_names *names,
                                       int64_t now) {
    while (sql_transact(store))
        if (opt_out_insert(store, account_id, names, "api", now))
            store_trail(store, user_id, account_id);
    return sql_result(store);
}

enum store_result store_delete_opt_out(struct store *store, const char *user_id,
                                       const char *account_id, const struct opt_out_names *names) {
    while (sql_transact(store))
        if (opt_out_delete(store, account_id, names, INT64_MAX))
            store_trail(store, user_id, account_id);
    return sql_result(store);
}

#define OF(member) ROW_MEMBER(struct store_opt_out, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_opt_out, OF(identity), OF(source), OF(since));

enum store_result store_find_opt_out(struct store *store, struct arena *arena,
                                     const char *account_id, const char *identity,
                                     struct store_opt_out *row) {
    static struct statement s = {.sql = "SELECT identity, source, since FROM opt_out "
                                        "WHERE account_id = ?1 AND identity = ?2"};
    sql_start(store, &s, TEXT(account_id), TEXT(identity));
    return sql_found(store, row_find(store, &s, arena, &layout, row));
}

/* The rows of a person are few, and found by their identities: an order by the index would read all
 * rows of the account. */
static struct statement *start_list(struct store *store, const struct store_opt_out_filter *filter,
                                    char contact_id[ID_SIZE]) {
    static struct statement all = {.sql = "SELECT identity, source, since FROM opt_out "
                                          "WHERE account_id = ?1 AND identity > ?2 "
                                          "ORDER BY identity LIMIT ?3"};
    static struct statement of_person = {.sql = "SELECT identity, source, since FROM opt_out "
                                                "WHERE " OF_PERSON " AND identity || '' > ?4 "
                                                "ORDER BY identity LIMIT ?5"};
    const char *after = filter->after ? filter->after : "";
    const int64_t limit = (int64_t)filter->limit;
    if (!filter->identity) {
        sql_start(store, &all, TEXT(filter->account_id), TEXT(after), INTEGER(limit));
        return &all;
    }
    find_contact(store, filter->account_id, filter->identity, contact_id);
    sql_start(store, &of_person, TEXT(filter->account_id), TEXT(filter->identity), TEXT(contact_id),
              TEXT(after), INTEGER(limit));
    return &of_person;
}

enum store_result store_list_opt_outs(struct store *store, struct arena *arena,
                                      const struct store_opt_out_filter *filter,
                                      struct store_opt_out **rows, size_t *count) {
    char contact_id[ID_SIZE]; /* a parameter of the statement */
    *rows = row_list(store, start_list(store, filter, contact_id), arena, &layout, count);
    return sql_result(store);
}

enum store_result store_is_opted_out(struct store *store, const char *account_id,
                                     const struct opt_out_names *names, bool *is_opted_out) {
    static struct statement s = {.sql = "SELECT 1 FROM opt_out WHERE " OF_PERSON " LIMIT 1"};
    const char *const identities[] = {names->phone, names->bsuid};
    *is_opted_out = false;
    for (size_t i = 0; i < 2 && !*is_opted_out && !sql_failed(store); i++) {
        char contact_id[ID_SIZE];
        if (!identities[i])
            continue;
        find_contact(store, account_id, identities[i], contact_id);
        sql_start(store, &s, TEXT(account_id), TEXT(identities[i]), TEXT(contact_id));
        *is_opted_out = row_exists(store, &s);
    }
    return sql_result(store);
}
