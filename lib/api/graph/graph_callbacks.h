/* The callbacks of accounts and lines: the caller's webhooks of the kind forward
 * (user_webhook.h), as the platform shows them in a number's webhook_configuration. */
#ifndef SWITCHBOARD_GRAPH_CALLBACKS_H
#define SWITCHBOARD_GRAPH_CALLBACKS_H

#include "api/graph/graph_node.h"
#include "store/user_webhook.h"

struct graph_callbacks {
    struct store_webhook *list; /* oldest first */
    size_t count;
};

/* Lists the webhooks. Returns 0, or -1 after failing the request. */
int graph_list_callbacks(struct request *rq, struct graph_callbacks *callbacks);

/* The webhook of an account (acc_...), and that of one of its lines alone: with `account_id` NULL
 * one that a person made for messages. NULL: there is none. */
const struct store_webhook *graph_account_callback(const struct graph_callbacks *callbacks,
                                                   const char *account_id);
const struct store_webhook *graph_line_callback(const struct graph_callbacks *callbacks,
                                                const char *account_id,
                                                const char *phone_number_id);

/* Returns the answer of GET /:waba/subscribed_apps: the gateway as the application, with the URL of
 * the account's webhook, if `callback` is not NULL. */
struct slice graph_make_subscription(struct request *rq, const struct store_webhook *callback);

/* Returns the platform's answer about a phone or a WABA with the caller's callbacks in place of the
 * platform's, which are those of the gateway's own application: each member webhook_configuration
 * of a number becomes {application, whatsapp_business_account, phone_number}, of which each is left
 * out when it is not set, and each member subscribed_apps what GET /:waba/subscribed_apps answers.
 * If the parameter `fields` names webhook_configuration, a number without the member gets it. All
 * other bytes stay. p == NULL after failing the request. */
struct slice graph_show_callbacks(struct request *rq, const struct graph_node *node,
                                  struct slice answer);

#endif
