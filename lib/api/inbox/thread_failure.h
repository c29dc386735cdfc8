/* The failure of a request about a thread, where the store did not succeed. */
#ifndef SWITCHBOARD_API_INBOX_THREAD_FAILURE_H
#define SWITCHBOARD_API_INBOX_THREAD_FAILURE_H

#include "api/state.h"

/* Fails with 404 for STORE_NOT_FOUND, else as state_fail. Returns -1. */
int thread_fail(struct request *rq, enum store_result result);

#endif
