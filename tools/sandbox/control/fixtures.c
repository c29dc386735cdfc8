#include "control/fixtures.h"

#include <errno.h>
#include <stdio.h>

#include "nodes/edges.h"
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
#include "text/memory.h"
#include "text/strict_json.h"

enum { READ_SIZE = 65536 };

extern const char builtin_state_json[];

static const char *file_path;

void fixtures_file(const char *path) {
    file_path = path;
}

static const char *put_token(struct arena *arena, const cJSON *json) {
    (void)arena;
    return token_put(json);
}

static const char *put_media(struct arena *arena, const cJSON *json) {
    const struct media *made;
    return media_make(arena, json, &made);
}

/* The members of a fixtures text, in the order in which they are loaded. */
static const struct member {
    const char *name;
    const char *(*put)(struct arena *arena, const cJSON *json);
    struct collection *collection; /* instead: its items are kept byte for byte */
} members[] = {
    {"settings", settings_change, NULL},
    {"accounts", account_put, NULL},
    {"tokens", put_token, NULL},
    {"numbers", number_put, NULL},
    {"media", put_media, NULL},
    {"templates", NULL, &templates},
    {"flows", NULL, &flows},
};

enum { MEMBERS = sizeof members / sizeof *members };

const char *fixtures_put(struct arena *arena, const char *name, const cJSON *json,
                         struct slice body) {
    const struct member *member = members;
    while (strcmp(member->name, name) != 0)
        member++;
    return member->collection ? collection_put(arena, member->collection, body)
                              : member->put(arena, json);
}

static const char *put_body(struct arena *arena, const char *name, struct slice body) {
    cJSON *json = cJSON_ParseWithLength(body.p, body.n);
    const char *problem = fixtures_put(arena, name, json, body);
    cJSON_Delete(json);
    return problem;
}

/* Loads a text, up to the first wrong body. Returns false after a message on stderr. */
static bool load(struct arena *arena, const char *name, struct slice text) {
    const char *problem = json_valid(text) ? NULL : "not valid JSON";
    struct slice list, body;
    state_write();
    for (size_t i = 0; !problem && i < MEMBERS; i++) {
        size_t cursor = 0;
        if (json_member(text, members[i].name, &list))
            while (!problem && json_element(list, &cursor, &body))
                problem = put_body(arena, members[i].name, body);
    }
    state_done();
    if (problem)
        fprintf(stderr, "switchboard-sandbox: %s: %s\n", name, problem);
    return !problem;
}

/* Appends the content of the file. Returns false after a message on stderr. */
static bool read_file(const char *path, struct buffer *text) {
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "switchboard-sandbox: %s: %s\n", path, strerror(errno));
        return false;
    }
    size_t got;
    while ((got = fread(buffer_reserve(text, READ_SIZE), 1, READ_SIZE, file)) > 0)
        text->n += got;
    bool good = ferror(file) == 0;
    if (!good)
        fprintf(stderr, "switchboard-sandbox: %s: cannot be read\n", path);
    fclose(file);
    return good;
}

bool fixtures_start(void) {
    struct arena *arena = memory_open();
    struct buffer text = buffer_in(arena);
    bool good = load(arena, "built-in state", slice_of(builtin_state_json)) &&
                (!file_path ||
                 (read_file(file_path, &text) && load(arena, file_path, buffer_slice(&text))));
    memory_close(arena);
    return good;
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
