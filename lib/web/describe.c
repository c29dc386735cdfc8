#include "web/describe.h"

#include <inttypes.h>
#include <stdio.h>

#include "web/reply.h"
#include "web/route.h"

enum {
    PATH_MAX_SHOWN = 256,                  /* bytes of the path of a field, with its NUL */
    DESCRIPTION_MEMORY = 16 * 1024 * 1024, /* for the JSON form */
};

static const char *const requirements[] = {"either", "line", "signature", "session", "token"};
static const char *const requirement_texts[] = {"a token or a session", "a line", "a signature",
                                                "a session", "a token"};
static const char *const bodies[] = {
    [BODY_NONE] = "none", [BODY_JSON] = "json", [BODY_RAW] = "raw", [BODY_STREAM] = "file"};
static const char *const types[] = {[FIELD_STRING] = "string",
                                    [FIELD_INTEGER] = "integer",
                                    [FIELD_STRING_OR_NUMBER] = "string or number",
                                    [FIELD_BOOLEAN] = "boolean",
                                    [FIELD_OBJECT] = "object",
                                    [FIELD_ARRAY] = "array",
                                    [FIELD_STRINGS] = "array of strings"};

/* The parts of the tables that fields are taken from. EXCLUSIVE: the alternatives of which exactly
 * one may be present, which are a part of ONE_OF, too. */
enum part { QUERY, MEMBERS, ONE_OF, EXCLUSIVE, PARTS };

/* Receives the parts of the tables in their order. `start`, `end` and `route_end` may be NULL. */
struct describer {
    void (*route)(struct json_writer *out, const struct route *route);
    /* before and after the fields of a part */
    void (*start)(struct json_writer *out, enum part part);
    void (*end)(struct json_writer *out);
    /* `path`: of the object that has the field, "" or ended by a dot */
    void (*field)(struct json_writer *out, enum part part, const char *path,
                  const struct field *field);
    void (*route_end)(struct json_writer *out, const struct route *route);
};

/* The rows of alternatives are parts of their own. */
static bool is_in(enum part part, const struct field *field) {
    if (field->type != FIELD_ONE_OF)
        return part == QUERY || part == MEMBERS;
    return part == ONE_OF || (part == EXCLUSIVE && field->max);
}

/* Visits the fields of a part. */
static void walk_fields(const struct describer *to, struct json_writer *out, enum part part,
                        const char *path, const struct field *fields) {
    for (const struct field *field = fields; field && field->type; field++) {
        char inner[PATH_MAX_SHOWN];
        if (is_in(part, field))
            to->field(out, part, path, field);
        if (!field->fields)
            continue;
        snprintf(inner, sizeof inner, "%s%s%s.", path, field->name,
                 field->type == FIELD_ARRAY ? "[]" : "");
        walk_fields(to, out, part, inner, field->fields);
    }
}

static void walk_routes(const struct describer *to, struct json_writer *out,
                        const struct route *routes) {
    for (const struct route *route = routes; route->method; route++) {
        to->route(out, route);
        for (enum part part = QUERY; part < PARTS; part++) {
            if (to->start)
                to->start(out, part);
            walk_fields(to, out, part, "", part == QUERY ? route->query : route->fields);
            if (to->end)
                to->end(out);
        }
        if (to->route_end)
            to->route_end(out, route);
    }
}

/* --- as text --- */

/* Prints method and path, and the scope if there is one. */
static void print_row(const char *method, const char *path, const char *scope) {
    if (scope)
        printf("  %-7s%-44s %s\n", method, path, scope);
    else
        printf("  %-7s%s\n", method, path);
}

static void print_route(struct json_writer *out, const struct route *route) {
    (void)out;
    unsigned required = route->guard ? route->guard->requires : 0;
    print_row(route->method, route->path, scope_name(route->scope));
    fputs(required ? "    requires  " : "", stdout);
    for (unsigned i = 0; i < sizeof requirements / sizeof *requirements; i++)
        if (required & 1U << i)
            printf("%s%s", required & ((1U << i) - 1) ? ", " : "", requirement_texts[i]);
    fputs(required ? "\n" : "", stdout);
    const enum body body = route_body(route);
    if (body != BODY_NONE)
        printf("    body      %s", bodies[body]);
    if (route_body_limit(route))
        printf(", at most %zu bytes", route_body_limit(route));
    fputs(body != BODY_NONE ? "\n" : "", stdout);
    if (route->lines)
        printf("    lines     %s\n", route->lines);
    fputs(route->write_kinds ? "    dispatches\n" : "", stdout);
    if (route->trail)
        printf(*route->trail == '-' ? "    trail     none (%s)\n" : "    trail     %s\n",
               route->trail + (*route->trail == '-'));
}

static void print_list(const char *prefix, const char *path, const char *const *names) {
    fputs(prefix, stdout);
    for (; *names; names++)
        printf(" %s%s", path, *names);
}

static void print_field(struct json_writer *out, enum part part, const char *path,
                        const struct field *field) {
    (void)out;
    if (part == EXCLUSIVE)
        return;
    if (part == ONE_OF) {
        print_list("    one of   ", path, field->names);
        puts(field->max ? ", exactly" : "");
        return;
    }
    printf("    %-10s%s%s: %s", part == QUERY ? "query" : "member", path, field->name,
           types[field->type]);
    fputs(field->required ? ", required" : "", stdout);
    fputs(field->may_be_empty ? ", may be empty" : "", stdout);
    fputs(field->may_be_null ? ", may be null" : "", stdout);
    if (field->min)
        printf(", from %" PRId64, field->min);
    if (field->max)
        printf(", to %" PRId64, field->max);
    if (field->values)
        print_list(", one of", "", field->values);
    if (field->rule && field->rule->longest)
        printf(", at most %zu bytes", field->rule->longest);
    if (field->rule)
        printf(", must be %s", field->rule->meaning);
    if (field->example)
        printf(", as %s", field->example);
    puts("");
}

static void print_edges(const struct service *service) {
    struct arena arena;
    struct json_writer out;
    struct json edges;
    struct json_error error;
    arena_init(&arena, DESCRIPTION_MEMORY, NULL);
    json_write_start(&out, &arena);
    service->write_edges(&out, NULL);
    if (json_read(&arena, json_written(&out), &edges, &error) == 0)
        for (struct json edge = json_first(edges); json_is(edge); edge = json_next(edge)) {
            print_row(json_text(json_get(edge, "method"), &arena),
                      json_text(json_get(edge, "path"), &arena),
                      json_text(json_get(edge, "scope"), &arena));
            printf("    %s\n", json_text(json_get(edge, "action"), &arena));
        }
    arena_free(&arena);
}

static void print_text(const struct service *service) {
    static const struct describer text = {.route = print_route, .field = print_field};
    printf("switchboard %s: a CGI executable; see apache.conf. Its routes:\n", service->name);
    if (service->write_edges)
        print_edges(service);
    else
        walk_routes(&text, NULL, service->routes);
    puts("In addition to answering requests, it may:");
    for (unsigned need = 1; need <= service->needs; need <<= 1)
        if (service->needs & need)
            printf("  %s\n", confine_meaning(need));
}

/* --- as JSON --- */

/* Writes the names of the `:name` segments of the path. */
static void write_segments(struct json_writer *out, const char *path) {
    struct slice rest = slice_of(path);
    json_write_array(out, "segments");
    while (rest.n) {
        struct slice segment = slice_cut(&rest, '/');
        if (segment.n && *segment.p == ':')
            json_write_string(out, NULL, slice_skip(segment, 1));
    }
    json_write_end(out);
}

static void write_route(struct json_writer *out, const struct route *route) {
    json_write_object(out, NULL);
    json_write_text(out, "method", route->method);
    json_write_text(out, "path", route->path);
    write_segments(out, route->path);
    json_write_array(out, "requires");
    for (unsigned i = 0; i < sizeof requirements / sizeof *requirements; i++)
        if (route->guard && route->guard->requires & 1U << i)
            json_write_text(out, NULL, requirements[i]);
    json_write_end(out);
    json_write_text(out, "scope", scope_name(route->scope));
    json_write_text(out, "lines", route->lines);
    json_write_text(out, "body", bodies[route_body(route)]);
    json_write_integer(out, "limit", (int64_t)route_body_limit(route));
    route_write_trail(out, route->trail);
}

static void write_start(struct json_writer *out, enum part part) {
    static const char *const names[] = {
        [QUERY] = "query", [MEMBERS] = "members", [ONE_OF] = "one_of", [EXCLUSIVE] = "exclusive"};
    json_write_array(out, names[part]);
}

static void write_list(struct json_writer *out, const char *name, const char *path,
                       const char *const *values) {
    json_write_array(out, name);
    for (; *values; values++) {
        char text[PATH_MAX_SHOWN];
        snprintf(text, sizeof text, "%s%s", path, *values);
        json_write_text(out, NULL, text);
    }
    json_write_end(out);
}

static void write_rule(struct json_writer *out, const struct text_rule *rule) {
    if (rule->longest)
        json_write_integer(out, "longest", (int64_t)rule->longest);
    if (rule->pattern)
        json_write_text(out, "pattern", rule->pattern);
    json_write_text(out, "meaning", rule->meaning);
}

static void write_vocabulary(struct json_writer *out, const struct vocabulary *vocabulary) {
    json_write_text(out, "schema", vocabulary->schema);
    write_list(out, "meanings", "", vocabulary->meanings);
    json_write_text(out, "preset", vocabulary->preset);
}

static void write_field(struct json_writer *out, enum part part, const char *path,
                        const struct field *field) {
    char whole[PATH_MAX_SHOWN];
    if (part == ONE_OF || part == EXCLUSIVE) {
        write_list(out, NULL, path, field->names);
        return;
    }
    snprintf(whole, sizeof whole, "%s%s", path, field->name);
    json_write_object(out, NULL);
    json_write_text(out, "path", whole);
    json_write_text(out, "type", types[field->type]);
    if (field->required)
        json_write_bool(out, "required", true);
    if (field->may_be_empty)
        json_write_bool(out, "may_be_empty", true);
    if (field->may_be_null)
        json_write_bool(out, "may_be_null", true);
    if (field->min)
        json_write_integer(out, "from", field->min);
    if (field->max)
        json_write_integer(out, "to", field->max);
    if (field->values)
        write_list(out, "values", "", field->values);
    if (field->vocabulary)
        write_vocabulary(out, field->vocabulary);
    if (field->rule)
        write_rule(out, field->rule);
    if (field->example)
        json_write_text(out, "example", field->example);
    json_write_end(out);
}

static void write_route_end(struct json_writer *out, const struct route *route) {
    if (route->write_kinds) {
        route->write_kinds(out, "kinds");
    } else {
        json_write_array(out, "kinds");
        json_write_end(out);
    }
    json_write_end(out);
}

static void print_json(const struct service *service) {
    static const struct describer json = {write_route, write_start, json_write_end, write_field,
                                          write_route_end};
    struct arena arena;
    struct json_writer out;
    arena_init(&arena, DESCRIPTION_MEMORY, NULL);
    json_write_start_object(&out, &arena);
    json_write_text(&out, "executable", service->name);
    json_write_array(&out, "may");
    for (unsigned need = 1; need <= service->needs; need <<= 1)
        if (service->needs & need)
            json_write_text(&out, NULL, confine_meaning(need));
    json_write_end(&out);
    reply_write_failures(&out, "failures");
    json_write_array(&out, "routes");
    if (!service->write_edges)
        walk_routes(&json, &out, service->routes);
    json_write_end(&out);
    if (service->write_edges)
        service->write_edges(&out, "edges");
    struct slice text = json_written(&out);
    printf("%.*s\n", (int)text.n, text.p);
    arena_free(&arena);
}

/* --- the forms --- */

int describe(const struct service *service, int argc, char **argv) {
    bool is_json = argc == 2 && strcmp(argv[1], "--describe") == 0;
    if (argc > 1 && !is_json) {
        fprintf(stderr, "%s: unknown argument %s: give none for text, or --describe for JSON\n",
                service->name, argv[1]);
        return 2;
    }
    if (is_json)
        print_json(service);
    else
        print_text(service);
    return 0;
}
