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
    char *type_field;   /* the `type` field of the upload, or NULL */
    char *path;         /* of the spooled bytes; NULL: they are generated from the seed when read */
    uint64_t seed;
    uint64_t size;
    char sha256[2 * crypto_hash_sha256_BYTES + 1];
    bool unsized; /* downloaded without Content-Length */
    struct media *next;
};

/* Sets the directory in which uploads are spooled; NULL: a temporary directory, made when first
 * needed. */
void media_directory(const char *path);

/* Answer GET /{media-id}, DELETE /{media-id}, and the URL that the GET returns. */
void media_show(struct exchange *exchange, const char *id);
void media_delete(const char *id);
bool media_is_download(const char *path);
void media_download(struct exchange *exchange);

/* media_owner returns the account of a media id, or NULL; media_usable is true if that account may
 * send it. */
const struct account *media_owner(const char *id);
bool media_usable(const char *id, const struct account *account);

/* Makes media of pseudo-random bytes: {wabaId, phoneNumberId, id, mimeType, size, seed,
 * withoutLength}; only wabaId or phoneNumberId is needed. Returns NULL, or an error text that the
 * caller frees; *id is the media id, a heap string. */
char *media_make(const cJSON *json, char **id);

/* Sets the media texts of a webhook that are NULL: from the media with the given id, else from the
 * account's first media whose type starts with `type`, else generated. sha256 is in Base64. */
void media_for_webhook(const char *waba_id, const char *type, char **id, char **mime, char **sha256,
                       char **url);

/* Append all media, or one, as JSON, or open the bytes of one as a source. Return false if there is
 * no such media. */
void media_list(struct bytes *out);
bool media_print(struct bytes *out, const char *id);
bool media_source(struct source *source, const char *id);

/* media_expire_urls expires all URLs returned so far. media_clear deletes all media and their
 * spooled files. */
void media_expire_urls(void);
void media_clear(void);

/* Adds media whose file is spooled, under a new id, and takes ownership of it. The returned object
 * belongs to the media list. */
const struct media *media_adopt(struct media *media);

/* Creates a file in the spool directory and opens it for writing; *path is a heap string. Returns
 * the descriptor, or -1. */
int media_spool(char **path);

/* The stream of POST /{phone-number-id}/media. */
struct upload *upload_new(const char *content_type);
void upload_feed(struct upload *upload, const char *data, size_t length);
void upload_answer(struct exchange *exchange, const struct account *account,
                   const struct phone *phone);
void upload_free(struct upload *upload);

#endif
