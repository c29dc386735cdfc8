#include "state/chat.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "text/json_print.h"
#include "text/memory.h"
#include "text/text.h"

enum { ENTRIES_MAX = 2000, PEOPLE_MAX = 64, PRESENT_MS = 10000 };

/* One block of memory with its texts. */
struct entry {
    int64_t serial;
    const char *line, *user, *id;
    struct slice json; /* the members, without braces */
    char texts[];
};

/* A user whose phone is or was open. */
struct person {
    struct arena *arena; /* of the texts; NULL: a free place */
    const char *line, *user;
    int64_t seen; /* monotonic */
    bool blocked;
};

static struct {
    pthread_mutex_t lock;
    struct entry *entries[ENTRIES_MAX]; /* a ring */
    int64_t count;                      /* in all: the serial of the newest */
    int64_t generation;
    struct person people[PEOPLE_MAX];
} chats = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *place(char **end, struct slice text) {
    char *start = *end;
    memcpy(start, text.p, text.n);
    *end += text.n + 1;
    return start;
}

/* Called under the lock. */
static void keep(const char *line, const char *user, const char *id, struct slice json) {
    struct slice lines = slice_of(line), users = slice_of(user), ids = slice_of(id);
    struct entry *entry = memory_block(sizeof *entry + lines.n + users.n + ids.n + json.n + 4);
    char *end = entry->texts;
    struct entry **at = &chats.entries[chats.count % ENTRIES_MAX];
    entry->serial = ++chats.count;
    entry->line = place(&end, lines);
    entry->user = place(&end, users);
    entry->id = place(&end, ids);
    entry->json = (struct slice){place(&end, json), json.n};
    free(*at);
    *at = entry;
}

static void print_head(struct buffer *out, const char *kind, const char *id) {
    buffer_printf(out, "\"time\":%" PRId64 ",\"kind\":\"%s\",\"id\":", clock_now(), kind);
    json_quote_text(out, id);
}

static bool is_of(const struct chat *chat, const char *line, const char *user) {
    return strcmp(line, chat->line) == 0 &&
           (text_matches(user, chat->user) || (chat->bsuid && strcmp(user, chat->bsuid) == 0));
}

/* Returns the user's place, or NULL. Called under the lock. */
static struct person *person_find(const struct chat *chat) {
    for (size_t i = 0; i < PEOPLE_MAX; i++)
        if (chats.people[i].arena && is_of(chat, chats.people[i].line, chats.people[i].user))
            return &chats.people[i];
    return NULL;
}

/* Returns the user's place: a new one is free or that of the user who was seen longest ago. */
static struct person *person_take(const struct chat *chat) {
    struct person *person = person_find(chat), *oldest = chats.people;
    if (person)
        return person;
    for (size_t i = 1; i < PEOPLE_MAX; i++)
        if (!chats.people[i].arena || (oldest->arena && chats.people[i].seen < oldest->seen))
            oldest = &chats.people[i];
    memory_close(oldest->arena);
    struct arena *arena = memory_open();
    *oldest = (struct person){
        .arena = arena, .line = text_copy(arena, chat->line), .user = text_copy(arena, chat->user)};
    return oldest;
}

void chat_add(const struct chat *chat, const char *kind, const char *id, struct slice members) {
    struct arena *arena = memory_open();
    struct buffer json = buffer_in(arena);
    print_head(&json, kind, id);
    buffer_add_slice(&json, members);
    pthread_mutex_lock(&chats.lock);
    keep(chat->line, chat->user, id, buffer_slice(&json));
    pthread_mutex_unlock(&chats.lock);
    memory_close(arena);
}

void chat_read(const char *line, const char *id, bool typing) {
    struct arena *arena = memory_open();
    struct buffer json = buffer_in(arena);
    print_head(&json, "read", id);
    buffer_printf(&json, ",\"typing\":%s", typing ? "true" : "false");
    pthread_mutex_lock(&chats.lock);
    for (size_t i = 0; i < ENTRIES_MAX; i++) {
        struct entry *entry = chats.entries[i];
        if (entry && strcmp(entry->id, id) == 0 && strcmp(entry->line, line) == 0) {
            const char *user = arena_copy(arena, slice_of(entry->user));
            keep(line, user, id, buffer_slice(&json));
            break;
        }
    }
    pthread_mutex_unlock(&chats.lock);
    memory_close(arena);
}

static void print_entries(struct buffer *out, const struct chat *chat, int64_t after) {
    const char *comma = "";
    int64_t first = chats.count > ENTRIES_MAX ? chats.count - ENTRIES_MAX : 0;
    for (int64_t i = after > first ? after : first; i < chats.count; i++) {
        const struct entry *entry = chats.entries[i % ENTRIES_MAX];
        if (entry && is_of(chat, entry->line, entry->user)) {
            buffer_printf(out, "%s{\"serial\":%" PRId64 ",", comma, entry->serial);
            buffer_add_slice(out, entry->json);
            buffer_add_char(out, '}');
            comma = ",";
        }
    }
}

void chat_list(struct buffer *out, const struct chat *chat, int64_t after) {
    pthread_mutex_lock(&chats.lock);
    struct person *person = person_take(chat);
    person->seen = clock_monotonic();
    if (chats.generation == 0) /* another sandbox may have been here before */
        chats.generation = clock_now();
    buffer_printf(out, "{\"generation\":%" PRId64 ",\"blocked\":%s,\"entries\":[", chats.generation,
                  person->blocked ? "true" : "false");
    print_entries(out, chat, after);
    pthread_mutex_unlock(&chats.lock);
    buffer_add_text(out, "]}");
}

void chat_block(const struct chat *chat, bool blocked) {
    pthread_mutex_lock(&chats.lock);
    person_take(chat)->blocked = blocked;
    pthread_mutex_unlock(&chats.lock);
}

bool chat_is_open(const struct chat *chat) {
    pthread_mutex_lock(&chats.lock);
    const struct person *person = person_find(chat);
    bool open = person && person->seen > 0 && clock_monotonic() - person->seen < PRESENT_MS;
    pthread_mutex_unlock(&chats.lock);
    return open;
}

bool chat_is_blocked(const struct chat *chat) {
    pthread_mutex_lock(&chats.lock);
    const struct person *person = person_find(chat);
    bool blocked = person && person->blocked;
    pthread_mutex_unlock(&chats.lock);
    return blocked;
}

void chat_clear(void) {
    pthread_mutex_lock(&chats.lock);
    for (size_t i = 0; i < ENTRIES_MAX; i++) {
        free(chats.entries[i]);
        chats.entries[i] = NULL;
    }
    for (size_t i = 0; i < PEOPLE_MAX; i++) {
        memory_close(chats.people[i].arena);
        chats.people[i] = (struct person){0};
    }
    chats.generation = clock_now();
    pthread_mutex_unlock(&chats.lock);
}
