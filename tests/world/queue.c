/* The queued sends of a world: what clients and the platform know of each row. */
#include <string.h>

#include "world.h"

enum { ROWS = 4 * ACTS, CLOCK_STEPS_MS = 5 * 60 * 1000 };

static struct {
    struct row {
        const char *id, *phone, *wamid; /* wamid NULL: the platform has not accepted it */
        size_t number;                  /* of the send */
        int64_t send_at, made, accepted_at;
    } list[ROWS];
    size_t count;
} all;

void queue_begin(void) {
    memset(&all, 0, sizeof all);
}

/* The answer of a client, or the POST at the platform, may be the first to name a row. */
static struct row *find(const char *id, size_t number, const char *phone) {
    for (size_t i = 0; i < all.count; i++)
        if (strcmp(all.list[i].id, id) == 0)
            return &all.list[i];
    if (all.count == ROWS - 1)
        world_violate("the world has too many queued sends for the simulator");
    struct row *row = &all.list[all.count < ROWS - 1 ? all.count++ : all.count];
    *row = (struct row){.id = id, .phone = phone, .number = number, .made = world_now()};
    return row;
}

void queue_took(const char *id, size_t number, const char *phone, int64_t send_at) {
    struct row *row = find(id, number, phone);
    row->send_at = send_at;
    world_note("out-%zu is queued as %s", number, id);
    if (row->number != number)
        world_violate("%s is the row of out-%zu and of out-%zu", id, row->number, number);
}

/* The clock may have been set back after the row was taken. */
void queue_accepted(const char *id, size_t number, const char *phone, const char *wamid) {
    struct row *row = find(id, number, phone);
    if (row->wamid)
        world_violate("out-%zu, of the row %s, was accepted twice by the platform", number, id);
    if (row->send_at > world_host_clock() + CLOCK_STEPS_MS)
        world_violate("out-%zu was sent before its sendAt", number);
    world_note("the platform accepts %s, as %s", id, wamid);
    row->wamid = wamid;
    row->accepted_at = world_now();
}

static void expect(const struct row *row, const char *what, const char *condition) {
    const int64_t found = gateway_number(
        world_print("SELECT count(*) FROM outgoing o WHERE id = '%s' AND %s", row->id, condition));
    if (found != 1)
        world_violate("out-%zu, of the row %s, %s", row->number, row->id, what);
}

void queue_check(void) {
    for (size_t i = 0; i < all.count; i++) {
        const struct row *row = &all.list[i];
        if (erasures_fate(row->phone, row->wamid ? row->wamid : "",
                          row->wamid ? row->accepted_at : row->made) != IS_STORED)
            continue;
        if (row->wamid)
            expect(row, "was accepted by the platform, but its row or message is not as it should",
                   world_print("state = 'accepted' AND wamid = '%s' AND 1 = (SELECT count(*) FROM "
                               "message WHERE wamid = o.wamid AND " TEXT_OF_MESSAGE " = 'out-%zu')",
                               row->wamid, row->number));
        else
            expect(row, "was not accepted by the platform, and its row says otherwise, or is lost",
                   "state IN ('failed', 'unknown', 'expired')");
    }
}
