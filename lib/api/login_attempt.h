/* Attempts to log in: whose failures they count for, and what a failure leaves (store/logins.h). */
#ifndef SWITCHBOARD_LOGIN_ATTEMPT_H
#define SWITCHBOARD_LOGIN_ATTEMPT_H

#include "store/logins.h"
#include "web/request.h"

/* A member who logs in. */
struct login {
    const char *email;
    const char *session_id; /* of the session that is confirmed; NULL: a login */
    const char *member_id;  /* set by login_check */
    const char *user_id;    /* set by login_check: a workspace of the member */
    const char *password;   /* set by login_check: the stored hash of the password */
    bool is_of_factor;      /* a code of the second factor is checked, not the password */
};

/* Returns a new attempt of the client of the request. */
struct store_login login_start(struct request *rq);

/* Sets whose failures the attempt counts for: others cannot block a session, nor a browser in which
 * the member has logged in before. */
enum store_result login_count_for(struct request *rq, struct store *store,
                                  const struct login *login, struct store_login *attempt);

/* Counts the attempt as a failure, until it succeeds. Returns 0, or -1 after failing the request:
 * 429 with Retry-After while failures block it. */
int login_begin(struct request *rq, struct store *store, const struct store_login *attempt);

/* Fails the request because the login that waits for a code has ended. Returns -1. */
int login_fail_ended(struct request *rq);

/* Leaves what a failed attempt leaves in log and trail, and fails the request; as login_fail_ended
 * when the wrong code has ended the login. Returns -1. */
int login_fail(struct request *rq, struct store *store, const struct store_login *attempt,
               enum failure_code code, const char *message);

/* Fails the request with 429 when the client is blocked; else returns 0. For a login by a link. */
int login_check_client(struct request *rq, struct store *store);

/* Counts a failure of the client, logs it, and fails the request with 401. Returns -1. */
int login_refuse_client(struct request *rq, struct store *store, const char *message);

#endif
