/* Internal to the store: the terms by which a contact is found. A term is a word of the contact's
 * name or user name, or its phone's digits, folded: case, accents and other marks are removed, and
 * forms of one character are made equal (Unicode NFKD and case folding), and letters that have no
 * decomposition become plain ones (plain_letter.h). Every call runs in the
 * open transaction and returns false on failure. */
#ifndef SWITCHBOARD_STORE_CONTACT_TERM_H
#define SWITCHBOARD_STORE_CONTACT_TERM_H

#include "store/inbox/contact.h"

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

/* Inserts the terms of a new contact. */
bool contact_term_insert(struct store *store, const char *account_id,
                         const struct contact *contact);

/* Replaces the terms of a contact by those of its present columns. */
bool contact_term_replace(struct store *store, const char *account_id,
                          const struct contact *contact);

/* Deletes the terms of a contact. */
bool contact_term_delete(struct store *store, const char *contact_id);

#endif
