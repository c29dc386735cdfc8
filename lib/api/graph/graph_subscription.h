/* Where the platform's POSTs go, as programs that are made for the platform set it. At the platform
 * they would set the URL of the gateway's own application, so they set a webhook of the caller
 * instead (user_webhook.h): kind `forward`, of the account, with the name GRAPH_WEBHOOK_NAME and
 * the id of the business account or of the line. The platform is not called.
 */
#ifndef SWITCHBOARD_GRAPH_SUBSCRIPTION_H
#define SWITCHBOARD_GRAPH_SUBSCRIPTION_H

#include "api/graph/graph_node.h"

#define GRAPH_WEBHOOK_NAME "Graph API "

/* Handlers of the edge subscribed_apps of a WABA. GET lists the gateway as the application, with
 * the URL of the webhook. POST with `override_callback_uri` and `verify_token` verifies the URL as
 * the platform does (handshake.h) and makes or changes the webhook, for all lines of the account
 * that have none of their own, later lines too. With `subscribed_fields` it sets the fields of the
 * account's webhook and of those of its lines, the later ones too. DELETE deletes the webhook of
 * the account, and forgets the fields. */
int graph_get_subscription(struct request *rq, const struct graph_node *node);
int graph_subscribe(struct request *rq, const struct graph_node *node);
int graph_unsubscribe(struct request *rq, const struct graph_node *node);

/* POST of a line with `webhook_configuration`, an object with the same two members: sets the
 * webhook of this line; an empty `override_callback_uri` deletes it. */
int graph_configure_webhook(struct request *rq, const struct graph_node *node);

/* POST and GET /oauth/access_token: the token of the application for its id and its secret, which
 * is a scoped token of the user; that token is the answer. */
int graph_get_access_token(struct request *rq, const struct graph_node *node);

/* Handlers of the edge subscriptions of the application: the webhook `Graph API APP_ID` of the
 * user, of the kind `forward`, for all lines. POST verifies `callback_url` and makes it, with
 * `fields` (names, or their JSON array as text; none: messages), and with the token of the request
 * as its code. */
int graph_get_app_subscription(struct request *rq, const struct graph_node *node);
int graph_subscribe_app(struct request *rq, const struct graph_node *node);
int graph_unsubscribe_app(struct request *rq, const struct graph_node *node);

#endif
