/* Who there is in the soak: lines of two users, and people who write to them and are written to. */
#ifndef SOAK_WORLD_H
#define SOAK_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "history.h"

enum { LINES = 3, PEOPLE = 240, NAME_SIZE = 64 };

/* A line and its owner. User A has two accounts with a line each and always a webhook; user B has
 * one, and sets and unsets its webhook. */
struct line {
    const char *user;  /* "A" or "B" */
    const char *token; /* of the API */
    const char *waba_id, *phone_number_id;
    const char
        *template_before; /* a template of the account, up to a parameter; NULL: it has none */
    const char *template_after; /* and from there on */
};

struct world {
    const char *dir, *app_secret, *receiver_url;
    uint64_t seed;
    int64_t end; /* when clients stop, ms since 1970 */
    struct line lines[LINES];
};

extern struct world world;

/* From the environment that tests/soak/run makes. */
void world_read(uint64_t seed);

/* The time begins. */
void world_begin(int64_t seconds);

/* The person's line is PERSON % LINES; phones never change, BSUIDs do. */
void person_phone(int person, char phone[NAME_SIZE]);
void person_bsuid(int person, char bsuid[NAME_SIZE]);

/* Gives the person a new BSUID. */
void person_change(int person, char before[NAME_SIZE], char after[NAME_SIZE]);

#endif
