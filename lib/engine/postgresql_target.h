/* Internal to the PostgreSQL driver: the URL of a database, and the hosts that it names. */
#ifndef SWITCHBOARD_ENGINE_POSTGRESQL_TARGET_H
#define SWITCHBOARD_ENGINE_POSTGRESQL_TARGET_H

#include <libpq-fe.h>
#include <stdbool.h>

/* Lists of a URL as libpq takes them, "A,B". "": the URL has none. */
struct hosts {
    char names[1024], addresses[1024], ports[256];
};

/* Reads the hosts of a valid URL; false: there are too many. */
bool hosts_read(struct hosts *hosts, const char *url);

/* Removes the host to which `db` is connected. False, with the lists unchanged, when there is no
 * other one. */
bool hosts_remove(struct hosts *hosts, const PGconn *db);

/* Whether there are several. */
bool hosts_are_several(const struct hosts *hosts);

/* Whether one of them is neither a Unix socket nor this machine by its loopback address. A name
 * counts, not the address beside it. */
bool hosts_are_remote(const struct hosts *hosts);

/* Writes hosts and ports as "HOST:PORT, HOST:PORT". */
void hosts_write(const struct hosts *hosts, char *text, size_t size);

/* Removes the parameter pooler=transaction, which libpq does not have; true if it was there. */
bool postgresql_take_pooler(char *url);

/* Whether libpq reads the URL, and none of its messages can quote a password. */
bool postgresql_is_valid(const char *url);

/* Connects to a primary, or for writing to a server that accepts writes, among `hosts`, which
 * replace those of the URL. The URL is valid and has no pooler=transaction. User and password are
 * those of the last connection, if it was made with the same URL. NULL without memory. */
PGconn *postgresql_connect_to(const char *url, const struct hosts *hosts, bool for_reading);

#endif
