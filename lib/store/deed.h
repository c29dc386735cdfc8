/* The trail: who changed what, and when. Each change leaves one row in its own transaction, so that
 * there is none for a request that was refused or rolled back. Rows are only added.
 *
 * A program says once for each request or command who acts (store_begin_deed); the calls of the
 * store that change something for a user then leave the row by store_trail. Without that, as in the
 * courier, they leave none. */
#ifndef SWITCHBOARD_STORE_DEED_H
#define SWITCHBOARD_STORE_DEED_H

#include "store/actor.h"
#include "store/listing.h"

/* Lines that a member or a token had and has; NULL: all. */
struct lines_change {
    const char *from, *to;
};

/* What a row keeps of its object, if that is a member, an invitation or a token: the row can be
 * read after it is deleted. NULL: it has none. */
struct deed_object {
    const char *name, *email;
};

/* Whether a member saw, and sees, only threads that are assigned to it or to none. */
struct own_change {
    bool from, to;
};

/* Who acts. The strings live until the next store_begin_deed. */
struct store_deed {
    char id[ID_SIZE];  /* trl_..., of the row */
    const char *actor; /* NULL: it is found with the change (store_name_actor) */
    const char *actor_name;
    const char *address, *request_id; /* "": the command line */
    int64_t now;
    /* Sets `action` and `details`, when the row is written: the body of a request is read later
     * than its headers. NULL: they are set already. */
    void (*describe)(struct store_deed *deed);
    void *context;             /* for describe */
    struct arena *arena;       /* for `object` */
    struct deed_object object; /* for describe; found by the id when the row is written */
    const struct actor *to; /* whom the change gives something, for describe; id NULL: it takes it
                               away; NULL: it does neither */
    const struct lines_change *lines; /* what the change does to lines, for describe; or NULL */
    const struct own_change *own;     /* the same to the threads that a member sees */
    const char *action;               /* NOUN.VERB */
    const char
        *other_action;   /* the transaction has found that it is another one; NULL: it is not */
    const char *details; /* a JSON object; never a secret, nor the text of a message */
    bool *is_left;       /* set to true with the row; NULL: not wanted */
};

/* Sets who acts from now on; NULL: the program itself. The deed lives until the next call. */
void store_begin_deed(struct store_deed *deed);

/* Leaves the row of the present deed, in a transaction of its own: before a deed at the platform
 * that destroys something, and after each other one. */
enum store_result store_leave_trail(struct store *store, const char *user_id,
                                    const char *object_id);

/* A row. */
struct store_trail_row {
    const char *id, *actor, *actor_name, *action;
    const char *object_id; /* NULL: the workspace */
    const char *details, *address, *request_id;
    int64_t at;
};

/* Which rows a list has; NULL: any. */
struct store_trail_filter {
    const char *user_id;
    const char *actor, *action, *object_id;
    const char *before; /* trl_...: only rows that are older */
    size_t limit;
};

/* Lists rows, newest first. An index answers the object, else the actor, else the action; further
 * conditions are compared row by row. */
enum store_result store_list_trail(struct store *store, struct arena *arena,
                                   const struct store_trail_filter *filter,
                                   struct store_trail_row **rows, size_t *count);

/* Deletes at most 500 rows that are older than `before`; as store_delete_old_rows (housekeeping.h).
 */
enum store_result store_delete_old_trail(struct store *store, int64_t before, size_t *removed);

/* --- internal to the store --- */

/* Sets who acts in the present deed, when the transaction finds it: the member of a link. */
void store_name_actor(const char *id, const char *name);

/* Leaves the row of the present deed, within the open transaction. A second call for the same deed
 * changes nothing, so that a repeated transaction leaves one row. `object_id` NULL: the workspace.
 * A member, an invitation or a token is deleted after the call, which reads its name. False on
 * failure. */
bool store_trail(struct store *store, const char *user_id, const char *object_id);

/* The same for another action than that of the deed, which the transaction has found. */
bool store_trail_as(struct store *store, const char *user_id, const char *object_id,
                    const char *action);

/* The same for a change that gives `to` something, such as a thread; id NULL: it takes it away. */
bool store_trail_to(struct store *store, const char *user_id, const char *object_id,
                    const struct actor *to);

/* The same for a change of what a member or a token sees; NULL: of these it changes nothing. */
bool store_trail_limits(struct store *store, const char *user_id, const char *object_id,
                        const struct lines_change *lines, const struct own_change *own);

#endif
