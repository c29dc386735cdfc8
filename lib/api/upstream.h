/* Calls the platform for a request, and maps its answers to those of this API (spec 7). A request
 * calls the platform only by these functions: each first releases its locks (request_release). */
#ifndef SWITCHBOARD_UPSTREAM_H
#define SWITCHBOARD_UPSTREAM_H

#include "graph/call.h"
#include "graph/media_api.h"
#include "graph/relay.h"
#include "store/store.h"
#include "web/request.h"

/* Retry-After when nothing was sent to the platform, so that the client may repeat the request. */
#define UPSTREAM_UNREACHED_SECONDS "5"

/* The purpose of a call decides the status of its failure. A 5xx of the platform becomes 502 for
 * sends, changes, uploads and downloads, else 500. A transport failure becomes 502 for sends,
 * changes and downloads, else 500. */
enum upstream_purpose {
    UPSTREAM_SEND,
    UPSTREAM_CHANGE,
    UPSTREAM_UPLOAD,
    UPSTREAM_DOWNLOAD,
    UPSTREAM_LIST
};

/* Makes the call. The service needs http_prepare as its `load` function (request.h). Returns 0 with
 * the platform's answer, a JSON value, in `*json`; or -1 after failing the request by spec 7: 401,
 * 403 and 404 keep their status, other 4xx become 400; the platform's whole answer becomes
 * `details`, and its Retry-After is copied. The message is the platform's, followed by a hint for
 * the most frequent error codes, except for uploads (spec 4.6). If nothing was sent to the
 * platform, Retry-After is 5 s. */
int upstream_call(struct request *rq, enum upstream_purpose purpose, const struct graph_call *call,
                  struct json *json);

/* Makes the call and logs it, without failing the request: for callers that examine the answer
 * before upstream_read or upstream_fail. */
void upstream_ask(struct request *rq, const struct graph_call *call, struct graph_answer *answer);

/* The same for an upload (graph_upload) and for a download (graph_download). */
void upstream_upload(struct request *rq, const struct graph_upload *upload,
                     struct graph_answer *answer);
void upstream_download(struct request *rq, const struct graph_download *download,
                       struct graph_answer *answer);

/* The same for a request that is passed on (graph_relay); with `source`, else NULL, its body is
 * read while it is sent (graph_relay_stream). */
void upstream_relay(struct request *rq, const struct graph_relay *relay,
                    const struct graph_source *source, struct graph_relayed *relayed);

/* Passes a change on with the token of the account, and replies with the platform's answer, which
 * is in `*answer` too. Returns -1 after failing the request, as upstream_call does, or because the
 * account has no token (404). */
int upstream_pass_on(struct request *rq, const struct store_account *account,
                     struct graph_relay *relay, struct json *answer);

/* Checks that the operator lets calls be passed on that take a number, a template or a flow out of
 * service (graph_destructive). Returns 0, or -1 after failing the request with 403. */
int upstream_check_destructive(struct request *rq);

/* Reads the answer to a call, as upstream_call does. */
int upstream_read(struct request *rq, enum upstream_purpose purpose,
                  const struct graph_answer *answer, struct json *json);

/* Fails the request for an answer, as upstream_call does. Returns -1. */
int upstream_fail(struct request *rq, enum upstream_purpose purpose,
                  const struct graph_answer *answer);

#endif
