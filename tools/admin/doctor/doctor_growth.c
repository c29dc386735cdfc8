/* What `switchboard doctor` says about the growth of the database. */
#include <sys/statvfs.h>

#include "base/target.h"
#include "doctor.h"
#include "store/retention.h"
#include "store/usage.h"

enum { FEW_DAYS = 30 };

/* For how many days the disk of the database's file has room; -1: not known. */
static int64_t days_left(const struct invocation *call, int64_t bytes_a_day) {
    const char *file = target_file(call->config.database);
    struct statvfs disk;
    if (!file || !bytes_a_day || statvfs(file, &disk) != 0)
        return -1;
    return (int64_t)(disk.f_bavail * disk.f_frsize) / bytes_a_day;
}

void doctor_check_growth(struct report *report) {
    struct invocation *call = report->call;
    struct store_retention *rows;
    size_t count;
    int64_t messages;
    if (!call->store)
        return;
    if (store_count_messages(call->store, call->now, &messages) != STORE_OK ||
        store_list_retention(call->store, &call->arena, &rows, &count) != STORE_OK) {
        report_add(report, FAIL, "growth", "%s", store_reason(call->store));
        return;
    }
    const int64_t bytes = messages * USAGE_MESSAGE_BYTES, days = days_left(call, bytes);
    const char *room =
        days < 0 ? ""
                 : arena_printf(&call->arena, "; the disk has room for %lld days", (long long)days);
    report_add(report, days >= 0 && days < FEW_DAYS ? WARN : OK, "growth",
               "%lld messages in 24 hours, about %lld KiB%s; a retention is set for %zu user%s",
               (long long)messages, (long long)(bytes / 1024), room, count, count == 1 ? "" : "s");
}
