/* The platform of a world: accepts sends, or not; reports their statuses and what people write, in
 * any order, repeated, late; repeats a webhook until it is answered with 200. */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "world.h"

enum { POSTS = 4096, LONGEST_PAUSE_MINUTES = 60, LONGEST_STATUS_SECONDS = 60 };

/* A webhook POST. */
struct post {
    const char *changes;
    int user; /* 1: the owner; 2: the crowd's */
    uint64_t random;
    int tries;
    bool is_stored; /* answered with 200 */
    bool is_on_its_way;
    bool repeats; /* it is sent once more after that */
};

enum behaviour { ANSWERS, REFUSES, LOSES_ANSWERS, HANGS, FAILS, THROTTLES, BEHAVIOURS };

static struct {
    struct post posts[POSTS];
    size_t post_count;
    enum behaviour behaviour;
    int64_t until;
    size_t accepted;
} platform;

static void try_post(struct event *event);

void platform_begin(void) {
    memset(&platform, 0, sizeof platform);
}

/* --- webhooks out --- */

static void after_post(void *subject, const struct answer *answer) {
    struct post *post = subject;
    post->is_on_its_way = false;
    world_check_answer("a webhook", answer->status, answer->text);
    const bool is_first = answer->status == 200 && !post->is_stored;
    post->is_stored |= answer->status == 200;
    if (post->is_stored && !(is_first && post->repeats))
        return;
    const int minutes = 1 << (post->tries < 6 ? post->tries : 6);
    const unsigned most =
        (unsigned)(minutes < LONGEST_PAUSE_MINUTES && !(is_first && world.erases) ? minutes : 60) *
        60;
    post->repeats = false;
    world_at(world_now() + SECOND * (1 + random_below(&post->random, most)), try_post, post, 0);
}

static void try_post(struct event *event) {
    struct post *post = event->subject;
    unsigned char mac[CRYPTO_HASH_SIZE];
    const char *body = world_print("{\"object\":\"whatsapp_business_account\",\"entry\":[{\"id\":"
                                   "\"90000000000%d\",\"changes\":[%s]}]}",
                                   post->user, post->changes);
    crypto_hmac_sha256(SLICE("world-secret"), slice_of(body), mac);
    post->tries++;
    post->is_on_its_way = true;
    gateway_request(
        &(struct request){.method = "POST",
                          .script = "/platform/webhook",
                          .info = "",
                          .body = body,
                          .headers = {world_print("HTTP_X_HUB_SIGNATURE_256=sha256=%s",
                                                  crypto_hex(&world.arena, mac, sizeof mac))},
                          .end = after_post,
                          .subject = post,
                          .random = random_next(&post->random)});
}

static const char *change_of(const char *field, int user, const char *members) {
    return world_print(
        "{\"field\":\"%s\",\"value\":{\"messaging_product\":\"whatsapp\",\"metadata\":"
        "{\"display_phone_number\":\"1555000000%d\",\"phone_number_id\":"
        "\"80000000000%d\"},%s}}",
        field, user, user, members);
}

static void add_post(const char *field, int user, const char *members, uint64_t *random,
                     int64_t delay) {
    struct post *post = &platform.posts[platform.post_count++];
    if (platform.post_count == POSTS)
        world_violate("the world is too large for the simulator's platform");
    *post = (struct post){.changes = change_of(field, user, members),
                          .user = user,
                          .random = random_next(random),
                          .repeats = random_chance(random, world.erases ? 70 : 15)};
    world_at(world_now() + delay, try_post, post, 0);
}

/* One of several reports joins the last POST, if that was not sent yet. */
void platform_report(const char *field, const char *members, uint64_t *random, int64_t delay) {
    struct post *last = &platform.posts[platform.post_count] - 1;
    if (platform.post_count && !last->tries && last->user == 1 && random_chance(random, 20))
        last->changes = world_print("%s,%s", last->changes, change_of(field, 1, members));
    else
        add_post(field, 1, members, random, delay);
}

void platform_report_crowd(const char *members, uint64_t *random) {
    add_post("messages", 2, members, random, 0);
}

/* A status may come long after it was reached. The message of a queued send, of the row, has one at
 * least. */
static void report_statuses(const char *wamid, const char *phone, const char *recipient,
                            const char *row, uint64_t *random) {
    static const char *const kinds[] = {"sent", "delivered", "read"};
    int64_t at = 0;
    const size_t least = row != NULL, count = least + random_below(random, 4 - (unsigned)least);
    if (row)
        recipient = world_print("%s,\"biz_opaque_callback_data\":\"%s\"", recipient, row);
    for (size_t i = 0; i < count; i++) {
        const int64_t late =
            random_chance(random, 10) ? random_below(random, 24 * 3600) * SECOND : 0;
        at += random_below(random, LONGEST_STATUS_SECONDS / 3);
        platform_report("messages",
                        world_print("\"statuses\":[{\"id\":\"%s\",\"status\":\"%s\","
                                    "\"timestamp\":\"%" PRId64 "\",\"recipient_id\":\"%s\"%s}]",
                                    wamid, kinds[i], world_clock() / 1000 + at, phone, recipient),
                        random, at * SECOND + late + random_below(random, 3000) * (SECOND / 1000));
    }
}

/* --- calls in --- */

void platform_disturb(const struct act *act) {
    uint64_t random = act->random;
    platform.behaviour = (enum behaviour)random_below(&random, BEHAVIOURS);
    platform.until = world_now() + (1 + random_below(&random, 600)) * SECOND;
    world_note("the platform behaves as %d", (int)platform.behaviour);
}

static enum behaviour behaviour(uint64_t *random) {
    if (world_now() < platform.until)
        return platform.behaviour;
    if (world_now() < world.quiet_at && random_chance(random, 6))
        return (enum behaviour)random_below(random, BEHAVIOURS);
    return ANSWERS;
}

static void reply(struct call *answer, int status, const char *body) {
    answer->status = status;
    answer->answer_size = strlen(body);
    snprintf(answer->answer, sizeof answer->answer, "%s", body);
    snprintf(answer->answer_headers, sizeof answer->answer_headers,
             "HTTP/1.1 %d\r\nContent-Type: application/json\r\n\r\n", status);
}

/* The only parameter of a template. */
static const char *parameter_of(struct json body) {
    struct json component = json_first(json_find(body, "template.components"));
    return json_text(json_get(json_first(json_get(component, "parameters")), "text"), &world.arena);
}

/* The text of the send names the act, out-N, and the parameter of a template its campaign. */
static void accept_send(struct json body, struct call *answer, uint64_t *random) {
    const char *text = json_text(json_find(body, "text.body"), &world.arena);
    const char *row = json_text(json_get(body, "biz_opaque_callback_data"), &world.arena);
    const char *to = json_text(json_get(body, "to"), &world.arena);
    const bool is_template = json_is(json_get(body, "template"));
    size_t number = 0;
    if (!to || (!is_template && (!text || sscanf(text, "out-%zu", &number) != 1))) {
        world_violate("the platform got a send that no client made: %.*s", (int)json_raw(body).n,
                      json_raw(body).p);
        return;
    }
    const char *wamid = world_print("wamid.out.%zu.%zu", number, platform.accepted++);
    const char *recipient = people_receive(to, world_clock() / 1000 + LONGEST_STATUS_SECONDS);
    if (!recipient) {
        reply(answer, 400,
              "{\"error\":{\"message\":\"Undeliverable\",\"code\":131026,\"type\":\"x\"}}");
        return;
    }
    row = row && strncmp(row, "out_", 4) == 0 ? row : NULL;
    if (is_template)
        campaigns_accepted(parameter_of(body), wamid);
    else
        clients_accepted(number, wamid);
    if (row && !is_template)
        queue_accepted(row, number, to, wamid);
    report_statuses(wamid, to, recipient, row, random);
    reply(answer, 200,
          world_print("{\"messaging_product\":\"whatsapp\",\"contacts\":[{\"input\":\"%s\","
                      "\"wa_id\":\"%s\"}],\"messages\":[{\"id\":\"%s\"}]}",
                      to, to, wamid));
}

void platform_receive(struct call *call, uint64_t *random, int64_t *wait) {
    struct json body;
    struct json_error error;
    const enum behaviour now = behaviour(random);
    *wait = (20 + random_below(random, 400)) * (SECOND / 1000);
    call->is_connected = now != REFUSES;
    if (now == REFUSES) {
        call->code = CURLE_COULDNT_CONNECT;
    } else if (now == FAILS) {
        reply(call, 500, "{\"error\":{\"message\":\"Unknown\",\"code\":1,\"type\":\"x\"}}");
    } else if (now == THROTTLES) {
        reply(call, 429, "{\"error\":{\"message\":\"Rate\",\"code\":130429,\"type\":\"x\"}}");
    } else if (strcmp(call->method, "GET") == 0) {
        reply(call, 200,
              "{\"data\":[{\"id\":\"1\",\"name\":\"offer\",\"language\":\"en\",\"status\":"
              "\"APPROVED\",\"category\":\"MARKETING\",\"components\":[{\"type\":\"BODY\","
              "\"text\":\"Offer {{1}}\"}]}]}");
    } else if (json_read(&world.arena, (struct slice){call->body, call->body_size}, &body,
                         &error)) {
        world_violate("the platform got a body that is not JSON");
    } else {
        accept_send(body, call, random);
        if (now == LOSES_ANSWERS)
            call->code = CURLE_RECV_ERROR;
        if (now == HANGS)
            *wait = 120 * SECOND;
    }
}

/* --- the end --- */

bool platform_is_done(void) {
    for (size_t i = 0; i < platform.post_count; i++)
        if (!platform.posts[i].is_stored)
            return false;
    return true;
}
