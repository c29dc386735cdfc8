/* The webhooks of a user, which get events and forwarded POSTs. A user has any number of them.
 * The routes of the configuration read and change the first one, the oldest of the kind event. */
#ifndef SWITCHBOARD_STORE_USER_WEBHOOK_H
#define SWITCHBOARD_STORE_USER_WEBHOOK_H

#include "store/listing.h"

#define WEBHOOK_EVENT   "event"   /* gets the gateway's events */
#define WEBHOOK_FORWARD "forward" /* gets the platform's POSTs */

enum {
    STORE_WEBHOOK_MOST = 10000,
    STORE_WEBHOOKS_KEPT = 1000, /* webhooks of a user at most: each payload reads them all */
};

/* Lists of words are separated by one space. Times are INT64_MAX where there is none. */
struct store_webhook {
    const char *id, *user_id, *name, *kind; /* `name` "": none */
    const char *url;                        /* "": unset */
    struct slice sealed_code;    /* n == 0: unset; sealed with webhook_code_context of the user */
    const char *event_types;     /* NULL: those that are ON (event_type.h) */
    const char *fields;          /* of the platform's changes; NULL: messages; "*": all */
    const char *account_id;      /* of these routes: acc_..., only what is of it; NULL: of all */
    const char *updates;         /* messages, statuses, echoes; NULL: all */
    const char *const *line_ids; /* lin_...; not for all_lines, like the next one */
    const char *const *phone_number_ids; /* the platform's ids of the same lines */
    size_t line_count;
    bool all_lines;
    bool splits_messages;
    bool is_first; /* the oldest of the kind event */
    int64_t created_at, updated_at;
    int64_t paused_at, failing_since, suspended_at, next_probe_at;
    int64_t pending, dead; /* deliveries; STORE_WEBHOOK_MOST: that many or more */
};

/* active, paused, suspended, or unset: it has no URL or no code. */
const char *store_webhook_state(const struct store_webhook *webhook);

/* Lists the user's webhooks, oldest first: those after the webhook `page->after`. */
enum store_result store_list_webhooks(struct store *store, struct arena *arena, const char *user_id,
                                      const struct store_page *page, struct store_webhook **list,
                                      size_t *count);

/* Lists the user's webhooks of the kind forward that have a URL and a code, oldest first; `pending`
 * and `dead` are 0. */
enum store_result store_list_callbacks(struct store *store, struct arena *arena,
                                       const char *user_id, struct store_webhook **list,
                                       size_t *count);

/* Finds a webhook of the user, or of any user with `user_id` NULL. STORE_NOT_FOUND: there is none.
 */
enum store_result store_find_webhook(struct store *store, struct arena *arena, const char *user_id,
                                     const char *id, struct store_webhook *found);

/* Finds the user's first webhook, without its phone_number_ids, `pending` and `dead`; a user
 * without one gets an unset one, not STORE_NOT_FOUND. */
enum store_result store_find_first_webhook(struct store *store, struct arena *arena,
                                           const char *user_id, struct store_webhook *found);

/* A new webhook, or a change of one. An insertion takes all values, a change those that are set. */
struct store_webhook_change {
    const char *id, *user_id; /* whk_...; of a change, NULL: the first one, inserted if missing */
    const char *kind;         /* of an insertion */
    bool sets_name, sets_url, sets_event_types, sets_lines, sets_fields, sets_updates,
        sets_splitting;
    /* As in struct store_webhook; a name that is NULL is "". */
    const char *name, *url, *event_types, *fields, *updates;
    const char *account_id; /* of an insertion: only what is of this account of the user, with the
                               fields of store_set_subscribed_fields if `fields` is NULL. With
                               `line_ids` NULL, not of the lines that another such webhook has */
    const char *line_ids;   /* lin_... of the user, separated by spaces; NULL: all lines */
    bool splits_messages;
    const struct store_secret *code; /* NULL: the code stays */
    const char *switched_type; /* of a change: a type of events to add to the webhook's, or with
                                  `switches_off` to remove */
    bool switches_off;
    bool pauses;          /* events wait, nothing is sent */
    bool resumes;         /* ends a pause, and a suspension too */
    bool ends_suspension; /* a pause stays */
    int64_t now;
};

/* Inserts a webhook. Does nothing when the id is stored. STORE_CONFLICT: the user has
 * STORE_WEBHOOKS_KEPT already. */
enum store_result store_insert_webhook(struct store *store,
                                       const struct store_webhook_change *change);

/* Changes a webhook. A replaced code still signs for 24 h. A URL that is set
 * ends the suspension and makes the waiting deliveries due. STORE_NOT_FOUND: the user has no such
 * webhook. */
enum store_result store_change_webhook(struct store *store,
                                       const struct store_webhook_change *change);

struct store_suspended {
    const char *id, *user_id, *email;
};

/* Lists the suspended webhooks of all users, by the email and the id of the user. */
enum store_result store_list_suspended(struct store *store, struct arena *arena,
                                       struct store_suspended **list, size_t *count);

/* Sets the fields of the webhooks of the account, the present and later ones; fields NULL: of later
 * ones the default, and the present ones keep theirs. */
enum store_result store_set_subscribed_fields(struct store *store, const char *user_id,
                                              const char *account_id, const char *fields,
                                              int64_t now);

/* --- the first webhook (spec 2.8, 4.7) --- */

/* Sets URL and code; NULL keeps one. Inserts a webhook if there is none. A replaced code still
 * signs for 24 h. A URL ends the webhook's suspension and makes the pending events due. */
enum store_result store_upsert_webhook_config(struct store *store, const char *user_id,
                                              const char *url, const struct store_secret *code,
                                              int64_t now);

/* Deletes URL and codes and cancels the pending deliveries; the webhook stays. */
enum store_result store_delete_webhook_config(struct store *store, const char *user_id,
                                              int64_t now);

/* --- verification of URLs --- */

enum { STORE_VERIFICATION_MS = 15000 }; /* a verification of a URL ends within this time */

/* Begins the verification of a URL of the user. STORE_CONFLICT: another one is in progress. It ends
 * with store_end_verification, or after STORE_VERIFICATION_MS if its process ended before. */
enum store_result store_begin_verification(struct store *store, const char *user_id, int64_t now);
enum store_result store_end_verification(struct store *store, const char *user_id);

/* Deletes a webhook and cancels its pending deliveries. STORE_NOT_FOUND: the user has no such
 * webhook. */
enum store_result store_delete_webhook(struct store *store, const char *user_id, const char *id,
                                       int64_t now);

#endif
