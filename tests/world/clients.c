/* The clients of a world: send texts with a key, and repeat until they have an answer. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "world.h"

enum { ATTEMPTS = 30 };

/* A send: the act of this number. */
static struct sent {
    bool is_used, has_key, is_queued, is_done, is_on_its_way;
    int status; /* of the last answer; 0: none */
    int attempts, accepted;
    int64_t accepted_at; /* by the platform, the last time */
    int64_t send_at;     /* of a queued send, ms of the host's clock; 0: at once */
    const char *phone;   /* of the recipient */
    const char *token;   /* of the last attempt */
    uint64_t random;
    const char *wamid; /* of the answer with 200 */
    const char *accepted_as[ATTEMPTS + 1];
} sends[ACTS];

void clients_begin(void) {
    memset(sends, 0, sizeof sends);
}

static void attempt(struct event *event);
static void read_back(struct event *event);

/* A token that was replaced meanwhile is refused. */
static bool is_final(const struct sent *sent) {
    const int status = sent->status;
    if (status == 401 && sent->token == gateway_token)
        world_violate("a send with the present token is answered with 401");
    return status >= 200 && status < 500 && status != 401 && status != 409 && status != 429;
}

/* The id of the message, or of the row of a queued send. */
static const char *read_id(const struct answer *answer) {
    struct json body, message;
    struct json_error error;
    if (json_read(&world.arena, answer->body, &body, &error)) {
        world_violate("an answer is not JSON: %s", answer->text);
        return NULL;
    }
    message = answer->status == 202 ? json_get(body, "data")
                                    : json_first(json_find(body, "data.messages"));
    const char *id = json_text(json_get(message, "id"), &world.arena);
    if (!id)
        world_violate("an answer names no message: %s", answer->text);
    return id;
}

static void take_row(struct sent *sent, const struct answer *answer) {
    const char *id = read_id(answer);
    if (!sent->is_queued)
        world_violate("a send was queued, which its client did not ask for");
    if (id)
        queue_took(id, (size_t)(sent - sends), sent->phone, sent->send_at);
}

static void after_attempt(void *subject, const struct answer *answer) {
    struct sent *sent = subject;
    sent->is_on_its_way = false;
    sent->status = answer->status;
    world_check_answer("a send", answer->status, answer->text);
    if (answer->status == 200) {
        sent->wamid = read_id(answer);
        world_at(world_now() + random_below(&sent->random, 100) * (SECOND / 20), read_back, sent,
                 0);
    }
    if (answer->status == 202)
        take_row(sent, answer);
    sent->is_done = is_final(sent) || sent->attempts >= ATTEMPTS;
    if (!sent->is_done)
        world_at(world_now() + (1 + random_below(&sent->random, 300)) * SECOND, attempt, sent, 0);
}

static const char *body_of(const struct sent *sent) {
    char at[CLOCK_ISO8601_SIZE];
    const char *body = world_print("{\"phoneNumberId\":\"%s\",\"to\":\"%s\",\"text\":\"out-%zu\"",
                                   gateway_line, sent->phone, (size_t)(sent - sends));
    if (!sent->send_at)
        return world_print("%s}", body);
    clock_format(sent->send_at, at);
    return world_print("%s,\"sendAt\":\"%s\"}", body, at);
}

static void attempt(struct event *event) {
    struct sent *sent = event->subject;
    const size_t number = (size_t)(sent - sends);
    if (!gateway_token) {
        world_at(world_now() + SECOND, attempt, sent, 0);
        return;
    }
    const char *key = sent->has_key ? world_print("HTTP_IDEMPOTENCY_KEY=key-%zu", number) : NULL;
    const char *prefer = sent->is_queued ? "HTTP_PREFER=respond-async" : NULL;
    sent->attempts++;
    sent->token = gateway_token;
    sent->is_on_its_way = true;
    gateway_request(
        &(struct request){.method = "POST",
                          .script = "/v2/messages",
                          .info = "/send/text",
                          .body = body_of(sent),
                          .headers = {world_print("HTTP_AUTHORIZATION=Bearer %s", gateway_token),
                                      key ? key : prefer, key ? prefer : NULL},
                          .end = after_attempt,
                          .subject = sent,
                          .random = random_next(&sent->random)});
}

void clients_send(const struct act *act, size_t number) {
    struct sent *sent = &sends[number];
    *sent = (struct sent){.is_used = true, .random = act->random};
    sent->phone = people_phone(&sent->random);
    sent->has_key = random_chance(&sent->random, 85);
    sent->is_queued = world.queues && random_chance(&sent->random, 80);
    if (sent->is_queued && random_chance(&sent->random, 30))
        sent->send_at = world_host_clock() + (10 + random_below(&sent->random, 3600)) * 1000;
    world_at(world_now(), attempt, sent, 0);
}

void clients_accepted(size_t number, const char *wamid) {
    struct sent *sent = &sends[number];
    if (sent->accepted < ATTEMPTS)
        sent->accepted_as[sent->accepted] = wamid;
    sent->accepted++;
    sent->accepted_at = world_now();
    if (sent->has_key && sent->accepted > 1)
        world_violate("out-%zu, with an idempotency key, was accepted %d times by the platform",
                      number, sent->accepted);
}

/* Of the message that the last answer names. */
static enum fate fate_of(const struct sent *sent) {
    return erasures_fate(sent->phone, sent->wamid, sent->accepted_at);
}

/* A later read shows what was acknowledged. What a full disk did not take is kept in a file, and
 * the courier stores it after that. */
static void after_read(void *subject, const struct answer *answer) {
    const struct sent *sent = subject;
    const size_t number = (size_t)(sent - sends);
    if (world_now() <= world.full_until + HOUR || fate_of(sent) != IS_STORED)
        return; /* it may be missing, or have no text because its status came first */
    if (answer->status == 200 && !strstr(answer->text, world_print("\"out-%zu\"", number)))
        world_violate("out-%zu was answered with 200, and a read shows it without its text: %s",
                      number, answer->text);
    if (answer->status == 404)
        world_violate("out-%zu was answered with 200, and a read does not find it", number);
}

static void read_back(struct event *event) {
    struct sent *sent = event->subject;
    gateway_request(
        &(struct request){.method = "GET",
                          .script = "/v2/messages",
                          .info = world_print("/%s", sent->wamid),
                          .headers = {world_print("HTTP_AUTHORIZATION=Bearer %s", gateway_token)},
                          .end = after_read,
                          .subject = sent,
                          .random = random_next(&sent->random)});
}

bool clients_await_sender(void) {
    for (size_t i = 0; i < ACTS; i++)
        if (sends[i].is_queued && !sends[i].is_done)
            return true;
    return false;
}

bool clients_are_done(void) {
    for (size_t i = 0; i < ACTS; i++)
        if (sends[i].is_used && !sends[i].is_done)
            return false;
    return true;
}

/* A send that was answered with 200 is in the inbox, once, with its text. */
void clients_check(void) {
    for (size_t i = 0; i < ACTS; i++) {
        const struct sent *sent = &sends[i];
        if (!sent->is_used || sent->status != 200)
            continue;
        const int64_t found = gateway_number(world_print(
            "SELECT count(*) FROM message WHERE wamid = '%s' AND " TEXT_OF_MESSAGE " = 'out-%zu'",
            sent->wamid, i));
        const enum fate fate = fate_of(sent);
        if (fate == IS_ERASED ? found != 0 : found != 1 && !(fate == MAY_BE_ERASED && !found))
            world_violate("out-%zu was answered with 200, %s%lld messages with its text are stored",
                          i, fate == IS_ERASED ? "its person was erased, and " : "and ",
                          (long long)found);
    }
}
