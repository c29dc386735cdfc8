#include "nodes/edges.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>

#include "state/collection.h"
#include "text/json_print.h"
#include "text/text.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

enum { SESSIONS_MAX = 256 };

/* The JSON of an item is {length, offset, type, sig}. */
static struct collection sessions;

struct session {
    int64_t length;
    int64_t offset;
    const char *type;
    const char *sig; /* part of the URL */
};

static const struct json_field session_fields[] = {
    {"length", JSON_NUMBER, offsetof(struct session, length)},
    {"offset", JSON_NUMBER, offsetof(struct session, offset)},
    {"type", JSON_TEXT, offsetof(struct session, type)},
    {"sig", JSON_TEXT, offsetof(struct session, sig)},
    {NULL, JSON_ELSEWHERE, 0},
};

static struct session session_read(struct arena *arena, const char *id) {
    const struct item *item = collection_find(&sessions, id);
    cJSON *json = cJSON_ParseWithLength(item->raw.p, item->raw.n);
    struct session session = {0};
    json_fill(arena, &session, session_fields, json);
    cJSON_Delete(json);
    return session;
}

static struct slice session_print(struct arena *arena, const struct session *session) {
    struct buffer raw = buffer_in(arena);
    json_fields_print(&raw, session, session_fields);
    return buffer_slice(&raw);
}

const struct account *session_owner(const char *id) {
    return strncmp(id, "upload:", 7) == 0 ? collection_owner(&sessions, id) : NULL;
}

/* Returns random bytes as URL-safe base64, in `arena`. */
static const char *random_text(struct arena *arena, size_t bytes) {
    unsigned char noise[48];
    size_t size = sodium_base64_encoded_len(bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    crypto_random(noise, bytes);
    return sodium_bin2base64(arena_alloc(arena, size), size, noise, bytes,
                             sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* Deletes the oldest session of the account when it has too many. */
static void make_room(const char *owner) {
    if (collection_count(&sessions, owner) < SESSIONS_MAX)
        return;
    for (size_t i = 0; i < sessions.count; i++) {
        if (strcmp(sessions.items[i].owner, owner) == 0) {
            collection_remove(&sessions, sessions.items[i].id);
            return;
        }
    }
}

static bool is_accepted(const char *type) {
    static const char *const types[] = {"application/pdf", "image/jpeg", "image/jpg", "image/png",
                                        "video/mp4"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], type) == 0)
            return true;
    return false;
}

void session_create(struct exchange *exchange, const struct target *target) {
    struct arena *arena = exchange->arena;
    const char *length = parameter_needed(exchange, "file_length");
    const char *type = length ? parameter_needed(exchange, "file_type") : NULL;
    if (!type)
        return;
    struct session session = {strtoll(length, NULL, 10), 0, type, random_text(arena, 24)};
    const char *id = arena_printf(arena, "upload:%s", random_text(arena, 48));
    if (session.length <= 0) {
        reply_error(exchange, 100, "(#100) Param file_length must be a positive integer.");
    } else if (!is_accepted(type)) {
        reply_error(exchange, 100, "(#100) Param file_type is not an allowed type: %.100s", type);
    } else {
        make_room(target->account->waba_id);
        collection_insert(&sessions, target->account->waba_id, id, session_print(arena, &session));
        buffer_printf(&exchange->reply.body, "{\"id\":\"%s?sig=%s\"}", id, session.sig);
    }
}

/* Whether the query has the signature of the session; else answers that there is none. */
static bool is_signed(struct exchange *exchange, const struct target *target,
                      const struct session *session) {
    const char *sig = exchange_parameter(exchange, "sig");
    if (sig && strcmp(sig, session->sig) == 0)
        return true;
    reply_unknown_object(exchange, target->id);
    return false;
}

void session_show(struct exchange *exchange, const struct target *target) {
    struct session session = session_read(exchange->arena, target->id);
    if (is_signed(exchange, target, &session))
        buffer_printf(&exchange->reply.body, "{\"id\":\"%s?sig=%s\",\"file_offset\":%" PRId64 "}",
                      target->id, session.sig, session.offset);
}

/* Adds the bytes of the body. Returns false after answering with an error. */
static bool session_add(struct exchange *exchange, const struct target *target,
                        struct session *session) {
    const char *offset = exchange_header(exchange, "file_offset");
    if (offset && strtoll(offset, NULL, 10) != session->offset) {
        reply_error(exchange, 100, "(#100) The file_offset of this session is %" PRId64 ".",
                    session->offset);
        return false;
    }
    if (exchange->body_length > session->length - session->offset) {
        reply_error(exchange, 100, "(#100) The file is longer than its file_length.");
        return false;
    }
    session->offset += exchange->body_length;
    collection_replace(&sessions, target->id, session_print(exchange->arena, session));
    return true;
}

void session_feed(struct exchange *exchange, const struct target *target) {
    struct session session = session_read(exchange->arena, target->id);
    if (!is_signed(exchange, target, &session) || !session_add(exchange, target, &session))
        return;
    if (session.offset < session.length)
        session_show(exchange, target);
    else
        buffer_printf(&exchange->reply.body, "{\"h\":\"4::%s:%s:e:%s\"}",
                      crypto_base64(exchange->arena, session.type, strlen(session.type)),
                      random_text(exchange->arena, 48), random_text(exchange->arena, 24));
}

void session_clear(void) {
    collection_clear(&sessions, NULL);
}
