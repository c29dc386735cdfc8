/* The receivers of a world: each gets the events of the gateway's user. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "world.h"

enum { EVENTS = 8192 };

enum behaviour { ANSWERS, IS_SLOW, HANGS, REFUSES, FAILS, LOSES_ANSWERS, BEHAVIOURS };

static struct receiver {
    enum behaviour behaviour;
    int64_t until;
    struct received {
        char id[40];
        unsigned char body[CRYPTO_HASH_SIZE];
        int64_t at; /* ms of the host's clock: when it first arrived */
    } received[EVENTS];
    size_t count;
} receivers[RECEIVERS];

void receivers_begin(void) {
    for (size_t i = 0; i < RECEIVERS; i++) {
        receivers[i].count = 0;
        receivers[i].until = 0;
    }
}

void receivers_disturb(const struct act *act) {
    uint64_t random = act->random;
    struct receiver *receiver = &receivers[random_below(&random, RECEIVERS)];
    receiver->behaviour = (enum behaviour)random_below(&random, BEHAVIOURS);
    receiver->until =
        world_now() +
        (1 + random_below(&random, random_chance(&random, 30) ? 20000 : 300)) * SECOND;
    world_note("receiver %zu behaves as %d", (size_t)(receiver - receivers),
               (int)receiver->behaviour);
}

static const char *header(const struct call *call, const char *name) {
    const char *found = strstr(call->headers, name);
    if (!found)
        return "";
    found += strlen(name) + 2;
    return world_print("%.*s", (int)strcspn(found, "\r"), found);
}

/* An event has one id, and one id has one body. */
static void record(struct receiver *receiver, const struct call *call) {
    const char *id = header(call, "webhook-id");
    unsigned char hash[CRYPTO_HASH_SIZE];
    crypto_sha256((struct slice){call->body, call->body_size}, hash);
    for (size_t i = 0; i < receiver->count; i++) {
        struct received *known = &receiver->received[i];
        if (strcmp(known->id, id) != 0)
            continue;
        if (memcmp(known->body, hash, sizeof hash) != 0)
            world_violate("event %s was delivered with two bodies", id);
        return;
    }
    struct received *new = &receiver->received[receiver->count++];
    if (receiver->count == EVENTS)
        world_violate("the world is too large for the simulator's receivers");
    snprintf(new->id, sizeof new->id, "%s", id);
    memcpy(new->body, hash, sizeof hash);
    new->at = world_shared->clock + world_now() / 1000;
}

/* A receiver of the crowd hangs: for longer than an attempt may take. */
static void receive_crowd(struct call *call, int64_t *wait) {
    call->is_connected = true;
    call->status = 200;
    *wait = world_now() < world.quiet_at ? 17 * SECOND : SECOND / 10;
    snprintf(call->answer_headers, sizeof call->answer_headers, "HTTP/1.1 200\r\n\r\n");
}

void receivers_receive(struct call *call, uint64_t *random, int64_t *wait) {
    if (strstr(call->url, "//crowd")) {
        receive_crowd(call, wait);
        return;
    }
    const size_t number = (size_t)(strstr(call->url, "receiver")[8] - '0');
    struct receiver *receiver = &receivers[number];
    const enum behaviour now = world_now() < receiver->until && world_now() < world.quiet_at
                                   ? receiver->behaviour
                                   : ANSWERS;
    world.deliveries++;
    *wait = (5 + random_below(random, 200)) * (SECOND / 1000);
    call->is_connected = now != REFUSES;
    call->status = now == FAILS ? 503 : 200;
    snprintf(call->answer_headers, sizeof call->answer_headers, "HTTP/1.1 %d\r\n\r\n",
             call->status);
    if (now == REFUSES)
        call->code = CURLE_COULDNT_CONNECT;
    else if (now != FAILS)
        record(receiver, call);
    if (world.is_calm && number == 0) /* always slow, which the courier remembers */
        *wait = 1300 * (SECOND / 1000);
    if (now == IS_SLOW)
        *wait = (1 + random_below(random, 9)) * SECOND;
    if (now == HANGS)
        *wait = 200 * SECOND;
    if (now == LOSES_ANSWERS)
        call->code = CURLE_RECV_ERROR;
}

int64_t receivers_arrival(size_t number, const char *id) {
    const struct receiver *receiver = &receivers[number];
    for (size_t i = 0; i < receiver->count; i++)
        if (strcmp(receiver->received[i].id, id) == 0)
            return receiver->received[i].at;
    return -1;
}
