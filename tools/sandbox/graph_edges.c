#include "graph_edges.h"

#include "flow_list.h"
#include "json_print.h"
#include "media_upload.h"
#include "media_url.h"
#include "message_send.h"
#include "template_list.h"

static void answer_me(struct exchange *exchange, const struct target *target) {
    struct buffer *out = &exchange->reply.body;
    const struct account *account = account_by_token(exchange_token(exchange));
    (void)target;
    buffer_add_text(out, "{\"name\":");
    json_quote_text(out, account_name(account));
    buffer_printf(out, ",\"id\":\"%s\"}", account->waba_id);
}

static void answer_waba(struct exchange *exchange, const struct target *target) {
    struct buffer *out = &exchange->reply.body;
    buffer_printf(out, "{\"id\":\"%s\",\"name\":", target->account->waba_id);
    json_quote_text(out, account_name(target->account));
    buffer_add_text(out, ",\"timezone_id\":\"1\"}");
}

static void answer_phone(struct exchange *exchange, const struct target *target) {
    struct buffer *out = &exchange->reply.body;
    buffer_add_text(out, "{\"verified_name\":");
    json_quote_text(out, account_name(target->account));
    buffer_printf(out,
                  ",\"display_phone_number\":\"%s\",\"quality_rating\":\"GREEN\",\"id\":\"%s\"}",
                  target->phone->display, target->phone->id);
}

static void answer_send(struct exchange *exchange, const struct target *target) {
    message_send(exchange, target->account, target->phone);
}

static void answer_upload(struct exchange *exchange, const struct target *target) {
    upload_answer(exchange, target->account, target->phone);
}

static void answer_templates(struct exchange *exchange, const struct target *target) {
    template_list(exchange, target->account);
}

static void answer_template(struct exchange *exchange, const struct target *target) {
    template_show(exchange, target->id);
}

static void answer_flows(struct exchange *exchange, const struct target *target) {
    flow_list(exchange, target->account);
}

static void answer_flow(struct exchange *exchange, const struct target *target) {
    flow_show(exchange, target->id);
}

static void answer_media(struct exchange *exchange, const struct target *target) {
    media_show(exchange, target->id);
}

static void answer_media_delete(struct exchange *exchange, const struct target *target) {
    media_delete(target->id);
    buffer_add_text(&exchange->reply.body, "{\"success\":true}");
}

/* clang-format off */
const struct edge graph_edges[] = {
    {"POST", NODE_PHONE, "messages", answer_send},
    {"POST", NODE_PHONE, "media", answer_upload},
    {"GET", NODE_PHONE, "", answer_phone},
    {"GET", NODE_WABA, "message_templates", answer_templates},
    {"GET", NODE_WABA, "flows", answer_flows},
    {"GET", NODE_WABA, "", answer_waba},
    {"GET", NODE_TEMPLATE, "", answer_template},
    {"GET", NODE_FLOW, "", answer_flow},
    {"GET", NODE_MEDIA, "", answer_media},
    {"DELETE", NODE_MEDIA, "", answer_media_delete},
    {"GET", NODE_ME, "", answer_me},
    {NULL, NODE_NONE, NULL, NULL},
};
/* clang-format on */
