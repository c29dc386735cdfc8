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
enum kind { REFUSED, TOO_FAST, PASSING, ACCOUNT_LIMIT, PAIR_LIMIT, OF_TEMPLATE, OF_LINE, MISTAKE };
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
    {132001, OF_TEMPLATE},  /* there is none of this name and language */
    {132015, OF_TEMPLATE},  /* paused */
    {132016, OF_TEMPLATE},  /* disabled */
    {131048, OF_LINE},      /* too many messages were reported as spam */
    {131031, OF_LINE},      /* account locked */
    {131042, OF_LINE},      /* payment */
    {131064, OF_LINE},      /* the line's limit of recipients */
    {133010, OF_LINE},      /* not registered */
    {368, OF_LINE},         /* blocked for a violation of a policy */
    {190, OF_LINE},         /* the access token is not valid */
    {10, OF_LINE},          /* no permission */
    {200, OF_LINE},         /* no permission */
    {100, MISTAKE},         /* invalid parameter */
    {132000, MISTAKE},      /* another number of parameters than the template has */
    {132012, MISTAKE},      /* a parameter of another form */
    {132018, MISTAKE},      /* the template's parameters are wrong */
};

static enum kind kind_of(long code) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].code == code)
            return kinds[i].kind;
    return REFUSED;
}

/* 4^n seconds. */
static int64_t power_of_four(int64_t n) {
    return SECOND << (2 * (n < MOST_DOUBLINGS ? n : MOST_DOUBLINGS));
}

/* A refusal of what all rows of the campaign, or of the line, have in common. */
static struct verdict stop(struct verdict verdict, enum outgoing_pause which, const char *reason) {
    verdict.is_free = true;
    verdict.pause = which;
    verdict.pause_reason = reason;
    return verdict;
}

static struct verdict refusal(struct arena *arena, struct json error, struct slice body,
                              int64_t attempts, bool is_of_campaign) {
    const int64_t before = attempts > 0 ? attempts - 1 : 0;
    const long code = strtol(json_raw(json_get(error, "code")).p, NULL, 10);
    const enum kind kind = kind_of(code);
    struct verdict verdict = {.state = "queued", .error = body};
    switch (kind) {
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
    case OF_TEMPLATE:
        if (is_of_campaign)
            return stop(verdict, PAUSE_CAMPAIGN, "template");
        break;
    case OF_LINE:
        if (is_of_campaign)
            return stop(verdict, PAUSE_LINE, arena_copy(arena, json_raw(json_get(error, "code"))));
        break;
    case MISTAKE:
    case REFUSED: break;
    }
    return (struct verdict){.state = "failed",
                            .reason = "refused",
                            .error = body,
                            .opts_out = code == SEND_OPTED_OUT,
                            .mistake = kind == MISTAKE ? code : 0};
}

struct verdict verdict_of(struct arena *arena, const struct graph_answer *answer, int64_t attempts,
                          bool is_of_campaign) {
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
        return refusal(arena, error, answer->body, attempts, is_of_campaign);
    if (answer->status >= 200 && answer->status <= 299 && send_answer_wamid(arena, body))
        return (struct verdict){.state = "accepted", .answer = body};
    return (struct verdict){.state = "unknown", .reason = "unclear_answer"};
}
