/* Campaigns: a template that is sent to a list of people, once to each.
 *
 *     draft -> running -> finished
 *              running <-> paused
 *     draft | running | paused -> cancelled
 *
 * A recipient waits in campaign_recipient. While its campaign runs, the sender moves some of them
 * at a time to `outgoing` (outgoing.h), and from then on each is a send as all others are, with the
 * same promise. A row of a campaign that does not run is not taken.
 */
#ifndef SWITCHBOARD_STORE_CAMPAIGN_H
#define SWITCHBOARD_STORE_CAMPAIGN_H

#include "store/actor.h"
#include "store/event.h"
#include "store/listing.h"

enum {
    CAMPAIGN_ROWS_MOST = 1000000,
    CAMPAIGN_ROWS_AT_ONCE = 1000, /* that one transaction adds */
};

struct store_campaign {
    const char *id, *user_id, *account_id, *line_id;
    const char *phone_number_id; /* of the line */
    const char *name, *template_name, *language;
    const char *category;    /* NULL: the platform named none */
    struct slice components; /* a JSON array */
    struct slice window;     /* the hours in which it sends, a JSON object; n == 0: all */
    const char *state, *reason;
    int64_t rate; /* 0: that of the line */
    int64_t valid_ms, created_at;
    int64_t start_at, finished_at; /* INT64_MAX: not yet */
    struct actor by;
};

/* Inserts a draft, unless a campaign with its id is there already. */
enum store_result store_insert_campaign(struct store *store, const struct store_campaign *campaign);

/* Finds the user's campaign, or STORE_NOT_FOUND. */
enum store_result store_find_campaign(struct store *store, struct arena *arena, const char *user_id,
                                      const char *id, struct store_campaign *campaign);

/* Lists the user's campaigns, newest first. */
enum store_result store_list_campaigns(struct store *store, struct arena *arena,
                                       const char *user_id, const struct store_page *page,
                                       struct store_campaign **campaigns, size_t *count);

/* How many recipients of a campaign have a state, or a status of their message, or have failed with
 * an error of the platform. */
struct store_campaign_count {
    enum campaign_measure { CAMPAIGN_STATE, CAMPAIGN_STATUS, CAMPAIGN_CODE } measure;
    const char *name; /* a state of outgoing, or waiting: not moved there yet; a status, or held;
                         a code */
    int64_t count;
};

/* Lists those that are or were not 0. */
enum store_result store_count_campaign(struct store *store, struct arena *arena, const char *id,
                                       struct store_campaign_count **counts, size_t *count);

/* What the event campaign.changed shows. */
struct campaign_change {
    struct store_campaign campaign;
    struct store_campaign_count *counts;
    size_t count;
};

struct store_campaign_recipient {
    const char *recipient; /* digits, or a BSUID */
    const char *bsuid;     /* beside digits; NULL: none */
    struct slice body;
};

/* Adds recipients to a draft of the user; `*added` without people whom it has, by these or other
 * identities of their contacts. STORE_CONFLICT: it is no draft any more. STORE_EXCESSIVE: it would
 * have more than CAMPAIGN_ROWS_MOST. */
enum store_result store_add_recipients(struct store *store, const struct store_campaign *campaign,
                                       const struct store_campaign_recipient *recipients,
                                       size_t count, int64_t now, size_t *added);

/* Finds the body for the first recipient who waits, or else of a message that was sent;
 * STORE_NOT_FOUND: there is none. */
enum store_result store_find_first_recipient(struct store *store, struct arena *arena,
                                             const char *id, struct slice *body);

/* What became of a recipient. */
struct store_campaign_outcome {
    const char *id; /* of its row */
    const char *recipient;
    const char *state, *reason;     /* as of outgoing; waiting: not moved there yet */
    struct slice error;             /* the platform's; n == 0: none */
    const char *wamid, *status;     /* of the message; NULL: none */
    int64_t finished_at, status_at; /* INT64_MAX: not yet */
};

/* A walk through the recipients of a campaign, which begins with zeros after the id. */
struct store_campaign_walk {
    const char *campaign_id;
    char after[ID_SIZE];
    bool has_moved; /* those who wait were listed */
    bool is_over;
};

/* Lists the next recipients, which may be none before the walk is over. One whose turn comes during
 * the walk may be listed twice, the second time with the later state; none is missed. */
enum store_result store_list_campaign_outcomes(struct store *store, struct arena *arena,
                                               struct store_campaign_walk *walk, size_t limit,
                                               struct store_campaign_outcome **outcomes,
                                               size_t *count);

/* What a client does to a campaign. Each may be repeated. Each change of a state adds an event
 * campaign.changed, here and below, with a body that `write` makes. */
enum campaign_deed { CAMPAIGN_START, CAMPAIGN_PAUSE, CAMPAIGN_RESUME, CAMPAIGN_CANCEL };

/* Does it; `start_at` is of CAMPAIGN_START. `open_times` of CAMPAIGN_START and CAMPAIGN_RESUME:
 * when a campaign with a window sends, as "FROM-TO FROM-TO ..." in ms, in their order; NULL:
 * always, or another deed. STORE_NOT_FOUND: the user has no such campaign. STORE_CONFLICT: its
 * state does not allow it. */
enum store_result store_change_campaign(struct store *store, const char *user_id, const char *id,
                                        enum campaign_deed deed, int64_t start_at,
                                        const char *open_times, int64_t now, event_writer *write);

/* --- the sender --- */

/* Moves recipients of the next running campaign after `after` (an id, which it replaces) to
 * outgoing, or finishes it. STORE_NOT_FOUND: there is no further one. */
enum store_result store_feed_campaign(struct store *store, struct arena *arena, char after[ID_SIZE],
                                      int64_t now, event_writer *write, size_t *moved);

/* Deletes what belongs to campaigns that ended long ago, some hundreds of rows at once: regular
 * work (chore.h). */
enum store_result store_delete_old_campaigns(struct store *store, int64_t now, size_t *removed);

/* --- internal to the store: within the open transaction; false on failure --- */

struct outgoing_outcome;

/* Pauses the running campaigns that the outcome of a row stops: its own, or all of its line. */
bool campaign_pause_by(struct store *store, const struct outgoing_outcome *outcome);

/* Pauses the running campaigns of a template that the platform has paused or disabled. */
struct stopped_template {
    const char *account_id, *name;
    const char *language; /* with an underscore */
    int64_t now;
    event_writer *write;
};
bool campaign_pause_template(struct store *store, const struct stopped_template *template);

/* Adds the event campaign.changed of the campaign. */
bool campaign_event_add(struct store *store, const char *id, int64_t now, event_writer *write);

#endif
