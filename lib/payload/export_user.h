/* All that is held for a user, as lists of rows in JSON (store/export.h): of an API answer, and of
 * the files of the CLI. */
#ifndef SWITCHBOARD_EXPORT_USER_H
#define SWITCHBOARD_EXPORT_USER_H

#include "payload/export_json.h"

/* What the rows of a list are found by. */
enum export_owner {
    EXPORT_OF_ACCOUNT,
    EXPORT_OF_LINE,
    EXPORT_OF_THREAD,
    EXPORT_OWNERS,
    EXPORT_OF_USER
};

/* The lists, in the order in which they are exported. */
struct export_part {
    const struct export_list *list;
    enum export_owner owner;
};
extern const struct export_part export_user_parts[];
extern const size_t export_user_count;

/* How far the rows of a list have come. */
struct export_place {
    char owners[EXPORT_OWNERS][ID_SIZE]; /* whose rows are being written; of a thread its contact */
    char after[ID_SIZE];                 /* the contact of the thread before */
    struct list_key row;                 /* the last row */
};

/* Takes the rows. Each function returns false to end the export. */
struct export_user_sink {
    bool (*row)(void *context, struct slice json); /* an object; it is valid during the call */
    bool (*page)(void *context);                   /* after each page of rows; NULL: nothing */
    void *context;
    const struct export_files *files; /* NULL: files of messages are only named */
};

struct export_user {
    struct store *store;
    const char *user_id;
    const struct export_user_sink *sink;
    struct export_place place; /* of the part that is being written */
    /* internal */
    struct arena kept, pages[2], text;
    enum store_result result;
    bool is_over; /* the sink takes no more */
};

/* Sets all members; export_user_end frees what it has taken. The memory of an export does not grow
 * with the number of rows. */
void export_user_start(struct export_user *export, struct store *store, const char *user_id,
                       const struct export_user_sink *sink);
void export_user_end(struct export_user *export);

/* The place before all rows. */
struct export_place export_user_first(void);

/* Gives the sink the rows of a part after `place`, which has always come as far as the rows. No
 * view is held while the sink works. STORE_OK also when the sink has ended it. */
enum store_result export_user_write(struct export_user *export, const struct export_part *part);

/* Writes all parts as one JSON document; as export_write_contact. */
enum store_result export_write_user(struct store *store, const char *user_id, const char *email,
                                    int64_t now, const struct export_sink *sink);

#endif
