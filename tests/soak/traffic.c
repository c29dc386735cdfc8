/* traffic: all clients of the gateway in the soak, and the platform.
 *
 *     traffic SECONDS SEED
 *
 * Runs the clients and the platform for SECONDS, then until everything is settled, at most
 * SETTLE_S. Writes the port for statuses of the sandbox to $SOAK_DIR/platform.port, begins when
 * $SOAK_DIR/begin exists, and writes the history.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clients.h"
#include "configurator.h"
#include "exchange.h"
#include "platform.h"
#include "world.h"

enum { SETTLE_S = 90 };

static void write_port(int port) {
    char path[4096], temporary[4096 + 8];
    snprintf(path, sizeof path, "%s/platform.port", world.dir);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (!file || fprintf(file, "%d\n", port) < 0 || fclose(file) != 0 ||
        rename(temporary, path) != 0)
        give_up(path);
}

/* The sandbox must have the port for statuses before the first send. */
static void wait_for_begin(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/begin", world.dir);
    while (access(path, F_OK) != 0)
        sleep_ms(20);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: traffic SECONDS SEED\n", stderr);
        return 2;
    }
    world_read(strtoull(argv[2], NULL, 10));
    exchange_start(getenv("SOAK_BASE"), world.dir);
    write_port(platform_listen());
    wait_for_begin();
    world_begin(strtol(argv[1], NULL, 10));
    platform_start();
    configurator_start();
    clients_start();
    clients_join();
    configurator_join();
    platform_finish(SETTLE_S * 1000);
    return 0;
}
