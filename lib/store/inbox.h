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
    int64_t waiting_since;   /* when the first message that waits for an answer was sent; INT64_MAX:
                                none does, or the line is archived */
    int64_t failed_at;       /* when the last message was sent, if it failed, else INT64_MAX */
    int64_t done_at;         /* INT64_MAX: not marked as done */
    int64_t notes_change;    /* the last change of its notes; INT64_MAX: there was none */
    struct actor assignee;   /* the member who takes care of it; id NULL: none */
    struct actor typing;     /* the member who wrote in it last; id NULL: none */
    int64_t typing_until;    /* when that counts no more (typing.h) */
    struct message last;     /* id NULL: none */
    int64_t change;
    const char **former_ids; /* of threads that were merged into it */
    size_t former_count;
    bool is_hidden; /* inbox_list_changes only: it has left the view; `id`, `change` and the former
                       ids alone are set */
};

/* --- threads --- */

struct inbox_filter {
    const struct store_view *view;
    const char *line_id;  /* NULL: of all lines */
    bool is_unread;       /* only those with unread messages */
    bool is_failed;       /* only those whose last message sent failed */
    bool is_waiting;      /* only those that wait for an answer */
    const char *assignee; /* only those of this member, "": of none; NULL: of all */
    size_t limit;
};

/* Lists the threads after `after` (NULL: the first ones), newest message first: in the order of
 * (last_message_at, id), descending; those that wait for an answer, longest first: in the order of
 * (waiting_since, id). An index answers each single condition; further ones are compared row by
 * row. */
enum store_result inbox_list_threads(struct store *store, struct arena *arena,
                                     const struct inbox_filter *filter,
                                     const struct list_key *after, struct inbox_thread **threads,
                                     size_t *count);

/* Finds the user's thread with this id; the id of a merged thread finds the thread that remained.
 * STORE_NOT_FOUND: there is none. */
enum store_result inbox_find_thread(struct store *store, struct arena *arena,
                                    const struct store_view *view, const char *id,
                                    struct inbox_thread *thread);

/* Whether a thread of the user, as a cursor or a note names it, is in the view. */
bool inbox_has_thread(struct store *store, struct arena *arena, const struct store_view *view,
                      const char *id);

enum { COUNTED_MOST = 1000 }; /* threads of a kind that are counted */

/* How much there is to do: at most COUNTED_MOST of each kind. */
struct inbox_counts {
    int64_t unread, waiting, failed;
    int64_t waiting_since; /* of the thread that waits longest; INT64_MAX: none waits */
};
enum store_result inbox_count(struct store *store, const struct store_view *view,
                              struct inbox_counts *counts);

/* Reads the number of the user's last change. */
enum store_result inbox_last_change(struct store *store, const struct store_view *view,
                                    int64_t *change);

/* Lists at most `limit` of the view's threads that changed after the change `after`, and those that
 * may have left it since, in the order of their last changes: threads that were assigned to another
 * member meanwhile. */
enum store_result inbox_list_changes(struct store *store, struct arena *arena,
                                     const struct store_view *view, int64_t after, size_t limit,
                                     struct inbox_thread **threads, size_t *count);

/* --- search --- */

enum { SEARCH_MOST = 10000 }; /* contacts that one call compares with a search */

/* What is searched for: contacts whose words begin with every word of `q` (see contact_term.h).
 * A `q` of digits and the signs of phone numbers is one word, its digits. */
struct inbox_search {
    const struct inbox_filter *filter; /* of contacts the view and the limit count */
    const char *account_id;            /* NULL: contacts of all accounts */
    const char *q;
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

/* --- search of words in messages --- */

enum { SEARCH_MESSAGES_MOST = 20000 }; /* messages that one call compares */

struct message_search {
    const struct store_view *view;
    const char *thread_id; /* NULL: the messages of all threads of the user */
    size_t limit;
    /* Whether a message with this body is a result. What it needs lives in `scratch`. */
    bool (*is_match)(void *context, struct slice body, struct arena *scratch);
    void *context;
};

/* How far a search has come: the threads in the order of inbox_list_threads, the messages of each
 * as MESSAGES_OLDER. */
struct message_place {
    struct list_key thread;  /* (last_message_at, id) of the thread; id "": before the first one */
    struct list_key message; /* of the last message that was compared in it */
};

/* Compares messages from `*place` on, at most SEARCH_MESSAGES_MOST, until there are `limit`
 * results: `ids` of messages, in the order of the walk. A search in one thread begins at this
 * thread. Sets `*place` to the last one that was compared; `*is_end`: there are no more. A thread
 * that gets a message during a search is before its place then, and is not searched any more unless
 * the search was in it. */
enum store_result inbox_search_messages(struct store *store, struct arena *arena,
                                        const struct message_search *search,
                                        struct message_place *place, const char ***ids,
                                        size_t *count, bool *is_end);

/* --- internal to the store --- */

/* Adds the keys (struct list_key) of the threads that inbox_list_threads lists, without those that
 * wait, to `keys`: at least the first `limit` of them. */
void inbox_list_keys(struct store *store, struct arena *arena, const struct inbox_filter *filter,
                     const struct list_key *after, struct buffer *keys);

#endif
