/* The rules that the database of a world must keep at its end. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "world.h"

/* Each counts what must not be there. */
static const struct rule {
    const char *text, *sql;
} rules[] = {
    {"an event is still pending", "SELECT count(*) FROM event WHERE state = 'pending'"},
    {"an event was given up although its receivers work again",
     "SELECT count(*) FROM delivery WHERE state = 'dead'"},
    {"a delivery is leased", "SELECT count(*) FROM delivery WHERE state = 'pending'"},
    {"the unread messages of a thread differ from a recount",
     "SELECT count(*) FROM thread t WHERE unread <> (SELECT count(*) FROM message m WHERE "
     "m.thread_id = t.id AND m.direction = 'in' AND m.source <> 'history')"},
    {"a contact has two threads", "SELECT count(*) - count(DISTINCT contact_id) FROM thread"},
    {"the sequence of events has a gap or a repetition",
     "SELECT max(n) - 1 FROM (SELECT count(*) AS n FROM event GROUP BY user_id, is_forward, "
     "sequence UNION SELECT 1)"},
    {"a queued send has no outcome", "SELECT count(*) FROM outgoing WHERE finished_at IS NULL OR "
                                     "(state = 'accepted' AND is_recorded = 0)"},
    {"an erasure has not ended", "SELECT count(*) FROM erasure WHERE ended_at IS NULL"},
    {"a contact that was erased is there", "SELECT count(*) FROM contact WHERE id IN (SELECT "
                                           "contact_id FROM erasure)"},
    {"an event is about a contact that was erased",
     "SELECT count(*) FROM event WHERE type <> 'contact.erased' AND contact_id IN (SELECT "
     "contact_id FROM erasure)"},
    {"a foreign key leads nowhere", "SELECT count(*) FROM pragma_foreign_key_check"},
    {"the database is damaged",
     "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"},
};

static const struct rule has_event = {
    "a message has no event",
    "SELECT count(*) FROM message m WHERE source = 'webhook' AND NOT EXISTS (SELECT 1 FROM event e "
    "WHERE e.type = 'message.received' AND instr(CAST(e.body AS TEXT), '\"' || m.wamid || '\"'))"};

#define NONE(table)                                                                                \
    { "retention left rows of " table, "SELECT count(*) FROM " table }

static const struct rule retention[] = {
    NONE("message"),
    NONE("message_status"),
    NONE("thread"),
    NONE("contact"),
    NONE("contact_alias"),
    NONE("outgoing"),
    NONE("lead"),
    NONE("contact_sign"),
    NONE("contact_merge"),
    NONE("contact_term"),
    NONE("thread_alias"),
    NONE("identity_change"),
    {"a foreign key leads nowhere", "SELECT count(*) FROM pragma_foreign_key_check"},
};

/* The messages of a kind beyond those that the usage counts, which stay counted when they are
 * erased. */
#define USAGE(measure, condition)                                                                  \
    {                                                                                              \
        "the usage '" measure "' differs from a recount",                                          \
            "SELECT (SELECT count(*) FROM message WHERE " condition ") - "                         \
            "(SELECT coalesce(sum(count), 0) FROM usage WHERE measure = '" measure "')"            \
    }

static const struct rule recounts[] = {
    USAGE("in", "direction = 'in' AND source <> 'history'"),
    USAGE("out", "direction = 'out' AND source <> 'history'"),
    USAGE("sent", "direction = 'out' AND status IN ('sent', 'delivered', 'read')"),
    USAGE("delivered", "direction = 'out' AND status IN ('delivered', 'read')"),
    USAGE("read", "direction = 'out' AND status = 'read'"),
};

/* The counts of campaigns, and what they are by their recipients. */
#define COUNTS "SELECT campaign_id, measure, count FROM campaign_count WHERE count <> 0"
#define OF_MESSAGES                                                                                \
    "FROM outgoing o JOIN message m ON m.line_id = o.line_id AND m.wamid = o.wamid "               \
    "WHERE o.campaign_id IS NOT NULL AND "
#define RECOUNT                                                                                    \
    "SELECT campaign_id, 'waiting' AS measure, count(*) AS count FROM campaign_recipient "         \
    "GROUP BY 1 UNION ALL SELECT campaign_id, state, count(*) FROM outgoing "                      \
    "WHERE campaign_id IS NOT NULL GROUP BY 1, 2 UNION ALL "                                       \
    "SELECT o.campaign_id, 'delivery:' || CASE m.status WHEN 'played' THEN 'read' "                \
    "WHEN 'accepted' THEN 'held' ELSE m.status END, count(*) " OF_MESSAGES                         \
    "(m.status <> 'accepted' OR o.reason = 'held') GROUP BY 1, 2 UNION ALL "                       \
    "SELECT campaign_id, 'error:' || code, count(*) FROM ("                                        \
    "SELECT campaign_id, json_extract(CAST(error AS TEXT), '$.error.code') AS code "               \
    "FROM outgoing WHERE campaign_id IS NOT NULL AND state = 'failed' UNION ALL "                  \
    "SELECT o.campaign_id, json_extract(CAST(m.error AS TEXT), '$[0].code') " OF_MESSAGES          \
    "m.status = 'failed') WHERE code IS NOT NULL GROUP BY 1, 2"
#define DIFFERENCES(counts)                                                                        \
    "SELECT (SELECT count(*) FROM (SELECT * FROM (" COUNTS ") " counts                             \
    " EXCEPT SELECT * FROM (" RECOUNT ") " counts ")) + "                                          \
    "(SELECT count(*) FROM (SELECT * FROM (" RECOUNT ") " counts " EXCEPT SELECT * FROM (" COUNTS  \
    ") " counts "))"

/* Who was reached stays counted when retention or an erasure deletes it. */
static const struct rule campaigns = {"the counts of campaigns differ from a recount",
                                      DIFFERENCES("")};
static const struct rule open_campaigns = {
    "the counts of campaigns differ from a recount of what has not ended",
    DIFFERENCES("WHERE measure IN ('waiting', 'queued', 'sending')")};

enum { LONGEST_DELIVERY_MS = 60000 };

/* An event that is done at a webhook arrived there; in a calm world in time, whatever the receivers
 * of another user do. The webhooks have the names r0, r1, ... */
static void check_delivery(sqlite3_stmt *row) {
    const char *id = (const char *)sqlite3_column_text(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    const int64_t arrival = receivers_arrival((size_t)(name[1] - '0'), id);
    if (arrival < 0)
        world_violate("event %s is done, and receiver %s did not get it", id, name);
    else if (world.is_calm && arrival > sqlite3_column_int64(row, 2) + LONGEST_DELIVERY_MS)
        world_violate("event %s arrived at receiver %s after %lld ms", id, name,
                      (long long)(arrival - sqlite3_column_int64(row, 2)));
}

static void check(const struct rule *rule, bool may_be_less) {
    const int64_t found = gateway_number(rule->sql);
    if (found > 0 || (found < 0 && !may_be_less))
        world_violate("%s: %lld", rule->text, (long long)found);
}

void rules_check(void) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        check(&rules[i], false);
    for (size_t i = 0; i < sizeof recounts / sizeof *recounts; i++)
        check(&recounts[i], world.retains || erasures_happened());
    check(world.retains || erasures_happened() ? &open_campaigns : &campaigns, false);
    if (!world.retains) /* an event is kept for a week */
        check(&has_event, false);
    gateway_rows("SELECT d.event_id, w.name, e.created_at FROM delivery d "
                 "JOIN webhook w ON w.id = d.webhook_id JOIN event e ON e.id = d.event_id "
                 "WHERE d.state = 'done' AND w.name LIKE 'r_'",
                 check_delivery);
}

void rules_check_retention(void) {
    for (size_t i = 0; i < sizeof retention / sizeof *retention; i++)
        check(&retention[i], false);
}
