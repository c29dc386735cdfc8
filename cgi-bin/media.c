/* POST /v2/media/upload, GET /v2/media/:mediaId/download (spec 2.7, 4.6). Files pass through as
 * streams: no process ever holds a whole one. */
#include "base/crypto.h"
#include "graph/media_api.h"
#include "base/hold.h"
#include "api/download.h"
#include "api/idempotency.h"
#include "api/selector.h"
#include "api/upload.h"
#include "api/upstream.h"

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
        fail(rq, BAD_GATEWAY, "The platform's answer names no media id.");
        return fail_with_details(rq, json_raw(answer));
    }
    struct json_writer w;
    json_write_start(&w, rq->arena);
    json_write_object(&w, NULL);
    json_write_text(&w, "mediaId", id);
    json_write_end(&w);
    return reply_data(rq, json_written(&w));
}

/* An upload on its way, and the key it is made under. */
struct passing {
    struct upload *upload;
    struct idempotency *once;
};

static ssize_t read_passing(void *context, void *bytes, size_t n) {
    struct passing *passing = context;
    idempotency_keep_alive(passing->upload->rq, passing->once);
    return upload_read(passing->upload, bytes, n);
}

static int send_file(struct upload *upload, struct idempotency *once) {
    struct request *rq = upload->rq;
    const struct store_line *line = &rq->caller->line;
    struct passing passing = {upload, once};
    const char *token, *type;
    struct graph_answer answer;
    struct json json;
    if (!(token = state_account_token(rq, &line->account)) || !(type = upload_type(upload)))
        return -1;
    struct graph_upload file = {
        .line = line->phone_number_id,
        .token = token,
        .type = type,
        .name = upload->name,
        .size = upload->size,
        .read = read_passing,
        .context = &passing,
    };
    graph_upload(rq->config, rq->arena, &file, &answer);
    upstream_note(rq, &answer);
    if (!answer.status && upload->is_broken)
        return upload_fail(upload);
    return upstream_read(rq, UPSTREAM_UPLOAD, &answer, &json) ? -1 : reply_media_id(rq, json);
}

/* Under a key the body tells only at its end whether it is the one that came before: it is hashed
 * on its way. One that was answered before is read and hashed, and goes nowhere. */
static int send_file_once(struct upload *upload) {
    struct request *rq = upload->rq;
    struct idempotency once;
    unsigned char fingerprint[CRYPTO_HASH_SIZE];
    sigset_t before;
    enum idempotency_state state = idempotency_begin(rq, NULL, &once);
    if (state == IDEMPOTENCY_FAILED)
        return -1;
    signals_hold(&before);
    int failed = state == IDEMPOTENCY_NEW ? send_file(upload, &once) : 0;
    bool is_whole = upload_fingerprint(upload, fingerprint) == 0;
    idempotency_end(rq, &once, is_whole ? fingerprint : NULL);
    signals_release(&before);
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
    int result = upload_begin(&upload, rq, idempotency_is_asked());
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

/* Whether the platform says no more than that the account has no such media: it answers code 100
 * with subcode 33 for what is unknown and for what is another's. */
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

/* Reads what the platform tells of the media. Returns whether it names a URL. */
static bool read_media(struct request *rq, struct json answer, struct media *media) {
    media->url = json_text(json_get(answer, "url"), rq->arena);
    media->type = json_text(json_get(answer, "mime_type"), rq->arena);
    if (!json_integer(json_get(answer, "file_size"), &media->size) || media->size < 0)
        media->size = -1;
    return media->url && *media->url;
}

/* Asks with one account's token after the other until the platform names a URL; `*owner` is the
 * account then. A 4xx may be that account's alone, so the next one is asked; the first that tells
 * more than "not mine" is what fails the request when none has it. */
static int find_media(struct request *rq, const struct store_account *accounts, size_t count,
                      struct media *media, const struct store_account **owner) {
    struct graph_answer refusal = {0}, answer;
    struct json json;
    for (size_t i = 0; i < count; i++) {
        *owner = &accounts[i];
        media->token = state_account_token(rq, *owner);
        if (!media->token)
            return -1;
        struct graph_call call = {.method = "GET", .path = media->id, .token = media->token};
        upstream_ask(rq, &call, &answer);
        if (answer.status < 400 || answer.status > 499) {
            if (upstream_read(rq, UPSTREAM_DOWNLOAD, &answer, &json))
                return -1;
            if (read_media(rq, json, media))
                return 0;
        } else if (!refusal.status && !is_elsewhere(rq, &answer)) {
            refusal = answer;
        }
    }
    return refusal.status ? upstream_fail(rq, UPSTREAM_DOWNLOAD, &refusal)
                          : fail(rq, NOT_FOUND, "Media URL not found");
}

static int get_download(struct request *rq) {
    struct media media = {.id = arena_copy(rq->arena, rq->parameters[0])};
    const struct store_account *owner;
    struct store_account *accounts;
    size_t count;
    if (!is_media_id(rq->parameters[0]))
        return fail(rq, NOT_FOUND, "Media URL not found");
    if (selector_list(rq, &accounts, &count) || find_media(rq, accounts, count, &media, &owner))
        return -1;
    enum download_result result = download_pass(rq, &media);
    if (result == DOWNLOAD_EXPIRED) { /* a new URL may do, once */
        if (find_media(rq, owner, 1, &media, &owner))
            return -1;
        result = download_pass(rq, &media);
    }
    if (result == DOWNLOAD_EXPIRED)
        return fail_verbatim(rq, BAD_GATEWAY, "Failed to download media");
    return result == DOWNLOAD_DONE ? 0 : -1;
}

static const struct route routes[] = {
    {.method = "POST",
     .path = "/v2/media/upload",
     .guard = &token_guard,
     .handle = post_upload,
     .body = BODY_STREAM},
    {.method = "GET",
     .path = "/v2/media/:mediaId/download",
     .guard = &token_guard,
     .handle = get_download,
     .query = download_query},
    {0},
};

int main(void) {
    return serve(&(struct service){.name = "media",
                                   .routes = routes,
                                   .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM |
                                            SPOOLS_FILES | DETECTS_TYPES,
                                   .prepare = upstream_prepare});
}
