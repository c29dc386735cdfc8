#include "messages.h"

#include "graph_error.h"
#include "numbers.h"
#include "statuses.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static atomic_uint_fast64_t wamid_count;

bool text_is_bsuid(const char *text) {
    size_t length;

    if (text == NULL || !isupper((unsigned char)text[0]) || !isupper((unsigned char)text[1]) ||
        text[2] != '.') {
        return false;
    }
    text += strncmp(text + 3, "ENT.", 4) == 0 ? 7 : 3;
    for (length = 0; isalnum((unsigned char)text[length]); length++) {
    }
    return length >= 1 && length <= 128 && text[length] == '\0';
}

bool message_is_for(const cJSON *body, const char *recipient) {
    const char *to = json_text(body, "to");
    char *want;
    char *given;
    bool same;

    if (text_is_bsuid(recipient) || to == NULL) {
        const char *bsuid = json_text(body, "recipient");

        return bsuid != NULL && strcmp(bsuid, recipient) == 0;
    }
    want = text_digits(recipient);
    given = text_digits(to);
    same = strcmp(want, given) == 0;
    free(want);
    free(given);
    return same;
}

static unsigned char run[3];

static void run_make(void) {
    randombytes_buf(run, sizeof run);
}

/* The layout of the platform's message ids as observed: a tagged blob, the chat's digits as text,
 * and an id of eighteen hexadecimal digits, all in Base64. */
char *wamid_new(const char *digits) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const unsigned char middle[] = {0x15, 0x02, 0x00, 0x11, 0x18, 0x12};
    uint64_t count = ++wamid_count;
    struct bytes blob = {0};
    unsigned char length = (unsigned char)strlen(digits);
    size_t room;
    char *wamid;

    pthread_once(&once, run_make);
    bytes_append(&blob, "\x1c\x18", 2);
    bytes_append(&blob, &length, 1);
    bytes_append(&blob, digits, length);
    bytes_append(&blob, middle, sizeof middle);
    bytes_format(&blob, "%02X%02X%02X%012llX", run[0], run[1], run[2], (unsigned long long)count);
    bytes_append(&blob, "", 1);
    room = sodium_base64_encoded_len(blob.length, sodium_base64_VARIANT_ORIGINAL);
    wamid = memory_new(6 + room);
    memcpy(wamid, "wamid.", 6);
    sodium_bin2base64(wamid + 6, room, (unsigned char *)blob.data, blob.length,
                      sodium_base64_VARIANT_ORIGINAL);
    bytes_release(&blob);
    return wamid;
}

static bool check_product(struct send *send) {
    const cJSON *product = cJSON_GetObjectItemCaseSensitive(send->body, "messaging_product");

    if (product == NULL) {
        reply_error(send->exchange, 100, "(#100) The parameter messaging_product is required.");
    } else if (!cJSON_IsString(product) || strcmp(product->valuestring, "whatsapp") != 0) {
        reply_error(send->exchange, 100,
                    "(#100) Param messaging_product must be one of {whatsapp}.");
    } else {
        return true;
    }
    return false;
}

static bool check_recipient(struct send *send) {
    const cJSON *to = cJSON_GetObjectItemCaseSensitive(send->body, "to");
    const cJSON *recipient = cJSON_GetObjectItemCaseSensitive(send->body, "recipient");
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(send->body, "recipient_type");
    const char *kind_text = cJSON_GetStringValue(kind);

    if (kind != NULL && (kind_text == NULL || (strcmp(kind_text, "individual") != 0 &&
                                               strcmp(kind_text, "group") != 0))) {
        reply_error(send->exchange, 100,
                    "(#100) Param recipient_type must be one of {individual, group} - got "
                    "\"%.100s\".",
                    kind_text == NULL ? "" : kind_text);
    } else if (to == NULL && recipient == NULL) {
        reply_error(send->exchange, 100, "The parameter to is required.");
    } else if (to != NULL &&
               (!cJSON_IsString(to) || strpbrk(to->valuestring, "0123456789") == NULL)) {
        reply_error_details(send->exchange, 131009, "Parameter 'to' is not a phone number.");
    } else if (to == NULL && !text_is_bsuid(cJSON_GetStringValue(recipient))) {
        reply_error_details(send->exchange, 131009,
                            "Parameter 'recipient' is not a business-scoped user id.");
    } else {
        send->to = cJSON_GetStringValue(to);
        send->recipient = cJSON_GetStringValue(recipient);
        return true;
    }
    return false;
}

static bool check_context(struct send *send) {
    const cJSON *context = cJSON_GetObjectItemCaseSensitive(send->body, "context");
    const char *id = json_text(context, "message_id");

    if (context == NULL) {
        return true;
    }
    if (strcmp(send->type, "reaction") == 0) {
        reply_error(send->exchange, 100,
                    "(#100) Unexpected key \"context\" on a reaction message.");
    } else if (id == NULL) {
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
    const cJSON *data = cJSON_GetObjectItemCaseSensitive(send->body, "biz_opaque_callback_data");

    if (data == NULL || (cJSON_IsString(data) && text_characters(data->valuestring) <= 512)) {
        return true;
    }
    reply_error(
        send->exchange, 100,
        "(#100) Param biz_opaque_callback_data must be a string of at most 512 characters.");
    return false;
}

static bool check_content(struct send *send) {
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(send->body, "type");
    const struct message_type *known = message_types;
    const cJSON *content;

    send->type = type == NULL ? "text" : cJSON_IsString(type) ? type->valuestring : "";
    while (known->name != NULL && strcmp(known->name, send->type) != 0) {
        known++;
    }
    if (known->name == NULL) {
        reply_error(send->exchange, 100,
                    "(#100) Param type must be one of {text, image, video, audio, document, "
                    "sticker, location, contacts, interactive, template, reaction} - got "
                    "\"%.100s\".",
                    send->type);
        return false;
    }
    content = cJSON_GetObjectItemCaseSensitive(send->body, known->name);
    if (content == NULL) {
        reply_error(send->exchange, 100, "(#100) The parameter %s is required.", known->name);
        return false;
    }
    if (known->rules != NULL && !cJSON_IsObject(content)) {
        reply_error(send->exchange, 100, "(#100) Param %s must be a JSON object.", known->name);
        return false;
    }
    return (known->rules == NULL ||
            rules_check(send->exchange, known->name, content, known->rules)) &&
           (known->check == NULL || known->check(send, content)) && check_context(send);
}

static void print_text(struct bytes *out, const char *before, const char *text) {
    bytes_text(out, before);
    json_quote(out, text, strlen(text));
}

/* The answer to a send has wa_id if it was sent to a phone, user_id only if to a BSUID. If both are
 * given, the phone counts. */
static void answer_send(struct send *send) {
    struct bytes *out = &send->exchange->reply.body;
    bool group = text_matches(json_text(send->body, "recipient_type"), "group") &&
                 json_text(send->body, "recipient_type") != NULL;
    char *digits = text_digits(send->to == NULL ? "" : send->to);
    const struct number *number = number_find(digits);
    char *wamid = wamid_new(send->to != NULL && strlen(digits) <= 20 ? digits : "");

    bytes_text(out, "{\"messaging_product\":\"whatsapp\",\"contacts\":[");
    if (send->to != NULL) {
        print_text(out, "{\"input\":", send->to);
        print_text(out,
                   ",\"wa_id\":", number != NULL && number->wa_id != NULL ? number->wa_id : digits);
    } else {
        print_text(out, "{\"input\":", send->recipient);
        print_text(out, ",\"user_id\":", send->recipient);
    }
    print_text(out, "}],\"messages\":[{\"id\":", wamid);
    if (send->template_accepted) {
        bytes_text(out, ",\"message_status\":\"accepted\"");
    }
    if (group) {
        print_text(out, ",\"group_id\":", send->to != NULL ? send->to : send->recipient);
    }
    bytes_text(out, "}]}");
    if (!group && !text_is_bsuid(send->to)) {
        statuses_after_send(send, digits, wamid);
    }
    free(digits);
    free(wamid);
}

/* Answers the request that marks a message as read, which uses the same edge. */
static void answer_read(struct send *send) {
    const char *id = json_text(send->body, "message_id");

    if (!text_matches(json_text(send->body, "status"), "read")) {
        reply_error(send->exchange, 100, "(#100) Param status must be one of {read}.");
    } else if (id == NULL || strncmp(id, "wamid.", 6) != 0) {
        reply_error(send->exchange, 100, "(#100) The parameter message_id is required.");
    } else {
        bytes_text(&send->exchange->reply.body, "{\"success\":true}");
    }
}

/* The platform ignores a body without the media type of JSON. */
static bool is_json(const struct exchange *exchange) {
    const char *type = exchange_header(exchange, "Content-Type");

    return type != NULL && strncasecmp(type, "application/json", 16) == 0;
}

void message_send(struct exchange *exchange, const struct account *account,
                  const struct phone *phone) {
    struct send send = {
        .exchange = exchange, .body = exchange->json, .account = account, .phone = phone};

    if (exchange->body.length > 0 && exchange->json == NULL) {
        reply_error(exchange, 100, "(#100) The request body is not valid JSON.");
    } else if (!is_json(exchange)) {
        reply_error(exchange, 100, "(#100) The parameter messaging_product is required.");
    } else if (check_product(&send)) {
        if (cJSON_HasObjectItem(send.body, "status")) {
            answer_read(&send);
        } else if (check_recipient(&send) && check_content(&send) && check_callback_data(&send)) {
            answer_send(&send);
        }
    }
}
