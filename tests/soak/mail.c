#include "mail.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "exchange.h"
#include "world.h"

enum {
    FIRST_WAIT_MS = 100, /* before the second attempt; doubled MOST_DOUBLINGS times */
    MOST_DOUBLINGS = 4,
    AGAIN_MS = 1200, /* delay of a duplicate, at most */
};

struct payload {
    struct payload *next;
    int64_t due;
    unsigned host; /* of the next attempt */
    int tries;
    char *body;
    size_t size;
    char *lines; /* for inbound.tsv; NULL: written already, or by another payload */
};

static struct {
    pthread_mutex_t lock;
    struct payload *first;
    int count; /* includes payloads that are being sent */
    atomic_bool is_over;
} mail = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int taken;
static pthread_t threads[SENDERS_MAX];

static void put(struct payload *payload, int64_t due) {
    pthread_mutex_lock(&mail.lock);
    payload->due = due;
    payload->next = mail.first;
    mail.first = payload;
    pthread_mutex_unlock(&mail.lock);
}

/* Removes a payload that is due; NULL when there is none. */
static struct payload *take(void) {
    int64_t now = history_now();
    pthread_mutex_lock(&mail.lock);
    struct payload **link = &mail.first;
    while (*link && (*link)->due > now)
        link = &(*link)->next;
    struct payload *found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&mail.lock);
    return found;
}

static void change_count(int change) {
    pthread_mutex_lock(&mail.lock);
    mail.count += change;
    pthread_mutex_unlock(&mail.lock);
}

int mail_count(void) {
    pthread_mutex_lock(&mail.lock);
    int count = mail.count;
    pthread_mutex_unlock(&mail.lock);
    return count;
}

static char *copy(struct slice bytes) {
    char *text = bytes.p ? malloc(bytes.n + 1) : NULL;
    if (bytes.p && !text)
        give_up("memory");
    if (text) {
        memcpy(text, bytes.p, bytes.n);
        text[bytes.n] = '\0';
    }
    return text;
}

static void free_payload(struct payload *payload) {
    free(payload->body);
    free(payload->lines);
    free(payload);
}

void mail_add(struct slice body, struct slice lines, unsigned host, int64_t due) {
    struct payload *payload = calloc(1, sizeof *payload);
    if (!payload)
        give_up("memory");
    payload->body = copy(body);
    payload->size = body.n;
    payload->host = host;
    payload->lines = copy(lines);
    change_count(1);
    put(payload, due);
}

static bool post(struct arena *arena, const char *who, const struct payload *payload) {
    unsigned char mac[CRYPTO_HASH_SIZE];
    struct slice body = {payload->body, payload->size};
    crypto_hmac_sha256(slice_of(world.app_secret), body, mac);
    struct exchange exchange = {
        .who = who,
        .host = payload->host,
        .what = "inbound",
        .method = "POST",
        .path = "/platform/webhook",
        .signature = arena_printf(arena, "sha256=%s", crypto_hex(arena, mac, sizeof mac)),
        .body = body,
    };
    exchange_make(arena, &exchange);
    return exchange.status == 200;
}

/* Sends one payload; puts it back for a retry, or for a duplicate. */
static void deliver(struct arena *arena, struct dice *dice, const char *who,
                    struct payload *payload) {
    if (!post(arena, who, payload)) {
        int doublings = payload->tries < MOST_DOUBLINGS ? payload->tries : MOST_DOUBLINGS;
        payload->tries++;
        payload->host++;
        put(payload, history_now() + (FIRST_WAIT_MS << doublings) + throw_dice(dice, 200));
        return;
    }
    bool is_first = payload->lines != NULL;
    if (is_first)
        history_line(taken, "%s", payload->lines);
    free(payload->lines);
    payload->lines = NULL;
    if (is_first && throw_dice(dice, 8) == 0) { /* a duplicate, as the platform sometimes sends */
        put(payload, history_now() + throw_dice(dice, AGAIN_MS));
        return;
    }
    free_payload(payload);
    change_count(-1);
}

static void *run_sender(void *context) {
    int number = (int)(long)context;
    struct dice dice = dice_of(world.seed, 200 + (uint64_t)number);
    struct arena arena;
    char who[16];
    snprintf(who, sizeof who, "platform%d", number);
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    while (!mail.is_over) {
        struct payload *payload = take();
        arena_reset(&arena);
        if (payload)
            deliver(&arena, &dice, who, payload);
        else
            sleep_ms(5);
    }
    arena_free(&arena);
    return NULL;
}

void mail_start(void) {
    taken = history_open(world.dir, "inbound");
    for (long i = 0; i < world.senders; i++)
        if (pthread_create(&threads[i], NULL, run_sender, (void *)i) != 0)
            give_up("thread");
}

void mail_end(void) {
    int unacked = history_open(world.dir, "unacked");
    mail.is_over = true;
    for (int i = 0; i < world.senders; i++)
        pthread_join(threads[i], NULL);
    for (struct payload *payload; (payload = mail.first);) {
        mail.first = payload->next;
        if (payload->lines)
            history_line(unacked, "%s", payload->lines);
        free_payload(payload);
    }
}
