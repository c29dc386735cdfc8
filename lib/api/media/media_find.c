#include "api/media/media_find.h"

#include <unistd.h>

#include "api/graph/graph_node.h"
#include "api/media/download.h"
#include "api/upstream.h"
#include "archive/media_file.h"

bool media_is_id(struct slice id) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    for (size_t i = 0; i < id.n; i++)
        if (!id.p[i] || !strchr(allowed, id.p[i]))
            return false;
    return id.n >= 1 && id.n <= 128;
}

/* Reads a media object of the platform. Returns whether it has a URL. */
static bool read_media(struct request *rq, struct json answer, struct media *media) {
    media->url = json_text(json_get(answer, "url"), rq->arena);
    media->type = json_text(json_get(answer, "mime_type"), rq->arena);
    if (!json_integer(json_get(answer, "file_size"), &media->size) || media->size < 0)
        media->size = -1;
    return media->url && *media->url;
}

/* Asks the platform with the token of each account in turn until it returns a URL, and sets
 * `*holder` to that account. After a 4xx the next account is tried, because the error may concern
 * only one of them. If no account has the media, the request fails with the first 4xx for which
 * graph_is_elsewhere is false. */
static int find_media(struct request *rq, const struct store_account *accounts, size_t count,
                      struct media *media, const struct store_account **holder) {
    struct graph_answer first_error = {0}, answer;
    struct json json;
    for (size_t i = 0; i < count; i++) {
        *holder = &accounts[i];
        media->token = state_account_token(rq, *holder);
        if (!media->token)
            return -1;
        struct graph_call call = {.method = "GET", .path = media->id, .token = media->token};
        upstream_ask(rq, &call, &answer);
        if (answer.status < 400 || answer.status > 499) {
            if (upstream_read(rq, UPSTREAM_DOWNLOAD, &answer, &json))
                return -1;
            if (read_media(rq, json, media))
                return 0;
        } else if (!first_error.status && !graph_is_elsewhere(rq, &answer)) {
            first_error = answer;
        }
    }
    return first_error.status ? upstream_fail(rq, UPSTREAM_DOWNLOAD, &first_error)
                              : fail(rq, NOT_FOUND, "Media URL not found");
}

/* Replies with the copy in the archive, if there is one of an account. Sets *is_there. */
static int reply_archived(struct request *rq, const char *media_id,
                          const struct store_account *accounts, size_t count, bool *is_there) {
    struct store *store = state_store(rq, INTERNAL);
    struct store_media_copy copy;
    int file = -1;
    if (!store)
        return -1;
    for (size_t i = 0; i < count && file < 0; i++) {
        const enum store_result result =
            store_find_media_copy(store, rq->arena, accounts[i].id, media_id, &copy);
        if (result != STORE_OK && result != STORE_NOT_FOUND)
            return state_fail(rq, result);
        if (result == STORE_OK)
            file = media_file_open(rq->config->media_archive, &copy, &copy.size);
    }
    if (!(*is_there = file >= 0))
        return 0;
    const struct media media = {.id = media_id, .type = copy.type, .size = copy.size};
    json_write_bool(&rq->log, "archived", true);
    const int status = download_file(rq, &media, file);
    close(file);
    return status;
}

int media_reply(struct request *rq, const char *media_id, const struct store_account *accounts,
                size_t count) {
    struct media media = {.id = media_id};
    const struct store_account *holder;
    bool is_there = false;
    if (*rq->config->media_archive &&
        (reply_archived(rq, media_id, accounts, count, &is_there) || is_there))
        return rq->failure.code ? -1 : 0;
    if (find_media(rq, accounts, count, &media, &holder))
        return -1;
    enum download_result result = download_stream(rq, &media);
    if (result == DOWNLOAD_EXPIRED) { /* tries once more, with a new URL */
        if (find_media(rq, holder, 1, &media, &holder))
            return -1;
        result = download_stream(rq, &media);
    }
    if (result == DOWNLOAD_EXPIRED)
        return fail_verbatim(rq, BAD_GATEWAY, SLICE(""), "Failed to download media");
    return result == DOWNLOAD_DONE ? 0 : -1;
}
