/* The check of a password: at most two at the same time on this machine, and at most so many
 * failures for each account and each client (store/logins.h). */
#ifndef SWITCHBOARD_LOGIN_H
#define SWITCHBOARD_LOGIN_H

#include "store/logins.h"
#include "web/request.h"

/* Opens the lock files of the turns, before the process is confined: the `prepare` function of a
 * service that checks passwords (request.h). */
void login_prepare(struct request *rq);

/* Waits up to a second for a turn to hash a password. Returns 0, or -1 after failing the request:
 * 429 with Retry-After. The turn ends with login_end_turn, or with the process. */
int login_take_turn(struct request *rq);
void login_end_turn(void);

/* A member who logs in. */
struct login {
    const char *email;
    const char *session_id; /* of the session that is confirmed; NULL: a login */
    const char *member_id;  /* set by login_check */
    const char *user_id;    /* set by login_check: a workspace of the member */
    const char *password;   /* set by login_check: the stored hash of the password */
};

/* Within a turn, checks the password of the account, and counts a failure (login.c). Returns 0, or
 * -1 after failing the request: 429 with Retry-After while failures block it, and with `code` and
 * `message` when the password is wrong, the user has none, or there is no such user, which all take
 * the same time. After a success a hash with other parameters is replaced. */
int login_check(struct request *rq, struct store *store, struct login *login, struct slice password,
                enum failure_code code, const char *message);

/* Fails the request with 429 when the client is blocked; else returns 0. For a login by a link. */
int login_check_client(struct request *rq, struct store *store);

/* Counts a failure of the client, logs it, and fails the request with 401. Returns -1. */
int login_refuse_client(struct request *rq, struct store *store, const char *message);

#endif
