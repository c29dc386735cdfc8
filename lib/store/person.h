/* Inside of the store: one person, put together from the contacts that turn out to be it. Every
 * call runs in the transaction that is open and returns false when it failed.
 *
 *     person_find(...)       whom each name led to
 *     person_include(...)    those of them that are this person
 *     person_make(...)       when it was nobody
 *     person_settle(...)     what it goes by from now on, and what else leads to it
 */
#ifndef SWITCHBOARD_STORE_PERSON_H
#define SWITCHBOARD_STORE_PERSON_H

#include "store/contact.h"
#include "store/store_identity.h"

enum { MOST_NAMES = 24 }; /* of six contacts and of what the platform says of two */

struct person {
    struct store *store;
    struct arena *arena;
    const char *account_id;
    int64_t now;
    const char *reason;            /* why contacts become one */
    struct contact contact;        /* the one that remains so far; id NULL: nobody yet */
    const char *names[MOST_NAMES]; /* phones and BSUIDs that shall lead to it */
    size_t name_count;
};

/* Whom a name led to. */
struct found {
    struct contact contact; /* id NULL: to nobody */
    bool is_former;         /* by an alias: it does not go by that any more, or not mainly */
};

/* Whom the phone or BSUID leads to; NULL leads to nobody. */
bool person_find(struct person *person, const char *name, struct found *found);

/* Makes the contact part of the person; of two the older one's id remains. A contact with id NULL
 * changes nothing. */
bool person_include(struct person *person, const struct contact *contact);

/* All names of `who` shall lead to the person. */
void person_add_names(struct person *person, const struct store_identity *who);

/* Makes a contact with `new_id` that goes by `who`. */
bool person_make(struct person *person, const char *new_id, const struct store_identity *who);

/* The person goes by exactly this phone and this BSUID from now on, and by what else of `who` is
 * not NULL; whoever had the phone goes on without it. The names that nobody goes by become aliases.
 * `*is_news`: any of that is new. */
bool person_settle(struct person *person, const struct store_identity *who, bool *is_news);

/* Takes the phone from somebody who goes on without it: it is another person's now. */
bool person_take_phone(struct person *person, const struct contact *from, const char *phone);

/* Writes down what the person went by before it changed. */
bool person_note_change(struct person *person, const struct contact *before);

/* Two names; NULL is like nothing. */
static inline bool is_same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static inline const char *first_of(const char *a, const char *b) {
    return a ? a : b;
}

#endif
