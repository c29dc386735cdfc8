#include "key_hosts.h"

#include <stdlib.h>

#include "store/upkeep.h"

/* The first name in `names` of a key with this id; n 0: there is none. */
static struct slice find_id(struct slice names, unsigned id) {
    while (names.n) {
        struct slice name = slice_cut(&names, ' ');
        if (strtoul(name.p, NULL, 10) == id)
            return name;
    }
    return SLICE("");
}

/* The name of the key that seals. */
static const char *last_name(const char *names) {
    const char *space = strrchr(names, ' ');
    return space ? space + 1 : names;
}

bool key_host_is_other(const struct invocation *call, const struct store_heartbeat *host) {
    return strcmp(host->host, call->config.host) != 0;
}

long long key_host_silence(const struct invocation *call, const struct store_heartbeat *host) {
    return host->at < call->now ? (long long)(call->now - host->at) / 1000 : 0;
}

const char *key_host_problem(struct arena *arena, const struct store_heartbeat *host,
                             const struct keyring_key *key) {
    char name[KEYRING_NAME_SIZE];
    keyring_name(key, name);
    struct slice found = find_id(slice_of(host->keys), key->id);
    if (!*host->keys)
        return "cannot read its key file";
    if (!found.n)
        return arena_printf(arena, "does not have key %u", key->id);
    if (!slice_equal(found, slice_of(name)))
        return arena_printf(arena, "has another key with the id %u", key->id);
    return NULL;
}

static const char *problem_of_sealing(struct arena *arena, const struct store_heartbeat *host,
                                      const struct keyring_key *key) {
    char name[KEYRING_NAME_SIZE];
    keyring_name(key, name);
    const char *problem = key_host_problem(arena, host, key), *sealing = last_name(host->keys);
    if (problem || strcmp(sealing, name) == 0)
        return problem;
    return arena_printf(arena, "still seals with key %lu", strtoul(sealing, NULL, 10));
}

/* Checks all live hosts but this one, whose key file was read. */
static bool check_hosts(struct invocation *call, const struct keyring_key *key,
                        const char *(*problem_of)(struct arena *, const struct store_heartbeat *,
                                                  const struct keyring_key *)) {
    struct store_heartbeat *hosts;
    size_t count;
    enum store_result result = store_list_heartbeats(call->store, &call->arena, &hosts, &count);
    if (result != STORE_OK)
        return fail_store(call, result) == EXIT_DONE;
    for (size_t i = 0; i < count; i++) {
        const long long silence = key_host_silence(call, &hosts[i]);
        const char *problem = problem_of(&call->arena, &hosts[i], key);
        if (!key_host_is_other(call, &hosts[i]) || !problem)
            continue;
        if (silence <= HEARTBEAT_SILENT_S) {
            fail("host %s %s, by its courier %lld s ago: copy %s of this host to it, and run the "
                 "command again; nothing was changed",
                 hosts[i].host, problem, silence, call->config.secret_key_file);
            return false;
        }
        warn("host %s %s; its courier is silent for %lld s: copy %s of this host to it before it "
             "is used again",
             hosts[i].host, problem, silence, call->config.secret_key_file);
    }
    return true;
}

bool key_hosts_have(struct invocation *call, const struct keyring_key *key) {
    return check_hosts(call, key, key_host_problem);
}

bool key_hosts_seal(struct invocation *call, const struct keyring_key *key) {
    return check_hosts(call, key, problem_of_sealing);
}

const char *key_hosts_seen(struct invocation *call, struct json_writer *json) {
    struct store_heartbeat *hosts;
    size_t count;
    struct buffer names = buffer_in(&call->arena);
    if (store_list_heartbeats(call->store, &call->arena, &hosts, &count) != STORE_OK)
        count = 0;
    json_write_array(json, "hosts");
    for (size_t i = 0; i < count; i++)
        if (key_host_silence(call, &hosts[i]) <= HEARTBEAT_SILENT_S) {
            json_write_text(json, NULL, hosts[i].host);
            buffer_printf(&names, "%s%s", names.n ? ", " : "", hosts[i].host);
        }
    json_write_end(json);
    return arena_printf(&call->arena,
                        "Hosts seen by their couriers: %.*s; a host without a courier is not seen, "
                        "so compare the list with your hosts",
                        names.n ? (int)names.n : 4, names.n ? names.p : "none");
}
