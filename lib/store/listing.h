/* Listings for the operator. As in store.h, arrays and strings are in the `arena`; each call reads
 * one snapshot. Tables that grow with traffic are read in pages, so that memory and read
 * transactions stay small. */
#ifndef SWITCHBOARD_STORE_LISTING_H
#define SWITCHBOARD_STORE_LISTING_H

#include "store/store.h"

/* A page: at most `limit` rows that follow the row with the id `after` in the order of the listing;
 * NULL: the first rows. A page with fewer rows is the last one. */
struct store_page {
    const char *after;
    size_t limit;
};

struct store_plan {
    const char *name;
    bool is_addon;
    int64_t ends_at; /* INT64_MAX: no end */
};

struct store_user_entry {
    const char *id, *email;
    const char *default_account_id; /* NULL: none */
    int64_t created_at;
    const struct store_plan *plans; /* the primary plan first */
    size_t plan_count;
};

/* Lists the users that are not deleted in the order of their creation. */
enum store_result store_list_users(struct store *store, struct arena *arena,
                                   struct store_user_entry **users, size_t *count);

/* Finds the id of the user with this email who is not deleted, or STORE_NOT_FOUND. */
enum store_result store_find_user(struct store *store, const char *email, char id[ID_SIZE]);

struct store_line_entry {
    const char *id, *account_id, *phone_number_id, *phone_number;
    const char *name, *platform_type; /* NULL: none */
    bool is_registered, is_coexisting, is_archived, is_primary;
    int64_t created_at;
};

/* Lists the account's lines, archived ones too, in the order of their creation; account_id NULL: of
 * all accounts. STORE_NOT_FOUND: no such account. */
enum store_result store_list_account_lines(struct store *store, struct arena *arena,
                                           const char *account_id, struct store_line_entry **lines,
                                           size_t *count);

struct store_thread {
    const char *id, *phone_number_id;
};

struct store_contact {
    const char *id, *account_id;
    const char *phone, *bsuid, *username, *name; /* NULL: not known */
    const struct store_thread *threads;          /* in the order of their creation */
    size_t thread_count;
};

/* Lists the account's contacts in the order of their ids, which is that of their creation;
 * account_id NULL: of all accounts. `page->after` need not exist. STORE_NOT_FOUND: no such account.
 */
enum store_result store_list_contacts(struct store *store, struct arena *arena,
                                      const char *account_id, const struct store_page *page,
                                      struct store_contact **contacts, size_t *count);

struct store_message {
    const char *id, *thread_id, *wamid, *direction, *type, *status;
    int64_t timestamp;
    struct slice error; /* the platform's JSON; p == NULL: none */
};

/* Lists the messages of all threads of a contact, by timestamp and id. STORE_NOT_FOUND: no such
 * contact. STORE_CONFLICT: `page->after` is not a message of the contact. */
enum store_result store_list_messages(struct store *store, struct arena *arena,
                                      const char *contact_id, const struct store_page *page,
                                      struct store_message **messages, size_t *count);

#endif
