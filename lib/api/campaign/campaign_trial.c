#include "api/campaign/campaign_trial.h"

#include "api/send.h"
#include "payload/campaign_json.h"
#include "payload/columns.h"
#include "payload/graph_send.h"
#include "payload/recipient.h"

const struct field campaign_trial_fields[] = {
    RECIPIENT_FIELDS,
    {.name = "variables", .type = FIELD_OBJECT},
    {0},
};

/* The template with these variables, in the columns of a line of a table. */
static int fill(struct request *rq, const struct store_campaign *campaign,
                const struct columns *columns, const struct slice *cells, struct slice *object) {
    struct buffer components = buffer_in(rq->arena);
    struct json_writer out;
    const struct slice missing =
        columns_fill(columns, cells, columns->count, campaign->components, &components);
    if (missing.p)
        return fail(rq, INVALID, "variables.%.*s is missing or empty, and the components name it.",
                    (int)missing.n, missing.p);
    json_write_start_object(&out, rq->arena);
    campaign_json_write_template(&out, campaign, buffer_slice(&components));
    *object = json_written(&out);
    return 0;
}

/* The template of the first recipient; without one, that with no variables. */
static int copy_first(struct request *rq, const struct store_campaign *campaign,
                      struct slice *object) {
    struct slice body;
    struct json json;
    struct json_error error;
    enum store_result result =
        store_find_first_recipient(rq->caller->store, rq->arena, campaign->id, &body);
    if (result == STORE_NOT_FOUND)
        return fill(rq, campaign, &(struct columns){NULL, 0}, NULL, object);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (json_read(rq->arena, body, &json, &error))
        return fail(rq, INTERNAL, "The stored message of a recipient is no JSON.");
    *object = json_raw(json_get(json, "template"));
    return 0;
}

static int make_object(struct request *rq, const struct store_campaign *campaign,
                       struct slice *object) {
    const struct json given = json_get(rq->json, "variables");
    struct columns columns;
    const struct slice *cells;
    if (!json_is(given))
        return copy_first(rq, campaign, object);
    const struct slice wrong = columns_of_object(rq->arena, given, &columns, &cells);
    if (wrong.p)
        return fail(rq, INVALID, "variables.%.*s must be a string or a number.", (int)wrong.n,
                    wrong.p);
    return fill(rq, campaign, &columns, cells, object);
}

/* What the record of a template has, from the body that was sent. */
static void complete_record(struct request *rq, struct store_send *send) {
    struct graph_send sent;
    const char *error;
    if (graph_send_read(rq->arena, "application/json", send->body, &sent, &error))
        return;
    send->template_name = sent.template_name;
    send->template_language = sent.template_language;
    send->flow_token = sent.flow_token;
}

static const struct message_kind trial = {
    .type = "template", .fields = campaign_trial_fields, .complete_record = complete_record};

int campaign_trial(struct request *rq, const struct store_campaign *campaign) {
    struct slice object;
    return auth_choose_line(rq, campaign->phone_number_id) || make_object(rq, campaign, &object)
               ? -1
               : send_object(rq, &trial, object);
}
