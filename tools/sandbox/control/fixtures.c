#include "control/fixtures.h"

#include <errno.h>
#include <stdio.h>

#include "nodes/edges.h"
#include "nodes/template_quota.h"
#include "state/access_token.h"
#include "state/account.h"
#include "state/flow_asset.h"
#include "state/flow_list.h"
#include "state/media_object.h"
#include "state/node_state.h"
#include "state/number.h"
#include "state/sandbox.h"
#include "state/send_limit.h"
#include "state/settings.h"
#include "state/template_list.h"
#include "state/template_use.h"
#include "state/window.h"
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

/* How the bodies of a member of a fixtures text are read and printed. */
struct member {
    const char *name;
    const char *(*put)(struct arena *arena, const cJSON *json);
    void (*print)(struct buffer *out);
    /* Instead: its items are kept byte for byte. */
    struct collection *collection;
    bool kept; /* what clients keep at objects: collection_save */
};

/* In the order in which they are loaded. */
static const struct member members[] = {
    {"settings", settings_change, settings_print, NULL, false},
    {"accounts", account_put, account_print, NULL, false},
    {"tokens", put_token, token_print, NULL, false},
    {"numbers", number_put, number_print, NULL, false},
    {"windows", window_put, window_print, NULL, false},
    {"media", put_media, media_save, NULL, false},
    {"templates", NULL, NULL, &templates, false},
    {"templateUses", template_use_put, template_use_print, NULL, false},
    {"flows", NULL, NULL, &flows, false},
    {"flowJson", NULL, NULL, &flow_assets, true},
    {"nodes", NULL, NULL, &node_states, true},
    {"blockedUsers", NULL, NULL, &blocked_users, true},
    {"qrCodes", NULL, NULL, &qr_codes, true},
};

enum { MEMBERS = sizeof members / sizeof *members };

const char *fixtures_put(struct arena *arena, const char *name, const cJSON *json,
                         struct slice body) {
    const struct member *member = members;
    while (strcmp(member->name, name) != 0)
        member++;
    if (!member->collection)
        return member->put(arena, json);
    return member->kept ? collection_restore(arena, member->collection, body)
                        : collection_put(arena, member->collection, body);
}

void fixtures_print(struct buffer *out) {
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct member *member = &members[i];
        buffer_printf(out, "%s\"%s\":[\n", i == 0 ? "{" : "],\n", member->name);
        if (!member->collection)
            member->print(out);
        else
            (member->kept ? collection_save : collection_print)(out, member->collection);
    }
    buffer_add_text(out, "]}\n");
}

static const char *put_body(struct arena *arena, const char *name, struct slice body) {
    cJSON *json = cJSON_ParseWithLength(body.p, body.n);
    const char *problem = fixtures_put(arena, name, json, body);
    cJSON_Delete(json);
    return problem;
}

/* Returns NULL if all members of the text have a name of the table. */
static const char *names_check(struct arena *arena, struct slice text) {
    cJSON *json = json_parse(text);
    const char *problem = cJSON_IsObject(json) ? NULL : "not a JSON object";
    const cJSON *item;
    cJSON_ArrayForEach(item, json) {
        size_t i = 0;
        while (i < MEMBERS && strcmp(members[i].name, item->string) != 0)
            i++;
        if (i == MEMBERS || !cJSON_IsArray(item))
            problem = arena_printf(
                arena, i == MEMBERS ? "'%s' is not known here" : "'%s' must be a list of bodies",
                item->string);
    }
    cJSON_Delete(json);
    return problem;
}

/* Loads a text, up to the first wrong body. Returns NULL, or the text of an error. */
static const char *load_bodies(struct arena *arena, struct slice text) {
    const char *problem = names_check(arena, text);
    struct slice list, body;
    for (size_t i = 0; !problem && i < MEMBERS; i++) {
        size_t cursor = 0;
        if (json_member(text, members[i].name, &list))
            while (!problem && json_element(list, &cursor, &body))
                problem = put_body(arena, members[i].name, body);
        if (problem)
            problem = arena_printf(arena, "%s: %s", members[i].name, problem);
    }
    return problem;
}

/* Returns false after a message on stderr. */
static bool load(struct arena *arena, const char *name, struct slice text) {
    state_write();
    const char *problem = load_bodies(arena, text);
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
    template_quota_clear();
}

static void clear(void) {
    account_clear();
    token_clear();
    collection_clear(&templates, NULL);
    template_use_clear();
    send_limit_clear();
    collection_clear(&flows, NULL);
    flow_asset_clear();
    media_clear();
    number_clear();
    window_clear();
    edges_clear();
    settings_reset();
}

void fixtures_clear(void) {
    state_write();
    clear();
    state_done();
}

const char *fixtures_replace(struct arena *arena, struct slice text) {
    struct buffer before = buffer_in(arena);
    fixtures_print(&before);
    clear();
    const char *problem = load_bodies(arena, text);
    if (problem) {
        clear();
        load_bodies(arena, buffer_slice(&before));
    }
    return problem;
}
