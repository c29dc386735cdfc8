/* Which member writes an answer in a thread, for the other members: a hint of a few seconds. */
#ifndef SWITCHBOARD_STORE_TYPING_H
#define SWITCHBOARD_STORE_TYPING_H

#include "store/store.h"

enum {
    TYPING_MS = 15000,      /* how long a notice counts */
    TYPING_EVERY_MS = 3000, /* a thread takes no other notice for so long */
};

/* Keeps that the member writes in the view's thread, unless a notice came just before. The id of a
 * merged thread means the one that remained. `member_id` NULL: nothing is kept. STORE_NOT_FOUND: no
 * such thread. */
enum store_result store_note_typing(struct store *store, const struct store_view *view,
                                    const char *thread_id, const char *member_id, int64_t now);

/* --- internal to the store: within the open transaction --- */

/* Ends the notice of a member whose answer is stored. False on failure. */
bool typing_end(struct store *store, const char *thread_id, const char *member_id);

#endif
