/* Media: uploads, ids, and URLs that expire. All calls but those of an upload in progress are made
 * under the state lock. */
#ifndef SANDBOX_MEDIA_H
#define SANDBOX_MEDIA_H

#include "accounts.h"
#include "exchange.h"

struct media {
    char *id;
    char *waba_id;
    char *phone_id;
    char *mime;
    char *filename;     /* of the uploaded part, or NULL */
    char *part_headers; /* header block of the uploaded file part, or NULL */
    char *type_field;   /* the upload's `type` field, or NULL */
    char *path;         /* spooled bytes; NULL: made from the seed as they are read */
    uint64_t seed;
    uint64_t size;
    char sha256[2 * crypto_hash_sha256_BYTES + 1];
    bool unsized; /* downloaded without Content-Length */
    struct media *next;
};

/* Where uploads are spooled; NULL makes a temporary directory of our own when first needed. */
void media_directory(const char *path);

/* GET /{media-id}, DELETE /{media-id}, and the URL that the first gives out. */
void media_show(struct exchange *exchange, const char *id);
void media_delete(const char *id);
bool media_is_download(const char *path);
void media_download(struct exchange *exchange);

/* The account a media id belongs to, or NULL; whether that account may send it. */
const struct account *media_owner(const char *id);
bool media_usable(const char *id, const struct account *account);

/* Makes media of pseudo-random bytes: {wabaId, phoneNumberId, id, mimeType, size, seed,
 * withoutLength}; only wabaId or phoneNumberId is needed. Returns NULL or a sentence the caller
 * frees; *id is the media id, a heap string. */
char *media_make(const cJSON *json, char **id);

/* What a webhook says of media of that account: of the id given, else of its first whose type
 * starts with `type`, else made up. Each text is set where it is NULL; sha256 is in Base64. */
void media_for_webhook(const char *waba_id, const char *type, char **id, char **mime, char **sha256,
                       char **url);

/* Appends all media, or one, as JSON; one's bytes as a source. False when there is none. */
void media_list(struct bytes *out);
bool media_print(struct bytes *out, const char *id);
bool media_source(struct source *source, const char *id);

/* Lets all URLs given out so far expire. Forgets all media and removes what was spooled. */
void media_expire_urls(void);
void media_clear(void);

/* Takes over a spooled file; the id is new. The returned object belongs to the store. */
const struct media *media_adopt(struct media *media);

/* A new file in the spool directory, open for writing; *path is a heap string. -1 on failure. */
int media_spool(char **path);

/* POST /{phone-number-id}/media as a stream. */
struct upload *upload_new(const char *content_type);
void upload_feed(struct upload *upload, const char *data, size_t length);
void upload_answer(struct exchange *exchange, const struct account *account,
                   const struct phone *phone);
void upload_free(struct upload *upload);

#endif
