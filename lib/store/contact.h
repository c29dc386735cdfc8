/* Contacts: the persons that a business account has contact with. As in store.h, strings and arrays
 * are in the `arena`; a list costs as much as the rows that it returns, for any number of rows in
 * the database. Read within a view (store_hold_view), so that the rows of one answer belong
 * together. */
#ifndef SWITCHBOARD_STORE_CONTACT_H
#define SWITCHBOARD_STORE_CONTACT_H

#include "store/store.h"

/* The profile of a contact, which the platform shows: each row is a text column of the table
 * `contact` and a member of the struct, with the number of its parameter in the statements that
 * write it, its name in JSON (in the payload's profile too), and its title in lists of the CLI. All
 * that reads, writes or prints a profile is made of these rows. */
#define CONTACT_PROFILE(ROW)                                                                       \
    ROW(7, username, "username", "USERNAME")                                                       \
    ROW(8, name, "name", "NAME")

/* A contact; or a person as a payload shows it, which has identities and a profile alone. */
struct contact {
    const char *id, *account_id;              /* NULL: there is none */
    const char *phone, *bsuid, *parent_bsuid; /* identities: digits, user ids; NULL: not known */
    int64_t created_at, updated_at;
#define MEMBER(number, column, json, title) const char *column;
    CONTACT_PROFILE(MEMBER) /* NULL: not known; `username` is without @ */
#undef MEMBER
};

/* Sets each member of the profile to that of `first`, or where it is NULL to that of `second`. */
void contact_set_profile(struct contact *contact, const struct contact *first,
                         const struct contact *second);

/* Finds the contact of the view with this id, with user_id NULL that of any user; the id of a
 * merged contact finds the contact that remained. STORE_NOT_FOUND: there is none. */
enum store_result store_find_contact(struct store *store, struct arena *arena,
                                     const struct store_view *view, const char *id,
                                     struct contact *contact);

/* What a list of contacts contains: `limit` contacts after the id `after`, which need not exist
 * (NULL: the first ones), in the order of their ids, which is that of their creation. */
struct contact_filter {
    const struct store_view *view; /* NULL: of any user; with lines only newest first, of one
                                      account, those with a thread on them */
    const char *account_id;        /* NULL: those of all accounts, oldest first */
    bool is_newest_first;
    const char *after;
    size_t limit;
};

enum store_result store_list_contacts(struct store *store, struct arena *arena,
                                      const struct contact_filter *filter,
                                      struct contact **contacts, size_t *count);

struct contact_block {
    const char *line_id;
    int64_t created_at;
};

/* Lists the lines of the view on which the contact is blocked, in the order of their ids. */
enum store_result store_list_blocks(struct store *store, struct arena *arena,
                                    const struct store_view *view, const char *contact_id,
                                    struct contact_block **blocks, size_t *count);

struct contact_thread {
    const char *id, *line_id, *phone_number_id;
    int64_t last_message_at;
};

/* Lists the contact's threads of the view, one for each line, in the order of their ids. */
enum store_result store_list_contact_threads(struct store *store, struct arena *arena,
                                             const struct store_view *view, const char *contact_id,
                                             struct contact_thread **threads, size_t *count);

/* --- internal to the store: the row; what writes runs in the open transaction --- */

/* SQL: the columns of a contact `c`, which the layout reads. */
#define CONTACT_COLUMN(number, column, json, title) ", c." #column
#define CONTACT_COLUMNS                                                                            \
    "c.id, c.account_id, c.phone, c.bsuid, c.parent_bsuid, c.created_at, "                         \
    "c.updated_at" CONTACT_PROFILE(CONTACT_COLUMN)
extern const struct row_layout contact_layout;

/* Reads the contact with this id; contact->id is NULL when there is none. False on failure. */
bool contact_read(struct store *store, struct arena *arena, const char *id,
                  struct contact *contact);

/* Reads the contact of the user with this id, or the one that it was merged into. False if there is
 * none, and on failure, which sql_result then returns. */
bool contact_find_of_user(struct store *store, struct arena *arena, const char *user_id,
                          const char *id, struct contact *contact);

/* Whether the view has a thread of this contact of its user; a whole view has each contact.
 * False on failure too, which sql_result then returns. */
bool contact_is_in_view(struct store *store, const struct store_view *view, const char *id);

/* Inserts the contact with the time created_at, or writes all columns that may change with the time
 * `now`, and its terms. False on failure. */
bool contact_insert(struct store *store, const struct contact *contact);
bool contact_update(struct store *store, const struct contact *contact, int64_t now);

/* Whether the profiles are equal. */
bool contact_has_profile_of(const struct contact *a, const struct contact *b);

/* SQL: selects the ids of the contacts that the identity leads to: by their own columns, and by an
 * alias; and the first of them. */
#define CONTACT_IDS_OF(account, identity)                                                          \
    "SELECT id FROM contact WHERE account_id = " account " AND phone = " identity                  \
    " UNION ALL SELECT id FROM contact WHERE account_id = " account " AND bsuid = " identity       \
    " UNION ALL SELECT id FROM contact WHERE account_id = " account                                \
    " AND parent_bsuid = " identity " UNION ALL SELECT contact_id FROM contact_alias "             \
    "WHERE account_id = " account " AND identity = " identity
#define CONTACT_ID_OF(account, identity) CONTACT_IDS_OF(account, identity) " LIMIT 1"

#endif
