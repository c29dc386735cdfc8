/* What a client does to a campaign. */
#include "engine/sql.h"
#include "store/campaign.h"
#include "store/deed.h"
#include "store/outgoing/campaign_count.h"
#include "store/outgoing/outgoing_row.h"

/* Sends of the campaign that were moved to outgoing, and wait. */
static bool cancel_rows(struct store *store, const char *id, int64_t now) {
    static struct campaign_transition rows = {
        {.sql = "UPDATE outgoing SET state = 'cancelled', finished_at = ?2 WHERE campaign_id = ?1 "
                "AND finished_at IS NULL AND state = 'queued' RETURNING campaign_id"},
        "queued",
        "cancelled"};
    size_t cancelled = 0;
    return campaign_count_run(store, &rows, &cancelled, TEXT(id), INTEGER(now));
}

/* With times the campaign is closed until the sender looks at them. */
#define CHANGE(set, where)                                                                         \
    "UPDATE campaign SET reason = NULL, open_times = coalesce(?5, open_times), "                   \
    "closes_at = CASE WHEN ?5 IS NULL THEN closes_at ELSE 0 END, " set                             \
    " WHERE id = ?1 AND user_id = ?2 AND ?3 > 0 AND ?4 > 0 AND " where

enum store_result store_change_campaign(struct store *store, const char *user_id, const char *id,
                                        enum campaign_deed deed, int64_t start_at,
                                        const char *open_times, int64_t now, event_writer *write) {
    static struct {
        struct statement s;
        const char *state; /* after it */
    } deeds[] = {
        [CAMPAIGN_START] = {{.sql = CHANGE("state = 'running', start_at = ?3", "state = 'draft'")},
                            "running"},
        [CAMPAIGN_PAUSE] = {{.sql = CHANGE("state = 'paused'", "state = 'running'")}, "paused"},
        [CAMPAIGN_RESUME] = {{.sql = CHANGE("state = 'running'", "state = 'paused'")}, "running"},
        [CAMPAIGN_CANCEL] = {{.sql = CHANGE("state = 'cancelled', finished_at = ?4",
                                            "state IN ('draft', 'running', 'paused')")},
                             "cancelled"},
    };
    static struct statement look = {
        .sql = "SELECT state = ?3 FROM campaign WHERE id = ?1 AND user_id = ?2"};
    enum store_result outcome = STORE_OK;
    while (sql_transact(store)) {
        bool exists = true;
        outcome = STORE_OK;
        if (!sql_run(store, &deeds[deed].s, TEXT(id), TEXT(user_id), INTEGER(start_at),
                     INTEGER(now), TEXT(open_times)))
            continue;
        const bool has_changed = sql_changes(store) > 0;
        if (has_changed ||
            outgoing_is_in_state(store, &look, user_id, id, deeds[deed].state, &exists)) {
            if ((deed != CAMPAIGN_CANCEL || cancel_rows(store, id, now)) &&
                (!has_changed || campaign_event_add(store, id, now, write)))
                store_trail(store, user_id, id);
        } else {
            outcome = exists ? STORE_CONFLICT : STORE_NOT_FOUND;
        }
    }
    const enum store_result result = sql_result(store);
    return result != STORE_OK || outcome == STORE_OK
               ? result
               : sql_refuse(store, outcome, "the state of campaign %s does not allow that", id);
}
