#include "webhooks/callback_url.h"

#include "state/node_state.h"
#include "state/settings.h"
#include "text/text.h"

/* Returns the override that a node has in this kind of its state, in `arena`, or NULL. */
static const char *override_of(struct arena *arena, const char *kind, const char *id) {
    cJSON *state = id ? node_state_read(kind, id, "{}") : NULL;
    const char *url = text_copy(arena, json_text(state, "override_callback_uri"));
    cJSON_Delete(state);
    return url;
}

const char *callback_url(struct arena *arena, const struct update *update) {
    const char *url = NULL;
    if (strcmp(update->kind->field, "messages") == 0)
        url = override_of(arena, "webhook", update->phone_number_id);
    if (!url)
        url = override_of(arena, "subscription", update->waba_id);
    return url ? url : text_copy(arena, settings.webhook_url);
}
