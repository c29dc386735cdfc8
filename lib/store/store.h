/* The state: every use-case is one call here, atomic inside. No SQL, cursor or transaction leaks
 * out; ids and times are passed in, so that calls can be repeated and tested.
 *
 * Strings and arrays handed out live in the `arena` that was passed in.
 */
#ifndef SWITCHBOARD_STORE_H
#define SWITCHBOARD_STORE_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/id.h"

struct store;

enum store_result {
    STORE_OK,
    STORE_NOT_FOUND,   /* the row asked for is not there */
    STORE_CONFLICT,    /* it would break a rule, such as a second row with a unique value */
    STORE_BUSY,        /* locked for longer than 5 s: try again */
    STORE_FULL,        /* no space left */
    STORE_UNAVAILABLE, /* missing, not readable, of another version */
    STORE_CORRUPT,
    STORE_UNKNOWN,     /* anything else */
    STORE_EXCESSIVE,   /* it took more work than store_limit_work allows; nothing was changed */
};

/* What went wrong in the last call that did not return STORE_OK, for the log. */
const char *store_reason(const struct store *store);

/* Opens the existing database at `path`. On anything but STORE_OK `*store` is still set, for
 * store_reason and store_close only. */
enum store_result store_open(const char *path, struct store **store);

/* The same for reading alone: database, write-ahead log and wal-index are held by descriptors, and
 * mapped, so that they cannot be written to. Nothing has to be opened later, so that the process may
 * give up the right to. Such a store is read in a view alone (store_hold_view). */
enum store_result store_open_for_reading(const char *path, struct store **store);

/* From now on all reads see the database as of the first of them, for one look at it instead of one
 * for each statement, until a transaction begins or the view is released. While it is held the log
 * cannot be emptied: nobody may wait with it for a client or for the platform. */
void store_hold_view(struct store *store);

/* Does nothing where none is held; NULL is fine. */
void store_release_view(struct store *store);

/* From now on a transaction that takes more than `most` units of work fails with STORE_EXCESSIVE;
 * 0: no limit. A unit is a step of SQLite's machine; looking at a page of the database is ten, and
 * reading or writing one is two hundred.
 * Counted, not timed, so that the same on the same data ends in the same way on every machine. */
void store_limit_work(struct store *store, int64_t most);

/* Closes it; NULL is fine. */
void store_close(struct store *store);

/* Whether the file at its path is still the one that was opened. */
bool store_is_current(const struct store *store, const char *path);

/* A secret to store. It is sealed when the write lock is held, with the keys of that moment, so that
 * no rotation of keys comes between sealing and storing. */
struct store_secret {
    struct slice (*seal)(void *context); /* p == NULL: it cannot; then nothing is stored */
    void *context;
};

/* Creates the database at `path` (mode 0660 less the umask) or brings an older one up to date, after
 * copying it to `path.before-vN`. `*from` and `*to` are schema versions; from 0 means created. */
enum store_result store_migrate(const char *path, int *from, int *to, struct store **store);

/* --- who may do what (spec 5) --- */

struct store_user {
    const char *id, *email;
    const char *default_account_id; /* NULL: none */
    const char *primary_line_id;    /* NULL: none */
    const char *plan_name;          /* the primary plan's; NULL: none */
    int64_t plan_ends_at;           /* INT64_MAX: no end */
    bool has_valid_account;         /* an account with a platform access token is linked */
};

/* The living user whose API token has this SHA-256, or STORE_NOT_FOUND. */
enum store_result store_authenticate(struct store *store, struct arena *arena,
                                     const unsigned char token_hash[32], struct store_user *user);

struct store_account {
    const char *id, *user_id, *waba_id, *name;
    struct slice sealed_token; /* n == 0: no valid platform access token */
    int64_t created_at;
    const char *email; /* its user's; store_list_accounts only */
    bool is_default;
};

struct store_line {
    const char *id, *account_id, *phone_number_id, *phone_number, *name, *platform_type;
    bool is_registered, is_coexisting, is_archived;
    int64_t created_at;
    struct store_account account; /* store_find_line only */
};

/* The user's accounts in the order of their making; user_id NULL: everybody's. */
enum store_result store_list_accounts(struct store *store, struct arena *arena,
                                      const char *user_id, struct store_account **accounts,
                                      size_t *count);

/* The user's lines that are not archived, over all accounts, in the order of their making. */
enum store_result store_list_lines(struct store *store, struct arena *arena, const char *user_id,
                                   struct store_line **lines, size_t *count);

/* The user's line with this platform id and its account; archived ones are STORE_NOT_FOUND. */
enum store_result store_find_line(struct store *store, struct arena *arena, const char *user_id,
                                  const char *phone_number_id, struct store_line *line);

/* The user's account with this id. */
enum store_result store_find_account(struct store *store, struct arena *arena,
                                     const char *user_id, const char *account_id,
                                     struct store_account *account);

/* --- contacts, threads, messages (spec 3, 4.3) --- */

/* Whether a contact of the line's account known by the phone (digits) or the BSUID is blocked on
 * the line; either may be NULL. */
enum store_result store_is_blocked(struct store *store, const char *line_id,
                                   const char *account_id, const char *phone, const char *bsuid,
                                   bool *blocked);

/* A send that the platform accepted. */
struct store_send {
    const char *account_id, *line_id;
    const char *phone; /* the digits it was sent to; NULL: it was sent to the BSUID */
    const char *wa_id; /* the phone as the platform normalized it; NULL: not told */
    const char *bsuid;
    const char *wamid, *type;
    const char *context_wamid; /* NULL: answers nothing */
    struct slice body;         /* what the platform was sent */
    const char *template_name, *template_language; /* of a template; NULL: another type */
    const char *flow_token;    /* that its flow button carries; NULL: none */
    int64_t now;
    char new_contact_id[ID_SIZE], new_thread_id[ID_SIZE], message_id[ID_SIZE];
};

/* Upserts contact and thread, inserts the message. Repeating it with the same wamid changes
 * nothing. */
enum store_result store_record_send(struct store *store, const struct store_send *send);

#endif
