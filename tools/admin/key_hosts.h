/* The keys of the other hosts on the database, by the heartbeats of their couriers. A host without
 * a courier is not seen. */
#ifndef SWITCHBOARD_ADMIN_KEY_HOSTS_H
#define SWITCHBOARD_ADMIN_KEY_HOSTS_H

#include "base/keyring.h"
#include "command.h"
#include "output.h"
#include "store/heartbeat.h"

/* Whether every live host has the key; false after printing which one does not. Warns of hosts that
 * are silent. */
bool key_hosts_have(struct invocation *call, const struct keyring_key *key);

/* Whether every live host seals with the key; false after printing which one does not. */
bool key_hosts_seal(struct invocation *call, const struct keyring_key *key);

/* Writes the array `hosts` of the live hosts that the checks above have seen, this one included,
 * and returns the line about them for the operator. Fails to an empty list. */
const char *key_hosts_seen(struct invocation *call, struct json_writer *json);

/* Whether the heartbeat is of another host than this one. */
bool key_host_is_other(const struct invocation *call, const struct store_heartbeat *host);

/* The seconds since the heartbeat. */
long long key_host_silence(const struct invocation *call, const struct store_heartbeat *host);

/* Returns what the operator must correct on a host, to follow "host NAME", so that it can open what
 * the key has sealed; NULL: nothing. In `arena`. */
const char *key_host_problem(struct arena *arena, const struct store_heartbeat *host,
                             const struct keyring_key *key);

#endif
