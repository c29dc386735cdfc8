/* Searching contacts, and the threads of contacts, by the beginnings of their words. */
#include <ctype.h>
#include <stdio.h>

#include "engine/row.h"
#include "store/inbox.h"
#include "store/inbox/contact_term.h"

enum { BATCH = 200 }; /* candidates that are read at once */

/* A search in progress. */
struct search {
    struct store *store;
    struct arena *arena;
    const struct inbox_search *wanted;
    struct terms terms;         /* the words; the first one selects the candidates */
    char end[TERM_SIZE + 4];    /* no term with that first word as its beginning is greater */
    size_t left;                /* candidates that may still be examined */
    bool is_full;               /* no further row fits into the page */
    struct inbox_position last; /* the position of the last candidate that was handled */
    struct buffer rows;         /* of the results */
    /* Adds the candidate's rows and sets is_full and last; false on failure. */
    bool (*add)(struct search *search, const struct inbox_position *position, const char *after);
};

/* --- words --- */

/* The digits of a text that consists of digits and the signs of phone numbers; NULL for any other
 * text. */
static const char *phone_digits(struct arena *arena, const char *q) {
    struct buffer digits = buffer_in(arena);
    for (const char *p = q; *p; p++) {
        if (isdigit((unsigned char)*p))
            buffer_add_char(&digits, *p);
        else if (!strchr("+-(). /", *p))
            return NULL;
    }
    return digits.n ? buffer_slice(&digits).p : NULL;
}

/* Moves the longest word to the front: it has the fewest candidates. */
static void put_longest_first(struct terms *terms) {
    size_t best = 0;
    char longest[TERM_SIZE];
    for (size_t i = 1; i < terms->count; i++)
        if (strlen(terms->text[i]) > strlen(terms->text[best]))
            best = i;
    if (!best)
        return;
    memcpy(longest, terms->text[best], TERM_SIZE);
    memcpy(terms->text[best], terms->text[0], TERM_SIZE);
    memcpy(terms->text[0], longest, TERM_SIZE);
}

/* U+10FFFF, which no term contains and which sorts after every other character. */
static void write_end(const char *term, char end[TERM_SIZE + 4]) {
    snprintf(end, TERM_SIZE + 4, "%s\xF4\x8F\xBF\xBF", term);
}

static void read_words(struct search *search) {
    const char *digits = phone_digits(search->arena, search->wanted->q);
    search->terms.count = 0;
    terms_add(&search->terms, digits ? digits : search->wanted->q);
    put_longest_first(&search->terms);
    if (search->terms.count)
        write_end(search->terms.text[0], search->end);
}

/* Whether the contact has a term between `term` and the one before `end`. */
static bool has_term(struct search *search, const char *contact_id, const char *term,
                     const char *end) {
    static struct statement s = {.sql = "SELECT 1 FROM contact_term WHERE contact_id = ?1 "
                                        "AND term >= ?2 AND term < ?3 LIMIT 1"};
    sql_start(search->store, &s, TEXT(contact_id), TEXT(term), TEXT(end));
    return row_exists(search->store, &s);
}

/* Whether the candidate is a result: it has all words, and its position is that of the first of its
 * terms that match the first word. */
static bool is_match(struct search *search, const struct inbox_position *position) {
    char end[TERM_SIZE + 4];
    if (has_term(search, position->contact_id, search->terms.text[0], position->term))
        return false;
    for (size_t i = 1; i < search->terms.count; i++) {
        write_end(search->terms.text[i], end);
        if (!has_term(search, position->contact_id, search->terms.text[i], end))
            return false;
    }
    return !sql_failed(search->store);
}

/* --- candidates --- */

/* Reads the next candidates of the account after the position (term, contact_id). */
static size_t read_batch(struct search *search, const char *account_id, const char *term,
                         const char *contact_id, struct inbox_position *batch) {
    static struct statement s = {
        .sql =
            "SELECT term, contact_id FROM contact_term WHERE account_id = ?1 "
            "AND (term, contact_id) > (?2, ?3) AND term < ?4 ORDER BY term, contact_id LIMIT ?5"};
    size_t n = 0;
    sql_start(search->store, &s, TEXT(account_id), TEXT(term), TEXT(contact_id), TEXT(search->end),
              INTEGER(BATCH));
    while (sql_row(search->store, &s))
        batch[n++] = (struct inbox_position){account_id, column_text(&s, 0, search->arena),
                                             column_text(&s, 1, search->arena), NULL};
    return n;
}

/* Whether the search stops here, before its end. */
static bool is_done(const struct search *search) {
    return search->is_full || !search->left || sql_failed(search->store);
}

/* Handles the candidates of one account after the position; true: all of them. */
static bool search_account(struct search *search, const char *account_id,
                           const struct inbox_position *after) {
    struct inbox_position batch[BATCH];
    const bool is_later = after && strcmp(after->term, search->terms.text[0]) >= 0;
    const char *term = is_later ? after->term : search->terms.text[0];
    const char *contact_id = is_later ? after->contact_id : "";
    for (size_t n = BATCH; n == BATCH;) {
        n = read_batch(search, account_id, term, contact_id, batch);
        for (size_t i = 0; i < n; i++) {
            if (is_done(search))
                return false;
            search->left--;
            if (!is_match(search, &batch[i]))
                search->last = batch[i];
            else if (!search->add(search, &batch[i], NULL))
                return false;
        }
        if (n) {
            term = batch[n - 1].term;
            contact_id = batch[n - 1].contact_id;
        }
    }
    return !search->is_full;
}

/* Handles all accounts from that of `after` on; false: there is none with its id. */
static bool search_accounts(struct search *search, const struct inbox_position *after,
                            bool *is_end) {
    struct store_account *accounts;
    size_t count;
    bool is_reached = !after;
    *is_end = false;
    if (store_list_accounts(search->store, search->arena, search->wanted->filter->view->user_id,
                            &accounts, &count) != STORE_OK)
        return true;
    for (size_t i = 0; i < count; i++) {
        const char *id = accounts[i].id, *only = search->wanted->account_id;
        const struct inbox_position *from =
            after && strcmp(after->account_id, id) == 0 ? after : NULL;
        if ((only && strcmp(only, id) != 0) || (!is_reached && !from))
            continue;
        is_reached = true;
        if (from && from->thread_id && !search->add(search, from, from->thread_id))
            return true;
        if (is_done(search) || !search_account(search, id, from))
            return true;
    }
    *is_end = true;
    return is_reached;
}

static enum store_result run(struct search *search, const struct inbox_position *after,
                             struct inbox_position *next) {
    bool is_end = true, is_known = true;
    search->left = SEARCH_MOST;
    search->rows = buffer_in(search->arena);
    read_words(search);
    if (search->terms.count)
        is_known = search_accounts(search, after, &is_end);
    *next = is_end ? (struct inbox_position){0} : search->last;
    return row_allowed(search->store, true, is_known);
}

/* --- contacts --- */

static bool add_contact(struct search *search, const struct inbox_position *position,
                        const char *after) {
    struct contact contact;
    size_t count = search->rows.n / sizeof contact;
    (void)after;
    search->is_full = count == search->wanted->filter->limit;
    if (search->is_full)
        return false;
    search->last = *position;
    enum store_result result = store_find_contact(
        search->store, search->arena, search->wanted->filter->view, position->contact_id, &contact);
    if (result == STORE_OK)
        buffer_add(&search->rows, &contact, sizeof contact);
    return result == STORE_OK || result == STORE_NOT_FOUND;
}

enum store_result inbox_search_contacts(struct store *store, struct arena *arena,
                                        const struct inbox_search *wanted,
                                        const struct inbox_position *after,
                                        struct contact **contacts, size_t *count,
                                        struct inbox_position *next) {
    struct search search = {.store = store, .arena = arena, .wanted = wanted, .add = add_contact};
    enum store_result result = run(&search, after, next);
    *contacts = buffer_array(&search.rows, sizeof **contacts, count);
    return result;
}

/* --- threads --- */

static bool is_wanted(const struct inbox_filter *wanted, const struct inbox_thread *thread) {
    return (!wanted->line_id || strcmp(wanted->line_id, thread->line.id) == 0) &&
           (!wanted->is_unread || thread->unread > 0) &&
           (!wanted->is_failed || thread->failed_at != INT64_MAX) &&
           (!wanted->is_waiting || thread->waiting_since != INT64_MAX) &&
           (!wanted->assignee ||
            strcmp(wanted->assignee, thread->assignee.id ? thread->assignee.id : "") == 0);
}

/* Adds the contact's threads after the id `after`. */
static bool add_threads(struct search *search, const struct inbox_position *position,
                        const char *after) {
    struct contact_thread *keys;
    size_t count;
    const struct inbox_filter *wanted = search->wanted->filter;
    if (store_list_contact_threads(search->store, search->arena, wanted->view, position->contact_id,
                                   &keys, &count) != STORE_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct inbox_thread thread;
        if (after && strcmp(keys[i].id, after) <= 0)
            continue;
        search->is_full = search->rows.n / sizeof thread == wanted->limit;
        if (search->is_full)
            return false;
        if (inbox_find_thread(search->store, search->arena, wanted->view, keys[i].id, &thread) ==
                STORE_OK &&
            is_wanted(wanted, &thread))
            buffer_add(&search->rows, &thread, sizeof thread);
        search->last = *position;
        search->last.thread_id = keys[i].id;
    }
    search->last = *position;
    search->last.thread_id = NULL;
    return !sql_failed(search->store);
}

enum store_result inbox_search_threads(struct store *store, struct arena *arena,
                                       const struct inbox_search *wanted,
                                       const struct inbox_position *after,
                                       struct inbox_thread **threads, size_t *count,
                                       struct inbox_position *next) {
    struct search search = {.store = store, .arena = arena, .wanted = wanted, .add = add_threads};
    enum store_result result = run(&search, after, next);
    *threads = buffer_array(&search.rows, sizeof **threads, count);
    return result;
}
