/* Export: what is held of a person, or for a user, as lists of rows with named columns. A list is
 * read in pages, so that memory and statements stay small. No list has a secret. As in store.h,
 * strings and arrays are in the `arena`. Read within a view (store_hold_view), which the caller
 * releases between two pages. */
#ifndef SWITCHBOARD_STORE_EXPORT_H
#define SWITCHBOARD_STORE_EXPORT_H

#include "store/message.h"

enum export_kind {
    EXPORT_END, /* after the last column */
    EXPORT_TEXT,
    EXPORT_INTEGER,
    EXPORT_BOOL,
    EXPORT_TIME, /* ms */
    EXPORT_JSON,
    EXPORT_JSON_TEXT, /* JSON in a column of text */
    EXPORT_HOST,      /* of a URL */
    EXPORT_WORDS      /* ids, separated by one space: an array */
};

struct export_column {
    const char *name; /* NULL: it is not shown */
    enum export_kind kind;
};

enum { EXPORT_COLUMNS = 24, EXPORT_PARTS = 12 }; /* the most of a list */

struct person;
struct statement;

/* A list: each row belongs to one owner, and may have lists of its own. */
struct export_list {
    const char *name; /* as a member of JSON */
    /* ends with EXPORT_END. The first column is an id, by which the rows are ordered; with
     * `has_time` a time, before the id. Of a part it is the id of the row that it belongs to. */
    struct export_column columns[EXPORT_COLUMNS];
    bool has_time;
    const struct export_list *parts; /* ends with a NULL name; NULL: none */
    struct statement *statement;     /* internal to the store */
};

/* Of a person. */
extern const struct export_list export_contacts;  /* the owner is the account */
extern const struct export_list export_messages;  /* the thread */
extern const struct export_list export_events;    /* the contact, or one that was merged into it */
extern const struct export_list export_updates;   /* the account */
extern const struct export_list export_forwards;  /* the account: webhooks that get its POSTs */
extern const struct export_list export_recipient; /* the webhook itself */

/* Of a user, beside contacts, messages and updates. */
extern const struct export_list export_accounts;       /* the owner is the user */
extern const struct export_list export_members;        /* the user */
extern const struct export_list export_webhooks;       /* the user */
extern const struct export_list export_events_of_user; /* the user */
extern const struct export_list export_trail;          /* the user */
extern const struct export_list export_lines;          /* the account */
extern const struct export_list export_templates;      /* the account */
extern const struct export_list export_forms;          /* the account */
extern const struct export_list export_opt_outs;       /* the account */
extern const struct export_list export_threads;        /* the line: ids of contact and thread */

struct export_value {
    bool is_null;
    int64_t integer;    /* of INTEGER, BOOL and TIME */
    struct slice bytes; /* of the others */
};

struct export_rows {
    const struct export_list *list;
    size_t count, columns;
    const struct export_value *values; /* `columns` of the first row, then those of the next one */
    const struct export_rows *parts;   /* one for each of list->parts, with the parts of all rows */
    bool is_end;                       /* no more rows follow */
};

/* Reads the next page of the owner's rows, after `place`, which is set to the last row that was
 * read: {INT64_MIN, ""} at first. `only`: of export_updates those that name the person alone; of
 * those that name others too, without the body. NULL: all. */
enum store_result store_export_page(struct store *store, struct arena *arena,
                                    const struct export_list *list, const char *owner_id,
                                    const struct person *only, struct list_key *place,
                                    struct export_rows *rows);

/* Whose data is exported. */
struct store_export {
    const char *contact_id, *account_id, *waba_id, *account_name, *user_id;
    const char **former_ids; /* of contacts that were merged into it */
    size_t former_count;
    const struct person *person;
};

/* Finds the contact of the user, with user_id NULL of any user; also by the id of one that was
 * merged into it. STORE_NOT_FOUND: there is none, or it is being erased. */
enum store_result store_find_export(struct store *store, struct arena *arena, const char *user_id,
                                    const char *id, struct store_export *export);

/* Reads the row of the contact itself: no row, if it was erased meanwhile. */
enum store_result store_export_contact(struct store *store, struct arena *arena,
                                       const struct store_export *export, struct export_rows *rows);

#endif
