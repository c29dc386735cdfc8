#include "state/media_object.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/write_all.h"
#include "state/media_spool.h"
#include "text/json_print.h"
#include "text/memory.h"

enum { CHACHA_BLOCK = 64 };

/* Replaces `out`, from a multiple of CHACHA_BLOCK on, by the ChaCha20 key stream of the seed. */
static void key_stream(int64_t seed, int64_t position, void *out, size_t length) {
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    unsigned char key[crypto_stream_chacha20_KEYBYTES] = {0};
    memcpy(key, &seed, sizeof seed);
    memset(out, 0, length);
    crypto_stream_chacha20_xor_ic(out, out, length, nonce, (uint64_t)(position / CHACHA_BLOCK),
                                  key);
}

/* Writes `length` bytes of the sequence of `seed`, from `position`, to `out`: the content of media
 * that no client uploaded. */
static void random_bytes(int64_t seed, int64_t position, char *out, size_t length) {
    while (length > 0) {
        size_t skip = (size_t)(position % CHACHA_BLOCK);
        size_t piece = length - length % CHACHA_BLOCK;
        if (skip == 0 && piece > 0) {
            key_stream(seed, position, out, piece);
        } else {
            char block[CHACHA_BLOCK];
            piece = CHACHA_BLOCK - skip < length ? CHACHA_BLOCK - skip : length;
            key_stream(seed, position - (int64_t)skip, block, sizeof block);
            memcpy(out, block + skip, piece);
        }
        out += piece;
        position += (int64_t)piece;
        length -= piece;
    }
}

/* Returns the SHA-256 of the first `size` bytes in hexadecimal, in `arena`. */
static const char *random_bytes_sha256(struct arena *arena, int64_t seed, int64_t size) {
    struct crypto_sha256 *state = crypto_sha256_start(arena);
    unsigned char hash[CRYPTO_HASH_SIZE];
    char block[1 << 14];
    for (int64_t at = 0; at < size; at += (int64_t)sizeof block) {
        size_t piece = size - at < (int64_t)sizeof block ? (size_t)(size - at) : sizeof block;
        random_bytes(seed, at, block, piece);
        crypto_sha256_add(state, (struct slice){block, piece});
    }
    crypto_sha256_end(state, hash);
    return crypto_hex(arena, hash, sizeof hash);
}

static struct media *media_first; /* the newest first */

static const struct json_field media_fields[] = {
    {"id", JSON_TEXT, offsetof(struct media, id)},
    {"wabaId", JSON_TEXT, offsetof(struct media, waba_id)},
    {"phoneNumberId", JSON_TEXT, offsetof(struct media, phone_id)},
    {"mimeType", JSON_TEXT, offsetof(struct media, mime)},
    {"filename", JSON_TEXT, offsetof(struct media, filename)},
    {"partHeaders", JSON_TEXT, offsetof(struct media, part_headers)},
    {"typeField", JSON_TEXT, offsetof(struct media, type_field)},
    {"size", JSON_NUMBER, offsetof(struct media, size)},
    {"seed", JSON_NUMBER, offsetof(struct media, seed)},
    {"withoutLength", JSON_FLAG, offsetof(struct media, unsized)},
    {"base64", JSON_ELSEWHERE, 0},
    {NULL, JSON_ELSEWHERE, 0},
};

const struct media *media_find(const char *id) {
    const struct media *media = media_first;
    while (media && strcmp(media->id, id) != 0)
        media = media->next;
    return media;
}

static bool is_of_type(const struct media *media, const char *waba_id, const char *type) {
    return strcmp(media->waba_id, waba_id) == 0 && strncmp(media->mime, type, strlen(type)) == 0;
}

const struct media *media_select(const char *id, const char *waba_id, const char *type) {
    if (id)
        return media_find(id);
    const struct media *media = media_first;
    while (media && !is_of_type(media, waba_id, type))
        media = media->next;
    return media;
}

const struct account *media_owner(const char *id) {
    const struct media *media = media_find(id);
    return media ? account_by_waba(media->waba_id) : NULL;
}

bool media_usable(const char *id, const struct account *account) {
    return media_owner(id) == account;
}

static void media_free(struct media *media) {
    if (media->path)
        unlink(media->path);
    memory_close(media->arena);
}

void media_delete(const char *id) {
    struct media **link = &media_first;
    while (*link && strcmp((*link)->id, id) != 0)
        link = &(*link)->next;
    struct media *gone = *link;
    if (gone) {
        *link = gone->next;
        media_free(gone);
    }
}

void media_clear(void) {
    while (media_first) {
        struct media *gone = media_first;
        media_first = gone->next;
        media_free(gone);
    }
    spool_remove();
}

const struct media *media_add(const struct media *given) {
    static int64_t count;
    struct arena *arena = memory_open();
    struct media *media = arena_alloc(arena, sizeof *media);
    *media = *given;
    media->arena = arena;
    json_fields_copy(arena, media, media_fields);
    media->path = given->path ? arena_copy(arena, slice_of(given->path)) : NULL;
    media->sha256 = arena_copy(arena, slice_of(given->sha256));
    if (!media->id)
        media->id = arena_printf(arena, "1%06u%09" PRId64, randombytes_uniform(1000000), ++count);
    media->next = media_first;
    media_first = media;
    return media;
}

/* The bytes of an answer. The file is held open, so the media may be deleted meanwhile. */
struct content {
    int file;
    int64_t seed;
    int64_t offset;
};

static ssize_t content_read(void *state, int64_t position, char *out, size_t room) {
    const struct content *content = state;
    position += content->offset;
    if (content->file >= 0)
        return pread(content->file, out, room, (off_t)position);
    random_bytes(content->seed, position, out, room);
    return (ssize_t)room;
}

static void content_release(void *state) {
    const struct content *content = state;
    if (content->file >= 0)
        close(content->file);
}

bool media_open(struct arena *arena, const struct media *media, int64_t offset, int64_t length,
                struct source *source) {
    int file = media->path ? open(media->path, O_RDONLY | O_CLOEXEC) : -1;
    if (media->path && file < 0)
        return false;
    struct content *content = arena_alloc(arena, sizeof *content);
    *content = (struct content){.file = file, .seed = media->seed, .offset = offset};
    *source = (struct source){length, content_read, content_release, content};
    return true;
}

/* Sets the missing one of account and number of a control call from the other. */
static const char *complete(struct arena *arena, struct media *media) {
    const struct account *account = NULL;
    if (media->phone_id)
        account = account_by_phone(media->phone_id, NULL);
    else if (media->waba_id)
        account = account_by_waba(media->waba_id);
    if (!account)
        return "wabaId or phoneNumberId of a known account is needed";
    if (media->id && media_find(media->id))
        return arena_printf(arena, "media %s exists already", media->id);
    media->waba_id = account->waba_id;
    if (!media->phone_id && account->phone_count > 0)
        media->phone_id = account->phones[0].id;
    if (!media->mime)
        media->mime = "image/jpeg";
    return NULL;
}

/* Spools the bytes of a control call as the media's file. */
static const char *spool_bytes(struct arena *arena, struct media *media, const char *base64) {
    struct slice bytes = crypto_unbase64(arena, slice_of(base64));
    unsigned char hash[CRYPTO_HASH_SIZE];
    if (!bytes.p || bytes.n == 0)
        return "base64 is not Base64 of at least one byte";
    int file = spool_create(arena, &media->path);
    bool written = file >= 0 && write_all(file, bytes);
    if (file >= 0)
        close(file);
    if (!written) {
        if (media->path)
            unlink(media->path);
        return "the sandbox cannot spool the file";
    }
    crypto_sha256(bytes, hash);
    media->size = (int64_t)bytes.n;
    media->sha256 = crypto_hex(arena, hash, sizeof hash);
    return NULL;
}

const char *media_make(struct arena *arena, const cJSON *json, const struct media **made) {
    struct media media = {.size = 1024, .seed = 1};
    const char *base64 = json_text(json, "base64");
    const char *problem = json_fill(arena, &media, media_fields, json);
    if (!problem)
        problem = complete(arena, &media);
    if (!problem && base64)
        problem = spool_bytes(arena, &media, base64);
    if (problem)
        return problem;
    if (!base64)
        media.sha256 = random_bytes_sha256(arena, media.seed, media.size);
    *made = media_add(&media);
    return NULL;
}

void media_print(struct buffer *out, const struct media *media) {
    json_fields_print(out, media, media_fields);
    out->n--; /* the brace that closes the object */
    buffer_printf(out, ",\"sha256\":\"%s\"}", media->sha256);
}

/* Appends the bytes of the file in Base64; nothing when it cannot be read. */
static void save_bytes(struct buffer *out, const struct media *media) {
    struct arena *arena = memory_open();
    struct source source;
    char *bytes = arena_alloc(arena, (size_t)media->size + 1);
    if (media_open(arena, media, 0, media->size, &source)) {
        if (source.read(source.state, 0, bytes, (size_t)media->size) == media->size) {
            buffer_add_text(out, ",\"base64\":");
            json_quote_text(out, crypto_base64(arena, bytes, (size_t)media->size));
        }
        source.release(source.state);
    }
    memory_close(arena);
}

static void save_from(struct buffer *out, const struct media *media) {
    if (media->next) {
        save_from(out, media->next);
        buffer_add_text(out, ",\n");
    }
    json_fields_print(out, media, media_fields);
    out->n--; /* the brace that closes the object */
    if (media->path)
        save_bytes(out, media);
    buffer_add_char(out, '}');
}

void media_save(struct buffer *out) {
    if (media_first)
        save_from(out, media_first);
}

void media_list(struct buffer *out) {
    buffer_add_text(out, "[");
    for (const struct media *media = media_first; media; media = media->next) {
        buffer_add_text(out, media == media_first ? "" : ",");
        media_print(out, media);
    }
    buffer_add_text(out, "]");
}
