#include "state/flow_problems.h"

#include <stdio.h>

#include "text/strict_json.h"

struct check {
    struct slice bytes; /* the whole Flow JSON */
    cJSON *problems;
};

/* Adds line and column of the byte at `at`, with names that end in `end`. */
static void add_place(cJSON *problem, const struct check *check, const char *at, const char *end) {
    int line = 1, column = 1;
    char name[16];
    for (const char *p = check->bytes.p; p < at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    snprintf(name, sizeof name, "line_%s", end);
    cJSON_AddNumberToObject(problem, name, line);
    snprintf(name, sizeof name, "column_%s", end);
    cJSON_AddNumberToObject(problem, name, column);
}

static void add(const struct check *check, const char *error, struct slice place,
                const char *message) {
    cJSON *problem = cJSON_CreateObject();
    cJSON_AddStringToObject(problem, "error", error);
    cJSON_AddStringToObject(problem, "error_type", "FLOW_JSON_ERROR");
    cJSON_AddStringToObject(problem, "message", message);
    add_place(problem, check, place.p, "start");
    add_place(problem, check, place.p + place.n, "end");
    cJSON_AddItemToArray(check->problems, problem);
}

/* Where the text ceases to be JSON, or a byte behind it; the beginning, if the lenient parser finds
 * nothing. */
static struct slice failure_of(struct slice bytes) {
    const char *end = NULL;
    cJSON_Delete(cJSON_ParseWithLengthOpts(bytes.p, bytes.n, &end, false));
    return (struct slice){end ? end : bytes.p, 0};
}

/* Expects a member that begins with `first`. */
static void need(const struct check *check, struct slice object, const char *where,
                 const char *name, char first) {
    struct slice value;
    char message[96];
    bool is_there = json_member(object, name, &value);
    if (is_there && value.n && *value.p == first)
        return;
    snprintf(message, sizeof message,
             is_there ? "%s: the property '%s' has another type."
                      : "%s: the property '%s' is required.",
             where, name);
    add(check, is_there ? "INVALID_PROPERTY_TYPE" : "MISSING_REQUIRED_PROPERTY",
        is_there ? value : object, message);
}

static void check_screens(const struct check *check, struct slice screens) {
    struct slice screen;
    size_t cursor = 0;
    char where[32];
    for (int i = 0; json_element(screens, &cursor, &screen); i++) {
        snprintf(where, sizeof where, "screens[%d]", i);
        need(check, screen, where, "id", '"');
        need(check, screen, where, "layout", '{');
    }
}

cJSON *flow_problems(struct slice bytes) {
    struct check check = {bytes, cJSON_CreateArray()};
    struct slice screens;
    if (!bytes.n || !json_valid(bytes)) {
        add(&check, "INVALID_JSON", failure_of(bytes), "The Flow JSON is not valid JSON.");
        return check.problems;
    }
    need(&check, bytes, "Flow JSON", "version", '"');
    need(&check, bytes, "Flow JSON", "screens", '[');
    if (json_member(bytes, "screens", &screens) && screens.n && *screens.p == '[')
        check_screens(&check, screens);
    return check.problems;
}
