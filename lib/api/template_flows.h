/* The flows that templates open: replies to sent templates are counted for them (spec 2.6). */
#ifndef SWITCHBOARD_TEMPLATE_FLOWS_H
#define SWITCHBOARD_TEMPLATE_FLOWS_H

#include "api/auth.h"

/* Stores the flow of each of the account's templates that has one. `items` is the array of template
 * objects that the platform returned. A failure is only logged. */
void template_flows_save(struct request *rq, const struct store_account *account,
                         struct json items);

#endif
