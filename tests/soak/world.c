#include "world.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLIENTS = 6, SENDERS = 4, PAYLOAD_PACE_MS = 120, MANY = 1000000 };

struct world world;

static struct {
    pthread_mutex_t lock;
    int changes[PEOPLE];
} people = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *variable(const char *name) {
    const char *value = getenv(name);
    if (!value || !*value) {
        errno = EINVAL;
        give_up(name);
    }
    return value;
}

static int number(const char *key, int otherwise, int most) {
    const char *value = getenv(key);
    char *end = NULL;
    long given = value && *value ? strtol(value, &end, 10) : otherwise;
    if (given < 0 || given > most || (end && *end)) {
        errno = EINVAL;
        give_up(key);
    }
    return (int)given;
}

void world_read(uint64_t seed) {
    world = (struct world){
        .dir = variable("SOAK_DIR"),
        .app_secret = variable("SOAK_APP_SECRET"),
        .receiver_url = variable("SOAK_RECEIVER"),
        .seed = seed,
        .clients = number("SOAK_CLIENTS", CLIENTS, CLIENTS_MAX),
        .senders = number("SOAK_SENDERS", SENDERS, SENDERS_MAX),
        .is_keyed = number("SOAK_KEYED", 0, 1),
        .has_twins = number("SOAK_TWINS", 0, 1),
        .payload_pace_ms = (unsigned)number("SOAK_PAYLOAD_PACE_MS", PAYLOAD_PACE_MS, MANY),
        .least_sends = number("SOAK_SENDS", 0, MANY),
        .least_messages = number("SOAK_MESSAGES", 0, MANY),
        .lines = {{.user = "A",
                   .token = variable("SOAK_TOKEN_A"),
                   .waba_id = variable("SOAK_WABA_1"),
                   .phone_number_id = variable("SOAK_LINE_1"),
                   .template_before =
                       "\"templateName\":\"order_shipped\",\"components\":[{\"type\":\"body\","
                       "\"parameters\":[{\"type\":\"text\",\"text\":\"",
                   .template_after =
                       "\"},{\"type\":\"text\","
                       "\"text\":\"A-17\"}]},{\"type\":\"button\",\"sub_type\":\"url\",\"index\":"
                       "\"0\",\"parameters\":[{\"type\":\"text\",\"text\":\"A-17\"}]}]"},
                  {.user = "A",
                   .token = variable("SOAK_TOKEN_A"),
                   .waba_id = variable("SOAK_WABA_2"),
                   .phone_number_id = variable("SOAK_LINE_2"),
                   .template_before =
                       "\"templateName\":\"bike_ready\",\"components\":[{\"type\":\"body\","
                       "\"parameters\":[{\"type\":\"text\",\"text\":\"",
                   .template_after = "\"}]}]"},
                  {.user = "B",
                   .token = variable("SOAK_TOKEN_B"),
                   .waba_id = variable("SOAK_WABA_3"),
                   .phone_number_id = variable("SOAK_LINE_3")}},
    };
}

bool world_is_calm(int count, int least) {
    return least && count >= least;
}

static void *watch_for_end(void *context) {
    char path[4096];
    (void)context;
    snprintf(path, sizeof path, "%s/enough", world.dir);
    while (access(path, F_OK) != 0 || world.keyed_sends < world.least_sends ||
           world.messages < world.least_messages)
        sleep_ms(50);
    if (history_now() < world.end)
        world.end = history_now();
    return NULL;
}

void world_begin(int64_t seconds) {
    pthread_t thread;
    world.end = history_now() + seconds * 1000;
    if (pthread_create(&thread, NULL, watch_for_end, NULL) != 0)
        give_up("thread");
    pthread_detach(thread);
}

void person_phone(int person, char phone[NAME_SIZE]) {
    snprintf(phone, NAME_SIZE, "1650555%04d", person);
}

static void name(int person, int change, char bsuid[NAME_SIZE]) {
    snprintf(bsuid, NAME_SIZE, "US.7%05d%05d", person, change);
}

void person_bsuid(int person, char bsuid[NAME_SIZE]) {
    pthread_mutex_lock(&people.lock);
    name(person, people.changes[person], bsuid);
    pthread_mutex_unlock(&people.lock);
}

void person_change(int person, char before[NAME_SIZE], char after[NAME_SIZE]) {
    pthread_mutex_lock(&people.lock);
    name(person, people.changes[person]++, before);
    name(person, people.changes[person], after);
    pthread_mutex_unlock(&people.lock);
}

int64_t world_number_of(const char *url) {
    const char *slash = url ? strrchr(url, '/') : NULL;
    return slash && slash[1] >= '0' && slash[1] <= '9' ? strtoll(slash + 1, NULL, 10) : -1;
}
