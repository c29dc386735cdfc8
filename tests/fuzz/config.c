/* Configuration and key files are read, or refused with a line number. */
#include <stdio.h>
#include <unistd.h>

#include "base/config.h"
#include "base/keyring.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[64];
    struct arena arena;
    struct config config;
    struct keyring keys;
    const char *error = NULL;
    if (!path[0])
        snprintf(path, sizeof path, "/dev/shm/switchboard-fuzz-%ld.conf", (long)getpid());
    FILE *file = fopen(path, "w");
    MUST(file && fwrite(data, 1, size, file) == size);
    fclose(file);
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    if (config_read(path, &arena, &config, &error) == 0)
        for (const struct config_key *key = config_keys; key->name; key++)
            MUST(config_value(&config, key));
    else
        MUST(error && *error);
    MUST(keyring_read(path, &arena, &keys, &error) != 0 || keys.count > 0);
    arena_free(&arena);
    unlink(path);
    return 0;
}
