/* Internal to the PostgreSQL driver: the URL of a database. */
#ifndef SWITCHBOARD_ENGINE_POSTGRESQL_TARGET_H
#define SWITCHBOARD_ENGINE_POSTGRESQL_TARGET_H

#include "engine/postgresql_hosts.h"

/* Removes the parameter pooler=transaction, which libpq does not have; true if it was there. */
bool postgresql_take_pooler(char *url);

/* Whether libpq reads the URL, and none of its messages can quote a password. */
bool postgresql_is_valid(const char *url);

/* Reads the hosts of a valid URL; false: there are too many. */
bool postgresql_read_hosts(const char *url, struct hosts *hosts);

/* Connects to a primary, or for writing to a server that accepts writes, among `hosts`, which
 * replace those of the URL. The URL is valid and has no pooler=transaction. User and password are
 * those of the last connection, if it was made with the same URL. NULL without memory. */
PGconn *postgresql_connect_to(const char *url, const struct hosts *hosts, bool for_reading);

#endif
