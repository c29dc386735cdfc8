#include "state/template_use.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "text/memory.h"
#include "text/text.h"

/* A message: one block of memory with its first two texts. */
struct use {
    const char *id, *template_id;
    int64_t sent_at;
    bool is_marketing, delivered, read;
    const char *clicked; /* the text of the button, a block of its own, or NULL */
    char texts[];
};

static struct {
    pthread_mutex_t lock;
    struct use *list[USES_MAX]; /* a ring */
    size_t count;               /* of all that were added; the last USES_MAX are in the ring */
} uses = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct json_field use_fields[] = {
    {"id", JSON_TEXT, offsetof(struct use, id)},
    {"templateId", JSON_TEXT, offsetof(struct use, template_id)},
    {"sentAt", JSON_NUMBER, offsetof(struct use, sent_at)},
    {"isMarketing", JSON_FLAG, offsetof(struct use, is_marketing)},
    {"delivered", JSON_FLAG, offsetof(struct use, delivered)},
    {"read", JSON_FLAG, offsetof(struct use, read)},
    {"clicked", JSON_TEXT, offsetof(struct use, clicked)},
    {NULL, JSON_ELSEWHERE, 0},
};

static struct use **place(size_t i) {
    return &uses.list[i % USES_MAX];
}

static size_t oldest(void) {
    return uses.count > USES_MAX ? uses.count - USES_MAX : 0;
}

static char *copy(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(memory_block(size), text, size);
}

static void use_free(struct use *use) {
    free((char *)use->clicked);
    free(use);
}

/* Adds a copy of the message, in place of the oldest one if the ring is full. */
static void add(const struct use *given) {
    size_t id = strlen(given->id) + 1, template_id = strlen(given->template_id) + 1;
    struct use *use = memory_block(sizeof *use + id + template_id);
    *use = *given;
    use->id = memcpy(use->texts, given->id, id);
    use->template_id = memcpy(use->texts + id, given->template_id, template_id);
    use->clicked = given->clicked ? copy(given->clicked) : NULL;
    pthread_mutex_lock(&uses.lock);
    if (uses.count >= USES_MAX)
        use_free(*place(uses.count));
    *place(uses.count++) = use;
    pthread_mutex_unlock(&uses.lock);
}

void template_use_add(const char *id, const char *template_id, bool is_marketing) {
    add(&(struct use){.id = id,
                      .template_id = template_id,
                      .sent_at = clock_now(),
                      .is_marketing = is_marketing});
}

/* Returns the message, or NULL. Called under the lock. */
static struct use *find(const char *id) {
    for (size_t i = uses.count; i > oldest(); i--)
        if (strcmp((*place(i - 1))->id, id) == 0)
            return *place(i - 1);
    return NULL;
}

void template_use_status(const char *id, const char *status) {
    bool read = text_matches(status, "read");
    if (!read && !text_matches(status, "delivered"))
        return;
    pthread_mutex_lock(&uses.lock);
    struct use *use = find(id);
    if (use) {
        use->delivered = true; /* the platform leaves out delivered when read follows at once */
        use->read |= read;
    }
    pthread_mutex_unlock(&uses.lock);
}

void template_use_click(const char *id, const char *text) {
    pthread_mutex_lock(&uses.lock);
    struct use *use = find(id);
    if (use && !use->clicked)
        use->clicked = copy(text);
    pthread_mutex_unlock(&uses.lock);
}

static bool is_of(const struct use *use, const struct template_days *days) {
    return use->is_marketing == days->is_marketing && use->sent_at >= days->from &&
           use->sent_at < days->to && strcmp(use->template_id, days->template_id) == 0;
}

struct template_counts template_use_count(const struct template_days *days) {
    struct template_counts counts = {0};
    pthread_mutex_lock(&uses.lock);
    for (size_t i = oldest(); i < uses.count; i++) {
        const struct use *use = *place(i);
        if (!is_of(use, days))
            continue;
        counts.sent++;
        counts.delivered += use->delivered;
        counts.read += use->read;
    }
    pthread_mutex_unlock(&uses.lock);
    return counts;
}

int template_use_clicks(const struct template_days *days, const char *text) {
    int count = 0;
    pthread_mutex_lock(&uses.lock);
    for (size_t i = oldest(); i < uses.count; i++)
        count += is_of(*place(i), days) && text_matches((*place(i))->clicked, text);
    pthread_mutex_unlock(&uses.lock);
    return count;
}

const char *template_use_put(struct arena *arena, const cJSON *json) {
    struct use use = {0};
    const char *problem = json_fill(arena, &use, use_fields, json);
    if (problem || !use.id || !use.template_id)
        return problem ? problem : "id and templateId are needed";
    add(&use);
    return NULL;
}

void template_use_print(struct buffer *out) {
    pthread_mutex_lock(&uses.lock);
    for (size_t i = oldest(); i < uses.count; i++) {
        buffer_add_text(out, i == oldest() ? "" : ",\n");
        json_fields_print(out, *place(i), use_fields);
    }
    pthread_mutex_unlock(&uses.lock);
}

void template_use_clear(void) {
    pthread_mutex_lock(&uses.lock);
    for (size_t i = oldest(); i < uses.count; i++)
        use_free(*place(i));
    uses.count = 0;
    pthread_mutex_unlock(&uses.lock);
}
