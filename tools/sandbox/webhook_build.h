/* Webhook bodies: the template of the update's kind is filled in, several updates are combined into
 * batches as the platform does, and the result is encoded in the platform's form. */
#ifndef SANDBOX_WEBHOOK_BUILD_H
#define SANDBOX_WEBHOOK_BUILD_H

#include "json.h"
#include "webhook_kinds.h"

/* One update of a webhook. The texts are the variables of the templates. A member of the body whose
 * variable is not set is left out, as the platform does. */
struct update {
    const struct webhook_kind *kind;
    char *kind_name;
    char *waba_id;
    char *phone_number_id;
    char *line; /* display number */
    char *phone;
    char *bsuid;
    char *parent_bsuid;
    char *bsuid_only; /* the bsuid if there is no phone */
    char *parent_bsuid_only;
    char *name;
    char *username;
    char *group_id;
    char *id;
    char *timestamp;
    char *context;
    char *text;
    char *title; /* of the chosen button or row */
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
    uint64_t count;       /* number of copies, each with its own id */
    const cJSON *message; /* merged into element, contact and value */
    const cJSON *contact;
    const cJSON *value;
};

/* Reads an update from JSON and sets the missing members to defaults. Called under the state lock.
 * Returns NULL, or an error text that the caller frees. */
char *update_read(struct update *update, const cJSON *json);
void update_release(struct update *update);

/* How several updates share a POST. */
enum batch { BATCH_POSTS, BATCH_ENTRIES, BATCH_CHANGES, BATCH_MESSAGES };

/* A body under construction. */
struct payload {
    cJSON *root;
    cJSON *ids; /* of the elements in it */
};

/* Adds an update to the payload, combined as `batch` says. Called under the state lock. */
void payload_add(struct payload *payload, const struct update *update, enum batch batch);

/* Encodes the payload into body; the payload is empty afterwards. */
void payload_encode(struct payload *payload, struct bytes *body);

#endif
