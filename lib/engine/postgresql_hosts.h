/* Internal to the PostgreSQL driver: the hosts that a URL names. */
#ifndef SWITCHBOARD_ENGINE_POSTGRESQL_HOSTS_H
#define SWITCHBOARD_ENGINE_POSTGRESQL_HOSTS_H

#include <libpq-fe.h>
#include <stdbool.h>

/* Lists of a URL as libpq takes them, "A,B". "": the URL has none. */
struct hosts {
    char names[1024], addresses[1024], ports[256];
};

/* Reads the hosts of parsed options; false: a list is too long. */
bool hosts_read(struct hosts *hosts, const PQconninfoOption *options);

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

#endif
