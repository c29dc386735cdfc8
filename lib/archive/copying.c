#include "archive/copying.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "archive/media_file.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/seal.h"
#include "base/write_all.h"
#include "store/seal_context.h"

enum {
    SLOT_LIMIT = 32 * 1024 * 1024, /* the platform's answer */
    PLANNING_LIMIT = 16 * 1024 * 1024,
    ROWS_AT_ONCE = 50,
    LOOK_MS = 500,
    SYNC_BYTES = 4 * 1024 * 1024, /* so that no synchronization delays the sends for long */
    FIRST_WAIT_MS = 10 * 1000,    /* before the second attempt; four times as long each time */
    MOST_DOUBLINGS = 6,
    LONGEST_WAIT_MS = 6 * 60 * 60 * 1000,
    MOST_UNKNOWN = 3, /* answers that the platform does not know the media */
    HEX_SIZE = 2 * CRYPTO_HASH_SIZE,
};

static const int64_t most_ms = (int64_t)MEDIA_COPY_DAYS * 24 * 60 * 60 * 1000;

void copying_open(struct copying *copying, CURLM *multi, const char *owner) {
    copying->multi = multi;
    copying->owner = owner;
    arena_init(&copying->planning, PLANNING_LIMIT, NULL);
    for (size_t i = 0; i < COPYING_SLOTS; i++) {
        arena_init(&copying->slots[i].arena, SLOT_LIMIT, NULL);
        copying->slots[i].file = -1;
    }
}

void copying_close(struct copying *copying) {
    for (size_t i = 0; i < COPYING_SLOTS; i++) {
        graph_post_free(&copying->slots[i].asking);
        curl_easy_cleanup(copying->slots[i].receiving.curl);
        arena_free(&copying->slots[i].arena);
    }
    arena_free(&copying->planning);
}

/* --- the end of a copy --- */

static void clear(struct copying_slot *slot) {
    if (slot->file >= 0)
        media_file_end(slot->archive, &slot->row, slot->file);
    crypto_wipe((void *)(uintptr_t)slot->token, slot->token ? strlen(slot->token) : 0);
    arena_reset(&slot->arena);
    slot->file = -1;
    slot->token = slot->state = slot->reason = slot->expected = NULL;
    slot->step = COPYING_FREE;
}

static void log_end(const struct store_media_copy *row, const char *outcome, const char *reason) {
    struct arena arena;
    struct json_writer line;
    arena_init(&arena, 64 * 1024, NULL);
    log_start(&line, &arena, reason ? LOG_WARN : LOG_INFO);
    json_write_text(&line, "media", row->media_id);
    json_write_text(&line, "message", row->message_id);
    json_write_text(&line, "copy", outcome);
    if (reason)
        json_write_text(&line, "reason", reason);
    log_finish(&line);
    arena_free(&arena);
}

static void count(const char *outcome) {
    counters_add(COUNTERS_COPIES, outcome, 1);
}

/* The copy has failed: in this attempt, or for good with a state. */
static void fail_copy(struct copying_slot *slot, const char *state, const char *reason) {
    slot->step = COPYING_FAILED;
    slot->state = state;
    slot->reason = arena_copy(&slot->arena, slice_of(reason));
}

static int64_t wait_of(int64_t attempts) {
    const int64_t before = attempts < MOST_DOUBLINGS ? attempts : MOST_DOUBLINGS;
    const int64_t wait = (int64_t)FIRST_WAIT_MS << (2 * before);
    return wait < LONGEST_WAIT_MS ? wait : LONGEST_WAIT_MS;
}

static struct media_copy_step step_of(const struct copying *copying,
                                      const struct store_media_copy *row) {
    return (struct media_copy_step){.owner = copying->owner, .row = row, .now = clock_now()};
}

static enum store_result record_failure(const struct copying *copying, struct store *store,
                                        struct copying_slot *slot) {
    struct media_copy_step step = step_of(copying, &slot->row);
    const int64_t next_at = step.now + wait_of(slot->row.attempts);
    if (!slot->state && next_at > slot->row.created_at + most_ms)
        slot->state = "failed";
    if (slot->state) /* before the row ends, after which its unfinished file is not looked for */
        media_file_drop(slot->archive, &slot->row);
    const enum store_result result = store_delay_media_copy(store, &step, slot->state, next_at);
    if (result != STORE_OK)
        return result;
    log_end(&slot->row, slot->state ? slot->state : "retry", slot->reason);
    count(slot->state ? slot->state : "retry");
    clear(slot);
    return result;
}

/* --- receiving the file --- */

static int write_file(void *context, struct slice bytes) {
    struct copying_slot *slot = context;
    slot->row.size += (int64_t)bytes.n;
    if (slot->row.size > slot->most) {
        fail_copy(slot, "failed", "it is larger than media_archive_max_mb");
        return -1;
    }
    crypto_sha256_add(slot->hash, bytes);
    slot->unsynced += (int64_t)bytes.n;
    if (!write_all(slot->file, bytes) ||
        (slot->unsynced >= SYNC_BYTES && fdatasync(slot->file) != 0)) {
        fail_copy(slot, NULL, strerror(errno));
        return -1;
    }
    slot->unsynced = slot->unsynced >= SYNC_BYTES ? 0 : slot->unsynced;
    return 0;
}

static void end_receiving(struct graph_owner *owner, CURLM *multi, CURLcode code) {
    struct copying_slot *slot = (struct copying_slot *)(void *)owner; /* its first member */
    graph_receiving_end(&slot->receiving, multi, code);
    if (slot->step != COPYING_FAILED) /* write_file has set the reason */
        slot->step = COPYING_RECEIVED;
}

static void receive(struct copying *copying, struct copying_slot *slot, const char *url,
                    const struct config *config) {
    if (slot->row.size > slot->most) {
        fail_copy(slot, "failed", "it is larger than media_archive_max_mb");
        return;
    }
    slot->file = media_file_begin(slot->archive, &slot->row);
    if (slot->file < 0) {
        fail_copy(slot, NULL, strerror(errno));
        return;
    }
    slot->row.size = slot->unsynced = 0;
    slot->hash = crypto_sha256_start(&slot->arena);
    slot->receiving.download = (struct graph_download){.url = url,
                                                       .token = slot->token,
                                                       .head = &slot->head,
                                                       .write = write_file,
                                                       .context = slot};
    slot->owner.ended = end_receiving;
    slot->step = COPYING_RECEIVES;
    if (!graph_receiving_start(&slot->receiving, copying->multi, config, &slot->arena,
                               &slot->owner))
        fail_copy(slot, NULL, slot->receiving.answer.failure);
}

/* --- asking for the media object --- */

static void end_asking(struct graph_owner *owner, CURLM *multi, CURLcode code) {
    struct copying_slot *slot = (struct copying_slot *)(void *)owner;
    graph_post_end(&slot->asking, multi, code);
    slot->step = COPYING_ASKED;
}

static void ask(struct copying *copying, struct copying_slot *slot, const struct config *config) {
    slot->call = (struct graph_call){
        .method = "GET",
        .path = graph_escape(&slot->arena, slice_of(slot->row.media_id)),
        .token = slot->token,
    };
    slot->owner.ended = end_asking;
    slot->step = COPYING_ASKS;
    if (!graph_post_start(&slot->asking, copying->multi, config, &slot->arena, &slot->call,
                          &slot->owner))
        slot->step = COPYING_ASKED;
}

/* Whether the platform's answer says that there is no such object. */
static bool is_unknown(const struct graph_answer *answer, struct json body) {
    int64_t code = 0;
    return answer->status == 404 ||
           (answer->status == 400 && json_integer(json_find(body, "error.code"), &code) &&
            code == 100);
}

/* The SHA-256 of the media object, if it has the form of one. */
static const char *hash_of(struct copying_slot *slot, struct json media) {
    unsigned char bytes[CRYPTO_HASH_SIZE];
    const struct slice text = json_string(json_get(media, "sha256"), &slot->arena);
    return text.p && crypto_unhex(text, bytes, sizeof bytes)
               ? crypto_hex(&slot->arena, bytes, sizeof bytes)
               : NULL;
}

static void read_object(struct copying *copying, struct copying_slot *slot,
                        const struct config *config) {
    const struct graph_answer *answer = &slot->asking.answer;
    struct json media = {0};
    struct json_error error;
    if (!answer->status) {
        fail_copy(slot, NULL, answer->failure);
        return;
    }
    const bool is_json = json_read(&slot->arena, answer->body, &media, &error) == 0;
    if (is_json && is_unknown(answer, media)) {
        fail_copy(slot, slot->row.attempts >= MOST_UNKNOWN ? "gone" : NULL,
                  "the platform does not know the media");
        return;
    }
    const char *url = is_json ? json_text(json_get(media, "url"), &slot->arena) : NULL;
    if (answer->status != 200 || !url) {
        fail_copy(
            slot, NULL,
            arena_printf(&slot->arena, "the platform answered %d without a URL", answer->status));
        return;
    }
    const char *type = json_text(json_get(media, "mime_type"), &slot->arena);
    slot->row.type = type ? type : slot->row.type;
    slot->expected = hash_of(slot, media);
    if (!json_integer(json_get(media, "file_size"), &slot->row.size))
        slot->row.size = 0;
    receive(copying, slot, url, config);
}

/* --- placing the file --- */

static bool place(void *context) {
    const struct copying_slot *slot = context;
    return media_file_place(slot->archive, &slot->row, slot->file);
}

/* Whether what was received is the whole file; sets the row's hash. */
static bool is_whole(struct copying_slot *slot) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    const struct graph_answer *answer = &slot->receiving.answer;
    if (answer->status != 200) {
        fail_copy(slot, NULL,
                  answer->status ? arena_printf(&slot->arena, "the URL of the file answered %d",
                                                answer->status)
                                 : answer->failure);
        return false;
    }
    crypto_sha256_end(slot->hash, hash);
    slot->row.sha256 = crypto_hex(&slot->arena, hash, sizeof hash);
    if (!slot->expected || strcmp(slot->expected, slot->row.sha256) == 0)
        return true;
    fail_copy(slot, NULL, "its SHA-256 is not that which the platform names");
    return false;
}

/* A row that was removed meanwhile, or is another sender's, is left to its next step. */
static enum store_result end_copy(const struct copying *copying, struct store *store,
                                  struct copying_slot *slot) {
    struct media_copy_step step = step_of(copying, &slot->row);
    enum store_result result = store_name_media_copy(store, &step);
    const bool is_named = result == STORE_OK && step.done;
    if (is_named)
        result = store_place_media_copy(store, &step, place, slot);
    if (result != STORE_OK)
        return result;
    if (is_named && !step.done) {
        fail_copy(slot, NULL, "the file cannot be given its name");
        return record_failure(copying, store, slot);
    }
    log_end(&slot->row, is_named ? "done" : "dropped", NULL);
    if (is_named)
        count("done");
    clear(slot);
    return result;
}

static enum store_result finish_file(const struct copying *copying, struct store *store,
                                     struct copying_slot *slot) {
    if (slot->hash && is_whole(slot)) {
        slot->hash = NULL; /* repeated only for the store */
        if (fsync(slot->file) != 0)
            fail_copy(slot, NULL, strerror(errno));
    }
    return slot->step == COPYING_FAILED ? record_failure(copying, store, slot)
                                        : end_copy(copying, store, slot);
}

/* --- beginning --- */

static struct copying_slot *find_slot(struct copying *copying) {
    for (size_t i = 0; i < COPYING_SLOTS; i++)
        if (copying->slots[i].step == COPYING_FREE)
            return &copying->slots[i];
    return NULL;
}

static bool is_in_flight(const struct copying *copying, const struct store_media_copy *row) {
    for (size_t i = 0; i < COPYING_SLOTS; i++)
        if (copying->slots[i].step != COPYING_FREE &&
            strcmp(copying->slots[i].row.message_id, row->message_id) == 0)
            return true;
    return false;
}

static const char *keep(struct arena *arena, const char *text) {
    return text ? arena_copy(arena, slice_of(text)) : NULL;
}

static struct store_media_copy copy_row(struct arena *arena, const struct store_media_copy *row) {
    struct store_media_copy copy = *row;
    copy.message_id = keep(arena, row->message_id);
    copy.user_id = keep(arena, row->user_id);
    copy.account_id = keep(arena, row->account_id);
    copy.media_id = keep(arena, row->media_id);
    copy.month = keep(arena, row->month);
    copy.sha256 = keep(arena, row->sha256);
    copy.type = keep(arena, row->type);
    return copy;
}

static bool place_nothing(void *context) {
    (void)context;
    return true;
}

/* Finds a file of the user with the content of the row, or what was copied for another message
 * that names the same media: one is sent to many. */
static enum store_result find_same(struct copying *copying, struct store *store,
                                   const struct store_media_copy *row,
                                   struct store_media_copy *same, char month[MEDIA_MONTH_SIZE]) {
    struct store_media_copy other;
    enum store_result result;
    *same = *row;
    if (row->sha256) {
        result = store_find_same_media(store, row, month);
        same->month = month;
        return result;
    }
    result =
        store_find_media_copy(store, &copying->planning, row->account_id, row->media_id, &other);
    if (result != STORE_OK)
        return result;
    same->month = other.month;
    same->sha256 = other.sha256;
    same->type = other.type;
    return result;
}

/* Makes the row done with a file that is there already. Sets *is_done. */
static enum store_result use_same(struct copying *copying, struct store *store, const char *archive,
                                  const struct store_media_copy *row, bool *is_done) {
    char month[MEDIA_MONTH_SIZE];
    struct store_media_copy same;
    *is_done = false;
    enum store_result result = find_same(copying, store, row, &same, month);
    const int file = result == STORE_OK ? media_file_open(archive, &same, &same.size) : -1;
    if (file < 0)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    close(file);
    media_file_drop(archive, row);
    struct media_copy_step step = step_of(copying, &same);
    result = store_name_media_copy(store, &step);
    if (result == STORE_OK && step.done)
        result = store_place_media_copy(store, &step, place_nothing, NULL);
    *is_done = result == STORE_OK && step.done;
    if (*is_done) {
        log_end(row, "same", NULL);
        count("same");
    }
    return result;
}

static enum store_result begin(struct copying *copying, struct store *store,
                               struct resources *resources, struct copying_slot *slot,
                               const struct store_media_copy *row) {
    const struct keyring *keys = resources_keys(resources);
    bool is_done;
    enum store_result result =
        use_same(copying, store, resources->config.media_archive, row, &is_done);
    if (result != STORE_OK || is_done)
        return result;
    struct media_copy_step step = step_of(copying, row);
    result = store_begin_media_copy(store, &step);
    if (result != STORE_OK || !step.done)
        return result;
    slot->row = copy_row(&slot->arena, row);
    slot->row.attempts++;
    slot->archive = keep(&slot->arena, resources->config.media_archive);
    slot->most = config_bytes(resources->config.media_archive_max_mb);
    if (row->sealed_token.p && keys)
        slot->token = seal_open(keys, &slot->arena, row->sealed_token,
                                account_token_context(&slot->arena, row->account_id))
                          .p;
    if (slot->token)
        ask(copying, slot, &resources->config);
    else
        fail_copy(slot, NULL, "the account has no token that can be decrypted");
    return STORE_OK;
}

/* --- removing --- */

/* The file of a row that is removed. */
struct removing {
    const char *archive;
    const struct store_media_copy *row;
    int error;
};

static bool remove_file(void *context, bool is_shared) {
    struct removing *removing = context;
    const bool done = media_file_remove(removing->archive, removing->row, is_shared);
    removing->error = done ? 0 : errno;
    return done;
}

static enum store_result remove_copy(const struct copying *copying, struct store *store,
                                     const char *archive, const struct store_media_copy *row) {
    struct media_copy_step step = step_of(copying, row);
    struct removing removing = {archive, row, 0};
    const enum store_result result = store_remove_media_copy(store, &step, remove_file, &removing);
    if (removing.error)
        log_end(row, "removal failed", strerror(removing.error));
    else if (result == STORE_OK && step.done)
        count("removed");
    return result;
}

/* --- all of it --- */

/* Logs when the disk becomes full, and when it has room again. */
static bool has_room(struct copying *copying, const char *archive) {
    int error;
    const bool has = media_file_has_room(archive, &error);
    if (has == copying->is_full)
        log_message(has ? LOG_INFO : LOG_WARN, "media_archive %s: %s", archive,
                    has     ? "attachments are copied again"
                    : error ? strerror(error)
                            : "less than 10 % of the disk is free; attachments wait");
    copying->is_full = !has;
    return has;
}

static enum store_result look(struct copying *copying, struct resources *resources,
                              struct store *store) {
    const char *archive = resources->config.media_archive;
    struct store_media_copy *rows;
    size_t found;
    enum store_result result = store_list_media_copies(store, &copying->planning, clock_now(),
                                                       ROWS_AT_ONCE, &rows, &found);
    const bool may_copy = result == STORE_OK && found > 0 && has_room(copying, archive);
    copying->is_behind = false;
    for (size_t i = 0; i < found && result == STORE_OK; i++) {
        struct copying_slot *slot = find_slot(copying);
        if (is_in_flight(copying, &rows[i]))
            continue;
        if (rows[i].is_removed)
            result = remove_copy(copying, store, archive, &rows[i]);
        else if (slot && may_copy)
            result = begin(copying, store, resources, slot, &rows[i]);
        copying->is_behind = copying->is_behind || (!slot && may_copy && !rows[i].is_removed);
    }
    copying->next_look = clock_monotonic() + LOOK_MS;
    arena_reset(&copying->planning);
    return result;
}

static enum store_result go_on(struct copying *copying, struct resources *resources,
                               struct store *store, struct copying_slot *slot) {
    switch (slot->step) {
    case COPYING_FREE:
    case COPYING_ASKS:
    case COPYING_RECEIVES: break;
    case COPYING_ASKED: read_object(copying, slot, &resources->config); break;
    case COPYING_RECEIVED: return finish_file(copying, store, slot);
    case COPYING_FAILED: return record_failure(copying, store, slot);
    }
    return STORE_OK;
}

bool copying_may_go_on(const struct copying *copying) {
    for (size_t i = 0; i < COPYING_SLOTS; i++)
        if (copying->slots[i].step == COPYING_ASKED || copying->slots[i].step == COPYING_RECEIVED ||
            copying->slots[i].step == COPYING_FAILED)
            return true;
    return false;
}

/* Twice a second, and while more waits as soon as a slot is free. */
static bool must_look(struct copying *copying, const struct resources *resources) {
    return *resources->config.media_archive &&
           (clock_monotonic() >= copying->next_look || (copying->is_behind && find_slot(copying)));
}

enum store_result copying_go_on(struct copying *copying, struct resources *resources,
                                bool is_stopping) {
    enum store_result result = STORE_OK;
    struct store *store = copying_may_go_on(copying) ? resources_store(resources) : NULL;
    for (size_t i = 0; i < COPYING_SLOTS && store && result == STORE_OK; i++)
        result = go_on(copying, resources, store, &copying->slots[i]);
    if (is_stopping || result != STORE_OK || !must_look(copying, resources))
        return result;
    return (store = resources_store(resources)) ? look(copying, resources, store) : result;
}

void copying_abandon(struct copying *copying) {
    for (size_t i = 0; i < COPYING_SLOTS; i++) {
        struct copying_slot *slot = &copying->slots[i];
        if (slot->step == COPYING_ASKS)
            graph_post_end(&slot->asking, copying->multi, CURLE_ABORTED_BY_CALLBACK);
        if (slot->step == COPYING_RECEIVES)
            graph_receiving_end(&slot->receiving, copying->multi, CURLE_ABORTED_BY_CALLBACK);
        if (slot->step != COPYING_FREE)
            clear(slot);
    }
}
