/* A webhook as the API shows it. */
#ifndef SWITCHBOARD_DESTINATION_VIEW_H
#define SWITCHBOARD_DESTINATION_VIEW_H

#include "api/auth.h"
#include "store/destination.h"

/* Decrypts the webhook's code. Returns 0, or -1 after failing the request. `*code` is empty when it
 * is unset; p == NULL when the present keys do not open it, which the log then says. */
int destination_view_code(struct request *rq, const struct store_destination *webhook,
                          struct slice *code);

/* Writes the webhook as an object, with its code. `name`: as for json_write_object. Returns 0, or
 * -1 after failing the request. */
int destination_view_write(struct request *rq, struct json_writer *out, const char *name,
                           const struct store_destination *webhook);

#endif
