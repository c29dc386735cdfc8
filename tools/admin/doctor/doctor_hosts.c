/* doctor: the hosts on one database, by the heartbeats of their couriers. */
#include "../command.h"
#include "../key_hosts.h"
#include "base/target.h"
#include "doctor.h"
#include "store/upkeep.h"

enum { CLOCK_OFF_MS = 2000 };

/* Returns what the key files of this host and another one differ in; NULL: nothing that matters. */
static const char *problem_of_keys(struct report *report, const struct store_heartbeat *host,
                                   bool *is_fault) {
    const struct keyring *ring = &report->keys;
    for (size_t i = ring->count; report->has_keys && i-- > 0;) {
        const char *problem = key_host_problem(&report->call->arena, host, &ring->keys[i]);
        *is_fault = i + 1 == ring->count; /* it cannot open what this host seals */
        if (problem)
            return problem;
    }
    return NULL;
}

static void add_host(struct report *report, const struct store_heartbeat *host) {
    struct invocation *call = report->call;
    const long long silence = key_host_silence(call, host);
    const long long ahead = (long long)host->clock_ahead_ms;
    bool is_fault = false;
    const char *problem = problem_of_keys(report, host, &is_fault);
    if (host->ended_at != INT64_MAX)
        report_add(report, WARN, "host", "%s: its courier was ended %lld s ago", host->host,
                   silence);
    else if (silence > HEARTBEAT_SILENT_S)
        report_add(report, WARN, "host", "%s: its courier is silent for %lld s", host->host,
                   silence);
    else if (problem)
        report_add(report, is_fault ? FAIL : WARN, "host", "%s %s: copy %s of this host to it",
                   host->host, problem, call->config.secret_key_file);
    else
        report_add(report, ahead > CLOCK_OFF_MS || ahead < -CLOCK_OFF_MS ? WARN : OK, "host",
                   "%s: its courier was alive %lld s ago, it has the keys of this host, and its "
                   "clock is %lld ms %s the server's",
                   host->host, silence, ahead < 0 ? -ahead : ahead,
                   ahead < 0 ? "behind" : "ahead of");
}

void doctor_check_hosts(struct report *report) {
    struct invocation *call = report->call;
    const bool has_server = !target_file(call->config.database);
    struct store_heartbeat *hosts;
    size_t count;
    if (!call->store)
        return;
    if (store_list_heartbeats(call->store, &call->arena, &hosts, &count) != STORE_OK) {
        report_add(report, FAIL, "host", "%s", store_reason(call->store));
        return;
    }
    /* a database that is a file has one host, which may have had another name before */
    for (size_t i = 0; i < count; i++)
        if (has_server || (key_host_is_other(call, &hosts[i]) &&
                           key_host_silence(call, &hosts[i]) <= HEARTBEAT_SILENT_S))
            add_host(report, &hosts[i]);
}
