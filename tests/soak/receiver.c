/* receiver: the customers' webhook receiver in the soak.
 *
 *     receiver DIR
 *
 * Writes its port to DIR/receiver.port when it listens. Every delivery is a line of
 * DIR/delivery.tsv: time (ms), path, webhook-id, webhook-timestamp, webhook-signature,
 * X-Hub-Signature-256, the status answered, and the body in hexadecimal. The line is on the disk
 * before a 200 is sent. DIR/receiver.mode selects the answer: `status N`, `hang MS` (200 after that
 * time), `reset`; without the file 200.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"
#include "listener.h"

static const char *dir;
static int deliveries;

/* The status to answer, 0 for a reset. Blocks in mode `hang`. */
static int choose_answer(void) {
    char path[4096], mode[32] = "";
    long number = 0;
    snprintf(path, sizeof path, "%s/receiver.mode", dir);
    FILE *file = fopen(path, "r");
    int got = file ? fscanf(file, "%31s %ld", mode, &number) : 0;
    if (file)
        fclose(file);
    if (got >= 1 && strcmp(mode, "reset") == 0)
        return 0;
    if (got == 2 && strcmp(mode, "status") == 0)
        return (int)number;
    if (got == 2 && strcmp(mode, "hang") == 0)
        sleep_ms(number);
    return 200;
}

static int take(const struct incoming *request) {
    char id[128], time[64], signature[1024], hub[128];
    int status = choose_answer();
    incoming_header(request, "webhook-id", id, sizeof id);
    incoming_header(request, "webhook-timestamp", time, sizeof time);
    incoming_header(request, "webhook-signature", signature, sizeof signature);
    incoming_header(request, "X-Hub-Signature-256", hub, sizeof hub);
    char *body = history_hex(request->body);
    history_durable_line(deliveries, "%lld\t%s\t%s\t%s\t%s\t%s\t%d\t%s", (long long)history_now(),
                         request->path, id, time, signature, hub, status, body);
    free(body);
    return status;
}

int main(int argc, char **argv) {
    char path[4096], temporary[4096 + 8];
    if (argc != 2) {
        fputs("usage: receiver DIR\n", stderr);
        return 2;
    }
    dir = argv[1];
    deliveries = history_open(dir, "delivery");
    int port = listener_start(take);
    snprintf(path, sizeof path, "%s/receiver.port", dir);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (!file || fprintf(file, "%d\n", port) < 0 || fclose(file) != 0 ||
        rename(temporary, path) != 0)
        give_up(path);
    for (;;)
        pause();
}
