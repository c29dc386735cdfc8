/* Probe builds, which report what a confined executable can do (make audit). */
#ifndef SWITCHBOARD_PROBE_H
#define SWITCHBOARD_PROBE_H

struct request;

/* Performs the action that the request's header X-Probe names; called directly after the process is
 * confined. `limits` runs all trials, answers with their outcomes and ends the process; `abort`,
 * `fault`, `loop`, `overflow` and `exhaust` crash. Returns when there is no such header. */
void probe_run(struct request *rq);

/* Performs `limits` for a process without requests: when the environment has HTTP_X_PROBE_SOCKET,
 * prints the `needs`, the allowed system calls and the outcomes of all trials, and ends the
 * process. */
struct config;
void probe_process(unsigned needs, const struct config *config, const char *config_path);

#endif
