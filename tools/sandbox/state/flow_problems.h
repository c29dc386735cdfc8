/* The validation errors of a Flow JSON: those of a small part of the platform's rules. */
#ifndef SANDBOX_FLOW_PROBLEMS_H
#define SANDBOX_FLOW_PROBLEMS_H

#include <cjson/cJSON.h>

#include "base/slice.h"

/* Returns an array of the errors, each with its lines and columns in `bytes`, from 1: no valid
 * JSON; no version or screens; a screen without id or layout. The caller calls cJSON_Delete. */
cJSON *flow_problems(struct slice bytes);

#endif
