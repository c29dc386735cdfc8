/* Changes of JSON objects. */
#ifndef SANDBOX_JSON_MERGE_H
#define SANDBOX_JSON_MERGE_H

#include <cjson/cJSON.h>

/* Merges `patch` into the object `target` (RFC 7396): null removes a member, objects are merged,
 * every other value replaces. A patch that is no object changes nothing. */
void json_merge(cJSON *target, const cJSON *patch);

/* Makes `value` the last member of `object`, named `name`, and takes it over; with NULL deletes
 * the member. */
void json_set(cJSON *object, const char *name, cJSON *value);

#endif
