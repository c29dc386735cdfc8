/* The JSON of what a row of the trail says of a change. */
#ifndef SWITCHBOARD_DEED_JSON_H
#define SWITCHBOARD_DEED_JSON_H

#include "base/json.h"
#include "store/deed.h"

/* Writes the members of `details` that the change itself has: what the object is called, to whom
 * it gives something, and for each limit of what is seen the values before and after it. */
void deed_json_write(struct json_writer *out, const struct store_deed *deed);

#endif
