/* The participants of the soak: lines of two users, and people who send and receive messages. */
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
    const char *token; /* API token */
    const char *waba_id, *phone_number_id;
    const char
        *template_before; /* members of a template send before a parameter; NULL: no template */
    const char *template_after; /* after the parameter */
};

struct world {
    const char *dir, *app_secret, *receiver_url;
    uint64_t seed;
    int64_t end; /* when clients stop, ms since 1970 */
    struct line lines[LINES];
};

extern struct world world;

/* Reads the world from the environment that tests/soak/run sets. */
void world_read(uint64_t seed);

/* Sets world.end. */
void world_begin(int64_t seconds);

/* The identities of a person, whose line is PERSON % LINES. Phones never change, BSUIDs do. */
void person_phone(int person, char phone[NAME_SIZE]);
void person_bsuid(int person, char bsuid[NAME_SIZE]);

/* Gives the person a new BSUID; sets the old and the new one. */
void person_change(int person, char before[NAME_SIZE], char after[NAME_SIZE]);

#endif
