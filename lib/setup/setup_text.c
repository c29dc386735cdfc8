#include "setup/setup_text.h"

#include "base/buffer.h"

/* clang-format off */
static const struct {
    const char *code, *english;
} texts[SETUP_TEXTS] = {
    [SETUP_PLATFORM] = {"platform", "platform"},
    [SETUP_TOKEN] = {"token", "platform token"},
    [SETUP_TOKEN_EXPIRY] = {"tokenExpiry", "token expiry"},
    [SETUP_TOKEN_SCOPES] = {"tokenScopes", "token scopes"},
    [SETUP_APP_SECRET] = {"appSecret", "app secret"},
    [SETUP_WEBHOOK_URL] = {"webhookUrl", "webhook URL"},
    [SETUP_WEBHOOK_FIELDS] = {"webhookFields", "webhook fields"},
    [SETUP_ACCOUNT] = {"account", "business account"},
    [SETUP_SUBSCRIBED_APP] = {"subscribedApp", "subscribed app"},
    [SETUP_NUMBERS] = {"numbers", "numbers"},
    [SETUP_NUMBER] = {"number", "number {id}"},
    [SETUP_LINE] = {"line", "line {id}"},
    [SETUP_LINES] = {"lines", "lines"},

    [SETUP_SCOPE] = {"scope", "{scope}"},
    [SETUP_URL] = {"url", "{url}"},
    [SETUP_FIELDS] = {"fields", "{fields}"},
    [SETUP_APP] = {"app", "{app}"},
    [SETUP_NAME] = {"name", "{waba}, {name}"},
    [SETUP_MEMBER] = {"member", "{member} is {word}"},
    [SETUP_SENDING] = {"sending", "sending is {word} by {entity}"},
    [SETUP_SENDING_REASON] = {"sendingReason", "sending is {word} by {entity}: {reason}"},

    [SETUP_UNANSWERED] = {"unanswered", "the platform did not answer: {reason}"},
    [SETUP_UNANSWERED_BEFORE] = {"unansweredBefore",
        "the platform did not answer: an earlier call had no answer"},
    [SETUP_TIME_OVER] = {"timeOver", "the platform did not answer: the time was over"},
    [SETUP_ANSWERED] = {"answered", "the platform answered {status}: {reason}"},
    [SETUP_ANSWERED_TOKEN] = {"answeredToken",
        "the platform answered {status}: a text with the token"},
    [SETUP_ANSWERED_OTHER] = {"answeredOther",
        "the platform answered {status}: no JSON that was expected"},

    [SETUP_NONE] = {"none", "there is none"},
    [SETUP_NOT_OPENED] = {"notOpened", "it does not open with the key file"},
    [SETUP_INVALID] = {"invalid", "it is not valid: no reason"},
    [SETUP_INVALID_REASON] = {"invalidReason", "it is not valid: {reason}"},
    [SETUP_ENDLESS] = {"endless", "it does not end"},
    [SETUP_ENDS] = {"ends", "it ends at {time}, in {days} days"},
    [SETUP_ENDED] = {"ended", "it ended at {time}, {days} days ago"},
    [SETUP_SCOPE_MISSING] = {"scopeMissing", "{scope} is missing"},
    [SETUP_SCOPE_OTHER] = {"scopeOther", "{scope} is not granted for the account {waba}"},
    [SETUP_SECRET_UNSET] = {"secretUnset", "app_secret is unset: every webhook is refused"},
    [SETUP_SECRET_RIGHT] = {"secretRight", "app_secret is that of the app {app}"},
    [SETUP_SECRET_WRONG] = {"secretWrong",
        "app_secret is not that of the token's app {app}: every webhook is refused"},
    [SETUP_WEBHOOK_NONE] = {"webhookNone", "the app has no webhook for WhatsApp"},
    [SETUP_WEBHOOK_INACTIVE] = {"webhookInactive", "the app's webhook is not active"},
    [SETUP_WEBHOOK_UNCOMPARED] = {"webhookUncompared", "webhooks go to {url}"},
    [SETUP_WEBHOOK_ELSEWHERE] = {"webhookElsewhere", "webhooks go to {url} instead of {own}"},
    [SETUP_OVERRIDDEN] = {"overridden", "webhooks go to {url} instead of the gateway"},
    [SETUP_MESSAGES_MISSING] = {"messagesMissing",
        "messages is missing: neither messages nor statuses arrive"},
    [SETUP_FIELDS_MISSING] = {"fieldsMissing", "not subscribed: {fields}"},
    [SETUP_OTHER_APPS] = {"otherApps",
        "only other apps are subscribed to the account: no webhook of it arrives"},
    [SETUP_NO_APP] = {"noApp", "no app is subscribed to the account: no webhook of it arrives"},

    [SETUP_NO_NUMBER] = {"noNumber", "the account has no number"},
    [SETUP_IS_LINE] = {"isLine", "{number} is a line of the gateway"},
    [SETUP_IS_ARCHIVED] = {"isArchived", "{number} is a line of the gateway, archived"},
    [SETUP_IS_NO_LINE] = {"isNoLine",
        "{number} is no line of the gateway: its messages are not stored"},
    [SETUP_NO_SUCH_NUMBER] = {"noSuchNumber", "the platform's account {waba} has no such number"},
    [SETUP_NO_LINE] = {"noLine", "the account has no line at the gateway"},
    [SETUP_NO_WEBHOOK] = {"noWebhook", "no webhook was stored in the last {days} days"},
    [SETUP_WEBHOOK_STORED] = {"webhookStored", "a webhook was stored in the hour before {time}"},

    [SETUP_DO_AS_SAID] = {"doAsSaid", "{solution}"},
    [SETUP_DO_REPEAT] = {"doRepeat", "repeat the check later"},
    [SETUP_DO_REACH] = {"doReach",
        "look at graph_base_url, the network and the platform's status page, then repeat"},
    [SETUP_DO_MANAGER] = {"doManager", "look at it in WhatsApp Manager"},
    [SETUP_DO_MAKE_TOKEN] = {"doMakeToken", "make a token of a system user that does not end, "
        "and give it to `switchboard account token`"},
    [SETUP_DO_SET_TOKEN] = {"doSetToken", "`switchboard account token {account}` sets one"},
    [SETUP_DO_OWN_TOKEN] = {"doOwnToken", "a person's token ends with the login or the "
        "employment: take that of a system user"},
    [SETUP_DO_SCOPES] = {"doScopes", "make a token with both scopes of WhatsApp, after the "
        "system user got the app and the WhatsApp account"},
    [SETUP_DO_ASSIGN] = {"doAssign", "assign the WhatsApp account to the system user with full "
        "control, then make a new token"},
    [SETUP_DO_SET_SECRET] = {"doSetSecret",
        "set app_secret: the app's page App settings > Basic shows it"},
    [SETUP_DO_COPY_SECRET] = {"doCopySecret", "copy it from the app's page App settings > Basic"},
    [SETUP_DO_ENTER_WEBHOOK] = {"doEnterWebhook",
        "enter the gateway's URL and verify_token as the app's webhook"},
    [SETUP_DO_PUBLIC_URL] = {"doPublicUrl",
        "set public_url in the configuration, so that they are compared"},
    [SETUP_DO_DELETE_OVERRIDE] = {"doDeleteOverride",
        "delete that callback URL where it was set, or let that program forward"},
    [SETUP_DO_MESSAGES] = {"doMessages", "subscribe the app's webhook to the field messages"},
    [SETUP_DO_FIELDS] = {"doFields",
        "subscribe to them too, so that changes of templates and numbers arrive"},
    [SETUP_DO_LINK] = {"doLink", "the operator links one with `switchboard account add`"},
    [SETUP_DO_COMPARE_ID] = {"doCompareId", "compare the id {waba} with that in WhatsApp "
        "Manager, and assign the account to the system user"},
    [SETUP_DO_AWAIT_REVIEW] = {"doAwaitReview", "wait for the platform's review"},
    [SETUP_DO_APPEAL_REVIEW] = {"doAppealReview",
        "open the review's page in Business settings and appeal"},
    [SETUP_DO_VERIFY_BUSINESS] = {"doVerifyBusiness",
        "verify the business, else 250 people a day can be written to first"},
    [SETUP_DO_AWAIT_VERIFICATION] = {"doAwaitVerification",
        "wait for the verification of the business"},
    [SETUP_DO_SEND_PROOF] = {"doSendProof",
        "send what Business settings > Security centre asks for"},
    [SETUP_DO_VERIFY_AGAIN] = {"doVerifyAgain", "look at the reason in Business settings > "
        "Security centre, and verify the business again"},
    [SETUP_DO_SUBSCRIBE] = {"doSubscribe",
        "POST /{waba}/subscribed_apps with the token of the account"},
    [SETUP_DO_ADD_NUMBER] = {"doAddNumber", "add a number in WhatsApp Manager"},
    [SETUP_DO_IMPORT] = {"doImport", "`switchboard line import` adds it"},
    [SETUP_DO_IMPORT_LINES] = {"doImportLines", "`switchboard line import` adds them"},
    [SETUP_DO_CORRECT_LINE] = {"doCorrectLine",
        "correct its id, or archive it with `switchboard line archive`"},
    [SETUP_DO_WRITE] = {"doWrite", "write a WhatsApp message to its number now; if none arrives, "
        "the rows above and the log say why"},
    [SETUP_DO_REGISTER] = {"doRegister",
        "verify the number by a code, and register it with `switchboard line register`"},
    [SETUP_DO_VERIFY_NUMBER] = {"doVerifyNumber",
        "POST /PHONE_NUMBER_ID/request_code, then verify_code, then register"},
    [SETUP_DO_MOVED] = {"doMoved", "the number is at another account: archive the line here"},
    [SETUP_DO_DELETED] = {"doDeleted", "the number was deleted: archive the line here"},
    [SETUP_DO_RAISE_QUALITY] = {"doRaiseQuality",
        "raise its quality: write to people who asked for it only"},
    [SETUP_DO_SEND_LESS] = {"doSendLess", "send less, or wait for a higher limit"},
    [SETUP_DO_APPEAL] = {"doAppeal", "look at the number in WhatsApp Manager, and appeal there"},
    [SETUP_DO_AWAIT_NAME] = {"doAwaitName", "wait for the review of the display name"},
    [SETUP_DO_OTHER_NAME] = {"doOtherName", "choose another display name in WhatsApp Manager"},
    [SETUP_DO_REGISTER_NAME] = {"doRegisterName",
        "register the number again, so that its name is in use"},
    [SETUP_DO_GIVE_NAME] = {"doGiveName", "give the number a display name in WhatsApp Manager"},
    [SETUP_DO_CLOUD_API] = {"doCloudApi", "move the number to the Cloud API: register it there"},
    [SETUP_DO_ASKED_ONLY] = {"doAskedOnly", "write to people who asked for it only"},
    [SETUP_DO_STOP] = {"doStop", "stop what people block or report, before the number is flagged"},
};
/* clang-format on */

const char *setup_code(enum setup_text text) {
    return texts[text].code;
}

const char *setup_english(enum setup_text text) {
    return texts[text].english;
}

static const char *value_of(const struct setup_values *values, struct slice name) {
    for (const struct setup_value *value = values->list; value->name; value++)
        if (slice_equal(name, slice_of(value->name)))
            return value->text;
    return "";
}

const char *setup_say(struct arena *arena, enum setup_text text,
                      const struct setup_values *values) {
    const char *rest = texts[text].english, *open;
    struct buffer said = buffer_in(arena);
    if (!rest)
        return NULL;
    while ((open = strchr(rest, '{'))) {
        const char *end = strchr(open, '}');
        const struct slice name = {open + 1, (size_t)(end - open - 1)};
        buffer_add(&said, rest, (size_t)(open - rest));
        buffer_add_text(&said, value_of(values, name));
        rest = end + 1;
    }
    buffer_add_text(&said, rest);
    return said.p;
}
