/* A change of the key file, within a transaction that holds the lock of the keys: no other process
 * seals a value or changes keys meanwhile. */
#ifndef SWITCHBOARD_ADMIN_KEY_ROUND_H
#define SWITCHBOARD_ADMIN_KEY_ROUND_H

#include "base/keyring.h"
#include "command.h"

struct key_round {
    struct invocation *call;
    unsigned id;  /* of the command line; 0: none */
    bool reseals; /* seals every value again that another key than the newest has sealed */
    /* Changes the ring that was read, before values are sealed with it; false after printing why it
     * stops. NULL: no change. */
    bool (*prepare)(struct key_round *round);
    /* Called before `changed` new values are committed; writes the key file, or does not; false
     * after printing. */
    bool (*finish)(struct key_round *round, size_t changed);

    struct keyring ring;
    uint8_t newest;               /* the id that seals */
    uint8_t dropped[KEYRING_MAX]; /* ids */
    size_t dropped_count;
    bool is_written; /* the key file */
    bool has_failed; /* after the reason was printed */
};

/* Reads the key file. Returns EXIT_DONE, or EXIT_FAILED after printing the error. */
int key_ring_read(struct invocation *call, struct keyring *ring);

/* Runs the round. `*changed` is the number of values that were sealed again. Returns an exit code,
 * after printing a failure; then nothing was changed. Wipes the ring. */
int key_round_run(struct key_round *round, size_t *changed);

/* Writes the ring to the key file; false after printing. */
bool key_round_write(struct key_round *round);

/* The same, as `finish`. */
bool key_round_finish(struct key_round *round, size_t changed);

#endif
