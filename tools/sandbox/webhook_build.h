/* Webhook bodies: an update is filled from its kind's template, several are put together as the
 * platform batches them, and the whole is encoded as on the wire. */
#ifndef SANDBOX_WEBHOOK_BUILD_H
#define SANDBOX_WEBHOOK_BUILD_H

#include "json.h"
#include "webhook_kinds.h"

/* One thing to tell. The texts are the variables of the templates; those not set go missing in the
 * body, as they do on the wire. */
struct update {
    const struct webhook_kind *kind;
    char *kind_name;
    char *waba_id;
    char *phone_number_id;
    char *line; /* display number */
    char *phone;
    char *bsuid;
    char *parent_bsuid;
    char *bsuid_only; /* bsuid where there is no phone */
    char *parent_bsuid_only;
    char *name;
    char *username;
    char *group_id;
    char *id;
    char *timestamp;
    char *context;
    char *text;
    char *title; /* of the button or row chosen */
    char *new_phone;
    char *new_bsuid;
    char *new_parent_bsuid;
    char *media_id;
    char *media_type;
    char *media_sha256;
    char *media_url;
    char *flow_id;
    char *flow_response;
    char *template_id;
    char *template_name;
    char *language;
    char *event;
    char *click_id;
    char *callback_data;
    uint64_t code;        /* error code for @error */
    uint64_t count;       /* how many of it, each with its own id */
    const cJSON *message; /* merged into element, contact and value */
    const cJSON *contact;
    const cJSON *value;
};

/* Reads an update from JSON and fills in what it leaves open. Under the state lock. NULL, or a
 * sentence the caller frees. */
char *update_read(struct update *update, const cJSON *json);
void update_release(struct update *update);

/* How several updates share a POST. */
enum batch { BATCH_POSTS, BATCH_ENTRIES, BATCH_CHANGES, BATCH_MESSAGES };

/* A body under construction. */
struct payload {
    cJSON *root;
    cJSON *ids; /* of the elements in it */
};

/* Adds an update to the payload (made when empty) in the way of `batch`. Under the state lock. */
void payload_add(struct payload *payload, const struct update *update, enum batch batch);

/* The payload as wire bytes, after which it is empty. */
void payload_encode(struct payload *payload, struct bytes *body);

#endif
