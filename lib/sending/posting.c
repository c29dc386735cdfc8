#include "sending/posting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/seal.h"
#include "delivery/kept_record.h"
#include "payload/attachment.h"
#include "payload/event_body.h"
#include "payload/graph_send.h"
#include "payload/send_answer.h"
#include "store/campaign.h"
#include "store/erasure.h"
#include "store/opt_out.h"
#include "store/seal_context.h"

enum {
    PLANNING_LIMIT = 256 * 1024 * 1024,
    FLIGHT_LIMIT = 64 * 1024 * 1024, /* a body of 2 MB, and the platform's answer */
    LINES_AT_ONCE = 64,
    ROWS_AT_ONCE = 100,
    LATEST_START_MS = 5 * 1000, /* after the row was taken */
    CLOSED_MS = 60 * 1000,      /* before a row is tried again whose token cannot be decrypted */
    UNCLEAR_MS = 60 * 1000,     /* that a line waits after a streak of unclear answers */
    LONGEST_PAUSE_MS = 60 * 1000,
};

bool posting_open(struct posting *posting) {
    posting->multi = curl_multi_init();
    id_make(posting->owner, "snd_", clock_now());
    arena_init(&posting->planning, PLANNING_LIMIT, NULL);
    for (size_t i = 0; i < POSTING_SLOTS; i++)
        arena_init(&posting->flights[i].arena, FLIGHT_LIMIT, NULL);
    pace_init(&posting->pace);
    streaks_init(&posting->streaks, NULL, 0);
    return posting->multi &&
           curl_multi_setopt(posting->multi, CURLMOPT_MAXCONNECTS, (long)POSTING_SLOTS) == CURLM_OK;
}

void posting_close(struct posting *posting) {
    for (size_t i = 0; i < POSTING_SLOTS; i++) {
        graph_post_free(&posting->flights[i].post);
        arena_free(&posting->flights[i].arena);
    }
    curl_multi_cleanup(posting->multi);
    arena_free(&posting->planning);
}

enum store_result posting_take_over(struct posting *posting, struct store *store) {
    struct outgoing_streak *stored;
    size_t count;
    enum store_result result =
        store_list_streaks(store, &posting->planning, STREAKS_MOST, &stored, &count);
    if (result == STORE_OK)
        streaks_init(&posting->streaks, stored, count);
    arena_reset(&posting->planning);
    return result;
}

size_t posting_count(const struct posting *posting, enum posting_slot slot) {
    size_t count = 0;
    for (size_t i = 0; i < POSTING_SLOTS; i++)
        count += posting->flights[i].slot == slot;
    return count;
}

void posting_rescan(struct posting *posting) {
    posting->has_seen_all = posting->is_second_part = false;
    memcpy(posting->until, posting->after, ID_SIZE);
    posting->next_due_at = posting->room_at = INT64_MAX;
}

bool posting_may_take(const struct posting *posting) {
    return !posting->has_seen_all && posting_count(posting, POSTING_FREE) > 0 &&
           clock_monotonic() >= posting->unreached_until;
}

/* --- the end of a flight --- */

static void clear(struct flight *flight) {
    if (flight->line)
        pace_end(flight->line);
    crypto_wipe((void *)(uintptr_t)flight->call.token,
                flight->call.token ? strlen(flight->call.token) : 0);
    arena_reset(&flight->arena);
    flight->line = NULL;
    flight->call = (struct graph_call){.method = NULL};
    flight->is_judged = false;
    memset(flight->streaks, 0, sizeof flight->streaks);
    flight->slot = POSTING_FREE;
}

static void log_end(const struct flight *flight, const char *state, const char *reason) {
    struct arena arena;
    struct json_writer line;
    arena_init(&arena, 64 * 1024, NULL);
    log_start(&line, &arena, strcmp(state, "accepted") == 0 ? LOG_INFO : LOG_WARN);
    json_write_text(&line, "outgoing", flight->row.id);
    json_write_text(&line, "state", state);
    if (reason)
        json_write_text(&line, "reason", reason);
    json_write_integer(&line, "attempt", flight->row.attempts);
    if (flight->post.answer.status)
        json_write_integer(&line, "status", flight->post.answer.status);
    json_write_integer(&line, "ms", flight->post.answer.ms);
    if (flight->post.answer.failure)
        json_write_text(&line, "error", flight->post.answer.failure);
    log_finish(&line);
    arena_free(&arena);
}

/* Counts what became of a row once it is stored. */
static void count_outcome(const char *state) {
    counters_add(COUNTERS_SENDS, strcmp(state, "queued") == 0 ? "retry" : state, 1);
}

static enum store_result end_row(const struct posting *posting, struct store *store,
                                 const struct flight *flight, struct outgoing_outcome outcome) {
    outcome.id = flight->row.id;
    outcome.campaign_id = flight->row.campaign_id;
    outcome.owner = posting->owner;
    outcome.take_id = flight->take_id;
    outcome.now = clock_now();
    outcome.write = event_body;
    outcome.streaks = flight->streaks;
    log_end(flight, outcome.state, outcome.reason);
    const enum store_result result = store_end_outgoing(store, &outcome);
    if (result == STORE_OK)
        count_outcome(outcome.state);
    return result;
}

/* --- the record of an accepted message --- */

/* The record of a row's message, in `arena`. */
static struct store_send send_of(struct arena *arena, const struct config *config,
                                 const struct store_outgoing *row, const char *wamid, int64_t now) {
    struct graph_send sent;
    const char *error;
    struct store_send send = {.user_id = row->user_id,
                              .account_id = row->account_id,
                              .line_id = row->line_id,
                              .wamid = wamid,
                              .type = "unknown",
                              .body = row->body,
                              .by_id = row->by.id,
                              .by_name = row->by.name,
                              .outgoing_id = row->id,
                              .now = now};
    if (graph_send_read(arena, "application/json", row->body, &sent, &error) == 0) {
        send.phone = sent.phone;
        send.bsuid = sent.phone ? NULL : sent.bsuid;
        send.type = sent.type;
        send.context_wamid = sent.context_wamid;
        send.template_name = sent.template_name;
        send.template_language = sent.template_language;
        send.flow_id = sent.flow_id;
        send.flow_token = sent.flow_token;
    }
    send.media_id = attachment_id(arena, row->body);
    send.archived_id = *config->media_archive ? send.media_id : NULL;
    id_make(send.new_contact_id, "con_", now);
    id_make(send.new_thread_id, "thr_", now);
    id_make(send.message_id, "msg_", now);
    return send;
}

/* Stores the message of a row, unless its recipient was erased meanwhile. */
static enum store_result record_send(struct store *store, struct arena *arena,
                                     const struct store_send *send, bool *is_erased) {
    enum store_result result = store_is_send_erased(store, arena, send, is_erased);
    return result != STORE_OK || *is_erased ? result : store_insert_send(store, send);
}

/* Keeps a message that the database does not take. Returns whether it is kept. */
static bool keep(const struct config *config, const struct store_send *send, const char *reason) {
    const struct kept_record record = {.send = *send};
    const bool is_kept = kept_write(config->pending_dir, &record, send->now) == 0;
    const int error = errno;
    if (is_kept) {
        counters_add(COUNTERS_RECORDS, "kept", 1);
        log_message(LOG_WARN, "%s was accepted but not recorded: %s; it waits in pending_dir",
                    send->wamid, reason);
    } else {
        log_message(LOG_ERROR, "%s was accepted but not recorded: %s; pending_dir %s: %s",
                    send->wamid, reason, config->pending_dir, strerror(error));
    }
    return is_kept;
}

/* The message stays in the slot when neither the database nor the disk takes it. */
static enum store_result record_accepted(struct posting *posting, struct flight *flight,
                                         struct store *store, const struct config *config,
                                         struct json answer) {
    struct arena *arena = &flight->arena;
    struct store_send send =
        send_of(arena, config, &flight->row, send_answer_wamid(arena, answer), flight->started_at);
    bool is_erased = false;
    send.wa_id = send.phone ? send_answer_phone(arena, answer) : NULL;
    send.message_status = send_answer_status(arena, answer);
    send.streaks = flight->streaks;
    enum store_result result =
        store ? record_send(store, arena, &send, &is_erased) : STORE_UNAVAILABLE;
    if (is_erased) /* the erasure waits for the end of the row */
        result = end_row(posting, store, flight,
                         (struct outgoing_outcome){.state = "suppressed", .reason = "erased"});
    else
        log_end(flight, "accepted", NULL);
    if (is_erased && result == STORE_OK)
        clear(flight);
    else if (!is_erased &&
             (result == STORE_OK ||
              keep(config, &send, store ? store_reason(store) : "the database cannot be used"))) {
        count_outcome("accepted");
        clear(flight);
    }
    return result;
}

/* --- all outcomes --- */

/* The pauses that the same answer so often in a row makes: a mistake in the messages of a campaign,
 * or a platform whose answers to the line say nothing. */
static void count_streaks(struct posting *posting, struct flight *flight, struct verdict *verdict) {
    const char *campaign_id = flight->row.campaign_id;
    const bool is_unknown = strcmp(verdict->state, "unknown") == 0;
    if (posting->is_abandoned || verdict->was_not_sent)
        return;
    if (campaign_id && strcmp(verdict->state, "queued") != 0 &&
        streaks_add(&posting->streaks, campaign_id, verdict->mistake, &flight->streaks[0])) {
        verdict->pause = PAUSE_CAMPAIGN;
        verdict->pause_reason = arena_printf(&flight->arena, "%ld", verdict->mistake);
    }
    if (streaks_add(&posting->streaks, flight->row.line_id, is_unknown, &flight->streaks[1])) {
        verdict->pause = PAUSE_LINE;
        verdict->pause_reason = "unclear";
        verdict->pause_ms = UNCLEAR_MS;
    }
}

/* The pauses that the verdict makes. */
static void adapt(struct posting *posting, struct flight *flight, struct verdict *verdict) {
    const int64_t now = clock_monotonic();
    if (verdict->was_not_sent) {
        const int64_t longer = posting->unreached_ms * 2;
        if (now >= posting->unreached_until)
            posting->unreached_ms = !longer                     ? 1000
                                    : longer < LONGEST_PAUSE_MS ? longer
                                                                : LONGEST_PAUSE_MS;
        posting->unreached_until = now + posting->unreached_ms;
        verdict->wait_ms = posting->unreached_ms;
        return;
    }
    posting->unreached_ms = 0;
    if (verdict->is_too_fast)
        pace_slow(flight->line, now);
    if (verdict->pause_ms)
        pace_pause(flight->line, now, verdict->pause_ms);
}

/* Judges the answer, once: its record may take several attempts. */
static struct verdict judge(struct posting *posting, struct flight *flight) {
    struct verdict *verdict = &flight->verdict;
    if (flight->is_judged)
        return *verdict;
    *verdict = verdict_of(&flight->arena, &flight->post.answer, flight->row.attempts,
                          flight->row.campaign_id != NULL);
    flight->is_judged = true;
    count_streaks(posting, flight, verdict);
    adapt(posting, flight, verdict);
    return *verdict;
}

static enum store_result record_one(struct posting *posting, struct flight *flight,
                                    struct store *store, const struct config *config) {
    const struct verdict verdict = judge(posting, flight);
    if (strcmp(verdict.state, "accepted") == 0)
        return record_accepted(posting, flight, store, config, verdict.answer);
    if (!store)
        return STORE_UNAVAILABLE;
    const enum store_result result =
        end_row(posting, store, flight,
                (struct outgoing_outcome){.state = verdict.state,
                                          .reason = verdict.reason,
                                          .error = verdict.error,
                                          .is_free = verdict.is_free,
                                          .next_at = clock_now() + verdict.wait_ms,
                                          .pause = verdict.pause,
                                          .pause_reason = verdict.pause_reason,
                                          .opts_out = verdict.opts_out});
    if (result == STORE_OK)
        clear(flight);
    return result;
}

enum store_result posting_record(struct posting *posting, struct store *store,
                                 const struct config *config) {
    enum store_result result = STORE_OK;
    for (size_t i = 0; i < POSTING_SLOTS; i++) {
        struct flight *flight = &posting->flights[i];
        if (flight->slot != POSTING_ENDED)
            continue;
        const enum store_result one = record_one(posting, flight, store, config);
        result = result == STORE_OK ? one : result;
        posting_rescan(posting);
    }
    return result;
}

enum store_result posting_feed(struct posting *posting, struct store *store) {
    enum store_result result = STORE_OK;
    char after[ID_SIZE] = "";
    while (result == STORE_OK) {
        size_t moved;
        result =
            store_feed_campaign(store, &posting->planning, after, clock_now(), event_body, &moved);
        arena_reset(&posting->planning);
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result posting_record_confirmed(struct posting *posting, struct store *store,
                                           const struct config *config, size_t *count) {
    struct arena *arena = &posting->planning;
    struct store_outgoing *rows;
    enum store_result result = store_list_unrecorded(store, arena, ROWS_AT_ONCE, &rows, count);
    for (size_t i = 0; i < *count && result == STORE_OK; i++) {
        const struct store_send send =
            send_of(arena, config, &rows[i], rows[i].wamid, rows[i].finished_at);
        bool is_erased = false;
        result = record_send(store, arena, &send, &is_erased);
    }
    arena_reset(arena);
    return result;
}

/* --- taking --- */

static struct flight *find_slot(struct posting *posting) {
    for (size_t i = 0; i < POSTING_SLOTS; i++)
        if (posting->flights[i].slot == POSTING_FREE)
            return &posting->flights[i];
    return NULL;
}

/* Copies of the row what is needed until its outcome is stored. */
static struct store_outgoing copy_row(struct arena *arena, const struct store_outgoing *row) {
    struct store_outgoing copy = *row;
    copy.id = arena_copy(arena, slice_of(row->id));
    copy.user_id = arena_copy(arena, slice_of(row->user_id));
    copy.account_id = arena_copy(arena, slice_of(row->account_id));
    copy.line_id = arena_copy(arena, slice_of(row->line_id));
    copy.phone_number_id = arena_copy(arena, slice_of(row->phone_number_id));
    copy.recipient = arena_copy(arena, slice_of(row->recipient));
    if (row->campaign_id)
        copy.campaign_id = arena_copy(arena, slice_of(row->campaign_id));
    copy.body.p = arena_copy(arena, row->body);
    if (row->by.id)
        copy.by = (struct actor){arena_copy(arena, slice_of(row->by.id)),
                                 arena_copy(arena, slice_of(row->by.name))};
    return copy;
}

/* Why the row must not be posted now; state NULL: nothing. */
static enum store_result find_hindrance(struct flight *flight, struct store *store,
                                        const struct store_outgoing *row,
                                        const struct keyring *keys,
                                        struct outgoing_outcome *outcome) {
    struct arena *arena = &flight->arena;
    struct graph_send sent;
    const char *error;
    bool blocked = false, opted_out = false;
    *outcome = (struct outgoing_outcome){.state = NULL};
    if (row->hindrance) {
        *outcome = (struct outgoing_outcome){.state = "suppressed", .reason = row->hindrance};
        return STORE_OK;
    }
    if (graph_send_read(arena, "application/json", row->body, &sent, &error)) {
        *outcome = (struct outgoing_outcome){.state = "failed", .reason = "invalid_body"};
        return STORE_OK;
    }
    enum store_result result =
        store_is_blocked(store, row->line_id, row->account_id, sent.phone, sent.bsuid, &blocked);
    if (blocked)
        *outcome = (struct outgoing_outcome){.state = "suppressed", .reason = "blocked"};
    else if (result == STORE_OK && row->is_marketing)
        result = store_is_opted_out(store, row->account_id,
                                    &(struct opt_out_names){sent.phone, sent.bsuid}, &opted_out);
    if (opted_out)
        *outcome = (struct outgoing_outcome){.state = "suppressed", .reason = "opted_out"};
    if (result != STORE_OK || outcome->state)
        return result;
    struct slice token = {0};
    if (keys)
        token = seal_open(keys, arena, row->sealed_token,
                          account_token_context(arena, row->account_id));
    flight->call.token = token.p;
    if (!token.p)
        *outcome = (struct outgoing_outcome){.state = "queued",
                                             .reason = "token_cannot_be_decrypted",
                                             .is_free = true,
                                             .next_at = clock_now() + CLOSED_MS};
    return STORE_OK;
}

static void end_flight(struct graph_owner *owner, CURLM *multi, CURLcode code) {
    struct flight *flight = (struct flight *)(void *)owner; /* its first member */
    graph_post_end(&flight->post, multi, code);
    flight->slot = POSTING_ENDED;
}

/* Starts the POST of a row, or ends it without one. A failure of the store leaves the row to this
 * function's next caller: its outcome is that of a call that was not sent. */
static enum store_result start(struct posting *posting, struct store *store,
                               struct resources *resources, struct flight *flight, int64_t taken) {
    struct outgoing_outcome outcome;
    enum store_result result =
        find_hindrance(flight, store, &flight->row, resources_keys(resources), &outcome);
    if (result == STORE_OK && outcome.state) {
        result = end_row(posting, store, flight, outcome);
        if (result == STORE_OK)
            clear(flight);
        else
            flight->slot = POSTING_ENDED;
        return result;
    }
    flight->slot = POSTING_ENDED; /* an answer with status 0 that was not sent */
    if (result != STORE_OK || clock_boot() - taken > LATEST_START_MS)
        return result;
    flight->started_at = clock_now();
    flight->owner.ended = end_flight;
    flight->call.method = "POST";
    flight->call.body = flight->row.body;
    flight->call.path =
        arena_printf(&flight->arena, "%s/messages",
                     graph_escape(&flight->arena, slice_of(flight->row.phone_number_id)));
    if (graph_post_start(&flight->post, posting->multi, &resources->config, &flight->arena,
                         &flight->call, &flight->owner))
        flight->slot = POSTING_IN_FLIGHT;
    return STORE_OK;
}

/* Takes rows of one line, and starts them. */
static enum store_result take_line(struct posting *posting, struct store *store,
                                   struct resources *resources, const struct outgoing_line *line,
                                   struct pace_line *pace, size_t limit) {
    char take_id[ID_SIZE];
    struct store_outgoing *rows;
    size_t count;
    const int64_t now = clock_now(), taken = clock_boot();
    id_make(take_id, "tak_", now);
    const struct store_take take = {posting->owner, take_id, line->id, limit, now};
    enum store_result result = store_take_outgoing(store, &posting->planning, &take, &rows, &count);
    if (count)
        pace_use(pace, count);
    else if (result == STORE_OK)
        pace_rest(pace, clock_monotonic());
    for (size_t i = 0; i < count; i++) {
        struct flight *flight = find_slot(posting);
        flight->row = copy_row(&flight->arena, &rows[i]);
        flight->post.answer = (struct graph_answer){0};
        flight->line = pace;
        snprintf(flight->take_id, ID_SIZE, "%s", take_id);
        const enum store_result one = start(posting, store, resources, flight, taken);
        result = result == STORE_OK ? one : result;
    }
    arena_reset(&posting->planning);
    return result;
}

/* How many rows of the line may be taken now. */
static size_t limit_of(struct posting *posting, struct pace_line *pace, double rate) {
    const int64_t now = clock_monotonic();
    size_t limit = pace_room(&posting->pace, pace, rate, now);
    const size_t free = posting_count(posting, POSTING_FREE);
    const size_t left =
        pace->entry.load < POSTING_PER_LINE ? POSTING_PER_LINE - pace->entry.load : 0;
    const int64_t room_at = pace_room_at(pace, now);
    if (!limit && room_at < posting->room_at)
        posting->room_at = room_at;
    limit = limit < left ? limit : left;
    return limit < free ? limit : free;
}

/* Finds the next line of the round; STORE_NOT_FOUND: it has ended. */
static enum store_result next_line(struct posting *posting, struct store *store,
                                   struct outgoing_line *line) {
    if (posting->is_second_part && strcmp(posting->after, posting->until) >= 0)
        return STORE_NOT_FOUND;
    enum store_result result = store_next_outgoing_line(store, posting->after, line);
    if (result == STORE_NOT_FOUND && !posting->is_second_part) {
        posting->is_second_part = true;
        posting->after[0] = '\0';
        if (*posting->until)
            result = store_next_outgoing_line(store, posting->after, line);
    }
    if (result == STORE_OK && posting->is_second_part && strcmp(line->id, posting->until) > 0)
        return STORE_NOT_FOUND;
    if (result == STORE_OK)
        memcpy(posting->after, line->id, ID_SIZE);
    return result;
}

enum store_result posting_take(struct posting *posting, struct store *store,
                               struct resources *resources) {
    enum store_result result = STORE_OK;
    for (size_t i = 0; i < LINES_AT_ONCE && posting_may_take(posting); i++) {
        struct outgoing_line line;
        result = next_line(posting, store, &line);
        if (result != STORE_OK)
            break;
        if (line.due_at > clock_now()) {
            posting->next_due_at =
                line.due_at < posting->next_due_at ? line.due_at : posting->next_due_at;
            continue;
        }
        const double rate = pace_rate(line.send_rate, line.is_coexisting);
        struct pace_line *pace = pace_find(&posting->pace, line.id, rate, clock_monotonic());
        const size_t limit = limit_of(posting, pace, rate);
        if (limit)
            result = take_line(posting, store, resources, &line, pace, limit);
        if (result != STORE_OK)
            break;
    }
    if (result == STORE_NOT_FOUND) {
        posting->has_seen_all = true;
        result = STORE_OK;
    }
    return result;
}

/* --- the end --- */

void posting_abandon(struct posting *posting, struct store *store, const struct config *config) {
    posting->is_abandoned = true;
    for (size_t i = 0; i < POSTING_SLOTS; i++)
        if (posting->flights[i].slot == POSTING_IN_FLIGHT) {
            graph_post_end(&posting->flights[i].post, posting->multi, CURLE_ABORTED_BY_CALLBACK);
            posting->flights[i].slot = POSTING_ENDED;
        }
    posting_record(posting, store, config);
}
