/* What an inbox reads: threads, their messages and contacts, each owner's own. As in store.h,
 * strings and arrays are in the `arena`. Read within a view (store_hold_view), so that the rows of
 * one answer belong together. Every call costs as much as the rows that it returns, for any number
 * of rows in the database; searches are bounded (SEARCH_MOST). */
#ifndef SWITCHBOARD_STORE_INBOX_H
#define SWITCHBOARD_STORE_INBOX_H

#include "store/contact.h"
#include "store/line.h"
#include "store/message.h"

struct inbox_thread {
    const char *id;
    struct line line;
    struct contact contact;
    int64_t unread;
    bool is_blocked;
    int64_t last_message_at;
    int64_t last_inbound_at; /* INT64_MIN: the contact never wrote */
    struct message last;     /* id NULL: none */
    int64_t change;
    const char **former_ids; /* of threads that were merged into it */
    size_t former_count;
};

/* --- threads --- */

struct inbox_filter {
    const char *user_id;
    const char *line_id; /* NULL: of all lines */
    bool is_unread;      /* only those with unread messages */
    size_t limit;
};

/* Lists the threads after `after` (NULL: the first ones), newest message first: in the order of
 * (last_message_at, id), descending. */
enum store_result inbox_list_threads(struct store *store, struct arena *arena,
                                     const struct inbox_filter *filter,
                                     const struct list_key *after, struct inbox_thread **threads,
                                     size_t *count);

/* Finds the user's thread with this id; the id of a merged thread finds the thread that remained.
 * STORE_NOT_FOUND: there is none. */
enum store_result inbox_find_thread(struct store *store, struct arena *arena, const char *user_id,
                                    const char *id, struct inbox_thread *thread);

/* Reads the number of the user's last change. */
enum store_result inbox_last_change(struct store *store, const char *user_id, int64_t *change);

/* Lists at most `limit` of the user's threads that changed after the change `after`, in the order
 * of their last changes. */
enum store_result inbox_list_changes(struct store *store, struct arena *arena, const char *user_id,
                                     int64_t after, size_t limit, struct inbox_thread **threads,
                                     size_t *count);

/* --- search --- */

enum { SEARCH_MOST = 10000 }; /* contacts that one call compares with a search */

/* What is searched for: contacts whose words begin with every word of `q` (see contact_term.h).
 * A `q` of digits and the signs of phone numbers is one word, its digits. */
struct inbox_search {
    const char *user_id;
    const char *account_id; /* NULL: contacts of all accounts */
    const char *q;
    const char *line_id; /* threads: of this line; NULL: of all lines */
    bool is_unread;      /* threads: only those with unread messages */
    size_t limit;
};

/* A position in the results: they are in the order of the accounts, then of the first term that
 * matches, then of the contacts, then of their threads. */
struct inbox_position {
    const char *account_id, *term, *contact_id;
    const char *thread_id; /* threads; NULL: after all threads of the contact */
};

/* Finds at most `limit` contacts after `after` (NULL: the first ones). `*next` is the position to
 * go on from, its account_id NULL at the end of the results: a page with fewer rows than `limit`
 * need not be the last one. STORE_CONFLICT: `after` names no account that is searched. */
enum store_result inbox_search_contacts(struct store *store, struct arena *arena,
                                        const struct inbox_search *search,
                                        const struct inbox_position *after,
                                        struct contact **contacts, size_t *count,
                                        struct inbox_position *next);

/* The same for the threads of those contacts. */
enum store_result inbox_search_threads(struct store *store, struct arena *arena,
                                       const struct inbox_search *search,
                                       const struct inbox_position *after,
                                       struct inbox_thread **threads, size_t *count,
                                       struct inbox_position *next);

#endif
