/* URLs by which a program fetches a file of the platform without a token: they hold the media id,
 * the account that has it, the time until which they are valid, and a signature of all that. The
 * key of the signature is derived from the account's platform access token. So a rotation of the
 * gateway's keys leaves the URLs valid, and a new platform access token ends them. */
#ifndef SWITCHBOARD_SIGNED_URL_H
#define SWITCHBOARD_SIGNED_URL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

enum { SIGNED_URL_SECONDS = 5 * 60 }; /* as long as the platform's own URLs are valid */

/* The path, without the media id at its end. */
#define SIGNED_URL_PATH "/graph/media/"

struct signed_url {
    const char *media_id;
    const char *user_id, *account_id; /* the account, and the user who has it */
    int64_t expires_at;               /* in seconds since 1970 */
};

/* Returns the URL, which begins with `base`, in `arena`; all of its characters are those of a URL.
 * `secret` is the account's platform access token. */
char *signed_url_make(struct arena *arena, const char *base, const struct signed_url *url,
                      const char *secret);

/* Whether `signature` is that of the URL. It may have expired. */
bool signed_url_is_genuine(const struct signed_url *url, struct slice signature,
                           const char *secret);

#endif
