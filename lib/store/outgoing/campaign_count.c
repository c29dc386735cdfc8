#include "store/outgoing/campaign_count.h"

#include <stdio.h>
#include <string.h>

#include "engine/tally.h"

enum { MEASURE_SIZE = 40 };

/* A measure of a campaign, and how much more of it there is. */
struct measured {
    char campaign_id[ID_SIZE], measure[MEASURE_SIZE];
    int64_t more;
};

static int compare(const void *a, const void *b) {
    const struct measured *first = a, *second = b;
    const int campaign = strcmp(first->campaign_id, second->campaign_id);
    return campaign ? campaign : strcmp(first->measure, second->measure);
}

/* A campaign that was deleted meanwhile has no counts. */
static bool write_measure(struct store *store, void *entry) {
    static struct statement s = {
        .sql = "INSERT INTO campaign_count (campaign_id, measure, count) "
               "SELECT id, ?2, ?3 FROM campaign WHERE id = ?1 ON CONFLICT (campaign_id, measure) "
               "DO UPDATE SET count = campaign_count.count + excluded.count"};
    const struct measured *m = entry;
    return !m->more ||
           sql_run_later(store, &s, TEXT(m->campaign_id), TEXT(m->measure), INTEGER(m->more));
}

static struct measured room[2 * 64];
static struct tally measures = {
    .name = "campaign_count", TALLY_IN(room), .order = compare, .write = write_measure};

static bool add(struct store *store, const char *campaign_id, const char *kind, const char *name,
                int64_t more) {
    struct measured key = {.more = 0};
    if (!campaign_id || !*campaign_id)
        return true;
    snprintf(key.campaign_id, ID_SIZE, "%s", campaign_id);
    snprintf(key.measure, MEASURE_SIZE, "%s%s", kind, name);
    struct measured *m = tally_find(&measures, compare, &key);
    if (!m && !(m = tally_add(store, &measures, &key)))
        return false;
    m->more += more;
    return true;
}

/* --- states --- */

bool campaign_count_rows(struct store *store, const char *campaign_id, const char *state,
                         int64_t n) {
    return add(store, campaign_id, "", state, n);
}

bool campaign_count_state(struct store *store, const char *campaign_id, const char *from,
                          const char *to) {
    return (!from || campaign_count_rows(store, campaign_id, from, -1)) &&
           (!to || campaign_count_rows(store, campaign_id, to, 1));
}

bool campaign_count_write(struct store *store) {
    return tally_write(store, &measures);
}

bool campaign_count_run_with(struct store *store, struct campaign_transition *change,
                             size_t *changed, const struct parameter *parameters, size_t count) {
    char campaign_id[ID_SIZE];
    sql_start_with(store, &change->s, parameters, count);
    while (sql_row(store, &change->s)) {
        ++*changed;
        if (column_id(&change->s, 0, campaign_id))
            campaign_count_state(store, campaign_id, change->from, change->to);
    }
    return !sql_failed(store);
}

/* --- deliveries and errors --- */

/* `accepted` is no status that was reported, and `played` is more than read. */
static bool add_delivery(struct store *store, const char *campaign_id, const char *status,
                         int64_t n) {
    return strcmp(status, "accepted") == 0 || add(store, campaign_id, CAMPAIGN_DELIVERY,
                                                  strcmp(status, "played") ? status : "read", n);
}

bool campaign_count_delivery(struct store *store, const char *campaign_id, const char *from,
                             const char *to) {
    return add_delivery(store, campaign_id, from, -1) && add_delivery(store, campaign_id, to, 1);
}

bool campaign_count_error(struct store *store, const char *campaign_id, const char *code,
                          int64_t n) {
    return !*code || add(store, campaign_id, CAMPAIGN_ERROR, code, n);
}
