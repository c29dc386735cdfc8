#include "delivery/kept_records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/log.h"
#include "delivery/kept_record.h"
#include "store/erasure.h"

enum {
    MOST_NAMES = 4096,              /* that are sorted at a time */
    LARGEST_FILE = 8 * 1024 * 1024, /* a body has at most 2 MB */
    MEMORY = 4 * LARGEST_FILE,
    ABANDONED_S = 10 * 60, /* before a file that is being written has no writer any more */
};

struct name {
    char text[ID_SIZE];
};

static int compare_names(const void *a, const void *b) {
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* Removes the file of a process that was killed while it wrote: its request was not answered. */
static void remove_abandoned(int directory, const char *name) {
    struct stat file;
    if (kept_is_name(name, KEPT_NEW) && fstatat(directory, name, &file, 0) == 0 &&
        clock_now() / 1000 - file.st_mtim.tv_sec > ABANDONED_S)
        unlinkat(directory, name, 0);
}

/* Lists the names of the records that wait, sorted. Returns their number. */
static size_t list(DIR *directory, struct name names[MOST_NAMES]) {
    size_t count = 0;
    for (struct dirent *entry; count < MOST_NAMES && (entry = readdir(directory));) {
        if (kept_is_waiting(entry->d_name))
            snprintf(names[count++].text, ID_SIZE, "%.*s", ID_SIZE - 1, entry->d_name);
        else
            remove_abandoned(dirfd(directory), entry->d_name);
    }
    qsort(names, count, sizeof *names, compare_names);
    return count;
}

/* Reads a file; a file that cannot be one of a record has no bytes. Returns 0, or errno when it
 * cannot be read. */
static int read_file(int directory, const char *name, struct arena *arena, struct slice *bytes) {
    struct stat found = {0};
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    size_t size = 0;
    ssize_t n = 0;
    *bytes = (struct slice){0};
    if (file < 0)
        return errno;
    if (fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) {
        close(file);
        return EISDIR; /* it is left as it is, as a symbolic link */
    }
    if (S_ISREG(found.st_mode) && found.st_size < LARGEST_FILE) {
        char *content = arena_alloc(arena, (size_t)found.st_size + 1);
        while ((n = read(file, content + size, (size_t)found.st_size - size)) > 0)
            size += (size_t)n;
        *bytes = (struct slice){content, size};
    }
    int error = n < 0 ? errno : 0;
    close(file);
    return error;
}

/* A record of a send to a person who was erased after it is dropped. */
static enum store_result store_record(struct store *store, struct arena *arena,
                                      const struct kept_record *record, bool *is_erased) {
    const struct store_idempotency_key *key = &record->key;
    enum store_result result = STORE_OK;
    if (record->send.wamid)
        result = store_is_send_erased(store, arena, &record->send, is_erased);
    if (result != STORE_OK || *is_erased)
        return result;
    if (record->send.wamid)
        result = store_insert_send(store, &record->send);
    if (result == STORE_OK && key->key)
        result = store_update_idempotency_key(store, key, record->request_id, record->fingerprint,
                                              (int)record->status, record->answer);
    return result;
}

/* Returns false when the file cannot be renamed. */
static bool set_aside(int directory, const char *name, const char *reason) {
    char refused[ID_SIZE + sizeof KEPT_REFUSED];
    snprintf(refused, sizeof refused, "%.*s" KEPT_REFUSED, ID_SIZE - 1, name);
    bool is_aside = renameat(directory, name, directory, refused) == 0;
    if (is_aside)
        counters_add(COUNTERS_RECORDS, "refused", 1);
    log_message(LOG_ERROR, "the record %s of pending_dir cannot be stored%s%s: %s", name,
                is_aside ? " and is now " : ", nor renamed", is_aside ? refused : "", reason);
    return is_aside;
}

/* Whether the failure is one of the database, not of the record. */
static bool is_general(enum store_result result) {
    return result == STORE_BUSY || result == STORE_FULL || result == STORE_UNAVAILABLE ||
           result == STORE_CORRUPT;
}

static void remove_stored(int directory, const char *name, const struct kept_record *record,
                          bool is_erased) {
    if (unlinkat(directory, name, 0) != 0)
        return; /* another courier has removed it; otherwise it is stored again, and doctor warns */
    counters_add(COUNTERS_RECORDS, "stored", 1);
    const bool names_send = record->send.wamid && !is_erased;
    log_message(LOG_INFO, "the record %s of pending_dir is %s%s%s", name,
                is_erased ? "dropped, since its recipient was erased" : "stored",
                names_send ? ": " : "", names_send ? record->send.wamid : "");
}

/* Stores the record of one file. STORE_NOT_FOUND: there is nothing to store any more. */
static enum store_result store_one(int directory, const char *name, struct store *store,
                                   struct arena *arena) {
    struct kept_record record;
    struct slice bytes;
    int error = read_file(directory, name, arena, &bytes);
    if (error == ENOENT)
        return STORE_NOT_FOUND;
    bool is_record = !error && kept_parse(bytes, arena, &record), is_erased = false;
    enum store_result result = error        ? STORE_UNKNOWN
                               : !is_record ? STORE_CONFLICT
                                            : store_record(store, arena, &record, &is_erased);
    const char *reason = error        ? strerror(error)
                         : !is_record ? "the file is not a complete record"
                                      : store_reason(store);
    if (result == STORE_OK)
        remove_stored(directory, name, &record, is_erased);
    else if (result == STORE_CONFLICT)
        return set_aside(directory, name, reason) ? result : STORE_UNKNOWN;
    else if (!is_general(result))
        log_message(LOG_ERROR, "the record %s of pending_dir is not stored yet: %s", name, reason);
    return result;
}

static enum store_result store_all(DIR *directory, struct store *store, int64_t until,
                                   struct arena *arena, bool *left) {
    static struct name names[MOST_NAMES];
    enum store_result result = STORE_OK;
    size_t count = list(directory, names);
    for (size_t i = 0; i < count && !is_general(result) && clock_monotonic() < until; i++) {
        result = store_one(dirfd(directory), names[i].text, store, arena);
        arena_reset(arena);
        *left |= result == STORE_UNKNOWN || result == STORE_EXCESSIVE;
    }
    return is_general(result) ? result : STORE_OK;
}

enum store_result kept_store(const char *path, struct store *store, int64_t until, bool *left) {
    struct arena arena;
    DIR *directory = opendir(path);
    *left = false;
    if (!directory)
        return STORE_OK; /* `switchboard doctor` reports it */
    arena_init(&arena, MEMORY, NULL);
    enum store_result result = store_all(directory, store, until, &arena, left);
    arena_free(&arena);
    closedir(directory);
    return result;
}
