/* POST /v2/media/upload, GET /v2/media/:mediaId/download (spec 2.7, 4.6). Files are streamed: no
 * process holds a whole file in memory. */
#include "api/download.h"
#include "api/idempotency.h"
#include "api/selector.h"
#include "api/upload.h"
#include "api/upstream.h"
#include "base/crypto.h"
#include "base/signals.h"

/* --- upload --- */

static int check_line(const struct upload *upload) {
    struct issues issues;
    issues_start(&issues, upload->rq->arena);
    if (!upload->line)
        issues_add(&issues, "phoneNumberId", "required",
                   "is required: send the form field phoneNumberId or the header "
                   "X-Phone-Number-Id");
    else if (!*upload->line)
        issues_add(&issues, "phoneNumberId", "empty", "must not be empty");
    return fail_on_issues(upload->rq, &issues) ? -1 : auth_choose_line(upload->rq, upload->line);
}

static int check_file(const struct upload *upload) {
    struct issues issues;
    issues_start(&issues, upload->rq->arena);
    if (upload->size < 0)
        issues_add(&issues, "file", "required", "is required: send a form field file");
    else if (!upload->size)
        issues_add(&issues, "file", "empty", "must not be empty");
    return fail_on_issues(upload->rq, &issues);
}

static int reply_media_id(struct request *rq, struct json answer) {
    const char *id = json_text(json_get(answer, "id"), rq->arena);
    if (!id || !*id) {
        return fail_with_details(rq, BAD_GATEWAY, json_raw(answer),
                                 "The platform's answer names no media id.");
    }
    struct json_writer w;
    json_write_start(&w, rq->arena);
    json_write_object(&w, NULL);
    json_write_text(&w, "mediaId", id);
    json_write_end(&w);
    return reply_data(rq, json_written(&w));
}

/* An upload, and the idempotency key under which it is carried out. */
struct keyed_upload {
    struct upload *upload;
    struct idempotency *once;
};

/* Reads the file, and stores heartbeats of the key while it is uploaded. */
static ssize_t read_file(void *context, void *bytes, size_t n) {
    struct keyed_upload *keyed = context;
    idempotency_keep_alive(keyed->upload->rq, keyed->once);
    return upload_read(keyed->upload, bytes, n);
}

static int send_file(struct upload *upload, struct idempotency *once) {
    struct request *rq = upload->rq;
    const struct store_line *line = &rq->caller->line;
    struct keyed_upload keyed = {upload, once};
    const char *token, *type;
    struct graph_answer answer;
    struct json json;
    if (!(token = state_account_token(rq, &line->account)) || !(type = upload_type(upload)))
        return -1;
    struct graph_upload file = {
        .phone_number_id = line->phone_number_id,
        .token = token,
        .type = type,
        .name = upload->name,
        .size = upload->size,
        .read = read_file,
        .context = &keyed,
    };
    upstream_upload(rq, &file, &answer);
    if (!answer.status && upload->is_broken)
        return upload_fail(upload);
    return upstream_read(rq, UPSTREAM_UPLOAD, &answer, &json) ? -1 : reply_media_id(rq, json);
}

/* Sends the file under an idempotency key. Whether the body equals that of the first request is
 * known only at its end, so it is hashed while it is sent. If the key has a reply already, the
 * body is read and hashed, but not sent. */
static int send_file_once(struct upload *upload) {
    struct request *rq = upload->rq;
    struct idempotency once;
    unsigned char fingerprint[CRYPTO_HASH_SIZE];
    sigset_t before;
    enum idempotency_state state = idempotency_begin(rq, NULL, &once);
    if (state == IDEMPOTENCY_FAILED)
        return -1;
    signals_block(&before);
    int failed = state == IDEMPOTENCY_NEW ? send_file(upload, &once) : 0;
    bool is_whole = upload_fingerprint(upload, fingerprint) == 0;
    idempotency_end(rq, &once, is_whole ? fingerprint : NULL);
    signals_restore(&before);
    if (!is_whole)
        return upload_fail(upload);
    return state == IDEMPOTENCY_NEW ? failed : idempotency_replay(rq, &once, fingerprint);
}

static int send_checked(struct upload *upload) {
    struct idempotency none = {0};
    if (check_line(upload) || check_file(upload))
        return -1;
    return upload->hash ? send_file_once(upload) : send_file(upload, &none);
}

static int post_upload(struct request *rq) {
    struct upload upload;
    int result = upload_begin(&upload, rq, idempotency_has_key());
    if (!result)
        result = send_checked(&upload);
    upload_end(&upload);
    return result;
}

/* --- download --- */

static const char *const dispositions[] = {"inline", "attachment", NULL};

static const struct field download_query[] = {
    {.name = "disposition", .type = FIELD_STRING, .values = dispositions},
    SELECTOR_FIELDS,
    {0},
};

static bool is_media_id(struct slice id) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    for (size_t i = 0; i < id.n; i++)
        if (!id.p[i] || !strchr(allowed, id.p[i]))
            return false;
    return id.n >= 1 && id.n <= 128;
}

/* Whether the answer only means that the account has no such media: a 404, or code 100 with subcode
 * 33, which the platform answers for unknown ids and for media of other accounts. */
static bool is_elsewhere(struct request *rq, const struct graph_answer *answer) {
    struct json body;
    struct json_error error;
    int64_t code, subcode;
    if (answer->status == 404)
        return true;
    return answer->status == 400 && json_read(rq->arena, answer->body, &body, &error) == 0 &&
           json_integer(json_find(body, "error.code"), &code) && code == 100 &&
           json_integer(json_find(body, "error.error_subcode"), &subcode) && subcode == 33;
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
 * is_elsewhere is false. */
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
        } else if (!first_error.status && !is_elsewhere(rq, &answer)) {
            first_error = answer;
        }
    }
    return first_error.status ? upstream_fail(rq, UPSTREAM_DOWNLOAD, &first_error)
                              : fail(rq, NOT_FOUND, "Media URL not found");
}

static int get_download(struct request *rq) {
    struct media media = {.id = arena_copy(rq->arena, rq->parameters[0])};
    const struct store_account *holder;
    struct store_account *accounts;
    size_t count;
    if (!is_media_id(rq->parameters[0]))
        return fail(rq, NOT_FOUND, "Media URL not found");
    if (selector_list(rq, &accounts, &count) || find_media(rq, accounts, count, &media, &holder))
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

/* clang-format off */
static const struct route routes[] = {
    {.method = "POST", .path = "/v2/media/upload",
     .guard = &caller_guard, .handle = post_upload, .body = BODY_STREAM},
    {.method = "GET", .path = "/v2/media/:mediaId/download",
     .guard = &caller_guard, .handle = get_download, .query = download_query},
    {0},
};
/* clang-format on */

int main(int argc, char **argv) {
    return serve(&(struct service){.name = "media",
                                   .routes = routes,
                                   .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM |
                                            SPOOLS_FILES | DETECTS_TYPES,
                                   .prepare = upstream_prepare},
                 argc, argv);
}
