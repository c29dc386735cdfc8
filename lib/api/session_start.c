#include "api/session_start.h"

#include "api/client.h"
#include "api/session_cookie.h"
#include "web/reply.h"

enum {
    VALUE_BYTES = 32,    /* of a cookie's value; its text is hexadecimal */
    AGENT_LONGEST = 200, /* bytes of the User-Agent that the list shows */
};

#define COOKIE_RULES "; Path=/; Secure; HttpOnly; SameSite=Strict"

void session_set_cookie(struct request *rq, const char *value) {
    reply_header(rq, "Set-Cookie",
                 arena_printf(rq->arena, SESSION_COOKIE "=%s" COOKIE_RULES, value));
}

void session_set_device_cookie(struct request *rq, const char *value) {
    reply_header(rq, "Set-Cookie",
                 arena_printf(rq->arena, DEVICE_COOKIE "=%s" COOKIE_RULES "; Max-Age=%lld", value,
                              (long long)(DEVICE_MS / 1000)));
}

void session_clear_cookie(struct request *rq) {
    reply_header(rq, "Set-Cookie", SESSION_COOKIE "=" COOKIE_RULES "; Max-Age=0");
}

void session_set_pending_cookie(struct request *rq, const char *value) {
    reply_header(rq, "Set-Cookie",
                 arena_printf(rq->arena, PENDING_COOKIE "=%s" COOKIE_RULES "; Max-Age=%d", value,
                              PENDING_MS / 1000));
}

void session_clear_pending_cookie(struct request *rq) {
    reply_header(rq, "Set-Cookie", PENDING_COOKIE "=" COOKIE_RULES "; Max-Age=0");
}

struct store_new_session session_make(struct request *rq, const char *member_id,
                                      const char **value) {
    unsigned char random[VALUE_BYTES];
    struct slice agent = slice_of(request_variable("HTTP_USER_AGENT"));
    char *id = arena_alloc(rq->arena, ID_SIZE);
    id_make(id, "ses_", rq->now);
    struct store_new_session session = {.id = id,
                                        .member_id = member_id,
                                        .address = client_address(rq),
                                        .agent = "",
                                        .now = rq->now};
    if (agent.n)
        session.agent = arena_copy(
            rq->arena, (struct slice){agent.p, agent.n < AGENT_LONGEST ? agent.n : AGENT_LONGEST});
    crypto_random(random, sizeof random);
    *value = crypto_hex(rq->arena, random, sizeof random);
    crypto_sha256(slice_of(*value), session.hash);
    crypto_wipe(random, sizeof random);
    return session;
}

/* The value of the browser's cookie, or a new one. */
static const char *browser_value(struct request *rq) {
    const struct slice known = device_cookie();
    unsigned char random[VALUE_BYTES];
    const char *value = known.p ? arena_copy(rq->arena, known) : "";
    if (known.n == (size_t)2 * VALUE_BYTES && strspn(value, "0123456789abcdef") == known.n)
        return value;
    crypto_random(random, sizeof random);
    return crypto_hex(rq->arena, random, sizeof random);
}

const char *session_join_browser(struct request *rq, struct store_new_session *session) {
    const char *value = browser_value(rq);
    const struct slice present = session_cookie(rq);
    unsigned char *hashes = arena_alloc(rq->arena, (size_t)2 * CRYPTO_HASH_SIZE);
    crypto_sha256(slice_of(value), hashes);
    session->device = hashes;
    if (present.p) {
        crypto_sha256(present, hashes + CRYPTO_HASH_SIZE);
        session->replaced = hashes + CRYPTO_HASH_SIZE;
    }
    return value;
}
