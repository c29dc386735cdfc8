/* Canned replies: texts that the members of a workspace send often. */
#ifndef SWITCHBOARD_STORE_CANNED_REPLY_H
#define SWITCHBOARD_STORE_CANNED_REPLY_H

#include "store/actor.h"
#include "store/listing.h"

enum { CANNED_REPLIES_MAX = 500 /* of a user */ };

struct store_canned_reply {
    const char *id, *shortcut; /* no two of a user have one shortcut */
    const char *text;
    struct actor by; /* who wrote it; id NULL: the main token */
    int64_t created_at, updated_at;
};

/* Why a canned reply is not stored. */
enum canned_reply_refusal {
    CANNED_REPLY_NOT_REFUSED,
    CANNED_REPLY_FULL,     /* there are CANNED_REPLIES_MAX */
    CANNED_REPLY_TAKEN,    /* another one has the shortcut */
    CANNED_REPLY_OF_OTHER, /* it is of another member or token */
};

/* Lists the user's canned replies in the order of their shortcuts, from after `after` on (NULL: the
 * first). */
enum store_result store_list_canned_replies(struct store *store, struct arena *arena,
                                            const char *user_id, const char *after, size_t limit,
                                            struct store_canned_reply **replies, size_t *count);

/* Finds one of the user. */
enum store_result store_find_canned_reply(struct store *store, struct arena *arena,
                                          const char *user_id, const char *id,
                                          struct store_canned_reply *reply);

/* Adds one; one with this id that is there already stays as it is. */
enum store_result store_insert_canned_reply(struct store *store, const char *user_id,
                                            const struct store_canned_reply *reply,
                                            enum canned_reply_refusal *refusal);

/* Sets shortcut and text, NULL: it stays, and updated_at of the one with reply->id. `by` NULL: of
 * any member, else only one of this member or token. STORE_NOT_FOUND: the user has no such one. */
enum store_result store_change_canned_reply(struct store *store, const char *user_id,
                                            const struct store_canned_reply *reply, const char *by,
                                            enum canned_reply_refusal *refusal);

/* Deletes one; `by` and STORE_NOT_FOUND as before. */
enum store_result store_delete_canned_reply(struct store *store, const char *user_id,
                                            const char *id, const char *by,
                                            enum canned_reply_refusal *refusal);

#endif
