#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>

#include "control/builtin.h"
#include "control/control_calls.h"
#include "options.h"
#include "server.h"
#include "state/settings.h"
#include "text/memory.h"
#include "webhooks/statuses.h"
#include "webhooks/webhook_job.h"
#include "webhooks/webhook_log.h"
#include "wire/timer.h"

/* Writes the port to a temporary file and renames it, so that a reader never sees an empty file. */
static bool write_port_file(const char *path, uint16_t port) {
    struct arena *arena = memory_open();
    const char *draft = arena_printf(arena, "%s.new", path);
    FILE *file = fopen(draft, "w");
    bool good =
        file && fprintf(file, "%u\n", port) > 0 && fclose(file) == 0 && rename(draft, path) == 0;
    if (!good)
        fprintf(stderr, "graph-sandbox: cannot write %s\n", path);
    memory_close(arena);
    return good;
}

/* Ends the threads: those that send webhooks, then those of the server, whose connections may wait
 * for the timer. */
static void stop(void) {
    posts_stop();
    statuses_stop();
    jobs_stop();
    timer_stop();
    server_stop();
}

static int run(const struct options *options, const sigset_t *ends) {
    int signal_taken;
    if (!timer_start() || !statuses_start()) {
        fputs("graph-sandbox: cannot start a thread\n", stderr);
        return 1;
    }
    uint16_t port = server_start(options->port);
    if (port == 0 || (options->port_file && !write_port_file(options->port_file, port)))
        return 1;
    printf("graph-sandbox: http://127.0.0.1:%u\n", port);
    fflush(stdout);
    sigwait(ends, &signal_taken);
    stop();
    return 0;
}

int main(int argc, char **argv) {
    struct options options;
    sigset_t ends;
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
    int result = builtin_load() ? run(&options, &ends) : 1;
    control_clear();
    settings_free();
    curl_global_cleanup();
    return result;
}
