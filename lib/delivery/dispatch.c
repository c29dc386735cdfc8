#include "delivery/dispatch.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"

enum {
    TAKEN_AT_ONCE = 32,                 /* by one exchange */
    PLANNING_LIMIT = 512 * 1024 * 1024, /* so many events as large as the store allows */
    BODIES_LIMIT = 64 * 1024 * 1024,    /* of the attempts under way together */
    BATCH = 64,                         /* users listed by one call of the store */
    BATCHES = 2,
    KEPT_PLACES = 32, /* keep their memory for the next attempt */
    /* of an attempt: for its connections, IPv4 and IPv6, and for its resolver's thread */
    DESCRIPTORS_EACH = 4,
    DESCRIPTORS_ELSE = 64,
    FEWEST_PLACES = 8,
};

size_t dispatch_count_places(void) {
    const rlim_t wanted = DISPATCH_PLACES * DESCRIPTORS_EACH + DESCRIPTORS_ELSE;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return FEWEST_PLACES;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= wanted)
        return DISPATCH_PLACES;
    if (limit.rlim_cur < DESCRIPTORS_ELSE + FEWEST_PLACES * DESCRIPTORS_EACH)
        return FEWEST_PLACES;
    return (limit.rlim_cur - DESCRIPTORS_ELSE) / DESCRIPTORS_EACH;
}

bool dispatch_open(struct dispatch *dispatch, size_t places) {
    memset(dispatch, 0, offsetof(struct dispatch, places)); /* the rest is so already */
    dispatch->multi = curl_multi_init();
    id_make(dispatch->owner, "cou_", clock_now());
    arena_init(&dispatch->planning, PLANNING_LIMIT, NULL);
    hosts_init(&dispatch->hosts, places);
    return dispatch->multi &&
           curl_multi_setopt(dispatch->multi, CURLMOPT_MAXCONNECTS, (long)places) == CURLM_OK;
}

void dispatch_close(struct dispatch *dispatch) {
    for (size_t i = 0; i < DISPATCH_PLACES; i++)
        if (dispatch->attempts[i].curl)
            attempt_free(&dispatch->attempts[i]);
    curl_multi_cleanup(dispatch->multi);
    arena_free(&dispatch->planning);
}

size_t dispatch_count(const struct dispatch *dispatch, enum place place) {
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        count += dispatch->places[i] == place;
    return count;
}

/* --- which events to take --- */

/* A user's part of the places. */
struct part {
    const char *user_id;
    struct host *host;
    size_t limit, load; /* how many it may have and has, those given to it included */
    size_t given;
};

static size_t flying_for(const struct dispatch *dispatch, const char *user_id) {
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        count += dispatch->places[i] == PLACE_FLYING &&
                 strcmp(dispatch->attempts[i].delivery.user_id, user_id) == 0;
    return count;
}

static size_t flying_to(const struct dispatch *dispatch, const struct host *host) {
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        count += dispatch->places[i] == PLACE_FLYING && dispatch->host_of[i] == host;
    return count;
}

/* How many may be taken by this exchange. */
static size_t room(const struct dispatch *dispatch) {
    size_t flying = 0, bytes = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        if (dispatch->places[i] == PLACE_FLYING) {
            flying++;
            bytes += dispatch->attempts[i].delivery.body.n;
        }
    if (flying >= dispatch->hosts.places || bytes >= BODIES_LIMIT)
        return 0;
    size_t left = dispatch->hosts.places - flying;
    return left < TAKEN_AT_ONCE ? left : TAKEN_AT_ONCE;
}

bool dispatch_has_room(const struct dispatch *dispatch) {
    return room(dispatch) > 0;
}

void dispatch_look(struct dispatch *dispatch) {
    dispatch->has_seen_all = false;
    dispatch->is_whole_lap = !*dispatch->after;
}

static void count_flights(struct dispatch *dispatch, int64_t now) {
    struct flight flights[DISPATCH_PLACES];
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        if (dispatch->places[i] == PLACE_FLYING)
            flights[count++] = (struct flight){dispatch->host_of[i], dispatch->attempts[i].started};
    hosts_count(&dispatch->hosts, flights, count, now);
}

static size_t limit_of(const struct store_due *due) {
    return due->is_suspended ? 1 : due->is_failing ? DISPATCH_PER_FAILING : HOST_PLACES;
}

static struct part part_of(struct dispatch *dispatch, const struct store_due *due, int64_t now) {
    const char *destination = attempt_destination(&dispatch->planning, due->url);
    return (struct part){
        .user_id = due->user_id,
        .host = hosts_find(&dispatch->hosts, destination, now),
        .limit = limit_of(due),
        .load = flying_for(dispatch, due->user_id),
    };
}

/* Shares places out, one each in every round, to those that have least. Returns the first part that
 * got none because none was left; NULL: none was. */
static const struct part *share_out(struct dispatch *dispatch, struct part *parts, size_t count,
                                    size_t *left, int64_t now) {
    const struct part *refused = NULL;
    for (size_t level = 0; level < HOST_PLACES; level++)
        for (size_t i = 0; i < count; i++) {
            struct part *part = &parts[i];
            if (part->load > level || part->load >= part->limit)
                continue;
            if (!*left) {
                refused = refused || part->load ? refused : part;
                continue;
            }
            if (!hosts_admit(&dispatch->hosts, part->host, part->user_id, part->load, now))
                continue;
            part->load++;
            part->given++;
            --*left;
        }
    return refused;
}

/* Where the next batch begins: before `refused`, else behind the last of this one, else, at the
 * end of the lap, with a new lap. */
static void move_on(struct dispatch *dispatch, const struct store_due *due, size_t count,
                    const char *refused) {
    const char *after = dispatch->after;
    for (size_t i = 0; i < count && (!refused || strcmp(due[i].user_id, refused) < 0); i++)
        after = due[i].user_id;
    if (refused || count == BATCH) {
        memmove(dispatch->after, after, strlen(after) + 1);
        return;
    }
    dispatch->has_seen_all = dispatch->is_whole_lap;
    dispatch->is_whole_lap = true;
    dispatch->hosts.lap++;
    *dispatch->after = '\0';
}

/* Adds the shares of the next users who wait to `shares`. */
static enum store_result plan_batch(struct dispatch *dispatch, struct store *store, int64_t now,
                                    struct buffer *shares, size_t *left) {
    const int64_t monotonic = clock_monotonic();
    struct store_due *due;
    size_t count, waiting = 0;
    enum store_result result =
        store_list_due(store, &dispatch->planning, dispatch->after, BATCH, now, &due, &count);
    struct part *parts = arena_alloc(&dispatch->planning, BATCH * sizeof *parts);
    if (result != STORE_OK)
        return result;
    for (size_t i = 0; i < count; i++)
        if (due[i].url)
            parts[waiting++] = part_of(dispatch, &due[i], monotonic);
    const struct part *refused = share_out(dispatch, parts, waiting, left, monotonic);
    for (size_t i = 0; i < waiting; i++)
        if (parts[i].given)
            buffer_add(shares, &(struct store_share){parts[i].user_id, parts[i].given},
                       sizeof(struct store_share));
    move_on(dispatch, due, count, refused ? refused->user_id : NULL);
    return STORE_OK;
}

/* Who gets how many places; those who get none are left out. In `planning`. */
static enum store_result plan(struct dispatch *dispatch, struct store *store,
                              struct store_exchange *exchange) {
    struct buffer shares = buffer_in(&dispatch->planning);
    size_t left = room(dispatch);
    enum store_result result = STORE_OK;
    count_flights(dispatch, clock_monotonic());
    for (int i = 0; i < BATCHES && left && !dispatch->has_seen_all && result == STORE_OK; i++)
        result = plan_batch(dispatch, store, exchange->now, &shares, &left);
    exchange->shares = (const struct store_share *)(void *)shares.p;
    exchange->share_count = shares.n / sizeof *exchange->shares;
    return result;
}

static void log_end(const struct dispatch *dispatch, const struct attempt *attempt) {
    static const char *const verdicts[] = {
        [VERDICT_DELIVERED] = "delivered",
        [VERDICT_RETRY] = "retry",
        [VERDICT_DEAD] = "dead",
        [VERDICT_GONE] = "gone",
    };
    const struct store_attempt *result = &attempt->result;
    struct arena arena;
    struct json_writer line;
    arena_init(&arena, 64 * 1024, NULL);
    log_start(&line, &arena, result->verdict == VERDICT_DELIVERED ? LOG_INFO : LOG_WARN);
    json_write_text(&line, "courier", dispatch->owner);
    json_write_text(&line, "event", result->event_id);
    json_write_text(&line, "type", attempt->delivery.type);
    json_write_integer(&line, "attempt", attempt->delivery.attempts);
    json_write_text(&line, "destination", attempt->destination);
    json_write_integer(&line, "status", result->status);
    json_write_integer(&line, "ms", result->duration_ms);
    json_write_text(&line, "verdict", verdicts[result->verdict]);
    if (result->error)
        json_write_text(&line, "error", result->error);
    if (result->verdict == VERDICT_RETRY)
        json_write_time(&line, "next", result->next_attempt_at);
    log_finish(&line);
    arena_free(&arena);
}

static void clear(struct dispatch *dispatch, size_t place) {
    attempt_clear(&dispatch->attempts[place]);
    if (place >= KEPT_PLACES)
        attempt_free(&dispatch->attempts[place]);
    dispatch->places[place] = PLACE_FREE;
    while (dispatch->used && dispatch->places[dispatch->used - 1] == PLACE_FREE)
        dispatch->used--;
}

/* A free place with the memory for an attempt; NULL when there is none. */
static struct attempt *find_place(struct dispatch *dispatch) {
    size_t i = 0;
    while (i < DISPATCH_PLACES && dispatch->places[i] != PLACE_FREE)
        i++;
    if (i == DISPATCH_PLACES)
        return NULL;
    struct attempt *attempt = &dispatch->attempts[i];
    if (!attempt->curl && !attempt_init(attempt)) {
        attempt_free(attempt);
        return NULL;
    }
    if (i >= dispatch->used)
        dispatch->used = i + 1;
    return attempt;
}

static void start(struct dispatch *dispatch, struct store *store, struct resources *resources,
                  const struct store_delivery *delivery) {
    const char *destination = attempt_destination(&dispatch->planning, delivery->url);
    struct host *host = hosts_find(&dispatch->hosts, destination, clock_monotonic());
    /* after the event was taken: its code may be sealed with a key that is new */
    const struct keyring *keys = resources_keys(resources);
    struct attempt *attempt = NULL;
    if (keys && flying_to(dispatch, host) < HOST_PLACES)
        attempt = find_place(dispatch);
    if (!attempt) {
        /* the key file is gone, the URL became another after the places were shared out, or there
         * is no memory */
        store_release_event(store, dispatch->owner, delivery->event_id);
        return;
    }
    const size_t i = (size_t)(attempt - dispatch->attempts);
    bool flies = attempt_start(attempt, dispatch->multi, &resources->config, keys, delivery);
    dispatch->host_of[i] = host;
    if (!host->gate.load)
        host->gate.load = 1; /* so that it is not forgotten while its attempt is under way */
    dispatch->places[i] = flies ? PLACE_FLYING : PLACE_ENDED;
    if (!flies)
        log_end(dispatch, attempt);
}

/* Copies the results of attempts that have ended to `results`, and returns their number. */
static size_t results_of(const struct dispatch *dispatch,
                         struct store_attempt results[DISPATCH_PLACES]) {
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        if (dispatch->places[i] == PLACE_ENDED)
            results[count++] = dispatch->attempts[i].result;
    return count;
}

enum store_result dispatch_exchange(struct dispatch *dispatch, struct store *store,
                                    struct resources *resources, bool may_take, size_t *taken) {
    struct store_attempt results[DISPATCH_PLACES];
    struct store_exchange exchange = {
        .owner = dispatch->owner,
        .now = clock_now(),
        .attempts = results,
        .attempt_count = results_of(dispatch, results),
    };
    struct store_delivery *deliveries;
    enum store_result result = STORE_OK;
    *taken = 0;
    if (may_take)
        result = plan(dispatch, store, &exchange);
    if (result == STORE_OK && (exchange.attempt_count || exchange.share_count))
        result = store_exchange_events(store, &dispatch->planning, &exchange, &deliveries, taken);
    for (size_t i = dispatch->used; i-- > 0 && result == STORE_OK;)
        if (dispatch->places[i] == PLACE_ENDED)
            clear(dispatch, i);
    for (size_t i = 0; i < *taken; i++)
        start(dispatch, store, resources, &deliveries[i]);
    arena_reset(&dispatch->planning);
    return result;
}

/* --- under way, and after --- */

size_t dispatch_advance(struct dispatch *dispatch) {
    int running, left;
    size_t ended = 0;
    CURLMsg *message;
    curl_multi_perform(dispatch->multi, &running);
    while ((message = curl_multi_info_read(dispatch->multi, &left))) {
        struct attempt *attempt = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&attempt);
        attempt_end(attempt, dispatch->multi, code);
        const size_t place = (size_t)(attempt - dispatch->attempts);
        dispatch->places[place] = PLACE_ENDED;
        hosts_end(dispatch->host_of[place], attempt->started, !attempt->timed_out,
                  clock_monotonic());
        log_end(dispatch, attempt);
        ended++;
    }
    return ended;
}

void dispatch_abandon(struct dispatch *dispatch, struct store *store) {
    for (size_t i = dispatch->used; i-- > 0;) {
        if (dispatch->places[i] != PLACE_FLYING)
            continue;
        attempt_drop(&dispatch->attempts[i], dispatch->multi);
        if (store)
            store_release_event(store, dispatch->owner, dispatch->attempts[i].delivery.event_id);
        clear(dispatch, i);
    }
}
