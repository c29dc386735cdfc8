#include "archive/media_sample.h"

#include <stdio.h>

#include "archive/media_file.h"
#include "base/crypto.h"

enum {
    MOST = 1000, /* copies of a look */
    MOMENTS = 20,
    MEMORY = 4 * 1024 * 1024,
};

static void look(struct media_sample *sample, const char *archive,
                 const struct store_media_copy *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sample->seen++;
        if (media_file_is_there(archive, &rows[i]))
            continue;
        if (!sample->missing++)
            snprintf(sample->message_id, sizeof sample->message_id, "%s", rows[i].message_id);
    }
}

/* The id of a message at a random time between the two. */
static void random_place(char id[ID_SIZE], int64_t from, int64_t to) {
    uint32_t part;
    crypto_random(&part, sizeof part);
    id_least(id, "msg_", from + (int64_t)((double)(to - from) * part / UINT32_MAX));
}

static int64_t oldest_of(const struct store_media_copy *rows, size_t count, int64_t now) {
    int64_t oldest = now;
    for (size_t i = 0; i < count; i++)
        oldest = rows[i].created_at < oldest ? rows[i].created_at : oldest;
    return oldest;
}

enum store_result media_sample_take(struct store *store, const char *archive, int64_t now,
                                    struct media_sample *sample) {
    struct arena arena;
    struct store_media_copy *rows;
    size_t count;
    *sample = (struct media_sample){0};
    arena_init(&arena, MEMORY, NULL);
    enum store_result result = store_list_kept_media(store, &arena, "", MOST, &rows, &count);
    const int64_t oldest = result == STORE_OK ? oldest_of(rows, count, now) : now;
    sample->is_whole = result == STORE_OK && count < MOST;
    if (result == STORE_OK)
        look(sample, archive, rows, sample->is_whole ? count : MOST / MOMENTS);
    for (int i = 1; i < MOMENTS && result == STORE_OK && !sample->is_whole; i++) {
        char after[ID_SIZE];
        random_place(after, oldest, now);
        arena_reset(&arena);
        result = store_list_kept_media(store, &arena, after, MOST / MOMENTS, &rows, &count);
        if (result == STORE_OK)
            look(sample, archive, rows, count);
    }
    arena_free(&arena);
    return result;
}
