/* The check of doctor of the records that the database did not take (delivery/kept_record.h). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "delivery/kept_count.h"
#include "doctor.h"

enum { LATE_MS = 60 * 1000 }; /* the courier stores a record within seconds */

void doctor_check_pending(struct report *report) {
    const struct invocation *call = report->call;
    const char *path = call->config.pending_dir;
    struct kept_tally tally;
    if (kept_count(path, &tally) != 0) {
        report_add(report, FAIL, "pending_dir",
                   "%s: %s; `switchboard init` creates it. Without it an accepted send that the "
                   "database does not take is not in the inbox",
                   path, strerror(errno));
        return;
    }
    if (tally.refused)
        report_add(report, FAIL, "pending_dir",
                   "%" PRIu64 " record%s in %s cannot be stored: the log of the courier says why. "
                   "After the repair remove " KEPT_REFUSED " from the names; else remove the files",
                   tally.refused, tally.refused == 1 ? "" : "s", path);
    if (!tally.waiting)
        report_add(report, OK, "pending_dir", "no record waits in %s", path);
    else
        report_add(report, call->now - tally.since > LATE_MS ? FAIL : WARN, "pending_dir",
                   "%" PRIu64 " record%s of accepted calls wait%s in %s, the oldest for %" PRId64
                   " s; the courier of this host stores them: does it run, and can it use the "
                   "database?",
                   tally.waiting, tally.waiting == 1 ? "" : "s", tally.waiting == 1 ? "s" : "",
                   path, (call->now - tally.since) / 1000);
}
