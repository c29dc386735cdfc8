/* Finds a file of the platform and streams it to the client (spec 4.6). */
#ifndef SWITCHBOARD_MEDIA_FIND_H
#define SWITCHBOARD_MEDIA_FIND_H

#include "api/auth.h"

/* Whether `id` can be the id of a file: 1 to 128 letters, digits, `_` and `-`. */
bool media_is_id(struct slice id);

/* Replies with the file as download_stream does: with its copy in media_archive, else from the
 * first of the accounts whose platform access token the platform gives a URL for; a URL that is no
 * longer valid is replaced once. Returns 0, or -1 after failing the request: 404 when no account
 * has the file. */
int media_reply(struct request *rq, const char *media_id, const struct store_account *accounts,
                size_t count);

#endif
