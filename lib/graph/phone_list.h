/* The numbers of a business account of the platform. */
#ifndef SWITCHBOARD_GRAPH_PHONE_LIST_H
#define SWITCHBOARD_GRAPH_PHONE_LIST_H

#include "base/json.h"
#include "graph/call.h"

/* Makes calls of the platform for a caller that logs or limits them. */
struct graph_asker {
    void (*ask)(void *context, const struct graph_call *call, struct graph_answer *answer);
    void *context;
};

/* A number, as the platform shows it; a text that it did not send is NULL. */
struct phone_number {
    const char *id, *display, *name;
    const char *status;        /* CONNECTED, PENDING, BANNED, ... */
    const char *verification;  /* VERIFIED, NOT_VERIFIED, EXPIRED */
    const char *name_status;   /* APPROVED, DECLINED, ... */
    const char *platform_type; /* CLOUD_API, ON_PREMISE, NOT_APPLICABLE */
    const char *quality;       /* GREEN, YELLOW, RED, UNKNOWN */
    const char *throughput;    /* STANDARD, HIGH */
    const char *limit;         /* TIER_250, TIER_1K, ... */
    const char *webhook;       /* where its webhooks go to, unless to the app's URL; or NULL */
    bool is_on_app;            /* it runs in the phone app of the business too */
    struct json health;        /* its health_status */
};

/* Reads all numbers of the account. Returns 0, or -1 with the answer that holds no list in
 * `*answer`. What it returns is in `arena`. */
int phone_list_read(struct arena *arena, const struct graph_asker *asker, const char *waba_id,
                    const char *token, struct phone_number **numbers, size_t *count,
                    struct graph_answer *answer);

/* Returns the number of `display` in the form +E164, in `arena`; NULL if it has none. */
const char *phone_list_e164(struct arena *arena, const char *display);

#endif
