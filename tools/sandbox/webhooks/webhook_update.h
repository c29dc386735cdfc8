/* Updates of webhooks as a control call describes them, with defaults for what it leaves out. */
#ifndef SANDBOX_WEBHOOK_UPDATE_H
#define SANDBOX_WEBHOOK_UPDATE_H

#include "text/json_fields.h"
#include "webhooks/webhook_kinds.h"

/* One update of a webhook. The texts are the variables of the templates. A member of the body whose
 * variable is not set is left out, as the platform does. */
struct update {
    struct arena *arena; /* of the texts that are made for it */
    const struct webhook_kind *kind;
    const char *kind_name;
    const char *waba_id;
    const char *phone_number_id;
    const char *line; /* display number */
    const char *phone;
    const char *bsuid;
    const char *parent_bsuid;
    const char *bsuid_only; /* the bsuid if there is no phone */
    const char *parent_bsuid_only;
    const char *name;
    const char *username;
    const char *group_id;
    const char *id;
    const char *timestamp;
    const char *context;
    const char *text;
    const char *title; /* of the chosen button or row */
    const char *new_phone;
    const char *new_bsuid;
    const char *new_parent_bsuid;
    const char *media_id;
    const char *media_type;
    const char *media_sha256;
    const char *media_url;
    const char *flow_id;
    const char *flow_response;
    const char *template_id;
    const char *template_name;
    const char *language;
    const char *event;
    const char *click_id;
    const char *callback_data;
    int64_t code;         /* error code for @error */
    int64_t count;        /* number of copies, each with its own id */
    const cJSON *message; /* merged into element, contact and value */
    const cJSON *contact;
    const cJSON *value;
};

/* Reads an update from `json`, which must outlive it, and sets the missing members to defaults.
 * Called under the lock of the state. The texts of the update are those of accounts and media, or
 * lie in `arena`: it is used up under the same lock. Returns NULL, or in `arena` the text of an
 * error. */
const char *update_read(struct arena *arena, struct update *update, const cJSON *json);

/* Returns the variable of this name, or NULL. */
const char *update_variable(const struct update *update, struct slice name);

#endif
