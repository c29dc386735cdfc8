/* The event of the type ping by which a user tries a webhook. */
#ifndef SWITCHBOARD_TEST_EVENT_H
#define SWITCHBOARD_TEST_EVENT_H

#include "api/auth.h"

/* Inserts the event for the caller's webhook, NULL: the first one; notifies the courier and answers
 * with its id. Returns 0, or what `refuse` returns, which fails the request for another result of
 * store_insert_test_event than STORE_OK. */
int test_event_post(struct request *rq, const char *webhook_id,
                    int (*refuse)(struct request *rq, enum store_result result));

#endif
