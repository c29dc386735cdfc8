#include "store/claim.h"

#include <string.h>

#include "store/inbox/contact_find.h"
#include "store/inbox/thread.h"

/* Whether the thread is that of the recipient on the line. */
static bool is_answered(struct store *store, const char *thread_id,
                        const struct store_claim *claim) {
    static struct statement s = {
        .sql = "SELECT id FROM thread WHERE line_id = ?1 AND contact_id = ?2"};
    char contact_id[ID_SIZE], id[ID_SIZE];
    if (!(claim->to.phone &&
          contact_find(store, claim->to.account_id, claim->to.phone, contact_id)) &&
        !(claim->to.bsuid &&
          contact_find(store, claim->to.account_id, claim->to.bsuid, contact_id)))
        return false;
    sql_start(store, &s, TEXT(claim->to.line_id), TEXT(contact_id));
    return sql_read_id(store, &s, id) && strcmp(id, thread_id) == 0;
}

/* Takes the claim in one statement, which also two hosts carry out one after the other. */
static bool take(struct store *store, const char *thread_id, const struct store_claim *claim) {
    static struct statement s = {
        .sql = "INSERT INTO thread_claim (thread_id, user_id, member_id, member_name, request_id, "
               "claimed_until, answered) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0) "
               "ON CONFLICT (thread_id) DO UPDATE SET member_id = excluded.member_id, "
               "member_name = excluded.member_name, request_id = excluded.request_id, "
               "claimed_until = excluded.claimed_until "
               "WHERE (thread_claim.claimed_until <= ?7 "
               "       OR thread_claim.member_id = excluded.member_id) "
               "AND (thread_claim.answered <= ?8 "
               "     OR thread_claim.answered_by = excluded.member_id)"};
    return sql_run(store, &s, TEXT(thread_id), TEXT(claim->to.view->user_id), TEXT(claim->by.id),
                   TEXT(claim->by.name), TEXT(claim->request_id), INTEGER(claim->until),
                   INTEGER(claim->now), INTEGER(claim->seen));
}

/* Reads who is in the way: the one who has answered before the one who is answering. */
static void read_other(struct store *store, struct arena *arena, const char *thread_id,
                       const struct store_claim *claim, struct store_claimant *other) {
    static struct statement s = {
        .sql = "SELECT answered > ?2 AND answered_by <> ?3, answered_by, answered_name, member_id, "
               "member_name FROM thread_claim WHERE thread_id = ?1"};
    sql_start(store, &s, TEXT(thread_id), INTEGER(claim->seen), TEXT(claim->by.id));
    if (!sql_row(store, &s))
        return;
    other->has_answered = column_integer(&s, 0) != 0;
    const int first = other->has_answered ? 1 : 3;
    other->by = (struct actor){column_text(&s, first, arena), column_text(&s, first + 1, arena)};
    sql_stop(&s);
}

enum store_result store_claim_thread(struct store *store, struct arena *arena,
                                     const struct store_claim *claim,
                                     struct store_claimant *other) {
    const char *user_id = claim->to.view->user_id;
    struct thread_found thread;
    while (sql_transact(store)) {
        *other = (struct store_claimant){.has_answered = false};
        sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1); /* the thread may be deleted */
        other->is_of_colleague = assignment_is_of_colleague(store, &claim->to);
        if (!other->is_of_colleague &&
            thread_find(store, WHOLE_VIEW(user_id), claim->thread_id, &thread) &&
            is_answered(store, thread.id, claim) && take(store, thread.id, claim) &&
            !sql_changes(store))
            read_other(store, arena, thread.id, claim, other);
    }
    return sql_result(store);
}

enum store_result store_release_claim(struct store *store, const struct store_claim *claim) {
    static struct statement s = {.sql = "UPDATE thread_claim SET claimed_until = 0 "
                                        "WHERE thread_id = ?1 AND request_id = ?2"};
    struct thread_found thread;
    while (sql_transact(store))
        if (thread_find(store, WHOLE_VIEW(claim->to.view->user_id), claim->thread_id, &thread))
            sql_run(store, &s, TEXT(thread.id), TEXT(claim->request_id));
    return sql_result(store);
}

bool claim_answered(struct store *store, const char *user_id, const char *thread_id,
                    const struct actor *by, int64_t change) {
    static struct statement s = {
        .sql = "INSERT INTO thread_claim (thread_id, user_id, claimed_until, answered_by, "
               "answered_name, answered) VALUES (?1, ?2, 0, ?3, ?4, ?5) "
               "ON CONFLICT (thread_id) DO UPDATE SET answered_by = excluded.answered_by, "
               "answered_name = excluded.answered_name, answered = excluded.answered, "
               "claimed_until = CASE WHEN thread_claim.member_id = excluded.answered_by THEN 0 "
               "ELSE thread_claim.claimed_until END"};
    return sql_run_later(store, &s, TEXT(thread_id), TEXT(user_id), TEXT(by->id), TEXT(by->name),
                         INTEGER(change));
}
