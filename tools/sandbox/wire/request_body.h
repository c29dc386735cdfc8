/* The members of a request, which the platform takes from a JSON body, from a form, or from the
 * query. */
#ifndef SANDBOX_REQUEST_BODY_H
#define SANDBOX_REQUEST_BODY_H

#include "wire/exchange.h"

/* Sets `json` of an exchange whose body was stored: the JSON body; or the fields of a form
 * (application/x-www-form-urlencoded or multipart/form-data), where `text[body]` is member `body`
 * of `text`. Bodies of other media types are ignored. Unless the method is GET, the parameters of
 * the query are added where the body has no such member; then `json` is NULL only when the body is
 * not valid JSON. Takes `form` and `form_token` from a form too. Of forms and queries the first
 * 1000 fields count. */
void request_body_read(struct exchange *exchange);

#endif
