/* The checks of doctor of what waits: records that the database did not take
 * (delivery/kept_record.h), queued sends, for a sender (store/outgoing.h), and attachments
 * for the archive of media (store/media_copy.h). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "archive/media_file.h"
#include "delivery/kept_record.h"
#include "doctor.h"
#include "store/backlog.h"
#include "store/heartbeat.h"

enum {
    LATE_MS = 60 * 1000, /* the courier stores a record within seconds */
    SENDS_LATE_S = 10 * 60,
    COPIES_LATE_MS = 60 * 60 * 1000,
};

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

/* --- queued sends --- */

#define START "start switchboard-sender, or let cron start `sender --for 60s` each minute"

/* No sender runs. What is due then expires without having been sent. */
static void add_stopped(struct report *report, const struct store_outgoing_backlog *sends,
                        long long late_s) {
    if (sends->due)
        report_add(report, FAIL, "sender",
                   "none runs, and %" PRId64 " queued send%s due, the oldest for %lld s: " START,
                   sends->due, sends->due == 1 ? " is" : "s are", late_s);
    else if (sends->scheduled)
        report_add(report, WARN, "sender",
                   "none runs, and %" PRId64 " send%s scheduled for later: " START,
                   sends->scheduled, sends->scheduled == 1 ? " is" : "s are");
    else
        report_add(report, OK, "sender",
                   "none runs, and no send waits; respond-async and sendAt are refused");
}

void doctor_check_sender(struct report *report) {
    const struct invocation *call = report->call;
    struct store_outgoing_backlog sends;
    struct store_pulse pulse;
    if (!call->store)
        return;
    if (store_find_pulse(call->store, "sender", &pulse) != STORE_OK ||
        store_count_outgoing(call->store, call->now, &sends) != STORE_OK) {
        report_add(report, FAIL, "sender", "%s", store_reason(call->store));
        return;
    }
    const long long late_s = sends.due ? (call->now - sends.oldest_at) / 1000 : 0;
    if (!heartbeat_is_running(&pulse, call->now))
        add_stopped(report, &sends, late_s);
    else if (late_s > SENDS_LATE_S)
        report_add(report, WARN, "sender",
                   "%" PRId64 " queued send%s due, the oldest for %lld s: a line sends at most 40 "
                   "a second; else the log of the sender says whether it reaches the platform",
                   sends.due, sends.due == 1 ? " is" : "s are", late_s);
    else
        report_add(report, OK, "sender",
                   "alive; %" PRId64 " sends are due, %" PRId64 " scheduled for later", sends.due,
                   sends.scheduled);
}

/* --- the archive of media --- */

/* The key is not set, but was. */
static void check_left(struct report *report, const struct store_media_backlog *backlog) {
    if (backlog->queued || backlog->removed)
        report_add(report, WARN, "media_archive",
                   "it is not set, and %" PRId64 " attachments wait for their copy, %" PRId64
                   " files of deleted messages for their removal: set it again, or remove the "
                   "directory and the rows of media_copy",
                   backlog->queued, backlog->removed);
}

/* Whether the files of copies are there. */
static void check_copies(struct report *report) {
    const struct invocation *call = report->call;
    struct media_sample sample;
    if (media_sample_take(call->store, call->config.media_archive, call->now, &sample) != STORE_OK)
        report_add(report, FAIL, "archived_media", "%s", store_reason(call->store));
    else if (sample.missing)
        report_add(report, FAIL, "archived_media",
                   "the files of %" PRId64 " of %s%" PRId64 " copies in %s are missing or have "
                   "another size, as that of %s: is it mounted? `switchboard archive check` counts "
                   "all, `archive repair` has the sender copy them again",
                   sample.missing, sample.is_whole ? "" : "a sample of ", sample.seen,
                   call->config.media_archive, sample.message_id);
    else
        report_add(report, OK, "archived_media", "the files of %s%" PRId64 " copies are there",
                   sample.is_whole ? "" : "a sample of ", sample.seen);
}

static void check_waiting(struct report *report) {
    const struct invocation *call = report->call;
    const char *archive = call->config.media_archive;
    struct store_media_backlog backlog;
    int error;
    if (!call->store)
        return;
    if (store_count_media_copies(call->store, &backlog) != STORE_OK)
        report_add(report, FAIL, "media_archive", "%s", store_reason(call->store));
    else if (!*archive)
        check_left(report, &backlog);
    else if (!media_file_has_room(archive, &error))
        report_add(report, FAIL, "media_archive", "%s: %s; attachments wait", archive,
                   error ? strerror(error) : "less than 10 % of the disk is free");
    else
        report_add(report,
                   backlog.queued && call->now - backlog.oldest_at > COPIES_LATE_MS ? WARN : OK,
                   "media_archive",
                   "%" PRId64 " attachments wait for their copy, %" PRId64
                   " files of deleted messages for their removal; the sender does both, and its "
                   "log says why one failed",
                   backlog.queued, backlog.removed);
}

void doctor_check_archive(struct report *report) {
    check_waiting(report);
    if (report->call->store && *report->call->config.media_archive)
        check_copies(report);
}
