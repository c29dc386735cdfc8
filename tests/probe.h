/* For probe builds, which tell of an executable what it can do (make audit). */
#ifndef SWITCHBOARD_PROBE_H
#define SWITCHBOARD_PROBE_H

struct request;

/* Called by a process that has just been confined. Does what the request's header X-Probe names:
 * `limits` answers with what is possible, `abort`, `fault`, `loop`, `overflow` and `exhaust` crash;
 * without it the request goes on as ever. */
void probe_run(struct request *rq);

/* The same of `limits` for a process without requests: where the environment has
 * HTTP_X_PROBE_SOCKET, what it declares and what is possible is printed, and the process ends. */
struct config;
void probe_process(unsigned needs, const struct config *config, const char *config_path);

#endif
