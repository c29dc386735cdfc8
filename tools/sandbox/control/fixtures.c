#include "control/fixtures.h"

#include "nodes/blocked_user.h"
#include "nodes/qr_code.h"
#include "nodes/upload_session.h"
#include "state/access_token.h"
#include "state/account.h"
#include "state/flow_asset.h"
#include "state/flow_list.h"
#include "state/media_object.h"
#include "state/node_state.h"
#include "state/number.h"
#include "state/sandbox.h"
#include "state/settings.h"
#include "state/template_list.h"
#include "text/strict_json.h"

static const char *load_token(struct arena *arena, const cJSON *json) {
    (void)arena;
    return token_put(json);
}

static const char *load_media(struct arena *arena, const cJSON *json) {
    const struct media *made;
    return media_make(arena, json, &made);
}

/* The members of a fixtures text: each is a list of bodies, which one of both functions loads. */
static const struct member {
    const char *name;
    const char *(*load)(struct arena *arena, const cJSON *json);
    struct collection *collection; /* whose bodies are read byte for byte, or NULL */
} members[] = {
    {"settings", settings_change, NULL},
    {"accounts", account_put, NULL},
    {"tokens", load_token, NULL},
    {"numbers", number_put, NULL},
    {"media", load_media, NULL},
    {"templates", NULL, &templates},
    {"flows", NULL, &flows},
};

static const char *load_body(struct arena *arena, const struct member *member, struct slice body) {
    if (member->collection)
        return collection_put(arena, member->collection, body);
    cJSON *json = cJSON_ParseWithLength(body.p, body.n);
    const char *problem = member->load(arena, json);
    cJSON_Delete(json);
    return problem;
}

const char *fixtures_load(struct arena *arena, struct slice text) {
    const char *problem = NULL;
    struct slice list, body;
    if (!json_valid(text))
        return "not valid JSON";
    state_write();
    for (size_t i = 0; !problem && i < sizeof members / sizeof *members; i++) {
        size_t cursor = 0;
        if (json_member(text, members[i].name, &list))
            while (!problem && json_element(list, &cursor, &body))
                problem = load_body(arena, &members[i], body);
    }
    state_done();
    return problem;
}

void edges_clear(void) {
    node_state_clear();
    blocked_user_clear();
    qr_code_clear();
    session_clear();
}

void fixtures_clear(void) {
    state_write();
    account_clear();
    token_clear();
    collection_clear(&templates, NULL);
    collection_clear(&flows, NULL);
    flow_asset_clear();
    media_clear();
    number_clear();
    edges_clear();
    settings_reset();
    state_done();
}
