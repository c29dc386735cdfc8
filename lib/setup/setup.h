/* Checks what must be set up at the platform for a business account: its access token, the app and
 * its webhook, the account, the subscription of the app to it, its numbers. doc/platform-setup.md
 * describes the steps. */
#ifndef SWITCHBOARD_SETUP_H
#define SWITCHBOARD_SETUP_H

#include "base/config.h"
#include "graph/phone_list.h"
#include "setup/setup_text.h"
#include "store/usage.h"

enum setup_level { SETUP_OK, SETUP_WARNING, SETUP_FAULT };

/* One finding: setup_say makes its texts. */
struct setup_row {
    enum setup_level level;
    enum setup_text check;  /* what was looked at, such as SETUP_TOKEN */
    enum setup_text detail; /* what was found */
    enum setup_text todo;   /* what to do about it; SETUP_NOTHING: nothing */
    struct setup_values values;
};

enum { SETUP_SEARCHED_DAYS = 7 };

/* What the gateway has stored of an account; setup_read reads all but the token. */
struct setup_subject {
    const char *waba_id, *token;
    const char *app_secret;   /* of the configuration; "": unset */
    const char *callback_url; /* where the app's webhooks must go to; NULL: not known */
    struct line *lines;
    struct usage_last *last; /* hours of each line, within SETUP_SEARCHED_DAYS */
    size_t line_count;
    int64_t now;
};

/* The words of the levels in JSON: ok, warn, fail. */
extern const char *const setup_level_words[];

/* Reads what the gateway has stored of the account. The caller sets the token. */
enum store_result setup_read(struct store *store, struct arena *arena, const struct config *config,
                             const struct store_account *account, int64_t now,
                             struct setup_subject *subject);

/* Checks the account with at most five calls for each hundred numbers, of 5 s each and 10 s in all;
 * what could not be asked in that time is a warning. The rows are in the order of the page, in
 * `arena`. No row holds the token or the app's secret. */
void setup_check(struct arena *arena, const struct setup_subject *subject,
                 const struct graph_asker *asker, struct setup_row **rows, size_t *count);

/* --- private to lib/setup --- */

/* A check in progress. */
struct setup {
    struct arena *arena;
    const struct setup_subject *subject;
    const struct graph_asker *asker;
    int64_t ends;       /* clock_monotonic: no call lasts longer */
    const char *app_id; /* of the token; NULL: not known */
    bool is_silent;     /* a call was not answered: no further one is made */
    struct buffer rows;
};

/* What a row is about: the account, or the number or line with this id. */
struct setup_place {
    enum setup_text check;
    const char *id; /* NULL: none */
};

/* Adds a row, with a copy of the values. */
void setup_add(struct setup *setup, struct setup_place place, enum setup_level level,
               enum setup_text detail, enum setup_text todo, struct setup_values values);

/* The same for the account. */
void setup_add_here(struct setup *setup, enum setup_text check, enum setup_level level,
                    enum setup_text detail, enum setup_text todo, struct setup_values values);

/* A word of the platform, and what it means. */
struct setup_word {
    const char *word;
    enum setup_level level;
    enum setup_text todo;
};

/* Adds a row for a member of the platform: by the table, which ends with a NULL word; a word that
 * is not in it is a warning. Adds none when the platform did not send it. */
void setup_add_word(struct setup *setup, struct setup_place place, const char *member,
                    const char *word, const struct setup_word *table);

/* Adds rows for a `health_status`, one for each entity that limits or blocks. */
void setup_add_health(struct setup *setup, struct setup_place place, struct json health);

/* Adds a row unless webhooks that go to `url` reach the gateway. */
void setup_add_override(struct setup *setup, struct setup_place place, const char *url);

/* Adds a row of what the platform answered instead of the expected, without the token. */
void setup_add_refusal(struct setup *setup, enum setup_text check, enum setup_level level,
                       enum setup_text todo, const struct graph_answer *answer);

/* Whether the text holds the secret, which may be empty. */
bool setup_holds(const char *text, const char *secret);

/* Why a call was not made; the failure of its answer. */
extern const char setup_after_silence[], setup_after_end[];

/* --- about the numbers of the account and the lines of the gateway: setup_number.c --- */

/* Adds the rows of what the platform lists; `limited` makes the calls. */
void setup_check_numbers(struct setup *setup, const struct graph_asker *limited);

/* Adds the rows of when the last webhooks were stored. */
void setup_check_webhooks(struct setup *setup);

#endif
