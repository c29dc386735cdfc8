/* A simulated world: the gateway's own programs, the platform, clients, people and receivers, in
 * virtual time. A seed decides everything. What happens from outside is a list of acts, which is
 * made from the seed before the world begins, so that a part of the list can be left out.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "process.h"
#include "random.h"

#define SECOND INT64_C(1000000) /* us, the unit of the world's time */
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

enum { ACTS = 400, RECEIVERS = 4 };
enum { CROWD = 320 }; /* receivers of another user, which hang: more than half of all slots */

enum act_kind {
    ACT_SEND,     /* a client sends a text to a person, and repeats it until it has an answer */
    ACT_WRITE,    /* a person writes */
    ACT_FAIL,     /* a receiver behaves otherwise for a time */
    ACT_OUTAGE,   /* the platform behaves otherwise for a time */
    ACT_POWER,    /* the host's power fails */
    ACT_FULL,     /* the host's disk is full for a time */
    ACT_CLOCK,    /* the host's clock is set */
    ACT_COURIER,  /* a courier runs for a time, beside those that cron starts */
    ACT_MOVE,     /* a number changes its owner, or a person the user id */
    ACT_KEYS,     /* the operator makes a new key */
    ACT_TOKEN,    /* the operator makes a new token, which ends the old one */
    ACT_CROWD,    /* an event of the user whose receivers all hang */
    ACT_ERASE,    /* the operator erases a person, in place of a move */
    ACT_CAMPAIGN, /* the operator makes a campaign and an opt-out, in place of a send */
    ACT_KINDS
};

/* Something that happens. `random` is the beginning of its own stream of random numbers. */
struct act {
    int64_t at;
    enum act_kind kind;
    uint64_t random;
    bool is_left_out;
};

struct event {
    int64_t at;
    uint64_t number; /* events of one time happen in the order in which they were added */
    void (*happen)(struct event *event);
    void *subject;
    int64_t value;
};

struct world {
    uint64_t seed;
    struct act acts[ACTS];
    size_t act_count;
    struct arena arena; /* as long as the world */
    const char *directory;
    const char *violation; /* the first rule that was broken, and how; NULL: none */
    int verbose;
    bool is_calm;       /* nothing fails but the crowd's receivers: events arrive in time */
    bool queues;        /* most sends are queued */
    bool erases;        /* people are erased, none moves, and most webhooks are repeated late */
    bool retains;       /* messages are kept for RETENTION_LEAST_DAYS, and days pass without acts */
    int64_t full_until; /* the disk is full until then */
    int64_t quiet_at;   /* after the last act: from then on nothing fails any more */
    size_t requests, deliveries, kills, lost_writes, power_failures;
};

extern struct world world;

/* --- events (world.c) --- */

void world_at(int64_t at, void (*happen)(struct event *), void *subject, int64_t value);
int64_t world_now(void);
int64_t world_clock(void);      /* ms since 1970, the platform's clock */
int64_t world_host_clock(void); /* the same, the host's */
const char *world_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void world_violate(const char *format, ...) __attribute__((format(printf, 1, 2)));
void world_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A 500 is a fault of the gateway, except on a full disk, of which it speaks then. */
void world_check_answer(const char *what, int status, const char *text);

/* Runs a program of the system to its end; ends the simulator when it fails. */
void world_command(const char *const *arguments);

/* --- the gateway (gateway.c) --- */

struct answer {
    int status; /* 0: none, the process was killed */
    struct slice body;
    const char *text; /* the whole output */
};

struct request {
    const char *method, *script, *info, *query, *body;
    const char *type;       /* of the body; NULL: JSON */
    const char *headers[8]; /* NAME=VALUE of CGI; ends with NULL */
    void (*end)(void *subject, const struct answer *answer);
    void *subject;
    uint64_t random;
};

extern const char *gateway_token; /* the present one; NULL: it is being replaced */
extern const char *gateway_line;

/* Copies a prepared installation for this world; makes it first, once. */
void gateway_begin(void);
void gateway_prepare(const char *directory);
void gateway_request(const struct request *request);
void gateway_run_courier(int64_t duration, uint64_t random);
void gateway_run_sender(int64_t duration, uint64_t random);
void gateway_rotate_key(uint64_t random);
/* Runs the command that erases the contact. `end`: with its output; NULL: it was killed. */
void gateway_erase(const char *contact_id, uint64_t random,
                   void (*end)(const char *output, uint64_t random));
/* Replaces the token, again if the program is killed. From then on the old one is refused. */
void gateway_replace_token(uint64_t random);
/* Kills a process that does not run now. */
void gateway_kill(int process);
void gateway_fail_power(uint64_t random);
void gateway_end(void);     /* kills what runs */
bool gateway_is_idle(void); /* no process runs */
/* The process ended: called by the loop. */
void gateway_ended(int process, int status);
/* SQL: the text of a message; NULL when its body is empty, as of one that only a status reported.
 */
#define TEXT_OF_MESSAGE                                                                            \
    "CASE WHEN json_valid(CAST(body AS TEXT)) THEN "                                               \
    "json_extract(CAST(body AS TEXT), '$.text.body') END"

/* Of the database, by `take` for each row. Nothing is read when a process holds a lock. */
struct sqlite3_stmt;
void gateway_rows(const char *sql, void (*take)(struct sqlite3_stmt *row));
/* The same: the number of the only row; -1: there is none. */
int64_t gateway_number(const char *sql);
/* The same: the text; NULL: there is none. */
const char *gateway_text(const char *sql);
enum worker { COURIER, SENDER };

/* When the worker has work next, ms of the host's clock; -1: none. A courier: the next delivery or
 * part of an erasure is due; 0: a record of pending_dir waits. A sender: a queued send is due or
 * expires; 0: one was interrupted, or its message is not recorded. */
int64_t gateway_next_work(enum worker worker);

/* --- the platform (platform.c) --- */

void platform_begin(void);
/* Receives the call and sets its answer, which arrives `delay` later. */
void platform_receive(struct call *call, uint64_t *random, int64_t *delay);
void platform_disturb(const struct act *act);
/* A change of this field, whose value has these members, is sent after the delay. */
void platform_report(const char *field, const char *members, uint64_t *random, int64_t delay);
/* The same, at once, of messages to the crowd's user. */
void platform_report_crowd(const char *members, uint64_t *random);
bool platform_is_done(void);

/* --- people (people.c) --- */

void people_begin(void);
void people_write(const struct act *act);
void people_move(const struct act *act);
void people_write_crowd(const struct act *act);
/* The number of a person. */
const char *people_phone(uint64_t *random);
/* Whether a number or a user id may have changed its person. */
bool people_have_moved(void);
/* The owner of the number gets a message, of which statuses report with timestamps until `until`
 * (s): the number keeps its owner so long. Returns the members that name the recipient, after the
 * number; NULL: it has no owner. */
const char *people_receive(const char *phone, int64_t until);
/* The person with the number writes a message that shows number and user id. */
void people_show(const char *phone, uint64_t random);
/* What was answered with 200 is stored, once, with its text, at the contact of the person. */
void people_check(void);

/* --- erasures (erasures.c) --- */

void erasures_begin(void);
void erasures_request(const struct act *act);

enum fate { IS_STORED, MAY_BE_ERASED, IS_ERASED }; /* by an erasure or by retention */

/* Of a message of or to the person with the number, which came into the world at that time. */
enum fate erasures_fate(const char *phone, const char *wamid, int64_t at);
bool erasures_are_done(void);
bool erasures_happened(void); /* or began */
/* No message that was erased is there again, as by a repetition or a late status. */
void erasures_check(void);

/* --- receivers, clients (receivers.c, clients.c) --- */

void receivers_begin(void);
void receivers_receive(struct call *call, uint64_t *random, int64_t *delay);
void receivers_disturb(const struct act *act);
/* When the event first arrived, ms of the host's clock; -1: it did not. */
int64_t receivers_arrival(size_t receiver, const char *event_id);

void clients_begin(void);
void clients_send(const struct act *act, size_t number);
void clients_accepted(size_t number, const char *wamid); /* by the platform */
bool clients_are_done(void);
bool clients_await_sender(void); /* a queued send was not taken yet */
void clients_check(void);

/* --- queued sends (queue.c) --- */

void queue_begin(void);
/* The send of a client, to the number, is queued as the row with this id, not to be sent before
 * `send_at` (ms of the host's clock). */
void queue_took(const char *id, size_t number, const char *phone, int64_t send_at);
/* The platform accepted the POST of the row. */
void queue_accepted(const char *id, size_t number, const char *phone, const char *wamid);
/* Each row has the outcome that the platform has. */
void queue_check(void);

/* --- campaigns (campaigns.c) --- */

void campaigns_begin(void);
void campaigns_make(const struct act *act);
/* The platform accepts the template with this parameter. */
void campaigns_accepted(const char *text, const char *wamid);
bool campaigns_are_done(void);
bool campaigns_await_sender(void); /* one is to be started */
/* Each person got it once at most, and the rows say so. */
void campaigns_check(void);

/* --- opt-outs (opt_outs.c) --- */

void opt_outs_begin(void);
void opt_outs_add(const struct act *act);
/* Whether the person with the number does not want marketing, and the gateway has answered so. */
bool opt_outs_forbid(const char *phone);

/* --- rules of the database (rules.c) --- */

void rules_check(void);
/* Nothing is left of messages that are older than they are kept. */
void rules_check_retention(void);

#endif
