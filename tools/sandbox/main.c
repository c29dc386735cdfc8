/* graph-sandbox: a simulator of the WhatsApp Cloud API on loopback, for demonstrations and tests.
 * The simulated platform answers on /v26.0/.... The control calls (recorded requests, faults,
 * state, webhooks) are on /_sandbox/...: see --help, or the table in control.c. */
#include "builtin.h"
#include "control.h"
#include "options.h"
#include "server.h"
#include "timer.h"
#include "webhooks.h"

#include <curl/curl.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes the port to a temporary file and renames it, so that a reader never sees an empty file. */
static int write_port_file(const char *path, uint16_t port) {
    char *draft = memory_format("%s.new", path);
    FILE *file = fopen(draft, "w");
    int result = -1;

    if (file != NULL && fprintf(file, "%u\n", port) > 0 && fclose(file) == 0 &&
        rename(draft, path) == 0) {
        result = 0;
    } else {
        fprintf(stderr, "graph-sandbox: cannot write %s\n", path);
    }
    free(draft);
    return result;
}

static int run(const struct options *options, const sigset_t *ends) {
    uint16_t port;
    int signal_taken;

    if (timer_start() != 0 || webhook_start() != 0) {
        fputs("graph-sandbox: cannot start a thread\n", stderr);
        return 1;
    }
    port = server_start(options->port);
    if (port == 0) {
        return 1;
    }
    if (options->port_file != NULL && write_port_file(options->port_file, port) != 0) {
        return 1;
    }
    printf("graph-sandbox: http://127.0.0.1:%u\n", port);
    fflush(stdout);
    sigwait(ends, &signal_taken);
    webhook_stop();
    timer_stop();
    server_stop();
    return 0;
}

int main(int argc, char **argv) {
    struct options options;
    sigset_t ends;
    int result;

    if (sodium_init() < 0 || curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
        fputs("graph-sandbox: cannot initialise its libraries\n", stderr);
        return 1;
    }
    options_read(&options, argc, argv);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    result = builtin_load() == 0 ? run(&options, &ends) : 1;
    control_clear();
    curl_global_cleanup();
    return result;
}
