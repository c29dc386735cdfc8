/* The texts of the check of a set-up. JSON has the code beside the English text, so that a program
 * can translate it: the files of the dashboard's languages hold every code. */
#ifndef SWITCHBOARD_SETUP_TEXT_H
#define SWITCHBOARD_SETUP_TEXT_H

#include "base/arena.h"

/* clang-format off */
/* Each text: its name in C, its code in JSON, and its English words. */
#define SETUP_TEXT_ROWS(ROW)                                                                       \
    /* what was looked at */                                                                       \
    ROW(SETUP_PLATFORM, "platform", "platform")                                                    \
    ROW(SETUP_TOKEN, "token", "platform token")                                                    \
    ROW(SETUP_TOKEN_EXPIRY, "tokenExpiry", "token expiry")                                         \
    ROW(SETUP_TOKEN_SCOPES, "tokenScopes", "token scopes")                                         \
    ROW(SETUP_APP_SECRET, "appSecret", "app secret")                                               \
    ROW(SETUP_WEBHOOK_URL, "webhookUrl", "webhook URL")                                            \
    ROW(SETUP_WEBHOOK_FIELDS, "webhookFields", "webhook fields")                                   \
    ROW(SETUP_ACCOUNT, "account", "business account")                                              \
    ROW(SETUP_SUBSCRIBED_APP, "subscribedApp", "subscribed app")                                   \
    ROW(SETUP_NUMBERS, "numbers", "numbers")                                                       \
    ROW(SETUP_NUMBER, "number", "number {id}")                                                     \
    ROW(SETUP_LINE, "line", "line {id}")                                                           \
    ROW(SETUP_LINES, "lines", "lines")                                                             \
    /* what was found: one value, a member of the platform */                                      \
    ROW(SETUP_SCOPE, "scope", "{scope}")                                                           \
    ROW(SETUP_URL, "url", "{url}")                                                                 \
    ROW(SETUP_FIELDS, "fields", "{fields}")                                                        \
    ROW(SETUP_APP, "app", "{app}")                                                                 \
    ROW(SETUP_NAME, "name", "{waba}, {name}")                                                      \
    ROW(SETUP_MEMBER, "member", "{member} is {word}")                                              \
    ROW(SETUP_SENDING, "sending", "sending is {word} by {entity}")                                 \
    ROW(SETUP_SENDING_REASON, "sendingReason", "sending is {word} by {entity}: {reason}")          \
    /* of a call */                                                                                \
    ROW(SETUP_UNANSWERED, "unanswered", "the platform did not answer: {reason}")                   \
    ROW(SETUP_UNANSWERED_BEFORE, "unansweredBefore",                                               \
        "the platform did not answer: an earlier call had no answer")                              \
    ROW(SETUP_TIME_OVER, "timeOver", "the platform did not answer: the time was over")             \
    ROW(SETUP_ANSWERED, "answered", "the platform answered {status}: {reason}")                    \
    ROW(SETUP_ANSWERED_TOKEN, "answeredToken",                                                     \
        "the platform answered {status}: a text with the token")                                   \
    ROW(SETUP_ANSWERED_OTHER, "answeredOther",                                                     \
        "the platform answered {status}: no JSON that was expected")                               \
    /* of the token and the app */                                                                 \
    ROW(SETUP_NONE, "none", "there is none")                                                       \
    ROW(SETUP_NOT_OPENED, "notOpened", "it does not open with the key file")                       \
    ROW(SETUP_INVALID, "invalid", "it is not valid: no reason")                                    \
    ROW(SETUP_INVALID_REASON, "invalidReason", "it is not valid: {reason}")                        \
    ROW(SETUP_ENDLESS, "endless", "it does not end")                                               \
    ROW(SETUP_ENDS, "ends", "it ends at {time}, in {days} days")                                   \
    ROW(SETUP_ENDED, "ended", "it ended at {time}, {days} days ago")                               \
    ROW(SETUP_SCOPE_MISSING, "scopeMissing", "{scope} is missing")                                 \
    ROW(SETUP_SCOPE_OTHER, "scopeOther", "{scope} is not granted for the account {waba}")          \
    ROW(SETUP_SECRET_UNSET, "secretUnset", "app_secret is unset: every webhook is refused")        \
    ROW(SETUP_SECRET_RIGHT, "secretRight", "app_secret is that of the app {app}")                  \
    ROW(SETUP_SECRET_WRONG, "secretWrong",                                                         \
        "app_secret is not that of the token's app {app}: every webhook is refused")               \
    ROW(SETUP_WEBHOOK_NONE, "webhookNone", "the app has no webhook for WhatsApp")                  \
    ROW(SETUP_WEBHOOK_INACTIVE, "webhookInactive", "the app's webhook is not active")              \
    ROW(SETUP_WEBHOOK_UNCOMPARED, "webhookUncompared", "webhooks go to {url}")                     \
    ROW(SETUP_WEBHOOK_ELSEWHERE, "webhookElsewhere", "webhooks go to {url} instead of {own}")      \
    ROW(SETUP_OVERRIDDEN, "overridden", "webhooks go to {url} instead of the gateway")             \
    ROW(SETUP_MESSAGES_MISSING, "messagesMissing",                                                 \
        "messages is missing: neither messages nor statuses arrive")                               \
    ROW(SETUP_FIELDS_MISSING, "fieldsMissing", "not subscribed: {fields}")                         \
    ROW(SETUP_OTHER_APPS, "otherApps",                                                             \
        "only other apps are subscribed to the account: no webhook of it arrives")                 \
    ROW(SETUP_NO_APP, "noApp", "no app is subscribed to the account: no webhook of it arrives")    \
    /* of the numbers and lines */                                                                 \
    ROW(SETUP_NO_NUMBER, "noNumber", "the account has no number")                                  \
    ROW(SETUP_IS_LINE, "isLine", "{number} is a line of the gateway")                              \
    ROW(SETUP_IS_ARCHIVED, "isArchived", "{number} is a line of the gateway, archived")            \
    ROW(SETUP_IS_NO_LINE, "isNoLine",                                                              \
        "{number} is no line of the gateway: its messages are not stored")                         \
    ROW(SETUP_NO_SUCH_NUMBER, "noSuchNumber", "the platform's account {waba} has no such number")  \
    ROW(SETUP_NO_LINE, "noLine", "the account has no line at the gateway")                         \
    ROW(SETUP_NO_WEBHOOK, "noWebhook", "no webhook was stored in the last {days} days")            \
    ROW(SETUP_WEBHOOK_STORED, "webhookStored", "a webhook was stored in the hour before {time}")   \
    /* what to do */                                                                               \
    ROW(SETUP_DO_AS_SAID, "doAsSaid", "{solution}")                                                \
    ROW(SETUP_DO_REPEAT, "doRepeat", "repeat the check later")                                     \
    ROW(SETUP_DO_REACH, "doReach",                                                                 \
        "look at graph_base_url, the network and the platform's status page, then repeat")         \
    ROW(SETUP_DO_MANAGER, "doManager", "look at it in WhatsApp Manager")                           \
    ROW(SETUP_DO_MAKE_TOKEN, "doMakeToken", "make a token of a system user that does not end, "    \
        "and give it to `switchboard account token`")                                              \
    ROW(SETUP_DO_SET_TOKEN, "doSetToken", "`switchboard account token {account}` sets one")        \
    ROW(SETUP_DO_OWN_TOKEN, "doOwnToken",                                                          \
        "a person's token ends with the login or the employment: take that of a system user")      \
    ROW(SETUP_DO_SCOPES, "doScopes", "make a token with both scopes of WhatsApp, after the "       \
        "system user got the app and the WhatsApp account")                                        \
    ROW(SETUP_DO_ASSIGN, "doAssign",                                                               \
        "assign the WhatsApp account to the system user with full control, then make a new token") \
    ROW(SETUP_DO_SET_SECRET, "doSetSecret",                                                        \
        "set app_secret: the app's page App settings > Basic shows it")                            \
    ROW(SETUP_DO_COPY_SECRET, "doCopySecret", "copy it from the app's page App settings > Basic")  \
    ROW(SETUP_DO_ENTER_WEBHOOK, "doEnterWebhook",                                                  \
        "enter the gateway's URL and verify_token as the app's webhook")                           \
    ROW(SETUP_DO_PUBLIC_URL, "doPublicUrl",                                                        \
        "set public_url in the configuration, so that they are compared")                          \
    ROW(SETUP_DO_DELETE_OVERRIDE, "doDeleteOverride",                                              \
        "delete that callback URL where it was set, or let that program forward")                  \
    ROW(SETUP_DO_MESSAGES, "doMessages", "subscribe the app's webhook to the field messages")      \
    ROW(SETUP_DO_FIELDS, "doFields",                                                               \
        "subscribe to them too, so that changes of templates and numbers arrive")                  \
    ROW(SETUP_DO_LINK, "doLink", "the operator links one with `switchboard account add`")          \
    ROW(SETUP_DO_COMPARE_ID, "doCompareId", "compare the id {waba} with that in WhatsApp "         \
        "Manager, and assign the account to the system user")                                      \
    ROW(SETUP_DO_AWAIT_REVIEW, "doAwaitReview", "wait for the platform's review")                  \
    ROW(SETUP_DO_APPEAL_REVIEW, "doAppealReview",                                                  \
        "open the review's page in Business settings and appeal")                                  \
    ROW(SETUP_DO_VERIFY_BUSINESS, "doVerifyBusiness",                                              \
        "verify the business, else 250 people a day can be written to first")                      \
    ROW(SETUP_DO_AWAIT_VERIFICATION, "doAwaitVerification",                                        \
        "wait for the verification of the business")                                               \
    ROW(SETUP_DO_SEND_PROOF, "doSendProof",                                                        \
        "send what Business settings > Security centre asks for")                                  \
    ROW(SETUP_DO_VERIFY_AGAIN, "doVerifyAgain", "look at the reason in Business settings > "       \
        "Security centre, and verify the business again")                                          \
    ROW(SETUP_DO_SUBSCRIBE, "doSubscribe",                                                         \
        "POST /{waba}/subscribed_apps with the token of the account")                              \
    ROW(SETUP_DO_ADD_NUMBER, "doAddNumber", "add a number in WhatsApp Manager")                    \
    ROW(SETUP_DO_IMPORT, "doImport", "`switchboard line import` adds it")                          \
    ROW(SETUP_DO_IMPORT_LINES, "doImportLines", "`switchboard line import` adds them")             \
    ROW(SETUP_DO_CORRECT_LINE, "doCorrectLine",                                                    \
        "correct its id, or archive it with `switchboard line archive`")                           \
    ROW(SETUP_DO_WRITE, "doWrite", "write a WhatsApp message to its number now; if none arrives, " \
        "the rows above and the log say why")                                                      \
    ROW(SETUP_DO_REGISTER, "doRegister",                                                           \
        "verify the number by a code, and register it with `switchboard line register`")           \
    ROW(SETUP_DO_VERIFY_NUMBER, "doVerifyNumber",                                                  \
        "POST /PHONE_NUMBER_ID/request_code, then verify_code, then register")                     \
    ROW(SETUP_DO_MOVED, "doMoved", "the number is at another account: archive the line here")      \
    ROW(SETUP_DO_DELETED, "doDeleted", "the number was deleted: archive the line here")            \
    ROW(SETUP_DO_RAISE_QUALITY, "doRaiseQuality",                                                  \
        "raise its quality: write to people who asked for it only")                                \
    ROW(SETUP_DO_SEND_LESS, "doSendLess", "send less, or wait for a higher limit")                 \
    ROW(SETUP_DO_APPEAL, "doAppeal", "look at the number in WhatsApp Manager, and appeal there")   \
    ROW(SETUP_DO_AWAIT_NAME, "doAwaitName", "wait for the review of the display name")             \
    ROW(SETUP_DO_OTHER_NAME, "doOtherName", "choose another display name in WhatsApp Manager")     \
    ROW(SETUP_DO_REGISTER_NAME, "doRegisterName",                                                  \
        "register the number again, so that its name is in use")                                   \
    ROW(SETUP_DO_GIVE_NAME, "doGiveName", "give the number a display name in WhatsApp Manager")    \
    ROW(SETUP_DO_CLOUD_API, "doCloudApi", "move the number to the Cloud API: register it there")   \
    ROW(SETUP_DO_ASKED_ONLY, "doAskedOnly", "write to people who asked for it only")               \
    ROW(SETUP_DO_STOP, "doStop", "stop what people block or report, before the number is flagged")
/* clang-format on */

enum setup_text {
    SETUP_NOTHING,
#define NAME(name, code, english) name,
    SETUP_TEXT_ROWS(NAME)
#undef NAME
        SETUP_TEXTS, /* their number */
};

struct setup_value {
    const char *name, *text;
};

/* The values of the {names} in the texts of a row; a NULL name ends them. SETUP_WITH: those of a
 * call, as SETUP_WITH({"url", url}). */
enum { SETUP_VALUES = 5 };
struct setup_values {
    struct setup_value list[SETUP_VALUES + 1];
};
#define SETUP_WITH(...)                                                                            \
    (struct setup_values) {                                                                        \
        { __VA_ARGS__ }                                                                            \
    }

/* The code in JSON; NULL for SETUP_NOTHING. */
const char *setup_code(enum setup_text text);

/* The English text as it stands in the table, with {names}; NULL for SETUP_NOTHING. */
const char *setup_english(enum setup_text text);

/* The English text with the values in place of their names; NULL for SETUP_NOTHING. */
const char *setup_say(struct arena *arena, enum setup_text text, const struct setup_values *values);

#endif
