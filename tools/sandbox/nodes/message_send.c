#include "nodes/edges.h"

#include "judge/judge.h"
#include "state/chat.h"
#include "state/node_state.h"
#include "state/number.h"
#include "state/send_limit.h"
#include "state/settings.h"
#include "state/template_list.h"
#include "state/template_use.h"
#include "state/wamid.h"
#include "state/window.h"
#include "text/json_print.h"
#include "text/text.h"
#include "webhooks/statuses.h"
#include "wire/addressee.h"
#include "wire/graph_error.h"

static bool check_product(struct send *send) {
    const cJSON *product = json_get(send->body, "messaging_product");
    if (!product) {
        reply_error(send->exchange, 100, "(#100) The parameter messaging_product is required.");
    } else if (!cJSON_IsString(product) || strcmp(product->valuestring, "whatsapp") != 0) {
        reply_error(send->exchange, 100,
                    "(#100) Param messaging_product must be one of {whatsapp}.");
    } else {
        return true;
    }
    return false;
}

/* Returns the text of `to`, which may be a number; NULL when it has no digits. */
static const char *find_digits(struct arena *arena, const cJSON *to) {
    const char *text = json_digits(arena, to);
    return text && strpbrk(text, "0123456789") ? text : NULL;
}

/* Whether the platform takes messages to this user at all. */
static bool check_user(struct send *send) {
    const char *user =
        send->to ? number_wa_id(text_digits(send->exchange->arena, send->to)) : send->recipient;
    if (strcmp(user, send->phone->display) == 0)
        reply_error_as(send->exchange, 131021, 0, NULL, NULL);
    else if (blocked_user_find(send->exchange->arena, send->phone->id, user))
        reply_error_details(send->exchange, 131026, "The user is blocked by this number.");
    else
        return true;
    return false;
}

static bool check_recipient(struct send *send) {
    const cJSON *to = json_get(send->body, "to");
    const cJSON *recipient = json_get(send->body, "recipient");
    const cJSON *kind = json_get(send->body, "recipient_type");
    const char *kind_text = cJSON_GetStringValue(kind);
    if (kind &&
        (!kind_text || (strcmp(kind_text, "individual") != 0 && strcmp(kind_text, "group") != 0))) {
        reply_error(send->exchange, 100,
                    "(#100) Param recipient_type must be one of {individual, group} - got "
                    "\"%.100s\".",
                    kind_text ? kind_text : "");
    } else if (!to && !recipient) {
        reply_error(send->exchange, 100, "The parameter to is required.");
    } else if (to && !(send->to = find_digits(send->exchange->arena, to))) {
        reply_error_details(send->exchange, 131009, "Parameter 'to' is not a phone number.");
    } else if (!to && !is_bsuid(cJSON_GetStringValue(recipient))) {
        reply_error_details(send->exchange, 131009,
                            "Parameter 'recipient' is not a business-scoped user id.");
    } else {
        send->recipient = cJSON_GetStringValue(recipient);
        return (kind_text && strcmp(kind_text, "group") == 0) || check_user(send);
    }
    return false;
}

/* Whether the account may use the edge for marketing messages, as its answer says. */
static bool check_onboarded(struct send *send) {
    cJSON *answer = node_state_read("answer", send->account->waba_id, "{}");
    const char *status = json_text(answer, "marketing_messages_lite_api_status");
    bool is_onboarded = !status || strcmp(status, "ONBOARDED") == 0;
    cJSON_Delete(answer);
    if (!is_onboarded)
        reply_error_as(send->exchange, 134102, 0, NULL, NULL);
    return is_onboarded;
}

/* Checks what the edge for marketing messages alone wants: a template, and members of its own. */
static bool check_marketing(struct send *send) {
    const cJSON *policy = json_get(send->body, "product_policy");
    const cJSON *sharing = json_get(send->body, "message_activity_sharing");
    const char *text = cJSON_GetStringValue(policy);
    const char *kind = json_text(send->body, "recipient_type");
    if (!text_matches(json_text(send->body, "type"), "template"))
        reply_error_as(send->exchange, 100, 0, NULL, "Message must be a template message.");
    else if (kind && strcmp(kind, "individual") != 0)
        reply_error(send->exchange, 100,
                    "(#100) Param recipient_type must be one of {individual}.");
    else if (policy &&
             (!text || (strcmp(text, "CLOUD_API_FALLBACK") != 0 && strcmp(text, "STRICT") != 0)))
        reply_error(send->exchange, 100,
                    "(#100) Param product_policy must be one of {CLOUD_API_FALLBACK, STRICT}.");
    else if (sharing && !cJSON_IsBool(sharing))
        reply_error(send->exchange, 100, "(#100) Param message_activity_sharing must be a boolean");
    else
        return check_onboarded(send);
    return false;
}

static bool check_context(struct send *send) {
    const cJSON *context = json_get(send->body, "context");
    const char *id = json_text(context, "message_id");
    if (!context)
        return true;
    if (strcmp(send->type, "reaction") == 0) {
        reply_error(send->exchange, 100,
                    "(#100) Unexpected key \"context\" on a reaction message.");
    } else if (!id) {
        reply_error(send->exchange, 100, "(#100) The parameter context['message_id'] is required.");
    } else if (strncmp(id, "wamid.", 6) != 0) {
        reply_error_details(send->exchange, 131009,
                            "Parameter 'context.message_id' is not a message id.");
    } else {
        return true;
    }
    return false;
}

static bool check_callback_data(struct send *send) {
    const cJSON *data = json_get(send->body, "biz_opaque_callback_data");
    if (!data || (cJSON_IsString(data) && text_characters(data->valuestring) <= 512))
        return true;
    reply_error(
        send->exchange, 100,
        "(#100) Param biz_opaque_callback_data must be a string of at most 512 characters.");
    return false;
}

static void settle_content(struct send *send, const struct message_type *type) {
    const struct rule content[] = {
        {.name = type->name,
         .kind = type->list ? RULE_LIST : RULE_OBJECT,
         .members = rules_find(type->name)},
        {.name = NULL},
    };
    rules_settle(send->exchange->json, content, send->exchange->form);
}

static bool check_content(struct send *send) {
    const cJSON *type = json_get(send->body, "type");
    const struct message_type *known = message_types;
    const cJSON *content;
    send->type = !type ? "text" : cJSON_IsString(type) ? type->valuestring : "";
    while (known->name && strcmp(known->name, send->type) != 0)
        known++;
    if (!known->name) {
        reply_error(send->exchange, 100,
                    "(#100) Param type must be one of {text, image, video, audio, document, "
                    "sticker, location, contacts, interactive, template, reaction} - got "
                    "\"%.100s\".",
                    send->type);
        return false;
    }
    settle_content(send, known);
    content = json_get(send->body, known->name);
    if (!content) {
        reply_error(send->exchange, 100, "(#100) The parameter %s is required.", known->name);
        return false;
    }
    if (!known->list && !cJSON_IsObject(content)) {
        reply_error(send->exchange, 100, "(#100) Param %s must be a JSON object.", known->name);
        return false;
    }
    return (known->list ||
            rules_check(send->exchange, known->name, content, rules_find(known->name))) &&
           (!known->check || known->check(send, content)) && check_context(send);
}

static void print_text(struct buffer *out, const char *before, const char *text) {
    buffer_add_text(out, before);
    json_quote_text(out, text);
}

/* The answer to a send has wa_id when it was sent to a phone, user_id only when to a BSUID. With
 * both the phone counts. */
static void print_contact(struct buffer *out, const struct send *send, const char *digits) {
    print_text(out, "{\"input\":", send->to ? send->to : send->recipient);
    if (send->to)
        print_text(out, ",\"wa_id\":", number_wa_id(digits));
    else
        print_text(out, ",\"user_id\":", send->recipient);
}

/* Returns the error with which an accepted message is not delivered, or 0. Only a template is
 * delivered to a user who did not write in the last 24 hours. */
static int64_t find_failure(const struct send *send, const char *digits) {
    const struct number *number = number_find(digits);
    const char *user = send->to ? number_wa_id(digits) : send->recipient;
    if (number && number->fail_code != 0)
        return number->fail_code;
    if (send->is_of_marketing && !send_limit_marketing(user))
        return 131049;
    bool template = strcmp(send->type, "template") == 0;
    return template || window_is_open(send->phone->id, user) ? 0 : 131047;
}

/* Has the template paused, because so many of its messages were sent. */
static void pause_template(const struct send *send, const char *template_id, const char *wamid) {
    cJSON *update = cJSON_CreateObject();
    cJSON_AddStringToObject(update, "id", arena_printf(send->exchange->arena, "pause-%s", wamid));
    cJSON_AddStringToObject(update, "kind", "template_status");
    cJSON_AddStringToObject(update, "wabaId", send->account->waba_id);
    cJSON_AddStringToObject(update, "templateId", template_id);
    cJSON_AddStringToObject(update, "event", "PAUSED");
    cJSON_AddStringToObject(cJSON_AddObjectToObject(update, "message"), "reason", "NONE");
    statuses_schedule(update, 0);
}

/* Keeps the message for the user's phone, with the template that it names. Automatic statuses
 * follow, too. */
static void deliver(struct send *send, const char *digits, const char *wamid) {
    struct arena *arena = send->exchange->arena;
    struct buffer members = buffer_in(arena);
    struct chat chat = {.line = send->phone->id, .user = send->to ? digits : send->recipient};
    const cJSON *template = json_get(send->body, "template");
    const struct item *item = template
                                  ? template_find(arena, send->account, json_text(template, "name"),
                                                  json_text(json_get(template, "language"), "code"))
                                  : NULL;
    buffer_add_text(&members, ",\"message\":");
    json_print(&members, send->body);
    if (item) {
        buffer_add_text(&members, ",\"template\":");
        buffer_add_slice(&members, item->raw);
    }
    int64_t failure = find_failure(send, digits);
    if (!chat_is_blocked(&chat) && failure == 0)
        chat_add(&chat, "sent", wamid, buffer_slice(&members));
    if (item && failure == 0)
        template_use_add(wamid, item->id, send->is_marketing);
    if (item && send_limit_ends_template(item->id))
        pause_template(send, item->id, wamid);
    statuses_after_send(send, digits, wamid, failure);
}

/* Whether the limits of the settings let the message go. */
static bool check_limits(struct send *send) {
    const char *user =
        send->to ? number_wa_id(text_digits(send->exchange->arena, send->to)) : send->recipient;
    const int code = send_limit_check(send->phone->id, user);
    if (code)
        reply_error_as(send->exchange, code, 0, NULL, NULL);
    return !code;
}

static void answer_send(struct send *send) {
    struct arena *arena = send->exchange->arena;
    struct buffer *out = &send->exchange->reply.body;
    const char *kind = json_text(send->body, "recipient_type");
    bool group = kind && strcmp(kind, "group") == 0;
    const char *digits = text_digits(arena, send->to ? send->to : "");
    const char *wamid = wamid_new(arena, send->to && strlen(digits) <= 20 ? digits : "");
    buffer_add_text(out, "{\"messaging_product\":\"whatsapp\",\"contacts\":[");
    print_contact(out, send, digits);
    print_text(out, "}],\"messages\":[{\"id\":", wamid);
    if (send->template_accepted)
        print_text(out, ",\"message_status\":",
                   settings.held_templates ? "held_for_quality_assessment" : "accepted");
    if (group)
        print_text(out, ",\"group_id\":", send->to ? send->to : send->recipient);
    buffer_add_text(out, "}]}");
    if (!group && !is_bsuid(send->to))
        deliver(send, digits, wamid);
}

/* Answers the request that marks a message as read, which uses the same edge. */
static void answer_read(struct send *send) {
    const char *id = json_text(send->body, "message_id");
    if (!rules_check(send->exchange, "message", send->body, rules_find("read")))
        return;
    if (!text_matches(json_text(send->body, "status"), "read")) {
        reply_error(send->exchange, 100, "(#100) Param status must be one of {read}.");
    } else if (!id || strncmp(id, "wamid.", 6) != 0) {
        reply_error(send->exchange, 100, "(#100) The parameter message_id is required.");
    } else {
        chat_read(send->phone->id, id, json_get(send->body, "typing_indicator"));
        buffer_add_text(&send->exchange->reply.body, "{\"success\":true}");
    }
}

/* `is_marketing`: by the edge for marketing messages. */
static void answer(struct exchange *exchange, const struct target *target, bool is_marketing) {
    struct send send = {.exchange = exchange,
                        .body = exchange->json,
                        .account = target->account,
                        .phone = target->phone,
                        .is_marketing = is_marketing};
    if (!registration_check(exchange, target->id))
        return;
    rules_settle(exchange->json, rules_find("envelope"), exchange->form);
    if (!exchange->json) {
        reply_error(exchange, 100, "(#100) The request body is not valid JSON.");
    } else if (check_product(&send) && (!is_marketing || check_marketing(&send))) {
        if (json_get(send.body, "status") && !is_marketing)
            answer_read(&send);
        else if (check_recipient(&send) && check_content(&send) && check_callback_data(&send) &&
                 check_limits(&send))
            answer_send(&send);
    }
}

void message_send(struct exchange *exchange, const struct target *target) {
    answer(exchange, target, false);
}

void marketing_send(struct exchange *exchange, const struct target *target) {
    answer(exchange, target, true);
}
