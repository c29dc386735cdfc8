/* The table of the control calls, which the real platform does not have. --help, the manual page
 * and doc/sandbox.md print it. */
#ifndef SANDBOX_CONTROL_CALLS_H
#define SANDBOX_CONTROL_CALLS_H

#include "wire/exchange.h"

/* The lock of the state that is held during a call. */
enum control_lock { LOCK_NONE, LOCK_READ, LOCK_WRITE };

/* A member of a call's body, or a parameter of its query. */
struct control_member {
    const char *name;
    const char *meaning;
};

struct control_call {
    const char *method;
    const char *path; /* below /_sandbox/; `*` is any segment */
    enum control_lock lock;
    /* One of three: answers the exchange; appends the answer; makes a change that cannot fail. */
    void (*answer)(struct exchange *exchange);
    void (*print)(struct buffer *out);
    void (*change)(void);
    const char *meaning;
    const struct control_member *members; /* ended by a NULL name; NULL: none */
};

/* Every call, ended by a NULL method. */
extern const struct control_call control_calls[];

/* Answers {error} with that status. */
void control_refuse(struct exchange *exchange, int status, const char *problem);

/* Answers {done:true}, or 400 with the text `problem` unless it is NULL. */
void control_done(struct exchange *exchange, const char *problem);

/* Deletes state, records, faults and the list of webhooks. Takes the lock of the state. */
void control_clear(void);

#endif
