#include "world.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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

void world_read(uint64_t seed) {
    world = (struct world){
        .dir = variable("SOAK_DIR"),
        .app_secret = variable("SOAK_APP_SECRET"),
        .receiver_url = variable("SOAK_RECEIVER"),
        .seed = seed,
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

void world_begin(int64_t seconds) {
    world.end = history_now() + seconds * 1000;
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
