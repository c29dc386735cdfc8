/* Internal to the store: the terms by which a contact is found. A term is a word of the contact's
 * name or user name, or its phone's digits, folded (fold.h). Every call runs in the open
 * transaction and returns false on failure. */
#ifndef SWITCHBOARD_STORE_CONTACT_TERM_H
#define SWITCHBOARD_STORE_CONTACT_TERM_H

#include "engine/sql.h"

enum {
    TERM_SIZE = 65, /* 64 bytes and a NUL byte: the rest of a longer word does not count */
    MOST_TERMS = 16 /* of one contact, or of one search */
};

struct terms {
    size_t count;
    char text[MOST_TERMS][TERM_SIZE];
};

/* Adds the folded words of the text, each once. NULL has none. Other characters than letters and
 * digits separate words. Words beyond MOST_TERMS are dropped. */
void terms_add(struct terms *terms, const char *text);

/* Inserts the terms of these texts of a new contact, of which some may be NULL; or replaces its
 * terms by them. */
bool contact_term_insert(struct store *store, const char *account_id, const char *contact_id,
                         const char *const *texts, size_t count);
bool contact_term_replace(struct store *store, const char *account_id, const char *contact_id,
                          const char *const *texts, size_t count);

#endif
