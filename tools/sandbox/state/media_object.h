/* Media: their list, made by uploads and by control calls. All calls are made under the lock of the
 * state, those that change it under the write lock. */
#ifndef SANDBOX_MEDIA_OBJECT_H
#define SANDBOX_MEDIA_OBJECT_H

#include "state/account.h"
#include "wire/exchange.h"

struct media {
    struct arena *arena; /* of the struct and its texts */
    const char *id;
    const char *waba_id;
    const char *phone_id;
    const char *mime;
    const char *filename;     /* of the uploaded part, or NULL */
    const char *part_headers; /* header block of the uploaded file part, or NULL */
    const char *type_field;   /* the `type` field of the upload, or NULL */
    const char *path; /* of the spooled bytes; NULL: they are generated from the seed when read */
    int64_t seed;
    int64_t size;
    const char *sha256; /* in hexadecimal */
    bool unsized;       /* downloaded without Content-Length */
    struct media *next;
};

/* Returns the media with this id, or NULL. */
const struct media *media_find(const char *id);

/* Returns the media with the id `id`; with `id` NULL the first media of the account whose type
 * begins with `type`; NULL when there is none. */
const struct media *media_select(const char *id, const char *waba_id, const char *type);

/* Returns the account of the media with this id, or NULL. */
const struct account *media_owner(const char *id);

/* Whether the account may send the media with this id. */
bool media_usable(const char *id, const struct account *account);

/* Adds a copy of `media`, whose arena is not used, and returns it. A media without an id gets a new
 * one. Its file, if it has one, belongs to the list from now on. */
const struct media *media_add(const struct media *media);

/* Makes media of pseudo-random bytes: {wabaId, phoneNumberId, id, mimeType, size, seed,
 * withoutLength, base64}; only wabaId or phoneNumberId is needed. With `base64` the media has these
 * bytes, which are spooled. Returns NULL and sets `*made`, or in `arena` the text of an error. */
const char *media_make(struct arena *arena, const cJSON *json, const struct media **made);

/* Appends one media as JSON. */
void media_print(struct buffer *out, const struct media *media);

/* Appends all media as a JSON array. */
void media_list(struct buffer *out);

/* Appends all media as bodies of media_make, the oldest first, with the bytes of those that have a
 * file. */
void media_save(struct buffer *out);

/* Opens `length` bytes from `offset` of the media as a source; its state is allocated in `arena`.
 * Returns false when the file cannot be opened. */
bool media_open(struct arena *arena, const struct media *media, int64_t offset, int64_t length,
                struct source *source);

/* Deletes the media with this id, if there is one. */
void media_delete(const char *id);

/* Deletes all media, their files and the temporary directory. */
void media_clear(void);

#endif
