/* Media in a send: `{id}` or `{link}`. */
#ifndef SANDBOX_MEDIA_REFERENCE_H
#define SANDBOX_MEDIA_REFERENCE_H

#include "judge/sending.h"

/* Whether `object`, which is at `path` in the request, holds media that the account may send: an id
 * that it owns, or a link. Returns false after answering with an error. */
bool media_reference_check(struct send *send, const char *path, const cJSON *object);

/* Whether the text begins as an http or https URL. */
bool is_web_url(const char *text);

#endif
