/* The client of a request. */
#ifndef SWITCHBOARD_CLIENT_H
#define SWITCHBOARD_CLIENT_H

#include "web/request.h"

/* The address of the client, as the web server names it. */
const char *client_address(struct request *rq);

#endif
