/* The texts of the check of a set-up. JSON has the code beside the English text, so that a program
 * can translate it: the files of the dashboard's languages hold every code. */
#ifndef SWITCHBOARD_SETUP_TEXT_H
#define SWITCHBOARD_SETUP_TEXT_H

#include "base/arena.h"

enum setup_text {
    SETUP_NOTHING,
    /* what was looked at */
    SETUP_PLATFORM,
    SETUP_TOKEN,
    SETUP_TOKEN_EXPIRY,
    SETUP_TOKEN_SCOPES,
    SETUP_APP_SECRET,
    SETUP_WEBHOOK_URL,
    SETUP_WEBHOOK_FIELDS,
    SETUP_ACCOUNT,
    SETUP_SUBSCRIBED_APP,
    SETUP_NUMBERS,
    SETUP_NUMBER,
    SETUP_LINE,
    SETUP_LINES,
    /* what was found: one value, a member of the platform */
    SETUP_SCOPE,
    SETUP_URL,
    SETUP_FIELDS,
    SETUP_APP,
    SETUP_NAME,
    SETUP_MEMBER,
    SETUP_SENDING,
    SETUP_SENDING_REASON,
    /* of a call */
    SETUP_UNANSWERED,
    SETUP_UNANSWERED_BEFORE,
    SETUP_TIME_OVER,
    SETUP_ANSWERED,
    SETUP_ANSWERED_TOKEN,
    SETUP_ANSWERED_OTHER,
    /* of the token and the app */
    SETUP_NONE,
    SETUP_NOT_OPENED,
    SETUP_INVALID,
    SETUP_INVALID_REASON,
    SETUP_ENDLESS,
    SETUP_ENDS,
    SETUP_ENDED,
    SETUP_SCOPE_MISSING,
    SETUP_SCOPE_OTHER,
    SETUP_SECRET_UNSET,
    SETUP_SECRET_RIGHT,
    SETUP_SECRET_WRONG,
    SETUP_WEBHOOK_NONE,
    SETUP_WEBHOOK_INACTIVE,
    SETUP_WEBHOOK_UNCOMPARED,
    SETUP_WEBHOOK_ELSEWHERE,
    SETUP_OVERRIDDEN,
    SETUP_MESSAGES_MISSING,
    SETUP_FIELDS_MISSING,
    SETUP_OTHER_APPS,
    SETUP_NO_APP,
    /* of the numbers and lines */
    SETUP_NO_NUMBER,
    SETUP_IS_LINE,
    SETUP_IS_ARCHIVED,
    SETUP_IS_NO_LINE,
    SETUP_NO_SUCH_NUMBER,
    SETUP_NO_LINE,
    SETUP_NO_WEBHOOK,
    SETUP_WEBHOOK_STORED,
    /* what to do */
    SETUP_DO_AS_SAID,
    SETUP_DO_REPEAT,
    SETUP_DO_REACH,
    SETUP_DO_MANAGER,
    SETUP_DO_MAKE_TOKEN,
    SETUP_DO_SET_TOKEN,
    SETUP_DO_OWN_TOKEN,
    SETUP_DO_SCOPES,
    SETUP_DO_ASSIGN,
    SETUP_DO_SET_SECRET,
    SETUP_DO_COPY_SECRET,
    SETUP_DO_ENTER_WEBHOOK,
    SETUP_DO_PUBLIC_URL,
    SETUP_DO_DELETE_OVERRIDE,
    SETUP_DO_MESSAGES,
    SETUP_DO_FIELDS,
    SETUP_DO_LINK,
    SETUP_DO_COMPARE_ID,
    SETUP_DO_AWAIT_REVIEW,
    SETUP_DO_APPEAL_REVIEW,
    SETUP_DO_VERIFY_BUSINESS,
    SETUP_DO_AWAIT_VERIFICATION,
    SETUP_DO_SEND_PROOF,
    SETUP_DO_VERIFY_AGAIN,
    SETUP_DO_SUBSCRIBE,
    SETUP_DO_ADD_NUMBER,
    SETUP_DO_IMPORT,
    SETUP_DO_IMPORT_LINES,
    SETUP_DO_CORRECT_LINE,
    SETUP_DO_WRITE,
    SETUP_DO_REGISTER,
    SETUP_DO_VERIFY_NUMBER,
    SETUP_DO_MOVED,
    SETUP_DO_DELETED,
    SETUP_DO_RAISE_QUALITY,
    SETUP_DO_SEND_LESS,
    SETUP_DO_APPEAL,
    SETUP_DO_AWAIT_NAME,
    SETUP_DO_OTHER_NAME,
    SETUP_DO_REGISTER_NAME,
    SETUP_DO_GIVE_NAME,
    SETUP_DO_CLOUD_API,
    SETUP_DO_ASKED_ONLY,
    SETUP_DO_STOP,
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
