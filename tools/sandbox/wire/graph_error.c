#include "wire/graph_error.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>

#include "text/json_print.h"

struct graph_error {
    int code;
    int status;
    int subcode;
    bool plain;     /* message without the "(#code) " in front */
    bool transient; /* carries is_transient */
    const char *message;
    const char *details; /* error_data.details, or NULL for none */
    const char *user_message;
};

/* The texts are the platform's where its documentation has them, else short texts of our own. */
static const struct graph_error errors[] = {
    {0, 401, 0, true, false, "We were unable to authenticate the app user.", NULL, NULL},
    {1, 500, 0, true, false,
     "Please reduce the amount of data you're asking for, then retry your request", NULL, NULL},
    {2, 503, 0, true, true, "An unexpected error occurred. Please retry your request", NULL, NULL},
    {3, 500, 0, false, false, "Capability or permissions issue.", NULL, NULL},
    {4, 400, 2446079, false, true, "Application request limit reached", NULL, NULL},
    {10, 403, 0, false, false, "Application does not have permission for this action", NULL, NULL},
    {17, 429, 2446079, false, true, "User request limit reached", NULL, NULL},
    {33, 400, 0, false, false, "Parameter value is not valid", NULL, NULL},
    {100, 400, 0, false, false, "Invalid parameter", NULL, NULL},
    {104, 400, 0, true, false, "An access token is required to request this resource.", NULL, NULL},
    {190, 401, 0, true, false, "Invalid OAuth access token - Cannot parse access token", NULL,
     NULL},
    {200, 403, 0, false, false, "Permissions error", NULL, NULL},
    {368, 403, 0, false, false, "Temporarily blocked for policies violations",
     "The business account was restricted for violating a platform policy.", NULL},
    {2200, 400, 0, false, false, "Callback verification failed", NULL, NULL},
    {2500, 400, 0, true, false,
     "An active access token must be used to query information about the current user.", NULL,
     NULL},
    {80007, 429, 2446079, true, true,
     "Business request limit reached for WhatsApp Business Account", NULL, NULL},
    {80008, 429, 0, false, true,
     "There have been too many calls to this WhatsApp Business account. Wait a bit and try again.",
     NULL, NULL},
    {130429, 400, 2494055, false, false, "Rate limit hit",
     "Cloud API message throughput has been reached.", NULL},
    {130472, 400, 0, false, false, "User's number is part of an experiment",
     "The message was not sent because the recipient is part of an experiment.", NULL},
    {130497, 403, 0, false, false,
     "Business account is restricted from messaging users in this "
     "country.",
     "The business may not message users in the recipient's country.", NULL},
    {131000, 500, 0, false, false, "Something went wrong",
     "The message was not sent because of an unknown error.", NULL},
    {131005, 403, 0, false, false, "Access denied",
     "The permission was not granted or was removed.", NULL},
    {131008, 400, 0, false, false, "Required parameter is missing",
     "The request lacks a required parameter.", NULL},
    {131009, 400, 0, false, false, "Parameter value is not valid",
     "One or more parameter values are not valid.", NULL},
    {131016, 500, 0, false, false, "Service unavailable", "A service is temporarily unavailable.",
     NULL},
    {131021, 400, 0, false, false, "Recipient cannot be sender",
     "Sender and recipient phone number are the same.", NULL},
    {131026, 400, 0, false, false, "Message undeliverable", "The message cannot be delivered.",
     NULL},
    {131030, 400, 2655007, false, false, "Recipient phone number not in allowed list",
     "Recipient phone number not in allowed list",
     "Add recipient phone number to recipient list and try again."},
    {131031, 403, 0, false, false, "Business Account locked", "The business account is locked.",
     NULL},
    {131037, 400, 0, false, false,
     "WhatsApp provided number needs display name approval before "
     "message can be sent.",
     "The display name has not been approved.", NULL},
    {131042, 400, 0, false, false, "Business eligibility payment issue",
     "There is a problem with the payment method.", NULL},
    {131045, 500, 0, false, false, "Incorrect certificate",
     "The phone number could not be registered.", NULL},
    {131047, 400, 0, false, false, "Re-engagement message",
     "More than 24 hours have passed since the recipient last wrote to this number.", NULL},
    {131048, 400, 0, false, false, "Spam rate limit hit",
     "Too many messages of this number were blocked or reported.", NULL},
    {131049, 400, 0, false, false,
     "This message was not delivered to maintain healthy ecosystem "
     "engagement.",
     "The message was held back by the ecosystem limit.", NULL},
    {131050, 400, 0, false, false,
     "Unable to deliver the message. This recipient has chosen to "
     "stop receiving marketing messages on WhatsApp from your business",
     "The recipient stopped marketing messages.", NULL},
    {131051, 400, 0, false, false, "Unsupported message type",
     "Message type is currently not supported.", NULL},
    {131052, 400, 0, false, false, "Media download error",
     "The media that the user sent could not be downloaded.", NULL},
    {131053, 400, 0, false, false, "Media upload error",
     "The media of the message could not be processed.", NULL},
    {131055, 400, 0, false, false, "Method not allowed",
     "Only marketing template messages are supported", NULL},
    {131056, 400, 0, false, false, "(Business Account, Consumer Account) pair rate limit hit",
     "Message failed to send because there were too many messages sent from this phone number to "
     "the same phone number in a short period of time",
     NULL},
    {131057, 500, 0, false, false, "Account in maintenance mode",
     "The business account is in maintenance mode.", NULL},
    {131062, 400, 0, false, false,
     "Business-scoped User ID (BSUID) recipients are not supported for this message.",
     "Business-scoped User ID (BSUID) recipients are not supported for this message.", NULL},
    {131063, 400, 0, false, false, "Marketing templates are not enabled on Cloud API",
     "Marketing templates cannot be sent by this API.", NULL},
    {131064, 400, 0, false, false, "Messaging limit reached",
     "The messaging limit of the business was reached.", NULL},
    {132000, 400, 0, false, false,
     "Number of parameters does not match the expected number of "
     "params",
     "The number of variable values differs from the template's.", NULL},
    {132001, 404, 0, false, false, "Template name does not exist in the translation",
     "The template does not exist in that language.", NULL},
    {132005, 400, 0, false, false, "Template hydrated text too long",
     "The text with its values filled in is too long.", NULL},
    {132007, 400, 0, false, false, "Template format character policy violated",
     "The template content violates a policy.", NULL},
    {132008, 400, 0, false, false, "Template parameter value is not valid",
     "A value in the template is not valid.", NULL},
    {132012, 400, 0, false, false, "Template parameter format mismatch",
     "The format of a parameter differs from the template's.", NULL},
    {132015, 400, 0, false, false, "Template is paused", "The template is paused for low quality.",
     NULL},
    {132016, 400, 0, false, false, "Template is disabled",
     "The template was disabled for low quality.", NULL},
    {132018, 400, 0, false, false, "There is an issue with the parameters in your template",
     "The template's parameters are not valid.", NULL},
    {132068, 400, 0, false, false, "Flow is in blocked state", "The flow is blocked.", NULL},
    {132069, 400, 0, false, false, "Flow is in throttled state", "The flow is throttled.", NULL},
    {133000, 500, 0, false, false, "Incomplete Deregistration",
     "An earlier deregistration of the number failed.", NULL},
    {133004, 503, 0, false, true, "Server is temporarily unavailable",
     "The server is temporarily unavailable.", NULL},
    {133005, 400, 0, false, false, "Two step verification PIN Mismatch",
     "The PIN is not that of the number.", NULL},
    {133006, 400, 0, false, false, "Phone number Re-verification Needed",
     "The number must be verified before it is registered.", NULL},
    {133008, 400, 0, false, false, "Too Many two step verification PIN Guesses",
     "The PIN was wrong too often.", NULL},
    {133009, 400, 0, false, false, "Two step verification PIN Guessed Too Fast",
     "The PIN was tried too fast.", NULL},
    {133010, 400, 0, false, false, "Phone number not registered",
     "The phone number is not registered.", NULL},
    {133015, 400, 0, false, false,
     "Please wait a few minutes before attempting to register this "
     "phone number",
     "The number was deleted a short time ago.", NULL},
    {133016, 400, 0, false, false, "Account register deregister rate limit exceeded",
     "The number was registered too often.", NULL},
    {134100, 400, 0, false, false, "Only marketing messages supported",
     "You're only able to send marketing messages on this API.", NULL},
    {134101, 400, 0, false, false, "Your template is still syncing",
     "A new template can be sent after ten minutes at the latest.", NULL},
    {134102, 500, 0, false, false, "Template unavailable for use",
     "The account is not admitted to marketing messages.", NULL},
    {135000, 400, 0, false, false, "Generic user error", "The request could not be processed.",
     NULL},
    {136025, 400, 0, false, false, "Verify code error", "The code is not valid.", NULL},
    {137000, 400, 0, false, false, "Identity key mismatch",
     "The identity key of the recipient has changed.", NULL},
    {139001, 400, 0, false, false, "Flow can't be updated", NULL,
     "Only a flow with the status DRAFT can be changed."},
    {139002, 400, 0, false, false, "Publishing Flow Failed", NULL,
     "Only a flow with the status DRAFT and without validation errors can be published."},
    {139003, 400, 0, false, false, "Deprecating Flow Failed", NULL,
     "Only a flow with the status PUBLISHED can be deprecated."},
    {139004, 400, 0, false, false, "Flow can't be deleted", NULL,
     "Only a flow with the status DRAFT can be deleted."},
    {139100, 400, 0, false, false, "Failed to block/unblock users",
     "Failed to block some users, see the block_users response list for details", NULL},
    {139101, 400, 0, false, false, "Blocklist limit reached", "The blocklist is full.", NULL},
};

static const struct graph_error *error_find(int code) {
    static const struct graph_error unknown = {
        -1, 400, 0, false, false, "An unknown error occurred", NULL, NULL};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return &errors[i];
    return &unknown;
}

void trace_id(char out[TRACE_ID_SIZE]) {
    unsigned char noise[15];
    crypto_random(noise, sizeof noise);
    out[0] = 'A';
    sodium_bin2base64(out + 1, 22, noise, sizeof noise, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

static void quote(struct buffer *out, const char *name, const char *text) {
    buffer_printf(out, "\"%s\":", name);
    json_quote_text(out, text);
}

static void error_tail(struct buffer *out, const struct graph_error *error, int subcode,
                       const char *details) {
    char trace[TRACE_ID_SIZE];
    trace_id(trace);
    if (details) {
        buffer_add_text(out, ",\"error_data\":{\"messaging_product\":\"whatsapp\",");
        quote(out, "details", details);
        buffer_add_text(out, "}");
    }
    if (subcode != 0)
        buffer_printf(out, ",\"error_subcode\":%d", subcode);
    if (error->user_message) {
        buffer_add_text(out, ",");
        quote(out, "error_user_title", error->message);
        buffer_add_text(out, ",");
        quote(out, "error_user_msg", error->user_message);
    }
    if (error->transient)
        buffer_add_text(out, ",\"is_transient\":true");
    buffer_printf(out, ",\"fbtrace_id\":\"%s\"}}", trace);
}

/* The same as reply_error_as, with the type of the error. */
static void reply_typed(struct exchange *exchange, const char *type, int code, int subcode,
                        const char *message, const char *details) {
    const struct graph_error *error = error_find(code);
    struct reply *reply = &exchange->reply;
    if (!message)
        message = error->plain ? error->message
                               : arena_printf(exchange->arena, "(#%d) %s", code, error->message);
    reply_clear(reply);
    reply->status = error->status;
    reply->type = "application/json; charset=UTF-8";
    buffer_add_text(&reply->body, "{\"error\":{");
    quote(&reply->body, "message", message);
    buffer_printf(&reply->body, ",\"type\":\"%s\",\"code\":%d", type, code);
    error_tail(&reply->body, error, subcode != 0 ? subcode : error->subcode,
               details ? details : error->details);
    if (reply->status == 401)
        buffer_printf(&reply->headers,
                      "WWW-Authenticate: OAuth \"Facebook Platform\" \"invalid_token\" \"%s\"\n",
                      message);
}

void reply_error_as(struct exchange *exchange, int code, int subcode, const char *message,
                    const char *details) {
    const char *type = code == 2 || subcode == 33 ? "GraphMethodException" : "OAuthException";
    reply_typed(exchange, type, code, subcode, message, details);
}

__attribute__((format(printf, 2, 0))) static const char *
format_text(struct arena *arena, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    size_t size = (size_t)(length < 0 ? 0 : length) + 1;
    char *text = arena_alloc(arena, size);
    vsnprintf(text, size, format, again);
    va_end(again);
    return text;
}

void reply_error_user(struct exchange *exchange, int subcode, const char *title,
                      const char *message) {
    struct buffer *out = &exchange->reply.body;
    char trace[TRACE_ID_SIZE];
    trace_id(trace);
    reply_clear(&exchange->reply);
    exchange->reply.status = 400;
    exchange->reply.type = "application/json; charset=UTF-8";
    buffer_printf(out,
                  "{\"error\":{\"message\":\"Invalid parameter\",\"type\":\"OAuthException\","
                  "\"code\":100,\"error_subcode\":%d,\"is_transient\":false,",
                  subcode);
    quote(out, "error_user_title", title);
    buffer_add_char(out, ',');
    quote(out, "error_user_msg", message);
    buffer_printf(out, ",\"fbtrace_id\":\"%s\"}}", trace);
}

void reply_error(struct exchange *exchange, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *message = format_text(exchange->arena, format, arguments);
    va_end(arguments);
    reply_error_as(exchange, code, 0, message, NULL);
}

void reply_error_details(struct exchange *exchange, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *details = format_text(exchange->arena, format, arguments);
    va_end(arguments);
    reply_error_as(exchange, code, 0, NULL, details);
}

void reply_unknown_object(struct exchange *exchange, const char *id) {
    char *verb = arena_copy(exchange->arena, slice_of(exchange->method));
    for (char *at = verb; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    const char *which =
        *id == '\0' ? ""
                    : arena_printf(exchange->arena,
                                   " Object with ID '%s' does not exist, cannot be loaded due to "
                                   "missing permissions, or does not support this operation.",
                                   id);
    const char *message = arena_printf(exchange->arena,
                                       "Unsupported %s request.%s Please read the Graph API "
                                       "documentation at "
                                       "https://developers.facebook.com/docs/graph-api",
                                       verb, which);
    reply_typed(exchange, "GraphMethodException", 100, *id == '\0' ? 0 : 33, message, NULL);
}

void graph_error_webhook(struct buffer *out, int code) {
    const struct graph_error *error = error_find(code);
    buffer_printf(out, "{\"code\":%d,", code);
    quote(out, "title", error->message);
    buffer_add_text(out, ",");
    quote(out, "message", error->message);
    buffer_add_text(out, ",\"error_data\":{");
    quote(out, "details", error->details ? error->details : error->message);
    buffer_add_text(out, "},");
    quote(out, "href", "/documentation/business-messaging/whatsapp/support/error-codes");
    buffer_add_text(out, "}");
}
