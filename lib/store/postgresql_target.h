/* Internal to the PostgreSQL driver: the URL of a database. */
#ifndef SWITCHBOARD_STORE_POSTGRESQL_TARGET_H
#define SWITCHBOARD_STORE_POSTGRESQL_TARGET_H

#include <libpq-fe.h>
#include <stdbool.h>

/* Removes the parameter pooler=transaction, which libpq does not have; true if it was there. */
bool postgresql_take_pooler(char *url);

/* Whether libpq reads the URL, and none of its messages can quote a password. */
bool postgresql_is_valid(const char *url);

/* Connects to a primary, or for writing to a server that accepts writes. The URL is valid and has
 * no pooler=transaction. NULL without memory. */
PGconn *postgresql_connect_to(const char *url, bool for_reading);

/* Writes the hosts and ports that the connection's URL names, as "HOST:PORT, HOST:PORT". */
void postgresql_list_hosts(PGconn *db, char *text, size_t size);

#endif
