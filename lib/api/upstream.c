#include "api/upstream.h"

#include "api/state.h"
#include "base/counters.h"
#include "base/http_client.h"
#include "base/utf8.h"

enum {
    CLIPPED = 1024,      /* bytes kept of an answer that is not JSON */
    CLIPPED_WORDS = 640, /* bytes kept of the platform's message before a hint */
};

/* Advice for the most frequent errors of the platform. */
static const struct {
    int64_t code;
    const char *hint;
} hints[] = {
    {190, "The business account's platform access token is expired or invalid; replace it with "
          "`switchboard account token`."},
    {80007, "The business account has reached its rate limit; wait, then send less often."},
    {80008, "The business account has reached its rate limit for templates; wait an hour."},
    {130429, "The line has reached its throughput; wait, then send fewer messages per second."},
    {131026, "The recipient cannot be reached: write the number with its country code, without a "
             "leading 0, a (0) or an extension, and make sure that it uses WhatsApp."},
    {131047, "More than 24 hours have passed since the recipient last wrote; send a template "
             "message instead (POST /v2/templates/send)."},
    {131051, "The platform does not take this type of message; send another one."},
    {132000, "The approved template has another number of parameters than components; compare them "
             "with GET /v2/templates/NAME."},
    {132001, "No approved template has this name in this language (en_US where none is named); see "
             "GET /v2/templates."},
    {132012, "A parameter in components is of another type or format than the approved template's; "
             "compare them with GET /v2/templates/NAME."},
    {133010, "The line's phone number is not registered on the platform; register it there first."},
    {139001, "Only a draft can be changed: make a new flow with clone_flow_id."},
    {139002, "Only a draft without validation_errors, and with what its category and endpoint "
             "need, can be published; see GET /v2/forms/FLOW_ID."},
    {139003, "Only a published flow can be deprecated."},
    {139004, "Only a draft can be deleted; a published flow can be deprecated."},
};

/* Advice for the subcodes of code 100 with which the platform refuses a template or a flow. What it
 * says for people, `error_user_msg`, is in the details. */
static const struct {
    int64_t subcode;
    const char *hint;
} subcode_hints[] = {
    {2388003, "Only a template that is approved, rejected or paused can be edited, and an approved "
              "one once in 24 hours and 10 times in 30 days."},
    {2388019, "The business account has the largest number of templates; delete one first."},
    {2388023, "The name was deleted a short time ago and stays taken for 30 days; choose another "
              "one."},
    {2388024, "The name has this language already; edit it (PATCH), or choose another name or "
              "language."},
    {2388040, "A text is too long: a header takes 60 characters, a body 1024, a footer 60, a "
              "button 25."},
    {2388042, "The name may have lower-case letters, digits and underscores only."},
    {2388043,
     "A component lacks a member: each variable needs an example, and a header with a file "
     "a sample."},
    {2388047, "The header is not valid."},
    {2388072, "The body is not valid."},
    {2388073, "The footer is not valid: it takes no variable."},
    {2388293, "The body has too many variables for its number of words; add words."},
    {2388299, "A text may not begin or end with a variable; add words around it."},
    {4016019, "Another flow of the business account has this name; choose another one."},
    {2593002, "No template has this name; see GET /v2/templates."},
};

/* The status for a 5xx of the platform, and for an invalid answer. */
static enum failure_code broken(enum upstream_purpose purpose) {
    return purpose == UPSTREAM_LIST ? INTERNAL : BAD_GATEWAY;
}

/* The status when the platform did not answer: 502 only for sends and downloads (spec 7). */
static enum failure_code unanswered(enum upstream_purpose purpose) {
    return purpose == UPSTREAM_UPLOAD ? INTERNAL : broken(purpose);
}

static enum failure_code failure_code(enum upstream_purpose purpose, int status) {
    switch (status) {
    case 401: return UNAUTHORIZED;
    case 403: return FORBIDDEN;
    case 404: return NOT_FOUND;
    default: return status >= 400 && status < 500 ? INVALID : broken(purpose);
    }
}

static bool is_blank(struct slice text) {
    return !text.n || !json_cut_token(&text).n;
}

/* The answer as `details`: its bytes when it is JSON, which sets `*json`; else its first bytes as a
 * string. Empty for a blank answer. */
static struct slice details(struct request *rq, struct slice body, struct json *json) {
    struct json_error error;
    if (is_blank(body))
        return (struct slice){NULL, 0};
    if (json_read(rq->arena, body, json, &error) == 0)
        return json_raw(*json);
    size_t n = utf8_clip(body, CLIPPED);
    if (!n) /* not UTF-8: takes the raw bytes */
        n = body.n < CLIPPED ? body.n : CLIPPED;
    struct json_writer w;
    json_write_start(&w, rq->arena);
    json_write_string(&w, NULL, (struct slice){body.p, n});
    return json_written(&w);
}

/* If a request was sent and its answer was lost, the platform may or may not have carried it out.
 */
static int fail_without_answer(struct request *rq, enum upstream_purpose purpose,
                               const struct graph_answer *answer) {
    if (answer->was_sent && purpose != UPSTREAM_LIST)
        return fail(rq, unanswered(purpose),
                    "The platform did not answer: %s; whether it did what was asked is not known.",
                    answer->failure);
    if (!answer->was_sent)
        reply_header(rq, "Retry-After", UPSTREAM_UNREACHED_SECONDS);
    return fail(rq, unanswered(purpose), "The platform could not be reached: %s.", answer->failure);
}

static const char *hint_for(struct json answer) {
    int64_t code, subcode;
    if (json_integer(json_find(answer, "error.code"), &code))
        for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
            if (hints[i].code == code)
                return hints[i].hint;
    if (json_integer(json_find(answer, "error.error_subcode"), &subcode))
        for (size_t i = 0; i < sizeof subcode_hints / sizeof *subcode_hints; i++)
            if (subcode_hints[i].subcode == subcode)
                return subcode_hints[i].hint;
    return NULL;
}

/* The platform's error message, followed by the hint for its code, if there is one; NULL when there
 * is neither. Uploads have no hint (spec 4.6). */
static const char *message(struct request *rq, enum upstream_purpose purpose, struct json answer) {
    const char *said = json_text(json_find(answer, "error.message"), rq->arena);
    const char *hint = purpose == UPSTREAM_UPLOAD ? NULL : hint_for(answer);
    struct slice words = slice_of(said);
    if (is_blank(words))
        return hint;
    if (!hint)
        return said;
    words.n = utf8_clip(words, CLIPPED_WORDS);
    bool is_sentence = strchr(".!?", words.p[words.n - 1]) != NULL;
    return arena_printf(rq->arena, "%.*s%s %s", (int)words.n, words.p, is_sentence ? "" : ".",
                        hint);
}

int upstream_fail(struct request *rq, enum upstream_purpose purpose,
                  const struct graph_answer *answer) {
    struct json json = {0};
    if (!answer->status)
        return fail_without_answer(rq, purpose, answer);
    if (answer->retry_after)
        reply_header(rq, "Retry-After", answer->retry_after);
    struct slice body = details(rq, answer->body, &json);
    const char *text = message(rq, purpose, json);
    enum failure_code code = failure_code(purpose, answer->status);
    return text ? fail_verbatim(rq, code, body, text)
                : fail_with_details(rq, code, body, "The platform answered %d.", answer->status);
}

/* Fails for a 2xx whose body is not JSON: whether the platform carried out the call is unknown. */
static int fail_on_nonsense(struct request *rq, enum upstream_purpose purpose,
                            const struct graph_answer *answer) {
    struct json json;
    return fail_with_details(
        rq, broken(purpose), details(rq, answer->body, &json),
        "The platform's answer is not JSON; whether it did what was asked is not known.");
}

/* The values of the label of COUNTERS_UPSTREAM_CALLS. */
static const char *outcome(const struct graph_answer *answer) {
    if (!answer->status)
        return answer->was_sent ? "unanswered" : "unreached";
    return answer->status < 300 ? "success" : answer->status < 500 ? "refused" : "failed";
}

/* Adds a call to the counters and to the totals in the request's log, and sets
 * rq->upstream_was_sent. */
static void count_call(struct request *rq, const struct graph_answer *answer) {
    counters_add(COUNTERS_UPSTREAM_CALLS, outcome(answer), 1);
    counters_observe(COUNTERS_UPSTREAM_TIME, "", answer->ms * 1000);
    rq->upstream_calls++;
    rq->upstream_was_sent = rq->upstream_was_sent || answer->was_sent;
    rq->upstream_ms += answer->ms;
    rq->upstream_status = answer->status;
}

void upstream_ask(struct request *rq, const struct graph_call *call, struct graph_answer *answer) {
    request_release(rq);
    graph_call(rq->config, rq->arena, call, answer);
    count_call(rq, answer);
}

void upstream_upload(struct request *rq, const struct graph_upload *upload,
                     struct graph_answer *answer) {
    request_release(rq);
    graph_upload(rq->config, rq->arena, upload, answer);
    count_call(rq, answer);
}

void upstream_download(struct request *rq, const struct graph_download *download,
                       struct graph_answer *answer) {
    request_release(rq);
    graph_download(rq->config, rq->arena, download, answer);
    count_call(rq, answer);
}

void upstream_relay(struct request *rq, const struct graph_relay *relay,
                    const struct graph_source *source, struct graph_relayed *relayed) {
    request_release(rq);
    if (source)
        graph_relay_stream(rq->config, rq->arena, relay, source, relayed);
    else
        graph_relay(rq->config, rq->arena, relay, relayed);
    count_call(rq, &relayed->answer);
}

int upstream_read(struct request *rq, enum upstream_purpose purpose,
                  const struct graph_answer *answer, struct json *json) {
    struct json_error error;
    if (answer->status < 200 || answer->status > 299)
        return upstream_fail(rq, purpose, answer);
    if (json_read(rq->arena, answer->body, json, &error))
        return fail_on_nonsense(rq, purpose, answer);
    return 0;
}

int upstream_call(struct request *rq, enum upstream_purpose purpose, const struct graph_call *call,
                  struct json *json) {
    struct graph_answer answer;
    upstream_ask(rq, call, &answer);
    return upstream_read(rq, purpose, &answer, json);
}

int upstream_pass_on(struct request *rq, const struct store_account *account,
                     struct graph_relay *relay, struct json *answer) {
    struct graph_relayed relayed;
    relay->token = state_account_token(rq, account);
    if (!relay->token)
        return -1;
    upstream_relay(rq, relay, NULL, &relayed);
    return upstream_read(rq, UPSTREAM_CHANGE, &relayed.answer, answer)
               ? -1
               : reply_data(rq, json_raw(*answer));
}

int upstream_check_destructive(struct request *rq) {
    if (config_is_on(rq->config->graph_destructive))
        return 0;
    return fail(
        rq, FORBIDDEN,
        "The gateway does not pass this on: its operator must set graph_destructive = yes.");
}
