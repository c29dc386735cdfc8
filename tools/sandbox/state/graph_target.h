/* The object that a request names by the id in its path. */
#ifndef SANDBOX_GRAPH_TARGET_H
#define SANDBOX_GRAPH_TARGET_H

#include "state/account.h"
#include "wire/exchange.h"

/* The one app of the sandbox, which all tokens belong to. */
#define APP_ID   "730000000000001"
#define APP_NAME "Sandbox App"
#define APP_LINK "https:\\/\\/www.facebook.com\\/games\\/?app_id=" APP_ID

enum node {
    NODE_NONE,
    NODE_ME,
    NODE_APP,     /* for the token of an account */
    NODE_OWN_APP, /* for the token of the app */
    NODE_DEBUG_TOKEN,
    NODE_WABA,
    NODE_PHONE,
    NODE_MEDIA,
    NODE_FLOW,
    NODE_TEMPLATE,
    NODE_UPLOAD
};

struct target {
    enum node node;
    const char *id;
    const struct account *account; /* its owner, or of the token where the node has none */
    const struct phone *phone;     /* of NODE_PHONE */
    const char *part;              /* the segment after the edge, or NULL */
};

#endif
