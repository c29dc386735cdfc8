#include "sending/verdict.h"

#include <stdlib.h>

#include "payload/send_answer.h"

enum {
    SECOND = 1000,
    MOST_REFUSALS = 5,           /* that pass, of one row */
    MOST_DOUBLINGS = 6,          /* of the pauses of a recipient */
    ACCOUNT_PAUSE = 60 * SECOND, /* after a limit of the account */
};

/* What the error codes of the platform mean that do not simply refuse the message. */
enum kind { REFUSED, TOO_FAST, PASSING, ACCOUNT_LIMIT, PAIR_LIMIT };
static const struct {
    long code;
    enum kind kind;
} kinds[] = {
    {130429, TOO_FAST},     /* throughput of the line */
    {2, PASSING},           /* service temporarily unavailable */
    {131016, PASSING},      /* the same */
    {131057, PASSING},      /* account in maintenance */
    {133004, PASSING},      /* server temporarily unavailable */
    {4, ACCOUNT_LIMIT},     /* calls of the application */
    {17, ACCOUNT_LIMIT},    /* calls of the user */
    {80007, ACCOUNT_LIMIT}, /* calls of the business account */
    {131056, PAIR_LIMIT},   /* messages from the line to this recipient */
};

static enum kind kind_of(struct json error) {
    const long code = strtol(json_raw(json_get(error, "code")).p, NULL, 10);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].code == code)
            return kinds[i].kind;
    return REFUSED;
}

/* 4^n seconds. */
static int64_t power_of_four(int64_t n) {
    return SECOND << (2 * (n < MOST_DOUBLINGS ? n : MOST_DOUBLINGS));
}

static struct verdict refusal(struct json error, struct slice body, int64_t attempts) {
    const int64_t before = attempts > 0 ? attempts - 1 : 0;
    struct verdict verdict = {.state = "queued", .error = body};
    switch (kind_of(error)) {
    case TOO_FAST:
        verdict.is_free = verdict.is_too_fast = true;
        verdict.wait_ms = verdict.pause_ms = SECOND;
        return verdict;
    case PAIR_LIMIT: verdict.wait_ms = power_of_four(before); return verdict;
    case ACCOUNT_LIMIT:
        verdict.is_free = true;
        verdict.wait_ms = verdict.pause_ms = ACCOUNT_PAUSE;
        return verdict;
    case PASSING:
        verdict.wait_ms = power_of_four(before);
        if (attempts < MOST_REFUSALS)
            return verdict;
        break;
    case REFUSED: break;
    }
    return (struct verdict){.state = "failed", .reason = "refused", .error = body};
}

struct verdict verdict_of(struct arena *arena, const struct graph_answer *answer,
                          int64_t attempts) {
    struct json body, error;
    struct json_error wrong;
    if (!answer->status && !answer->was_sent)
        return (struct verdict){
            .state = "queued", .reason = "not_sent", .is_free = true, .was_not_sent = true};
    if (!answer->status)
        return (struct verdict){.state = "unknown", .reason = "no_answer"};
    if (!answer->body.n || json_read(arena, answer->body, &body, &wrong))
        return (struct verdict){.state = "unknown", .reason = "unclear_answer"};
    error = json_get(body, "error");
    if (answer->status >= 400 && json_type(json_get(error, "code")) == JSON_NUMBER)
        return refusal(error, answer->body, attempts);
    if (answer->status >= 200 && answer->status <= 299 && send_answer_wamid(arena, body))
        return (struct verdict){.state = "accepted", .answer = body};
    return (struct verdict){.state = "unknown", .reason = "unclear_answer"};
}
