#include "web/describe.h"

#include <inttypes.h>
#include <stdio.h>

#include "web/route.h"

enum { PATH_MAX_SHOWN = 256 }; /* bytes of the path of a field, with its NUL */

/* Receives the parts of the tables in their order. */
struct describer {
    void (*route)(const struct route *route);
    /* `kind`: member or query; `path`: of the object that has the field, "" or ended by a dot */
    void (*field)(const char *kind, const char *path, const struct field *field);
};

static void walk_fields(const struct describer *to, const char *kind, const char *path,
                        const struct field *fields) {
    for (const struct field *field = fields; field && field->type; field++) {
        char inner[PATH_MAX_SHOWN];
        to->field(kind, path, field);
        if (!field->fields)
            continue;
        snprintf(inner, sizeof inner, "%s%s%s.", path, field->name,
                 field->type == FIELD_ARRAY ? "[]" : "");
        walk_fields(to, kind, inner, field->fields);
    }
}

static void walk_routes(const struct describer *to, const struct route *routes) {
    for (const struct route *route = routes; route->method; route++) {
        to->route(route);
        walk_fields(to, "query", "", route->query);
        walk_fields(to, "member", "", route->fields);
    }
}

/* --- as text --- */

static void print_route(const struct route *route) {
    static const char *const requirements[] = {"token", "line", "signature"};
    static const char *const bodies[] = {
        [BODY_JSON] = "json", [BODY_RAW] = "raw", [BODY_STREAM] = "file"};
    unsigned required = route->guard ? route->guard->requires : 0;
    printf("  %-7s%s\n%s", route->method, route->path, required ? "    requires " : "");
    for (unsigned i = 0; i < sizeof requirements / sizeof *requirements; i++)
        if (required & 1U << i)
            printf(" %s", requirements[i]);
    fputs(required ? "\n" : "", stdout);
    if (route->body != BODY_NONE)
        printf("    body      %s", bodies[route->body]);
    if (route_body_limit(route))
        printf(", at most %zu bytes", route_body_limit(route));
    fputs(route->body != BODY_NONE ? "\n" : "", stdout);
    fputs(route->handler_checks_fields ? "    dispatches\n" : "", stdout);
}

static void print_list(const char *prefix, const char *path, const char *const *names) {
    fputs(prefix, stdout);
    for (; *names; names++)
        printf(" %s%s", path, *names);
}

static void print_field(const char *kind, const char *path, const struct field *field) {
    static const char *const types[] = {[FIELD_STRING] = "string",
                                        [FIELD_INTEGER] = "integer",
                                        [FIELD_STRING_OR_NUMBER] = "string or number",
                                        [FIELD_BOOLEAN] = "boolean",
                                        [FIELD_OBJECT] = "object",
                                        [FIELD_ARRAY] = "array"};
    if (field->type == FIELD_ONE_OF) {
        print_list("    one of   ", path, field->names);
        puts(field->max ? ", exactly" : "");
        return;
    }
    printf("    %-10s%s%s: %s", kind, path, field->name, types[field->type]);
    fputs(field->required ? ", required" : "", stdout);
    fputs(field->may_be_empty ? ", may be empty" : "", stdout);
    fputs(field->check ? ", checked" : "", stdout);
    if (field->min)
        printf(", from %" PRId64, field->min);
    if (field->max)
        printf(", to %" PRId64, field->max);
    if (field->values)
        print_list(", one of", "", field->values);
    if (field->example)
        printf(", as %s", field->example);
    puts("");
}

int describe_service(const struct service *service) {
    static const struct describer text = {print_route, print_field};
    printf("switchboard %s: a CGI executable; see apache.conf. Its routes:\n", service->name);
    walk_routes(&text, service->routes);
    puts("Besides answering requests, it may:");
    for (unsigned need = 1; need <= service->needs; need <<= 1)
        if (service->needs & need)
            printf("  %s\n", confine_meaning(need));
    return 0;
}
