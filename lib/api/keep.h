/* Keeping what the platform has accepted and the database did not take, until the courier of this
 * host stores it (delivery/kept_record.h). */
#ifndef SWITCHBOARD_KEEP_H
#define SWITCHBOARD_KEEP_H

#include "delivery/kept_record.h"
#include "web/request.h"

/* Reserves the room that a record with a body of `size` bytes needs, before the platform is called.
 * Fails the request with 500 when the disk is full: its message would be sent and could be lost.
 * Another failure is logged, because the record is needed only when the database fails too. */
int keep_prepare(struct request *rq, size_t size);

/* Keeps the record and counts it; logs `what` was not stored, and `reason`, why the database did
 * not take it. Returns false when the disk does not take it either: it is lost. */
bool keep_record(struct request *rq, const struct kept_record *record, const char *what,
                 const char *reason);

#endif
