/* The merging of JSON objects. */
#ifndef SANDBOX_JSON_MERGE_H
#define SANDBOX_JSON_MERGE_H

#include <cjson/cJSON.h>

/* Merges `patch` into the object `target` (RFC 7396): null removes a member, objects are merged,
 * every other value replaces. A patch that is no object changes nothing. */
void json_merge(cJSON *target, const cJSON *patch);

#endif
