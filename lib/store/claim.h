/* The claim of a thread by a member who answers it. It is taken before the platform is called, and
 * ends with the answer that is stored, or with its time. While another member has it, or has
 * answered since the last change that a member has seen, the member's claim is refused: so of two
 * members who answer at the same time exactly one does. */
#ifndef SWITCHBOARD_STORE_CLAIM_H
#define SWITCHBOARD_STORE_CLAIM_H

#include "store/assignment.h"

struct store_claim {
    const char *thread_id;
    struct store_addressee to; /* whom the answer is to, with the view of who claims the thread */
    struct actor by;
    const char *request_id; /* the one that claims it */
    int64_t seen;           /* the last change that the member has seen (inbox.h) */
    int64_t now, until;     /* when it ends unless it is ended */
};

/* The member on whose account a claim is refused. */
struct store_claimant {
    struct actor by;      /* id NULL: it is not refused for another member's claim */
    bool has_answered;    /* else the member is answering */
    bool is_of_colleague; /* refused, because the claimant does not see the thread */
};

/* Claims the thread, unless another member is in the way, who is then written to `*other`, in the
 * arena. The id of a merged thread means the one that remained; a thread that is gone, or is not
 * that of the recipient on the line, has nothing to claim: no answer would end its claim. */
enum store_result store_claim_thread(struct store *store, struct arena *arena,
                                     const struct store_claim *claim, struct store_claimant *other);

/* Ends the claim of a request that has sent nothing. */
enum store_result store_release_claim(struct store *store, const struct store_claim *claim);

/* --- internal to the store: within the open transaction --- */

/* Keeps that the member has answered with the change `change`, and ends the member's claim. False
 * on failure. */
bool claim_answered(struct store *store, const char *user_id, const char *thread_id,
                    const struct actor *by, int64_t change);

#endif
