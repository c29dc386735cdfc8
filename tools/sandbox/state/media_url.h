/* The URLs of media, which are signed and expire, and what they answer. All calls are made under
 * the lock of the state. */
#ifndef SANDBOX_MEDIA_URL_H
#define SANDBOX_MEDIA_URL_H

#include "state/graph_target.h"
#include "state/media_object.h"

/* Answers GET /{media-id} of media that exists: type, digest, size, URL. */
void media_show(struct exchange *exchange, const struct target *target);

/* Whether the path is that of the URLs of media. */
bool media_is_download(const char *path);

/* Answers GET of such a URL with the bytes, or the part that `Range` selects. */
void media_download(struct exchange *exchange);

/* Returns the URL of media in `arena`, on this sandbox's address; for NULL a URL that leads to
 * nothing, for the id `id`. */
const char *media_webhook_url(struct arena *arena, const struct media *media, const char *id);

/* Expires all URLs returned so far. Called under the write lock. */
void media_expire_urls(void);

#endif
