/* How slots are given. The webhooks with due events are listed, and planned in batches, in the
 * order of their ids, at most 128 in one exchange; a pass goes over the list, and removes from it
 * those whose due events have all been leased. Within a batch each webhook that hosts.c admits gets
 * one slot per round, first those with the fewest attempts in flight (give_slots). If the slots run
 * out, the next batch begins at the first webhook that has none, so that each gets its turn. One
 * exchange then records the attempts that have ended and leases as many events as slots were given,
 * in one transaction; a lease that cannot be started is released at once. `has_seen_all` is set at
 * the end of a pass that began after the last wake-up or end of an attempt: until then there may be
 * more to take. Only a wake-up or a tick needs a new list; the end of an attempt concerns listed
 * webhooks, unless it ends the suspension of one.
 */
#include "delivery/dispatch.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/log.h"

enum {
    TAKEN_AT_ONCE = 32,                 /* events per exchange */
    PLANNING_LIMIT = 512 * 1024 * 1024, /* enough for TAKEN_AT_ONCE events of the largest size */
    BODIES_LIMIT = 64 * 1024 * 1024,    /* bytes of all event bodies in flight */
    LISTING_LIMIT = 128 * 1024 * 1024,  /* the ids of a million webhooks */
    BATCH = 64,                         /* webhooks read by one call of the store */
    BATCHES = 2,
    KEPT_SLOTS = 32, /* slots that keep their memory for the next attempt */
    /* per attempt: its connections, IPv4 and IPv6, and the thread of its resolver */
    DESCRIPTORS_EACH = 4,
    DESCRIPTORS_ELSE = 64,
    FEWEST_SLOTS = 8,
};

size_t dispatch_count_slots(void) {
    const rlim_t wanted = DISPATCH_SLOTS * DESCRIPTORS_EACH + DESCRIPTORS_ELSE;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return FEWEST_SLOTS;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= wanted)
        return DISPATCH_SLOTS;
    if (limit.rlim_cur < DESCRIPTORS_ELSE + FEWEST_SLOTS * DESCRIPTORS_EACH)
        return FEWEST_SLOTS;
    return (limit.rlim_cur - DESCRIPTORS_ELSE) / DESCRIPTORS_EACH;
}

bool dispatch_open(struct dispatch *dispatch, size_t slots) {
    memset(dispatch, 0, offsetof(struct dispatch, slots)); /* the rest is zero already */
    dispatch->multi = curl_multi_init();
    id_make(dispatch->courier_id, "cou_", clock_now());
    arena_init(&dispatch->planning, PLANNING_LIMIT, NULL);
    arena_init(&dispatch->listing, LISTING_LIMIT, NULL);
    hosts_init(&dispatch->hosts, slots);
    return dispatch->multi &&
           curl_multi_setopt(dispatch->multi, CURLMOPT_MAXCONNECTS, (long)slots) == CURLM_OK;
}

void dispatch_close(struct dispatch *dispatch) {
    for (size_t i = 0; i < DISPATCH_SLOTS; i++)
        if (dispatch->attempts[i].http.curl)
            attempt_free(&dispatch->attempts[i]);
    curl_multi_cleanup(dispatch->multi);
    arena_free(&dispatch->planning);
    arena_free(&dispatch->listing);
}

size_t dispatch_count(const struct dispatch *dispatch, enum slot slot) {
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        count += dispatch->slots[i] == slot;
    return count;
}

/* --- planning: how many events of which webhooks to take --- */

/* A webhook with events that are due. */
struct candidate {
    const char *webhook_id, *user_id;
    struct host *host;
    struct host_user *user;
    size_t limit; /* slots that the webhook may have */
    size_t load;  /* slots that the webhook has, including those given */
    size_t given; /* slots given to the webhook by this exchange */
};

static size_t in_flight_for(const struct dispatch *dispatch, const char *webhook_id) {
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        count += dispatch->slots[i] == SLOT_IN_FLIGHT &&
                 strcmp(dispatch->attempts[i].delivery.webhook_id, webhook_id) == 0;
    return count;
}

static size_t in_flight_to(const struct dispatch *dispatch, const struct host *host) {
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        count += dispatch->slots[i] == SLOT_IN_FLIGHT && dispatch->flights[i].host == host;
    return count;
}

/* How many events this exchange may take. */
static size_t room(const struct dispatch *dispatch) {
    size_t in_flight = 0, bytes = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        if (dispatch->slots[i] == SLOT_IN_FLIGHT) {
            in_flight++;
            bytes += dispatch->attempts[i].delivery.body.n;
        }
    if (in_flight >= dispatch->hosts.slots || bytes >= BODIES_LIMIT)
        return 0;
    size_t left = dispatch->hosts.slots - in_flight;
    return left < TAKEN_AT_ONCE ? left : TAKEN_AT_ONCE;
}

bool dispatch_has_room(const struct dispatch *dispatch) {
    return room(dispatch) > 0;
}

void dispatch_revisit(struct dispatch *dispatch) {
    dispatch->has_seen_all = false;
    dispatch->is_whole_pass = !dispatch->next;
}

void dispatch_rescan(struct dispatch *dispatch) {
    dispatch->must_list = true;
    dispatch_revisit(dispatch);
}

static void count_in_flight(struct dispatch *dispatch) {
    struct in_flight in_flight[DISPATCH_SLOTS];
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        if (dispatch->slots[i] == SLOT_IN_FLIGHT)
            in_flight[count++] = dispatch->flights[i];
    hosts_count(&dispatch->hosts, in_flight, count);
}

static size_t limit_of(const struct store_due *due) {
    return due->is_suspended ? 1 : due->is_failing ? DISPATCH_PER_FAILING : HOST_SLOTS;
}

static struct candidate candidate_of(struct dispatch *dispatch, const struct store_due *due,
                                     int64_t now) {
    const char *destination = attempt_destination(&dispatch->planning, due->url);
    return (struct candidate){
        .webhook_id = due->webhook_id,
        .user_id = due->user_id,
        .host = hosts_find(&dispatch->hosts, destination, now),
        .user = hosts_find_user(&dispatch->hosts, due->user_id),
        .limit = limit_of(due),
        .load = in_flight_for(dispatch, due->webhook_id),
    };
}

/* Gives slots to the candidates, at most one to each per round, first to those that have the
 * fewest. Returns the first candidate without any slot that got none because all `*left` were
 * given; NULL when there is none. */
static const struct candidate *give_slots(struct dispatch *dispatch, struct candidate *candidates,
                                          size_t count, size_t *left, int64_t now) {
    const struct candidate *refused = NULL;
    for (size_t level = 0; level < HOST_SLOTS; level++)
        for (size_t i = 0; i < count; i++) {
            struct candidate *candidate = &candidates[i];
            if (candidate->load > level || candidate->load >= candidate->limit)
                continue;
            if (!*left) {
                refused = refused || candidate->load ? refused : candidate;
                continue;
            }
            if (!hosts_admit(&dispatch->hosts, candidate->host, candidate->user,
                             candidate->webhook_id, candidate->load, now))
                continue;
            candidate->load++;
            candidate->given++;
            --*left;
        }
    return refused;
}

/* Lists the webhooks at the beginning of a pass, if the list may be incomplete. */
static enum store_result list_due(struct dispatch *dispatch, struct store *store, int64_t now) {
    if (dispatch->next || !dispatch->must_list)
        return STORE_OK;
    dispatch->due_count = 0;
    arena_reset(&dispatch->listing);
    enum store_result result =
        store_list_due(store, &dispatch->listing, now, &dispatch->due, &dispatch->due_count);
    dispatch->must_list = result != STORE_OK;
    return result;
}

/* Removes those webhooks of the batch from the list to which nothing can be delivered now. */
static void keep_waiting(struct dispatch *dispatch, const struct store_due *batch, size_t count) {
    const size_t begin = dispatch->next;
    size_t kept = begin;
    for (size_t i = begin; i < dispatch->due_count; i++)
        if (i >= begin + count || batch[i - begin].url)
            dispatch->due[kept++] = dispatch->due[i];
    dispatch->due_count = kept;
}

/* Ends the pass after the last webhook. */
static void end_pass(struct dispatch *dispatch) {
    if (dispatch->next < dispatch->due_count)
        return;
    dispatch->has_seen_all = dispatch->is_whole_pass;
    dispatch->is_whole_pass = true;
    dispatch->hosts.pass++;
    dispatch->next = 0;
}

/* Plans the next batch of the list, and adds the webhooks' shares to `shares`. */
static enum store_result plan_batch(struct dispatch *dispatch, struct store *store, int64_t now,
                                    struct buffer *shares, size_t *left) {
    const int64_t monotonic = clock_monotonic();
    struct store_due due[BATCH];
    struct candidate candidates[BATCH];
    size_t waiting = 0;
    enum store_result result = list_due(dispatch, store, now);
    const size_t rest = dispatch->due_count - dispatch->next;
    const size_t count = rest < BATCH ? rest : BATCH;
    if (result == STORE_OK)
        result = store_read_due(store, &dispatch->planning, dispatch->due + dispatch->next, count,
                                now, due);
    if (result != STORE_OK)
        return result;
    keep_waiting(dispatch, due, count);
    for (size_t i = 0; i < count; i++)
        if (due[i].url)
            candidates[waiting++] = candidate_of(dispatch, &due[i], monotonic);
    const struct candidate *refused = give_slots(dispatch, candidates, waiting, left, monotonic);
    for (size_t i = 0; i < waiting; i++)
        if (candidates[i].given)
            buffer_add(shares,
                       &(struct store_share){.webhook_id = candidates[i].webhook_id,
                                             .user_id = candidates[i].user_id,
                                             .limit = candidates[i].given},
                       sizeof(struct store_share));
    dispatch->next += refused ? (size_t)(refused - candidates) : waiting;
    end_pass(dispatch);
    return STORE_OK;
}

/* Sets the shares of the exchange: the webhooks that get slots, and how many. In `planning`. */
static enum store_result plan(struct dispatch *dispatch, struct store *store,
                              struct store_exchange *exchange) {
    struct buffer shares = buffer_in(&dispatch->planning);
    size_t left = room(dispatch);
    enum store_result result = STORE_OK;
    count_in_flight(dispatch);
    for (int i = 0; i < BATCHES && left && !dispatch->has_seen_all && result == STORE_OK; i++)
        result = plan_batch(dispatch, store, exchange->now, &shares, &left);
    exchange->shares = buffer_array(&shares, sizeof *exchange->shares, &exchange->share_count);
    return result;
}

/* Logs and counts an attempt that has ended. */
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
    counters_add(COUNTERS_ATTEMPTS, verdicts[result->verdict], 1);
    counters_observe(COUNTERS_ATTEMPT_TIME, "", result->duration_ms * 1000);
    arena_init(&arena, 64 * 1024, NULL);
    log_start(&line, &arena, result->verdict == VERDICT_DELIVERED ? LOG_INFO : LOG_WARN);
    json_write_text(&line, "courier", dispatch->courier_id);
    json_write_text(&line, "event", result->event_id);
    json_write_text(&line, "webhook", result->webhook_id);
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

static void clear(struct dispatch *dispatch, size_t slot) {
    attempt_clear(&dispatch->attempts[slot]);
    if (slot >= KEPT_SLOTS)
        attempt_free(&dispatch->attempts[slot]);
    dispatch->slots[slot] = SLOT_FREE;
    while (dispatch->used && dispatch->slots[dispatch->used - 1] == SLOT_FREE)
        dispatch->used--;
}

/* Returns the attempt of a free slot, with its memory allocated; NULL when there is no free slot or
 * no memory. */
static struct attempt *find_slot(struct dispatch *dispatch) {
    size_t i = 0;
    while (i < DISPATCH_SLOTS && dispatch->slots[i] != SLOT_FREE)
        i++;
    if (i == DISPATCH_SLOTS)
        return NULL;
    struct attempt *attempt = &dispatch->attempts[i];
    if (!attempt->http.curl && !attempt_init(attempt)) {
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
    const int64_t now = clock_monotonic();
    struct host *host = hosts_find(&dispatch->hosts, destination, now);
    struct host_user *user = hosts_find_user(&dispatch->hosts, delivery->user_id);
    /* read after the event was taken, since its code may be sealed with a new key */
    const struct keyring *keys = resources_keys(resources);
    struct attempt *attempt = NULL;
    if (keys && in_flight_to(dispatch, host) < HOST_SLOTS)
        attempt = find_slot(dispatch);
    if (!attempt) {
        /* the key file is missing, the URL was changed after the slots were given, or memory is
         * exhausted */
        store_release_event(store, dispatch->courier_id, delivery->event_id, delivery->webhook_id);
        return;
    }
    const size_t i = (size_t)(attempt - dispatch->attempts);
    bool is_started = attempt_start(attempt, dispatch->multi, &resources->config, keys, delivery);
    dispatch->flights[i] = (struct in_flight){host, user, hosts_class(host, now), attempt->started};
    if (!host->entry.load)
        host->entry.load = 1; /* keeps the entry in the table while its attempt is in flight */
    if (!user->entry.load)
        user->entry.load = 1;
    dispatch->slots[i] = is_started ? SLOT_IN_FLIGHT : SLOT_ENDED;
    if (!is_started)
        log_end(dispatch, attempt);
}

/* Copies the results of the attempts that have ended to `results`. Returns their number. */
static size_t results_of(const struct dispatch *dispatch,
                         struct store_attempt results[DISPATCH_SLOTS]) {
    size_t count = 0;
    for (size_t i = 0; i < dispatch->used; i++)
        if (dispatch->slots[i] == SLOT_ENDED)
            results[count++] = dispatch->attempts[i].result;
    return count;
}

enum store_result dispatch_exchange(struct dispatch *dispatch, struct store *store,
                                    struct resources *resources, bool may_take) {
    struct store_attempt results[DISPATCH_SLOTS];
    struct store_exchange exchange = {
        .courier = dispatch->courier_id,
        .now = clock_now(),
        .attempts = results,
        .attempt_count = results_of(dispatch, results),
    };
    struct store_delivery *deliveries;
    size_t taken = 0;
    enum store_result result = STORE_OK;
    if (may_take)
        result = plan(dispatch, store, &exchange);
    if (result == STORE_OK && (exchange.attempt_count || exchange.share_count))
        result = store_exchange_events(store, &dispatch->planning, &exchange, &deliveries, &taken);
    for (size_t i = dispatch->used; i-- > 0 && result == STORE_OK;)
        if (dispatch->slots[i] == SLOT_ENDED) {
            dispatch->must_list |= dispatch->attempts[i].result.is_probe;
            clear(dispatch, i);
        }
    for (size_t i = 0; i < taken; i++)
        start(dispatch, store, resources, &deliveries[i]);
    arena_reset(&dispatch->planning);
    return result;
}

/* --- attempts in flight --- */

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
        const size_t slot = (size_t)(attempt - dispatch->attempts);
        dispatch->slots[slot] = SLOT_ENDED;
        hosts_end(dispatch->flights[slot].host, attempt->started, !attempt->timed_out,
                  clock_monotonic());
        log_end(dispatch, attempt);
        ended++;
    }
    return ended;
}

void dispatch_abandon(struct dispatch *dispatch, struct store *store) {
    for (size_t i = dispatch->used; i-- > 0;) {
        if (dispatch->slots[i] != SLOT_IN_FLIGHT)
            continue;
        attempt_drop(&dispatch->attempts[i], dispatch->multi);
        const struct store_delivery *delivery = &dispatch->attempts[i].delivery;
        if (store)
            store_release_event(store, dispatch->courier_id, delivery->event_id,
                                delivery->webhook_id);
        clear(dispatch, i);
    }
}
