/* The assignment of threads to members, who take care of them. */
#ifndef SWITCHBOARD_STORE_ASSIGNMENT_H
#define SWITCHBOARD_STORE_ASSIGNMENT_H

#include "store/actor.h"
#include "store/store.h"

struct store_assignment {
    const struct store_view *view; /* of who assigns it */
    const char *thread_id;
    const char *member_id; /* to whom; NULL: to none */
    bool has_from;         /* only while it is assigned to `from`, or to member_id already */
    const char *from;      /* NULL: to none */
};

/* Why an assignment is refused, and changes nothing. */
enum assignment_refusal {
    ASSIGNMENT_NOT_REFUSED,
    ASSIGNMENT_TAKEN,     /* it is assigned to another member than `from` */
    ASSIGNMENT_NO_MEMBER, /* member_id is no member of the workspace who may answer on the line */
};

/* Assigns the thread; the id of a merged thread means the one that remained. `*assignee`: to whom
 * it is assigned then, in the arena, id NULL: to none. STORE_NOT_FOUND: no such thread. */
enum store_result store_assign(struct store *store, struct arena *arena,
                               const struct store_assignment *assignment, struct actor *assignee,
                               enum assignment_refusal *refusal);

/* Whom a send is to, and what its sender sees. */
struct store_addressee {
    const struct store_view *view;
    const char *account_id, *line_id;
    const char *phone, *bsuid; /* digits, BSUID; either may be NULL */
};

/* Whether the view has not the thread with the person on the line, because it is assigned to
 * another member. */
enum store_result store_is_of_colleague(struct store *store, const struct store_addressee *to,
                                        bool *is_so);

/* The same for the thread of the line's message with this wamid, which may be NULL. */
enum store_result store_is_message_of_colleague(struct store *store, const struct store_view *view,
                                                const char *line_id, const char *wamid,
                                                bool *is_so);

/* --- internal to the store: within the open transaction --- */

/* The same as store_is_of_colleague. */
bool assignment_is_of_colleague(struct store *store, const struct store_addressee *to);

/* Ends assignments to a member who is to answer the threads of these lines only, "" for none, at
 * most 500 of them; `*is_end`: those were all. False on failure. */
bool assignment_end_some(struct store *store, const char *user_id, const char *member_id,
                         const char *line_ids, bool *is_end);

#endif
