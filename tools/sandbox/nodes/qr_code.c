#include "nodes/edges.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "state/list_page.h"
#include "text/json_print.h"
#include "text/strict_json.h"
#include "text/text.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

enum { CODES_MAX = 2000, CODE_LENGTH = 14, MESSAGE_MAX = 140 };

/* The owner of a code is the number; its JSON is {code, prefilled_message, deep_link_url,
 * creation_time}. */
struct collection qr_codes;

static const struct node_shape code_shape = {
    .type = "WhatsAppBusinessMessageQRDL",
    .standard = "code,prefilled_message,deep_link_url",
    .without_id = true,
};

static const char *code_new(struct arena *arena) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    char *code = arena_alloc(arena, CODE_LENGTH + 1);
    for (size_t i = 0; i < CODE_LENGTH; i++)
        code[i] = letters[randombytes_uniform(32)];
    return code;
}

/* Returns the code of this number, or NULL. */
static const struct item *code_find(const struct target *target, const char *code) {
    const struct item *item = collection_find(&qr_codes, code);
    return item && strcmp(item->owner, target->id) == 0 ? item : NULL;
}

static struct slice code_print(struct arena *arena, const char *code, const char *message,
                               int64_t created) {
    struct buffer raw = buffer_in(arena);
    buffer_printf(&raw, "{\"code\":\"%s\",\"prefilled_message\":", code);
    json_quote_text(&raw, message);
    buffer_printf(&raw,
                  ",\"deep_link_url\":\"https:\\/\\/wa.me\\/message\\/%s\","
                  "\"creation_time\":%" PRId64 "}",
                  code, created);
    return buffer_slice(&raw);
}

/* A code with the URL of its picture, in the format of the request. */
static struct slice code_whole(struct exchange *exchange, const struct item *item) {
    struct buffer whole = buffer_in(exchange->arena);
    const char *format = parameter_text(exchange, "generate_qr_image");
    bool svg = fields_modified(exchange, "qr_image_url", "format(SVG)") ||
               (format && strcasecmp(format, "SVG") == 0);
    buffer_add(&whole, item->raw.p, item->raw.n - 1);
    buffer_printf(&whole, ",\"qr_image_url\":\"https:\\/\\/scontent.whatsapp.net\\/qr\\/%s.%s\"}",
                  item->id, svg ? "svg" : "png");
    return buffer_slice(&whole);
}

static bool code_wanted(const struct exchange *exchange, struct slice raw) {
    const char *code = exchange_parameter(exchange, "code");
    return !code || text_matches(json_member_text(exchange->arena, raw, "code"), code);
}

/* The newest code is first. */
void qr_code_list(struct exchange *exchange, const struct target *target) {
    struct page_rules rules = {.shape = &code_shape, .wanted = code_wanted, .whole = code_whole};
    struct collection newest = {.count = qr_codes.count};
    newest.items = arena_alloc(exchange->arena, (qr_codes.count + 1) * sizeof *newest.items);
    for (size_t i = 0; i < qr_codes.count; i++) {
        newest.items[i] = qr_codes.items[qr_codes.count - 1 - i];
        newest.items[i].serial = INT32_MAX - newest.items[i].serial;
    }
    list_page(exchange, &newest, target->id, &rules);
}

void qr_code_show(struct exchange *exchange, const struct target *target) {
    struct page_rules rules = {.shape = &code_shape, .whole = code_whole};
    const struct item *item = code_find(target, target->part);
    if (!item) {
        reply_unknown_object(exchange, target->part);
        return;
    }
    buffer_add_text(&exchange->reply.body, "{\"data\":[");
    if (list_item(exchange, item, &rules))
        buffer_add_text(&exchange->reply.body, "]}");
}

/* Changes the message of a code. */
static void code_change(struct exchange *exchange, const struct target *target, const char *code,
                        const char *message) {
    const struct item *item = code_find(target, code);
    struct slice created;
    if (!item) {
        reply_unknown_object(exchange, code);
        return;
    }
    json_member(item->raw, "creation_time", &created);
    int64_t time = strtoll(arena_copy(exchange->arena, created), NULL, 10);
    struct slice raw = code_print(exchange->arena, code, message, time);
    collection_replace(&qr_codes, code, raw);
    fields_print(exchange, raw, &code_shape, slice_of(NULL));
}

static void code_create(struct exchange *exchange, const struct target *target,
                        const char *message) {
    const char *format = parameter_text(exchange, "generate_qr_image");
    const char *code = code_new(exchange->arena);
    if (collection_count(&qr_codes, target->id) >= CODES_MAX) {
        reply_error(exchange, 100, "(#100) A number has at most %d QR qr_codes.", CODES_MAX);
    } else if (format && strcasecmp(format, "PNG") != 0 && strcasecmp(format, "SVG") != 0) {
        reply_error(exchange, 100, "(#100) Param generate_qr_image must be one of {PNG, SVG}.");
    } else {
        collection_insert(&qr_codes, target->id, code,
                          code_print(exchange->arena, code, message, clock_now() / 1000));
        fields_print(exchange, code_whole(exchange, collection_find(&qr_codes, code)), &code_shape,
                     format ? SLICE("code,prefilled_message,deep_link_url,qr_image_url")
                            : slice_of(NULL));
    }
}

void qr_code_put(struct exchange *exchange, const struct target *target) {
    const char *message = parameter_needed(exchange, "prefilled_message");
    const char *code = target->part ? target->part : parameter_text(exchange, "code");
    if (!message)
        return;
    if (text_characters(message) > MESSAGE_MAX)
        reply_error(exchange, 100,
                    "(#100) Param prefilled_message must be at most %d characters long.",
                    MESSAGE_MAX);
    else if (code)
        code_change(exchange, target, code, message);
    else
        code_create(exchange, target, message);
}

void qr_code_delete(struct exchange *exchange, const struct target *target) {
    if (!code_find(target, target->part)) {
        reply_unknown_object(exchange, target->part);
        return;
    }
    collection_remove(&qr_codes, target->part);
    reply_success(exchange);
}

void qr_code_clear(void) {
    collection_clear(&qr_codes, NULL);
}
