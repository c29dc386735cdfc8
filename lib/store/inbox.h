/* What an inbox reads: threads, their messages and contacts, each owner's own. As in store.h,
 * strings and arrays are in the `arena`. Read within a view (store_hold_view), so that the rows of
 * one answer belong together. Every call costs as much as the rows that it returns, for any number
 * of rows in the database; searches are bounded (SEARCH_MOST). */
#ifndef SWITCHBOARD_STORE_INBOX_H
#define SWITCHBOARD_STORE_INBOX_H

#include "store/store.h"

struct inbox_line {
    const char *id, *phone_number_id, *phone_number, *name;
};

struct inbox_contact {
    const char *id, *account_id;
    const char *phone, *bsuid, *parent_bsuid, *username, *name; /* NULL: not known */
    int64_t created_at, updated_at;
};

struct inbox_message {
    const char *id, *wamid, *thread_id, *line_id, *direction, *source, *type, *status;
    const char *context_wamid; /* NULL: not a reply */
    int64_t status_at, timestamp;
    struct slice body;  /* JSON; n == 0: not known */
    struct slice error; /* JSON; n == 0: none */
    int64_t change;
};

struct inbox_thread {
    const char *id;
    struct inbox_line line;
    struct inbox_contact contact;
    int64_t unread;
    bool is_blocked;
    int64_t last_message_at;
    int64_t last_inbound_at;   /* INT64_MIN: the contact never wrote */
    struct inbox_message last; /* id NULL: none */
    int64_t change;
    const char **former_ids; /* of threads that were merged into it */
    size_t former_count;
};

/* --- threads --- */

/* A place in a list that is ordered by a number and an id. */
struct inbox_key {
    int64_t number;
    const char *id;
};

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
                                     const struct inbox_key *after, struct inbox_thread **threads,
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

/* --- messages --- */

enum inbox_order {
    INBOX_OLDER,  /* before the key, newest first, by (timestamp, id) */
    INBOX_NEWER,  /* after the key, oldest first, by (timestamp, id) */
    INBOX_CHANGED /* after the key, by (change, id) */
};

/* Lists at most `limit` messages of the thread. */
enum store_result inbox_list_messages(struct store *store, struct arena *arena,
                                      const char *thread_id, enum inbox_order order,
                                      const struct inbox_key *key, size_t limit,
                                      struct inbox_message **messages, size_t *count);

/* A status that the platform reported. */
struct inbox_status {
    const char *status, *recipient;
    int64_t timestamp, received_at;
    struct slice body;
};

/* Finds the user's message with this id, or with this wamid; of several the one that was stored
 * last. STORE_NOT_FOUND: there is none. */
enum store_result inbox_find_message(struct store *store, struct arena *arena, const char *user_id,
                                     const char *id, const char *wamid,
                                     struct inbox_message *message);

/* Lists the statuses of a message in the order of their times. */
enum store_result inbox_list_statuses(struct store *store, struct arena *arena,
                                      const char *message_id, struct inbox_status **statuses,
                                      size_t *count);

/* --- contacts --- */

/* Finds the user's contact with this id; the id of a merged contact finds the contact that
 * remained. STORE_NOT_FOUND: there is none. */
enum store_result inbox_find_contact(struct store *store, struct arena *arena, const char *user_id,
                                     const char *id, struct inbox_contact *contact);

/* Lists at most `limit` contacts of the account, newest first: in the order of their ids,
 * descending, after the id `after` (NULL: the first ones). */
enum store_result inbox_list_contacts(struct store *store, struct arena *arena,
                                      const char *account_id, const char *after, size_t limit,
                                      struct inbox_contact **contacts, size_t *count);

struct inbox_block {
    const char *line_id;
    int64_t created_at;
};

/* Lists the lines on which the contact is blocked, in the order of their ids. */
enum store_result inbox_list_blocks(struct store *store, struct arena *arena,
                                    const char *contact_id, struct inbox_block **blocks,
                                    size_t *count);

struct inbox_thread_key {
    const char *id, *line_id;
    int64_t last_message_at;
};

/* Lists the contact's threads, one for each line, in the order of their ids. */
enum store_result inbox_list_contact_threads(struct store *store, struct arena *arena,
                                             const char *contact_id,
                                             struct inbox_thread_key **threads, size_t *count);

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

/* A place in the results: they are in the order of the accounts, then of the first term that
 * matches, then of the contacts, then of their threads. */
struct inbox_place {
    const char *account_id, *term, *contact_id;
    const char *thread_id; /* threads; NULL: after all threads of the contact */
};

/* Finds at most `limit` contacts after `after` (NULL: the first ones). `*next` is the place to go
 * on from, its account_id NULL at the end of the results: a page with fewer rows than `limit` need
 * not be the last one. STORE_CONFLICT: `after` names no account that is searched. */
enum store_result inbox_search_contacts(struct store *store, struct arena *arena,
                                        const struct inbox_search *search,
                                        const struct inbox_place *after,
                                        struct inbox_contact **contacts, size_t *count,
                                        struct inbox_place *next);

/* The same for the threads of those contacts. */
enum store_result inbox_search_threads(struct store *store, struct arena *arena,
                                       const struct inbox_search *search,
                                       const struct inbox_place *after,
                                       struct inbox_thread **threads, size_t *count,
                                       struct inbox_place *next);

#endif
