/* POST /v2/media/upload, GET /v2/media/:mediaId/download (spec 2.7, 4.6). Files are streamed: no
 * process holds a whole file in memory. */
#include "api/idempotency.h"
#include "api/media/download.h"
#include "api/media/media_find.h"
#include "api/media/upload.h"
#include "api/selector.h"
#include "api/upstream.h"
#include "base/http_client.h"
#include "base/process/signals.h"
#include "payload/attachment.h"
#include "store/message.h"

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

static int reply_media_id(struct request *rq, struct json answer) {
    const char *id = json_text(json_get(answer, "id"), rq->arena);
    if (!id || !*id) {
        return fail_with_details(rq, BAD_GATEWAY, json_raw(answer),
                                 "The platform's answer names no media id.");
    }
    struct json_writer w;
    reply_start(rq, &w);
    json_write_text(&w, "mediaId", id);
    return reply_object(rq, &w);
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
    const struct line *line = &rq->caller->line;
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
        .source = {upload->size, read_file, &keyed},
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
    struct idempotency once = {0};
    sigset_t before;
    enum idempotency_state state = idempotency_begin(rq, &once);
    if (state == IDEMPOTENCY_FAILED)
        return -1;
    signals_block(&before);
    int failed = state == IDEMPOTENCY_NEW ? send_file(upload, &once) : 0;
    bool is_whole = upload_fingerprint(upload, once.fingerprint) == 0;
    idempotency_end(rq, &once, is_whole);
    signals_restore(&before);
    if (!is_whole)
        return upload_fail(upload);
    return state == IDEMPOTENCY_NEW ? failed : idempotency_replay(rq, &once);
}

static int send_checked(struct upload *upload) {
    struct idempotency none = {0};
    if (check_line(upload) || upload_check_file(upload))
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

static const struct field download_query[] = {
    {.name = "messageId", .type = FIELD_STRING},
    DISPOSITION_FIELD,
    SELECTOR_FIELDS,
    {0},
};

/* Whether the message of the query has the file. A caller with some of the lines or threads has to
 * name one: the platform's token, and the archive, know neither. */
static int check_message(struct request *rq) {
    const struct caller *caller = rq->caller;
    const struct slice id = query_get(&rq->query, "messageId");
    struct message message;
    if (!id.n && !view_is_whole(&caller->view))
        return fail(rq, NOT_FOUND,
                    "Media URL not found: a caller with some of the lines or threads names the "
                    "message of the file as messageId.");
    if (!id.n)
        return 0;
    enum store_result result = store_find_message(caller->store, rq->arena, &caller->view,
                                                  arena_copy(rq->arena, id), NULL, &message);
    if (result != STORE_OK && result != STORE_NOT_FOUND)
        return state_fail(rq, result);
    const char *file = result == STORE_OK ? attachment_id(rq->arena, message.body) : NULL;
    return file && slice_equal(slice_of(file), rq->parameters[0])
               ? 0
               : fail(rq, NOT_FOUND, "Media URL not found: the message has not this file.");
}

static int get_download(struct request *rq) {
    struct store_account *accounts;
    size_t count;
    if (!media_is_id(rq->parameters[0]))
        return fail(rq, NOT_FOUND, "Media URL not found");
    return check_message(rq) || selector_list(rq, &accounts, &count)
               ? -1
               : media_reply(rq, request_segment(rq), accounts, count);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "POST", .path = "/v2/media/upload",
     .trail = NO_TRAIL("a message that sends the file is the trace"),
     .scope = SCOPE_SEND, .lines = LINES_BY_BODY, .guard = &caller_guard,
     .handle = post_upload, .body = BODY_STREAM},
    {.method = "GET", .path = "/v2/media/:mediaId/download",
     .scope = SCOPE_READ, .lines = LINES_BY_MESSAGE, .guard = &caller_guard,
     .handle = get_download, .query = download_query},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "media",
                                     .routes = routes,
                                     .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM |
                                              SPOOLS_FILES | DETECTS_TYPES | KEEPS_RECORDS |
                                              READS_ARCHIVE,
                                     .load = http_prepare};
