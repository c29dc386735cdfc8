#include "api/keep.h"

#include <errno.h>

#include "base/counters.h"
#include "base/log.h"

enum { MORE_SIZE = 16 * 1024 }; /* of a record, without the body of the message */

int keep_prepare(struct request *rq, size_t size) {
    const char *directory = rq->config->pending_dir;
    if (kept_reserve(directory, size + MORE_SIZE) == 0)
        return 0;
    log_message(LOG_ERROR, "request %s: pending_dir %s: %s", rq->id, directory, strerror(errno));
    return errno == ENOSPC || errno == EDQUOT
               ? fail(rq, INTERNAL, "The gateway's disk is full; its operator must make room.")
               : 0;
}

bool keep_record(struct request *rq, const struct kept_record *record, const char *what,
                 const char *reason) {
    const char *directory = rq->config->pending_dir;
    bool is_kept = kept_write(directory, record, rq->now) == 0;
    int error = errno;
    counters_add(COUNTERS_RECORDS, is_kept ? "kept" : "lost", 1);
    if (is_kept)
        log_message(LOG_WARN, "request %s: %s: %s; it waits in pending_dir", rq->id, what, reason);
    else
        log_message(LOG_ERROR, "request %s: %s: %s; and it is lost: pending_dir %s: %s", rq->id,
                    what, reason, directory, strerror(error));
    return is_kept;
}
