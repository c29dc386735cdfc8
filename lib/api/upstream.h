/* What the platform's answers mean to our client (spec 7). */
#ifndef SWITCHBOARD_UPSTREAM_H
#define SWITCHBOARD_UPSTREAM_H

#include "graph/graph.h"
#include "web/request.h"

/* What the call was for decides the status of its failure: of a 5xx 502 on sends and media and 500
 * on the rest, of a transport failure 502 on sends and downloads and 500 on the rest. */
enum upstream_purpose { UPSTREAM_SEND, UPSTREAM_UPLOAD, UPSTREAM_DOWNLOAD, UPSTREAM_LIST };

/* Loads what calls of the platform need and a confined process cannot load: `prepare` of the
 * services that make them (request.h). */
void upstream_prepare(struct request *rq);

/* Makes the call. Returns 0 with the platform's answer, a JSON value, in `*json`; or fails the
 * request by spec 7: 401, 403 and 404 keep their status, other 4xx become 400, with the platform's
 * whole answer as `details` and its Retry-After copied. The message is the platform's, followed by
 * a hint for the error codes that are met most, except on uploads (spec 4.6). Where nothing was
 * sent at all Retry-After is ours. */
int upstream_call(struct request *rq, enum upstream_purpose purpose,
                  const struct graph_call *call, struct json *json);

/* Makes the call and notes it in the log line, whatever comes of it; for those who look at a failure
 * before they pass it on. */
void upstream_ask(struct request *rq, const struct graph_call *call, struct graph_answer *answer);

/* The noting half of upstream_ask, for calls that were made another way. */
void upstream_note(struct request *rq, const struct graph_answer *answer);

/* What upstream_call does with an answer once it is there. */
int upstream_read(struct request *rq, enum upstream_purpose purpose,
                  const struct graph_answer *answer, struct json *json);

/* The failing half of upstream_call, for answers that were got another way. Returns -1. */
int upstream_fail(struct request *rq, enum upstream_purpose purpose,
                  const struct graph_answer *answer);

#endif
