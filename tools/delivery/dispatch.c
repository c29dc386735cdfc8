#include "dispatch.h"

#include "base/clock.h"
#include "base/log.h"

enum { PLANNING_LIMIT = 512 * 1024 * 1024 }; /* 32 events as large as the store allows */

bool dispatch_open(struct dispatch *dispatch) {
    *dispatch = (struct dispatch){.multi = curl_multi_init()};
    id_make(dispatch->owner, "cou_", clock_now());
    arena_init(&dispatch->planning, PLANNING_LIMIT, NULL);
    bool is_open = dispatch->multi != NULL;
    for (size_t i = 0; i < DISPATCH_PLACES; i++)
        is_open = attempt_init(&dispatch->attempts[i]) && is_open;
    return is_open;
}

void dispatch_close(struct dispatch *dispatch) {
    for (size_t i = 0; i < DISPATCH_PLACES; i++)
        attempt_free(&dispatch->attempts[i]);
    curl_multi_cleanup(dispatch->multi);
    arena_free(&dispatch->planning);
}

size_t dispatch_count(const struct dispatch *dispatch, enum place place) {
    size_t count = 0;
    for (size_t i = 0; i < DISPATCH_PLACES; i++)
        count += dispatch->places[i] == place;
    return count;
}

/* --- which events to take --- */

/* A host and port, and how many attempts it has. */
struct destination {
    const char *name;
    size_t load;
};

/* A webhook's part of the places. */
struct part {
    struct destination *destination;
    size_t limit, load; /* how many it may have and has, those given to it included */
    size_t given;
};

static size_t flying_to(const struct dispatch *dispatch, const char *destination) {
    size_t count = 0;
    for (size_t i = 0; i < DISPATCH_PLACES; i++)
        count += dispatch->places[i] == PLACE_FLYING &&
                 strcmp(dispatch->attempts[i].destination, destination) == 0;
    return count;
}

static size_t flying_for(const struct dispatch *dispatch, const char *user_id) {
    size_t count = 0;
    for (size_t i = 0; i < DISPATCH_PLACES; i++)
        count += dispatch->places[i] == PLACE_FLYING &&
                 strcmp(dispatch->attempts[i].delivery.user_id, user_id) == 0;
    return count;
}

/* The entry of `name` among the `*count`; a new one when there is none. */
static struct destination *find_destination(const struct dispatch *dispatch,
                                            struct destination *destinations, size_t *count,
                                            const char *name) {
    for (size_t i = 0; i < *count; i++)
        if (strcmp(destinations[i].name, name) == 0)
            return &destinations[i];
    destinations[*count] = (struct destination){name, flying_to(dispatch, name)};
    return &destinations[(*count)++];
}

static size_t limit_of(const struct store_due *due) {
    return due->is_suspended ? 1
           : due->is_failing ? DISPATCH_PER_FAILING
                             : DISPATCH_PER_DESTINATION;
}

/* Shares the free places out, one each in every round, to those that have least. */
static void share_out(const struct dispatch *dispatch, struct part *parts, size_t count) {
    size_t left = DISPATCH_PLACES - dispatch_count(dispatch, PLACE_FLYING);
    for (size_t level = 0; level < DISPATCH_PER_DESTINATION; level++)
        for (size_t i = 0; i < count && left; i++)
            if (parts[i].load <= level && parts[i].load < parts[i].limit &&
                parts[i].destination->load < DISPATCH_PER_DESTINATION) {
                parts[i].destination->load++;
                parts[i].load++;
                parts[i].given++;
                left--;
            }
}

/* Who gets how many places; those who get none are left out. In `planning`. */
static enum store_result plan(struct dispatch *dispatch, struct store *store, int64_t now,
                              struct store_share **shares, size_t *count) {
    struct arena *arena = &dispatch->planning;
    struct store_due *due;
    size_t due_count;
    enum store_result result = store_list_due(store, arena, now, &due, &due_count);
    struct part *parts = arena_alloc(arena, due_count * sizeof *parts);
    struct destination *destinations = arena_alloc(arena, due_count * sizeof *destinations);
    size_t destination_count = 0;
    *shares = arena_alloc(arena, due_count * sizeof **shares);
    *count = 0;
    for (size_t i = 0; i < due_count; i++)
        parts[i] = (struct part){
            .destination = find_destination(dispatch, destinations, &destination_count,
                                            attempt_destination(arena, due[i].url)),
            .limit = limit_of(&due[i]),
            .load = flying_for(dispatch, due[i].user_id),
        };
    share_out(dispatch, parts, due_count);
    for (size_t i = 0; i < due_count; i++)
        if (parts[i].given)
            (*shares)[(*count)++] = (struct store_share){due[i].user_id, parts[i].given};
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

static void start(struct dispatch *dispatch, struct store *store, struct resources *resources,
                  const struct store_delivery *delivery) {
    const char *destination = attempt_destination(&dispatch->planning, delivery->url);
    /* after the event was taken: its code may be sealed with a key that is new */
    const struct keyring *keys = resources_keys(resources);
    size_t i = 0;
    if (!keys || flying_to(dispatch, destination) >= DISPATCH_PER_DESTINATION) {
        /* the key file is gone, or the URL became another after the places were shared out */
        store_release_event(store, dispatch->owner, delivery->event_id);
        return;
    }
    while (dispatch->places[i] != PLACE_FREE)
        i++; /* no more were claimed than places are free */
    bool flies =
        attempt_start(&dispatch->attempts[i], dispatch->multi, &resources->config, keys, delivery);
    dispatch->places[i] = flies ? PLACE_FLYING : PLACE_ENDED;
    if (!flies)
        log_end(dispatch, &dispatch->attempts[i]);
}

static void clear(struct dispatch *dispatch, size_t place) {
    attempt_clear(&dispatch->attempts[place]);
    dispatch->places[place] = PLACE_FREE;
}

/* Copies the results of attempts that have ended to `results`, and returns their number. */
static size_t results_of(const struct dispatch *dispatch,
                         struct store_attempt results[DISPATCH_PLACES]) {
    size_t count = 0;
    for (size_t i = 0; i < DISPATCH_PLACES; i++)
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
    struct store_share *shares = NULL;
    struct store_delivery *deliveries;
    enum store_result result = STORE_OK;
    *taken = 0;
    if (may_take)
        result = plan(dispatch, store, exchange.now, &shares, &exchange.share_count);
    exchange.shares = shares;
    if (result == STORE_OK && (exchange.attempt_count || exchange.share_count))
        result = store_exchange_events(store, &dispatch->planning, &exchange, &deliveries, taken);
    for (size_t i = 0; i < DISPATCH_PLACES && result == STORE_OK; i++)
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
        dispatch->places[attempt - dispatch->attempts] = PLACE_ENDED;
        log_end(dispatch, attempt);
        ended++;
    }
    return ended;
}

void dispatch_abandon(struct dispatch *dispatch, struct store *store) {
    for (size_t i = 0; i < DISPATCH_PLACES; i++) {
        if (dispatch->places[i] != PLACE_FLYING)
            continue;
        attempt_drop(&dispatch->attempts[i], dispatch->multi);
        if (store)
            store_release_event(store, dispatch->owner, dispatch->attempts[i].delivery.event_id);
        clear(dispatch, i);
    }
}
