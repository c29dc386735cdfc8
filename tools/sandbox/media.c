#include "media.h"

#include "graph_error.h"
#include "server.h"
#include "state.h"
#include "timer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOWNLOAD_PATH "/whatsapp_business/attachments/"

enum { CHACHA_BLOCK = 64 };

static struct media *media_first;
static atomic_uint_fast64_t media_count;
static uint64_t url_epoch;

static struct {
    pthread_mutex_t lock;
    char *path;
    bool own; /* ours to remove */
} spool = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
    {NULL, JSON_ELSEWHERE, 0},
};

void media_directory(const char *path) {
    spool.path = memory_text(path);
}

int media_spool(char **path) {
    int file;

    pthread_mutex_lock(&spool.lock);
    if (spool.path == NULL) {
        const char *parent = getenv("TMPDIR");

        spool.path = memory_format("%s/graph-sandbox.XXXXXX", parent == NULL ? "/tmp" : parent);
        spool.own = mkdtemp(spool.path) != NULL;
    }
    *path = memory_format("%s/upload.XXXXXX", spool.path);
    pthread_mutex_unlock(&spool.lock);
    file = mkostemp(*path, O_CLOEXEC);
    if (file < 0) {
        fprintf(stderr, "graph-sandbox: %s: %s\n", *path, strerror(errno));
        free(*path);
        *path = NULL;
    }
    return file;
}

static struct media *media_find(const char *id) {
    struct media *media = media_first;

    while (media != NULL && strcmp(media->id, id) != 0) {
        media = media->next;
    }
    return media;
}

const struct account *media_owner(const char *id) {
    const struct media *media = media_find(id);

    return media == NULL ? NULL : account_by_waba(media->waba_id);
}

bool media_usable(const char *id, const struct account *account) {
    return media_owner(id) == account;
}

static void media_free(struct media *media) {
    if (media->path != NULL) {
        unlink(media->path);
        free(media->path);
    }
    json_fields_release(media, media_fields);
    free(media);
}

void media_delete(const char *id) {
    struct media **link = &media_first;

    while (*link != NULL && strcmp((*link)->id, id) != 0) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        struct media *gone = *link;

        *link = gone->next;
        media_free(gone);
    }
}

void media_clear(void) {
    while (media_first != NULL) {
        struct media *gone = media_first;

        media_first = gone->next;
        media_free(gone);
    }
    pthread_mutex_lock(&spool.lock);
    if (spool.own) {
        rmdir(spool.path);
        free(spool.path);
        spool.path = NULL;
        spool.own = false;
    }
    pthread_mutex_unlock(&spool.lock);
}

const struct media *media_adopt(struct media *media) {
    if (media->id == NULL) {
        media->id = memory_format("1%06u%09llu", randombytes_uniform(1000000),
                                  (unsigned long long)++media_count);
    }
    media->next = media_first;
    media_first = media;
    return media;
}

/* The bytes of an answer. The file is held open, so the media may be deleted meanwhile. */
struct content {
    int file;
    uint64_t seed;
    uint64_t offset;
};

/* Generates pseudo-random bytes at any position: the ChaCha20 key stream at that block. */
static void make_bytes(uint64_t seed, uint64_t position, char *out, size_t length) {
    unsigned char key[crypto_stream_chacha20_KEYBYTES] = {0};
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    unsigned char block[CHACHA_BLOCK];

    memcpy(key, &seed, sizeof seed);
    while (length > 0) {
        size_t skip = position % CHACHA_BLOCK;
        size_t piece = skip != 0 || length < CHACHA_BLOCK ? CHACHA_BLOCK - skip
                                                          : length - length % CHACHA_BLOCK;

        piece = piece > length ? length : piece;
        if (skip == 0 && piece >= CHACHA_BLOCK) {
            memset(out, 0, piece);
            crypto_stream_chacha20_xor_ic((unsigned char *)out, (unsigned char *)out, piece, nonce,
                                          position / CHACHA_BLOCK, key);
        } else {
            memset(block, 0, sizeof block);
            crypto_stream_chacha20_xor_ic(block, block, sizeof block, nonce,
                                          position / CHACHA_BLOCK, key);
            memcpy(out, block + skip, piece);
        }
        out += piece;
        position += piece;
        length -= piece;
    }
}

static ssize_t content_read(void *state, uint64_t position, char *out, size_t room) {
    const struct content *content = state;

    if (content->file >= 0) {
        return pread(content->file, out, room, (off_t)(content->offset + position));
    }
    make_bytes(content->seed, content->offset + position, out, room);
    return (ssize_t)room;
}

static void content_release(void *state) {
    struct content *content = state;

    if (content->file >= 0) {
        close(content->file);
    }
    free(content);
}

static bool content_open(struct source *source, const struct media *media, uint64_t offset,
                         uint64_t length) {
    struct content *content = memory_new(sizeof *content);

    content->file = media->path == NULL ? -1 : open(media->path, O_RDONLY | O_CLOEXEC);
    content->seed = media->seed;
    content->offset = offset;
    *source = (struct source){length, content_read, content_release, content};
    if (media->path != NULL && content->file < 0) {
        content_release(content);
        memset(source, 0, sizeof *source);
        return false;
    }
    return true;
}

bool media_source(struct source *source, const char *id) {
    const struct media *media = media_find(id);

    return media != NULL && content_open(source, media, 0, media->size);
}

static void media_digest(struct media *media) {
    crypto_hash_sha256_state state;
    unsigned char digest[crypto_hash_sha256_BYTES];
    char block[1 << 14];

    crypto_hash_sha256_init(&state);
    for (uint64_t at = 0; at < media->size; at += sizeof block) {
        size_t piece = media->size - at < sizeof block ? (size_t)(media->size - at) : sizeof block;

        make_bytes(media->seed, at, block, piece);
        crypto_hash_sha256_update(&state, (unsigned char *)block, piece);
    }
    crypto_hash_sha256_final(&state, digest);
    bytes_hex(media->sha256, digest, sizeof digest);
}

/* Sets the missing one of account and number of a control call from the other. */
static char *media_complete(struct media *media) {
    const struct account *account = NULL;

    if (media->phone_id != NULL) {
        account = account_by_phone(media->phone_id, NULL);
    } else if (media->waba_id != NULL) {
        account = account_by_waba(media->waba_id);
    }
    if (account == NULL) {
        return memory_text("wabaId or phoneNumberId of a known account is needed");
    }
    if (media->id != NULL && media_find(media->id) != NULL) {
        return memory_format("media %s exists already", media->id);
    }
    free(media->waba_id);
    media->waba_id = memory_text(account->waba_id);
    if (media->phone_id == NULL && account->phone_count > 0) {
        media->phone_id = memory_text(account->phones[0].id);
    }
    if (media->mime == NULL) {
        media->mime = memory_text("image/jpeg");
    }
    return NULL;
}

char *media_make(const cJSON *json, char **id) {
    struct media *media = memory_new(sizeof *media);
    char *problem;

    media->size = 1024;
    media->seed = 1;
    problem = json_fill(media, media_fields, json);
    if (problem == NULL) {
        problem = media_complete(media);
    }
    if (problem != NULL) {
        media_free(media);
        return problem;
    }
    media_digest(media);
    *id = memory_text(media_adopt(media)->id);
    return NULL;
}

static void print_media(struct bytes *out, const struct media *media) {
    json_fields_print(out, media, media_fields);
    out->length--;
    bytes_format(out, ",\"sha256\":\"%s\"}", media->sha256);
}

void media_list(struct bytes *out) {
    bytes_text(out, "[");
    for (const struct media *media = media_first; media != NULL; media = media->next) {
        bytes_text(out, media == media_first ? "" : ",");
        print_media(out, media);
    }
    bytes_text(out, "]");
}

bool media_print(struct bytes *out, const char *id) {
    const struct media *media = media_find(id);

    if (media != NULL) {
        print_media(out, media);
    }
    return media != NULL;
}

void media_expire_urls(void) {
    url_epoch++;
}

/* The signature of a URL, over id, expiry and epoch. */
static char *url_hash(const char *id, const char *expiry) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static unsigned char key[crypto_generichash_KEYBYTES];
    static bool keyed;
    char *text = memory_format("%s %s %llu", id, expiry, (unsigned long long)url_epoch);
    unsigned char hash[crypto_generichash_BYTES_MIN];
    char *encoded = memory_new(sizeof hash * 2);

    pthread_mutex_lock(&lock);
    if (!keyed) {
        crypto_generichash_keygen(key);
        keyed = true;
    }
    pthread_mutex_unlock(&lock);
    crypto_generichash(hash, sizeof hash, (unsigned char *)text, strlen(text), key, sizeof key);
    sodium_bin2base64(encoded, sizeof hash * 2, hash, sizeof hash,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    free(text);
    return encoded;
}

static char *media_url(const char *host, const struct media *media) {
    char *expiry = memory_format(
        "%llu", (unsigned long long)(clock_unix() / 1000 + settings.media_url_seconds));
    char *hash = url_hash(media->id, expiry);
    char *authority =
        host == NULL ? memory_format("127.0.0.1:%u", server_port()) : memory_text(host);
    char *url = memory_format("http://%s" DOWNLOAD_PATH "?mid=%s&ext=%s&hash=%s", authority,
                              media->id, expiry, hash);

    free(authority);
    free(expiry);
    free(hash);
    return url;
}

void media_show(struct exchange *exchange, const char *id) {
    const struct media *media = media_find(id);
    const char *phone = exchange_parameter(exchange, "phone_number_id");
    struct bytes *out = &exchange->reply.body;
    const char *quote = settings.media_size_text ? "\"" : "";
    char *url;

    if (!text_matches(media->phone_id, phone)) {
        reply_unknown_object(exchange, id);
        return;
    }
    url = media_url(exchange_header(exchange, "Host"), media);
    bytes_text(out, "{\"messaging_product\":\"whatsapp\",\"url\":");
    json_quote(out, url, strlen(url));
    bytes_text(out, ",\"mime_type\":");
    json_quote(out, media->mime, strlen(media->mime));
    bytes_format(out, ",\"sha256\":\"%s\",\"file_size\":%s%llu%s,\"id\":\"%s\"}", media->sha256,
                 quote, (unsigned long long)media->size, quote, media->id);
    free(url);
}

static void set_once(char **target, char *text) {
    if (*target == NULL) {
        *target = text;
    } else {
        free(text);
    }
}

/* Converts a digest from hexadecimal to Base64. */
static char *digest_base64(const char *hex) {
    unsigned char digest[crypto_hash_sha256_BYTES] = {0};
    char *text = memory_new(64);

    sodium_hex2bin(digest, sizeof digest, hex, strlen(hex), NULL, NULL, NULL);
    sodium_bin2base64(text, 64, digest, sizeof digest, sodium_base64_VARIANT_ORIGINAL);
    return text;
}

void media_for_webhook(const char *waba_id, const char *type, char **id, char **mime, char **sha256,
                       char **url) {
    const struct media *media = media_first;

    while (media != NULL && (*id != NULL ? strcmp(media->id, *id) != 0
                                         : strcmp(media->waba_id, waba_id) != 0 ||
                                               strncmp(media->mime, type, strlen(type)) != 0)) {
        media = media->next;
    }
    if (media != NULL) {
        set_once(id, memory_text(media->id));
        set_once(mime, memory_text(media->mime));
        set_once(sha256, digest_base64(media->sha256));
        set_once(url, media_url(NULL, media));
    } else {
        bool whole = type[strlen(type) - 1] != '/';

        set_once(id, memory_format("19%014u", randombytes_random()));
        set_once(mime, memory_format("%s%s", type, whole ? "" : "mp4"));
        set_once(sha256, digest_base64(""));
        set_once(url,
                 memory_format("http://127.0.0.1:%u" DOWNLOAD_PATH "?mid=%s", server_port(), *id));
    }
}

bool media_is_download(const char *path) {
    return strcmp(path, DOWNLOAD_PATH) == 0;
}

/* Returns the media of a URL; NULL if the URL has expired or is not of the token's account. */
static const struct media *media_by_url(const struct exchange *exchange) {
    const char *id = exchange_parameter(exchange, "mid");
    const char *expiry = exchange_parameter(exchange, "ext");
    const char *hash = exchange_parameter(exchange, "hash");
    const char *token = exchange_token(exchange);
    const struct media *media = id == NULL ? NULL : media_find(id);
    char *right;
    bool good;

    if (media == NULL || expiry == NULL || hash == NULL || token == NULL ||
        token_check(token) != TOKEN_VALID ||
        strcmp(account_by_waba(media->waba_id)->token, token) != 0) {
        return NULL;
    }
    right = url_hash(id, expiry);
    good = strcmp(right, hash) == 0 && strtoull(expiry, NULL, 10) >= clock_unix() / 1000;
    free(right);
    return good ? media : NULL;
}

enum range { RANGE_NONE, RANGE_PART, RANGE_WRONG };

/* Reads one byte range (RFC 9110 14.1.2). Several ranges count as none: the answer is the whole. */
static enum range range_read(const char *text, uint64_t size, uint64_t *from, uint64_t *to) {
    unsigned long long a;
    unsigned long long b;
    int length = 0;

    *from = 0;
    *to = size - 1;
    if (text == NULL || strncmp(text, "bytes=", 6) != 0 || strchr(text, ',') != NULL) {
        return RANGE_NONE;
    }
    text += 6;
    if (*text == '-' && sscanf(text, "-%llu%n", &b, &length) == 1 && text[length] == '\0') {
        *from = b > size ? 0 : size - b;
        return b == 0 || size == 0 ? RANGE_WRONG : RANGE_PART;
    }
    if (sscanf(text, "%llu-%n", &a, &length) != 1 || length == 0) {
        return RANGE_NONE;
    }
    *from = a;
    if (text[length] != '\0') {
        if (sscanf(text + length, "%llu", &b) != 1 || b < a) {
            return RANGE_NONE;
        }
        *to = b < *to ? b : *to;
    }
    return a < size ? RANGE_PART : RANGE_WRONG;
}

static void send_media(struct exchange *exchange, const struct media *media) {
    struct reply *reply = &exchange->reply;
    uint64_t from;
    uint64_t to;
    enum range range = range_read(exchange_header(exchange, "Range"), media->size, &from, &to);

    reply_header(reply, "Accept-Ranges", "bytes");
    reply->unsized = media->unsized;
    if (range == RANGE_WRONG) {
        reply->status = 416;
        bytes_format(&reply->headers, "Content-Range: bytes */%llu\n",
                     (unsigned long long)media->size);
        return;
    }
    if (range == RANGE_PART) {
        reply->status = 206;
        bytes_format(&reply->headers, "Content-Range: bytes %llu-%llu/%llu\n",
                     (unsigned long long)from, (unsigned long long)to,
                     (unsigned long long)media->size);
    }
    if (!content_open(&reply->source, media, from, media->size == 0 ? 0 : to - from + 1)) {
        reply->status = 500;
    }
}

void media_download(struct exchange *exchange) {
    static const char page[] = "<!DOCTYPE html>\n<html><head><title>Error</title></head>"
                               "<body>Sorry, something went wrong.</body></html>\n";
    const struct media *media = media_by_url(exchange);
    struct reply *reply = &exchange->reply;

    if (exchange_header(exchange, "User-Agent") == NULL) {
        reply->status = 400;
        reply->type = "text/html; charset=utf-8";
        bytes_text(&reply->body, page);
    } else if (media == NULL) {
        reply->status = 404;
        reply->type = "text/plain";
        bytes_text(&reply->body, "URL signature expired");
    } else {
        reply->type = NULL;
        reply_header(reply, "Content-Type", media->mime);
        send_media(exchange, media);
    }
}
