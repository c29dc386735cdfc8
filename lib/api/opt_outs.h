/* The routes of /v2/opt-outs: the people who want no marketing from an account. */
#ifndef SWITCHBOARD_API_OPT_OUTS_H
#define SWITCHBOARD_API_OPT_OUTS_H

#include "web/request.h"

extern const struct field opt_outs_query[], opt_outs_add_query[], opt_outs_fields[],
    opt_outs_delete_query[];

int opt_outs_get(struct request *rq);
int opt_outs_post(struct request *rq);
int opt_outs_delete(struct request *rq);

#endif
