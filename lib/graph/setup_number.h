/* The rows about the numbers of the account and the lines of the gateway. Private to lib/graph. */
#ifndef SWITCHBOARD_GRAPH_SETUP_NUMBER_H
#define SWITCHBOARD_GRAPH_SETUP_NUMBER_H

#include "graph/setup_row.h"

/* Adds the rows of what the platform lists; `limited` makes the calls. */
void setup_check_numbers(struct setup *setup, const struct graph_asker *limited);

/* Adds the rows of when the last webhooks were stored. */
void setup_check_webhooks(struct setup *setup);

#endif
