/* Internal to the store: which identities belong to one person. The decision follows from what the
 * platform showed and from its timestamps alone; the order of arrival does not matter, except
 * between equal timestamps.
 *
 * A BSUID belongs to one person for good, a phone to one person at a time (spec 2.3). Two phones
 * or BSUIDs are of one person
 *   - if a payload carried both, or they have one parent BSUID;
 *   - if the platform reported a change from one to the other. Where the change names phones alone,
 *     it is of the person who had the old phone just before it, and who has the new one just after.
 *     A change that the operator refused joins none; the phones changed their owners all the same.
 * A payload with a phone alone is of the person whose BSUID was last shown with the phone by then,
 * or first after it, without a reported change of the phone's owner in between. Two BSUIDs with one
 * phone are two persons.
 *
 * Times are positions on the time axis of a phone: a payload at the time t has 2t, the phone's new
 * owner begins at 2t, its old owner ends before 2t + 1. So of three that have one timestamp, the
 * payload comes before the end and after the beginning. The platform's times are whole seconds, and
 * an operator gives a number to a next owner after weeks at the earliest: two
 * owners who write in the second of the change are stored as one person.
 */
#ifndef SWITCHBOARD_STORE_GROUPING_H
#define SWITCHBOARD_STORE_GROUPING_H

#include "store/inbox/contact_find.h"

/* What the platform showed: a row of the table contact_sign. */
struct sign {
    const char *phone, *bsuid; /* "": none */
    const char *parent;        /* the parent BSUID; NULL: none */
    int64_t since;             /* without a BSUID: the boundary before it, a position; else 0 */
    int64_t first_at, last_at;
    const char *contact_id; /* as it is stored; NULL: none yet */
    bool is_blank;          /* no row: a contact that a send or a block made has this identity */
    bool is_new;            /* the payload in progress shows it; it wins between equal timestamps */
    bool is_kept;           /* its contact has the phone now; the same after is_new */
    bool is_divided;        /* it may be without a payload: a change divided it from another one */
    bool is_stored, is_changed, is_gone;
    size_t up, group; /* up: its parent in the union; group: the index of its root */
};

/* A change of identity that the platform reported: a row of the table identity_change. */
struct change_sign {
    int64_t at;
    const char *old_phone, *old_bsuid, *new_phone, *new_bsuid; /* "": none */
    int64_t refused_at; /* the operator says that it joins two people; 0: it was not refused */
    bool is_changed;    /* to be written */
};

struct grouping {
    struct sign *signs;
    size_t sign_count;
    struct change_sign *changes;
    size_t change_count;
};

#define NO_SIGN SIZE_MAX

/* The identities under which a person is shown; a parent BSUID alone is one. "": none. */
static inline const char *sign_phone(const struct contact *who) {
    return who->phone ? who->phone : "";
}

static inline const char *sign_bsuid(const struct contact *who) {
    return who->bsuid ? who->bsuid : who->parent_bsuid ? who->parent_bsuid : "";
}

static inline int64_t position_of(int64_t at) {
    return 2 * at;
}

/* The boundary of the phone that is the last one at or before the position; 0: there is none. At a
 * boundary the phone's owner changed, as the platform reported. */
int64_t grouping_boundary(const struct grouping *g, const char *phone, int64_t position);

/* The first boundary of the phone after the position; INT64_MAX: there is none. */
int64_t grouping_boundary_after(const struct grouping *g, const char *phone, int64_t position);

/* The signs of the person before and after the change; NO_SIGN: it may be of either of two people,
 * or there is none. */
void grouping_sides(const struct grouping *g, const struct change_sign *change, size_t *from,
                    size_t *to);

/* Sets the group of each sign. */
void grouping_make(struct grouping *g);

/* The sign of the person who had the phone at the position; NO_SIGN: none is known. */
size_t grouping_holder(const struct grouping *g, const char *phone, int64_t position);

/* The sign of the person who has the phone now; NO_SIGN: its last owner left it. */
size_t grouping_present(const struct grouping *g, const char *phone);

/* The same, or the sign of the last owner. */
size_t grouping_last(const struct grouping *g, const char *phone);

/* The phone and the BSUID that the group has now; NULL: none. One of several with equal timestamps
 * is `known`. */
const char *grouping_phone(const struct grouping *g, size_t group, const char *known);
const char *grouping_bsuid(const struct grouping *g, size_t group, const char *phone,
                           const char *known);

#endif
