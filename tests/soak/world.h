/* The participants of the soak: lines of two users, and people who send and receive messages. */
#ifndef SOAK_WORLD_H
#define SOAK_WORLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "history.h"

enum { CLIENTS_MAX = 32, SENDERS_MAX = 32, LINES = 3, PEOPLE = 240, NAME_SIZE = 64 };

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
    _Atomic int64_t end;      /* when clients stop, ms since 1970 */
    int clients, senders;     /* threads of each, at most CLIENTS_MAX and SENDERS_MAX */
    bool is_keyed;            /* every send has an Idempotency-Key */
    bool has_twins;           /* every payload of messages is sent to two hosts at the same time */
    unsigned payload_pace_ms; /* between payloads of messages, at most */
    int least_sends, least_messages;  /* once they are reached, fewer are made */
    atomic_int keyed_sends, messages; /* so far */
    struct line lines[LINES];
};

extern struct world world;

/* Reads the world from the environment. tests/soak/run sets all variables but these: SOAK_KEYED and
 * SOAK_TWINS (1), SOAK_CLIENTS, SOAK_SENDERS, SOAK_PAYLOAD_PACE_MS, and SOAK_SENDS and
 * SOAK_MESSAGES, the least numbers. */
void world_read(uint64_t seed);

/* Sets world.end, which comes earlier when the file `enough` exists in the directory and the least
 * numbers of sends with a key and of messages are reached. */
void world_begin(int64_t seconds);

/* Whether a wanted number is reached; 0: none is wanted. */
bool world_is_calm(int count, int least);

/* Returns the number at the end of a webhook's URL, -1: it has none, or is NULL. */
int64_t world_number_of(const char *url);

/* The identities of a person, whose line is PERSON % LINES. Phones never change, BSUIDs do. */
void person_phone(int person, char phone[NAME_SIZE]);
void person_bsuid(int person, char bsuid[NAME_SIZE]);

/* Gives the person a new BSUID; sets the old and the new one. */
void person_change(int person, char before[NAME_SIZE], char after[NAME_SIZE]);

#endif
