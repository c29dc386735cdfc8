/* POST /{phone-number-id}/media: a multipart body, which is written to a file while it is received.
 */
#ifndef SANDBOX_MEDIA_UPLOAD_H
#define SANDBOX_MEDIA_UPLOAD_H

#include "state/media_object.h"

struct upload;

/* Starts an upload with the Content-Type of its request; it lives in `arena`. */
struct upload *upload_new(struct arena *arena, const char *content_type);

/* Adds a piece of the request's body. Called without the lock of the state. */
void upload_feed(struct upload *upload, struct slice piece);

/* Returns the field access_token of an upload that was read, or NULL. */
const char *upload_token(const struct upload *upload);

/* Closes the file, and deletes it unless it became media. */
void upload_end(struct upload *upload);

#endif
