/* The table of the control calls, which the real platform does not have. */
#ifndef SANDBOX_CONTROL_CALLS_H
#define SANDBOX_CONTROL_CALLS_H

#include "wire/exchange.h"

/* The lock of the state that is held during a call. */
enum control_lock { LOCK_NONE, LOCK_READ, LOCK_WRITE };

struct control_call {
    const char *method;
    const char *path; /* below /_sandbox/; `*` is any segment */
    enum control_lock lock;
    void (*answer)(struct exchange *exchange);
    const char *help; /* for --help */
};

/* Every call, ended by a NULL method. */
extern const struct control_call control_calls[];

/* Deletes state, records, faults and the list of webhooks. Takes the lock of the state. */
void control_clear(void);

#endif
