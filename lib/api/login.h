/* The check of a password: at most two at the same time on this machine, and at most so many
 * failures for each account and each client (store/logins.h). */
#ifndef SWITCHBOARD_LOGIN_H
#define SWITCHBOARD_LOGIN_H

#include "api/login_attempt.h"

/* Opens the lock files of the turns, before the process is confined: the `prepare` function of a
 * service that checks passwords (request.h). */
void login_prepare(struct request *rq);

/* Waits up to a second for a turn to hash a password. Returns 0, or -1 after failing the request:
 * 429 with Retry-After. The turn ends with login_end_turn, or with the process. */
int login_take_turn(struct request *rq);
void login_end_turn(void);

/* Within a turn, checks the password of the account, and counts a failure (login_attempt.h).
 * Returns 0, or -1 after failing the request: 429 with Retry-After while failures block it, and
 * with `code` and `message` when the password is wrong, the user has none, or there is no such
 * user, which all take the same time. After a success a hash with other parameters is replaced. */
int login_check(struct request *rq, struct store *store, struct login *login, struct slice password,
                enum failure_code code, const char *message);

#endif
