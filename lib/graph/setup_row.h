/* The rows of the check of a set-up (setup.h), and what its parts share. */
#ifndef SWITCHBOARD_GRAPH_SETUP_ROW_H
#define SWITCHBOARD_GRAPH_SETUP_ROW_H

#include "graph/phone_list.h"

enum setup_level { SETUP_OK, SETUP_WARNING, SETUP_FAULT };

/* One finding. */
struct setup_row {
    enum setup_level level;
    const char *check;  /* what was looked at, such as `platform token` */
    const char *detail; /* what was found */
    const char *todo;   /* what to do about it; NULL: nothing */
};

/* A line of the gateway. */
struct setup_line {
    const char *phone_number_id;
    bool is_archived;
    int64_t webhook_at; /* the end of the hour of its last webhook, ms; INT64_MIN: none in `days` */
};

struct setup_subject {
    const char *waba_id, *token;
    const char *app_secret;   /* of the configuration; "": unset */
    const char *callback_url; /* where the app's webhooks must go to; NULL: not known */
    const struct setup_line *lines;
    size_t line_count;
    int days; /* for which the lines' webhooks were searched */
    int64_t now;
};

/* The words of the levels in JSON: ok, warn, fail. */
extern const char *const setup_level_words[];

/* --- private to lib/graph --- */

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

/* Adds a row. `todo` may be NULL. */
void setup_add(struct setup *setup, enum setup_level level, const char *check, const char *todo,
               const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A word of the platform, and what it means. */
struct setup_word {
    const char *word;
    enum setup_level level;
    const char *todo; /* NULL: nothing */
};

/* Adds a row for a member of the platform: by the table, which ends with a NULL word; a word that
 * is not in it is a warning. Adds none when the platform did not send it. */
void setup_add_word(struct setup *setup, const char *check, const char *member, const char *word,
                    const struct setup_word *table);

/* Adds rows for a `health_status`, one for each entity that limits or blocks. */
void setup_add_health(struct setup *setup, const char *check, struct json health);

/* Adds a row unless webhooks that go to `url` reach the gateway. */
void setup_add_override(struct setup *setup, const char *check, const char *url);

/* Whether the text holds the secret, which may be empty. */
bool setup_holds(const char *text, const char *secret);

/* What the platform answered instead of the expected, without the token. */
const char *setup_refusal(struct setup *setup, const struct graph_answer *answer);

#endif
