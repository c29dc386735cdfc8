#include "store/login/access_cache.h"

#include <stdlib.h>
#include <string.h>

#include "engine/driver.h"

enum { MOST = 64 /* rows of a kind: then all are read again */, MOST_BYTES = 4 * 1024 * 1024 };

struct kept_user {
    unsigned char hash[32]; /* of the user's token, or of a scoped one */
    struct store_user user;
    struct store_scoped_token token; /* without an id: the user's */
};

struct kept_line {
    const char *user_id;
    struct line line;
};

struct access_cache {
    bool is_known; /* `version` was read, and the database has one */
    int64_t version;
    struct arena arena; /* of the texts */
    struct kept_user users[MOST];
    struct kept_line lines[MOST];
    size_t user_count, line_count;
};

static void free_cache(void *kept) {
    struct access_cache *cache = kept;
    arena_free(&cache->arena);
    free(cache);
}

void store_keep_settings(struct store *store) {
    struct access_cache *cache = store && !store->kept ? calloc(1, sizeof *cache) : NULL;
    if (!cache)
        return;
    arena_init(&cache->arena, MOST_BYTES, NULL);
    store->kept = cache;
    store->free_kept = free_cache;
}

static void forget(struct access_cache *kept) {
    arena_reset(&kept->arena);
    kept->user_count = kept->line_count = 0;
}

/* Forgets the rows if the version has changed. Returns the settings; NULL: nothing may be kept. */
static struct access_cache *current(struct store *store) {
    static struct statement s = {.sql = "SELECT version FROM settings_version WHERE id = 1"};
    struct access_cache *kept = store->kept;
    if (!kept)
        return NULL;
    sql_start(store, &s);
    const bool is_known = sql_row(store, &s);
    const int64_t version = is_known ? column_integer(&s, 0) : 0;
    sql_stop(&s);
    if (!is_known || !kept->is_known || version != kept->version)
        forget(kept);
    kept->is_known = is_known;
    kept->version = version;
    return is_known ? kept : NULL;
}

/* --- copies --- */

#define OF_USER(member) ROW_MEMBER(struct store_user, member)
const struct row_layout access_user_layout =
    ROW_LAYOUT(struct store_user, OF_USER(id), OF_USER(email), OF_USER(default_account_id),
               OF_USER(primary_line_id), OF_USER(plan_name),
               ROW_TIME_MEMBER(struct store_user, plan_ends_at), OF_USER(has_valid_account));

#define OF_TOKEN(member) ROW_MEMBER(struct store_scoped_token, member)
const struct row_layout access_token_layout = ROW_LAYOUT(
    struct store_scoped_token, OF_TOKEN(id), OF_TOKEN(name), OF_TOKEN(scopes), OF_TOKEN(created_at),
    ROW_TIME_MEMBER(struct store_scoped_token, expires_at), OF_TOKEN(line_ids));

static struct store_user copy_user(struct arena *arena, struct store_user user) {
    row_copy(arena, &access_user_layout, &user);
    return user;
}

static struct store_scoped_token copy_token(struct arena *arena, struct store_scoped_token token) {
    row_copy(arena, &access_token_layout, &token);
    return token;
}

const struct row_layout access_account_layout = ROW_LAYOUT(struct store_account, ACCOUNT_MEMBERS);

static struct line copy_line(struct arena *arena, struct line line) {
    row_copy(arena, &line_layout, &line);
    row_copy(arena, &access_account_layout, &line.account);
    return line;
}

/* --- users --- */

bool access_cache_find_user(struct store *store, struct arena *arena, const unsigned char hash[32],
                            struct store_user *user, struct store_scoped_token *token) {
    const struct access_cache *kept = current(store);
    for (size_t i = 0; kept && i < kept->user_count; i++) {
        const struct kept_user *row = &kept->users[i];
        if (memcmp(row->hash, hash, 32) != 0 || (row->token.id != NULL) != (token != NULL))
            continue;
        *user = copy_user(arena, row->user);
        if (token)
            *token = copy_token(arena, row->token);
        return true;
    }
    return false;
}

void access_cache_keep_user(struct store *store, const unsigned char hash[32],
                            const struct store_user *user, const struct store_scoped_token *token) {
    struct access_cache *kept = store->kept;
    if (!kept || !kept->is_known)
        return;
    if (kept->user_count == MOST)
        forget(kept);
    struct kept_user *to = &kept->users[kept->user_count++];
    memcpy(to->hash, hash, 32);
    to->user = copy_user(&kept->arena, *user);
    to->token = token ? copy_token(&kept->arena, *token) : (struct store_scoped_token){0};
}

/* --- lines --- */

bool access_cache_find_line(struct store *store, struct arena *arena, const char *user_id,
                            const char *phone_number_id, struct line *line) {
    const struct access_cache *kept = current(store);
    for (size_t i = 0; kept && i < kept->line_count; i++)
        if (strcmp(kept->lines[i].line.phone_number_id, phone_number_id) == 0 &&
            strcmp(kept->lines[i].user_id, user_id) == 0) {
            *line = copy_line(arena, kept->lines[i].line);
            return true;
        }
    return false;
}

void access_cache_keep_line(struct store *store, const char *user_id, const struct line *line) {
    struct access_cache *kept = store->kept;
    if (!kept || !kept->is_known)
        return;
    if (kept->line_count == MOST)
        forget(kept);
    struct kept_line *to = &kept->lines[kept->line_count++];
    to->user_id = arena_copy(&kept->arena, slice_of(user_id));
    to->line = copy_line(&kept->arena, *line);
}
