#include "control/phone_page.h"

#include <stdlib.h>

#include "state/chat.h"
#include "state/number.h"
#include "text/json_fields.h"
#include "text/text.h"
#include "wire/addressee.h"

/* The page's own files, and those that it shares with the dashboard. */
extern const char index_html[], phone_css[], main_js[], dialog_js[], messages_js[], flow_js[],
    sandbox_js[], icon_svg[];
extern const char app_css[], messaging_css[], dom_js[], shape_js[], definition_js[];

/* Scripts, pictures and requests of the page's own origin alone. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#define STYLE  "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

static const struct file {
    const char *name;
    const char *type;
    const char *text;
} files[] = {
    {"", "text/html; charset=utf-8", index_html},
    {"app.css", STYLE, app_css},
    {"messaging.css", STYLE, messaging_css},
    {"phone.css", STYLE, phone_css},
    {"dom.js", SCRIPT, dom_js},
    {"shape.js", SCRIPT, shape_js},
    {"definition.js", SCRIPT, definition_js},
    {"main.js", SCRIPT, main_js},
    {"dialog.js", SCRIPT, dialog_js},
    {"messages.js", SCRIPT, messages_js},
    {"flow.js", SCRIPT, flow_js},
    {"sandbox.js", SCRIPT, sandbox_js},
    {"icon.svg", "image/svg+xml", icon_svg},
};

bool phone_page_file(struct exchange *exchange) {
    const char *name = exchange_segment(exchange, 2);
    struct reply *reply = &exchange->reply;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].name, name) != 0)
            continue;
        reply->type = files[i].type;
        reply_header(reply, "Content-Security-Policy", POLICY);
        reply_header(reply, "X-Content-Type-Options", "nosniff");
        reply_header(reply, "Referrer-Policy", "no-referrer");
        reply_header(reply, "Cache-Control", "no-cache");
        buffer_add_text(&reply->body, files[i].text);
        return true;
    }
    return false;
}

/* Completes the conversation: of a phone number and its BSUID, or of a BSUID alone. */
static const char *chat_complete(struct arena *arena, struct chat *chat, const char *phone,
                                 const char *bsuid) {
    const char *digits = phone ? text_digits(arena, phone) : "";
    if (!chat->line || (*digits == '\0' && !bsuid))
        return "phoneNumberId and phone or bsuid are needed";
    if (bsuid && !is_bsuid(bsuid))
        return "bsuid is not a business-scoped user id, such as US.1234";
    chat->user = *digits != '\0' ? digits : bsuid;
    if (*digits != '\0')
        chat->bsuid = bsuid ? bsuid : number_bsuid(arena, digits);
    return NULL;
}

const char *phone_page_chat(struct exchange *exchange) {
    struct chat chat = {.line = exchange_parameter(exchange, "phoneNumberId")};
    const char *after = exchange_parameter(exchange, "after");
    const char *problem =
        chat_complete(exchange->arena, &chat, exchange_parameter(exchange, "phone"),
                      exchange_parameter(exchange, "bsuid"));
    if (!problem)
        chat_list(&exchange->reply.body, &chat, after ? strtoll(after, NULL, 10) : 0);
    return problem;
}

const char *phone_page_block(struct exchange *exchange) {
    struct members {
        const char *line, *phone, *bsuid;
        bool blocked;
    } given = {0};
    static const struct json_field fields[] = {
        {"phoneNumberId", JSON_TEXT, offsetof(struct members, line)},
        {"phone", JSON_TEXT, offsetof(struct members, phone)},
        {"bsuid", JSON_TEXT, offsetof(struct members, bsuid)},
        {"blocked", JSON_FLAG, offsetof(struct members, blocked)},
        {NULL, JSON_ELSEWHERE, 0},
    };
    const char *problem = json_fill(exchange->arena, &given, fields, exchange->json);
    struct chat chat = {.line = given.line};
    if (!problem && !json_get(exchange->json, "blocked"))
        problem = "blocked is missing: true or false";
    if (!problem)
        problem = chat_complete(exchange->arena, &chat, given.phone, given.bsuid);
    if (!problem)
        chat_block(&chat, given.blocked);
    return problem;
}
