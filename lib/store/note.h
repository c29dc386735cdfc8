/* Notes of a thread: what members write about it for each other. They are never sent. */
#ifndef SWITCHBOARD_STORE_NOTE_H
#define SWITCHBOARD_STORE_NOTE_H

#include "store/actor.h"
#include "store/listing.h"

enum { NOTES_MAX = 1000 /* of a thread */ };

struct store_note {
    const char *id, *thread_id;
    const char *text;
    struct actor by; /* who wrote it; id NULL: the main token */
    int64_t created_at;
};

/* Lists the notes of the view's thread, newest first, from before the note `before` on (NULL: the
 * newest). The id of a merged thread means the one that remained. STORE_NOT_FOUND: no such thread.
 */
enum store_result store_list_notes(struct store *store, struct arena *arena,
                                   const struct store_view *view, const char *thread_id,
                                   const char *before, size_t limit, struct store_note **notes,
                                   size_t *count);

/* Finds a note of the user. */
enum store_result store_find_note(struct store *store, struct arena *arena,
                                  const struct store_view *view, const char *id,
                                  struct store_note *note);

/* Adds the note to its thread; one with this id that is there already stays as it is.
 * STORE_NOT_FOUND: as before. STORE_CONFLICT: there are NOTES_MAX. */
enum store_result store_insert_note(struct store *store, const struct store_view *view,
                                    const struct store_note *note);

/* Deletes a note: `by` NULL: of any member, else only one of this member or token.
 * STORE_NOT_FOUND: the user has no such note. STORE_CONFLICT: it is of another one. */
enum store_result store_delete_note(struct store *store, const struct store_view *view,
                                    const char *id, const char *by);

/* --- internal to the store: within the open transaction --- */

/* Deletes a note, if it is there. False on failure. */
bool note_delete(struct store *store, const char *user_id, const char *id);

/* Whether the thread has notes that are older than `before`, and deleting them. False on failure,
 * too. */
bool note_has_old(struct store *store, const char *thread_id, int64_t before);
bool note_delete_old(struct store *store, const char *user_id, const char *thread_id,
                     int64_t before);

#endif
