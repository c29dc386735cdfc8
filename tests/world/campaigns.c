/* The campaigns of a world: the operator makes one, adds some people, starts it, and pauses,
 * resumes and cancels it. Each request is repeated until it is answered. Parameter N of the
 * template is the person's number in the campaign. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "world.h"

enum { MOST = 16, PEOPLE = 8, CANCELLED_OF_100 = 25 };
enum { POST_SECONDS = 6 }; /* a POST begins at most so long after its row was taken */

enum step { MAKE, ADD, START, PAUSE, RESUME, CANCEL };

static const char *const deeds[] = {
    [START] = "start", [PAUSE] = "pause", [RESUME] = "resume", [CANCEL] = "cancel"};

static struct campaign {
    const char *id;
    enum step step;
    size_t count;
    struct person {
        const char *phone, *wamid; /* NULL: not accepted by the platform */
        int64_t accepted_at;
    } people[PEOPLE];
    int64_t began, stopped; /* by a pause or its end; INT64_MAX: it runs */
    uint64_t random;
    bool is_ended;
} list[MOST];
static size_t count;

void campaigns_begin(void) {
    memset(list, 0, sizeof list);
    count = 0;
}

/* --- what the operator does --- */

static void take(struct event *event);

static void take_later(struct campaign *campaign, int64_t delay) {
    world_at(world_now() + delay, take, campaign, 0);
}

static const char *state_of(const struct campaign *campaign) {
    return gateway_text(world_print("SELECT state FROM campaign WHERE id = '%s'", campaign->id));
}

/* After the start it is paused, resumed and, of some, cancelled; at the end it is resumed until it
 * has ended, since answers of the platform may pause it. */
static void choose_next(struct campaign *campaign) {
    const char *state = state_of(campaign);
    const bool is_quiet = world_now() > world.quiet_at;
    campaign->is_ended = state && (!strcmp(state, "finished") || !strcmp(state, "cancelled"));
    if (campaign->is_ended)
        return;
    if (is_quiet && campaign->step != CANCEL)
        campaign->step = RESUME;
    else if (random_chance(&campaign->random, CANCELLED_OF_100))
        campaign->step = CANCEL;
    else if (campaign->step != CANCEL)
        campaign->step = campaign->step == PAUSE ? RESUME : PAUSE;
    take_later(campaign, (1 + random_below(&campaign->random, 600)) * SECOND);
}

static void after_take(void *subject, const struct answer *answer) {
    struct campaign *campaign = subject;
    struct json body;
    struct json_error error;
    if (campaign->step != MAKE) /* it asks the platform, whose failures are 500, too */
        world_check_answer("a campaign", answer->status, answer->text);
    const bool is_refused = answer->status == 409 || answer->status == 404;
    if (answer->status / 100 != 2 && !(is_refused && campaign->step >= PAUSE)) {
        take_later(campaign, (1 + random_below(&campaign->random, 30)) * SECOND);
        return;
    }
    if (campaign->step == MAKE && json_read(&world.arena, answer->body, &body, &error) == 0)
        campaign->id = json_text(json_find(body, "data.id"), &world.arena);
    if ((campaign->step == PAUSE || campaign->step == CANCEL) && answer->status == 200)
        campaign->stopped = world_now();
    if (campaign->step >= START) {
        choose_next(campaign);
    } else {
        campaign->step++;
        take_later(campaign, SECOND);
    }
}

static const char *body_of(const struct campaign *campaign) {
    const char *rows = "to,number\n";
    if (campaign->step == MAKE)
        return world_print(
            "{\"phoneNumberId\":\"%s\",\"name\":\"C\",\"templateName\":\"offer\","
            "\"language\":\"en\",\"components\":[{\"type\":\"body\",\"parameters\":[{\"type\":"
            "\"text\",\"text\":\"campaign-%zu-{{number}}\"}]}]}",
            gateway_line, (size_t)(campaign - list));
    for (size_t i = 0; campaign->step == ADD && i < campaign->count; i++)
        rows = world_print("%s%s,%zu\n", rows, campaign->people[i].phone, i);
    return campaign->step == ADD ? rows : "{}";
}

static void take(struct event *event) {
    struct campaign *campaign = event->subject;
    if (!gateway_token) {
        take_later(campaign, SECOND);
        return;
    }
    if (campaign->step == RESUME)
        campaign->stopped = INT64_MAX;
    const char *info = campaign->step == MAKE ? ""
                       : campaign->step == ADD
                           ? world_print("/%s/recipients", campaign->id)
                           : world_print("/%s/%s", campaign->id, deeds[campaign->step]);
    const char *key = world_print("HTTP_IDEMPOTENCY_KEY=campaign-%zu", (size_t)(campaign - list));
    gateway_request(
        &(struct request){.method = campaign->step == ADD ? "PUT" : "POST",
                          .script = "/v2/campaigns",
                          .info = info,
                          .body = body_of(campaign),
                          .type = campaign->step == ADD ? "text/csv" : NULL,
                          .headers = {world_print("HTTP_AUTHORIZATION=Bearer %s", gateway_token),
                                      campaign->step == MAKE ? key : NULL},
                          .end = after_take,
                          .subject = campaign,
                          .random = random_next(&campaign->random)});
}

static bool has_person(const struct campaign *campaign, const char *phone) {
    for (size_t i = 0; i < campaign->count; i++)
        if (strcmp(campaign->people[i].phone, phone) == 0)
            return true;
    return false;
}

void campaigns_make(const struct act *act) {
    if (count == MOST)
        return;
    struct campaign *campaign = &list[count++];
    *campaign =
        (struct campaign){.random = act->random, .stopped = INT64_MAX, .began = world_now()};
    for (size_t i = 0; i < PEOPLE; i++) {
        const char *phone = people_phone(&campaign->random);
        if (!has_person(campaign, phone))
            campaign->people[campaign->count++].phone = phone;
    }
    take_later(campaign, 0);
}

/* --- what the platform accepted --- */

void campaigns_accepted(const char *text, const char *wamid) {
    size_t number, person;
    if (!text || sscanf(text, "campaign-%zu-%zu", &number, &person) != 2 || number >= count ||
        person >= list[number].count) {
        world_violate("the platform got a template that no campaign has");
        return;
    }
    struct person *to = &list[number].people[person];
    if (to->wamid)
        world_violate("person %zu of campaign %zu got it twice", person, number);
    if (list[number].stopped < world_now() - POST_SECONDS * SECOND)
        world_violate("person %zu got campaign %zu, which does not run", person, number);
    if (opt_outs_forbid(to->phone))
        world_violate("%s got campaign %zu and does not want marketing", to->phone, number);
    to->wamid = wamid;
    to->accepted_at = world_now();
}

/* --- the end --- */

bool campaigns_are_done(void) {
    for (size_t i = 0; i < count; i++)
        if (!list[i].is_ended)
            return false;
    return true;
}

bool campaigns_await_sender(void) {
    for (size_t i = 0; i < count; i++)
        if (list[i].step == START)
            return true;
    return false;
}

/* Returns whether the person, whom the campaign did not reach, has no row. */
static bool check_person(const struct campaign *campaign, const struct person *person) {
    const char *state =
        gateway_text(world_print("SELECT state FROM outgoing WHERE campaign_id = '%s' AND "
                                 "recipient = '%s'",
                                 campaign->id, person->phone));
    if (erasures_fate(person->phone, person->wamid ? person->wamid : "",
                      person->wamid ? person->accepted_at : campaign->began) != IS_STORED)
        return false;
    if (person->wamid && (!state || strcmp(state, "accepted") != 0 ||
                          gateway_number(world_print("SELECT count(*) FROM message WHERE wamid = "
                                                     "'%s' AND type = 'template'",
                                                     person->wamid)) != 1))
        world_violate("%s got %s, and its row is %s, or its message is not stored once",
                      person->phone, campaign->id, state ? state : "lost");
    if (!person->wamid && state && strcmp(state, "accepted") == 0)
        world_violate("%s did not get %s, and its row says so", person->phone, campaign->id);
    return !person->wamid && !state && campaign->step != CANCEL;
}

/* Two numbers may be of one contact of the gateway: the second one is a duplicate. */
static void check_campaign(const struct campaign *campaign) {
    const int64_t recipients = gateway_number(
        world_print("SELECT recipients FROM campaign WHERE id = '%s'", campaign->id));
    size_t missing = 0;
    for (size_t i = 0; i < campaign->count; i++)
        missing += check_person(campaign, &campaign->people[i]);
    if (missing + (size_t)recipients > campaign->count)
        world_violate("%zu rows of %s are lost", missing + (size_t)recipients - campaign->count,
                      campaign->id);
    if ((size_t)recipients < campaign->count && !people_have_moved())
        world_violate("%s has %d recipients of %zu", campaign->id, (int)recipients,
                      campaign->count);
}

void campaigns_check(void) {
    for (size_t i = 0; i < count; i++)
        check_campaign(&list[i]);
}
