#include "web/route.h"

#include <stdio.h>

/* Takes the segment before the next slash off the front of *rest; sets p to NULL after the last. */
static struct slice next_segment(struct slice *rest) {
    bool is_last = !rest->n || !memchr(rest->p, '/', rest->n);
    struct slice segment = slice_cut(rest, '/');
    if (is_last)
        rest->p = NULL;
    return segment;
}

bool route_matches(const char *pattern, const char *path,
                   struct slice parameters[MAX_PATH_PARAMETERS]) {
    struct slice p = slice_of(pattern), q = slice_of(path);
    size_t n = 0;
    memset(parameters, 0, MAX_PATH_PARAMETERS * sizeof *parameters);
    while (p.p && q.p) {
        struct slice wanted = next_segment(&p), got = next_segment(&q);
        if (wanted.n && wanted.p[0] == ':' && n < MAX_PATH_PARAMETERS) {
            parameters[n++] = got;
        } else if (!slice_equal(wanted, got)) {
            memset(parameters, 0, MAX_PATH_PARAMETERS * sizeof *parameters);
            return false;
        }
    }
    return !p.p && !q.p;
}

bool route_has_caller(const struct route *route) {
    return route->guard &&
           route->guard->requires & (REQUIRES_EITHER | REQUIRES_SESSION | REQUIRES_TOKEN);
}

enum body route_body(const struct route *route) {
    return route->fields ? BODY_JSON : route->body;
}

size_t route_body_limit(const struct route *route) {
    if (route->fields)
        return JSON_BODY_LIMIT;
    return route->body == BODY_RAW ? route->body_limit : 0;
}

/* Returns the methods of this path, for `Allow` (RFC 9110 10.2.1); NULL for an unknown path. */
static const char *allowed_methods(struct request *rq, const struct route *routes) {
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    struct buffer allow = buffer_in(rq->arena);
    struct slice unused[MAX_PATH_PARAMETERS];
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct route *route = routes;
        while (route->method && (strcmp(route->method, methods[i]) != 0 ||
                                 !route_matches(route->path, rq->path, unused)))
            route++;
        if (route->method)
            buffer_printf(&allow, "%s%s%s", allow.n ? ", " : "", methods[i],
                          i == 0 ? ", HEAD" : "");
    }
    if (!allow.n)
        return NULL;
    buffer_add_text(&allow, ", OPTIONS");
    return buffer_slice(&allow).p;
}

int route_choose(struct request *rq, const struct route *routes) {
    for (const struct route *route = routes; route->method; route++)
        if (strcmp(route->method, rq->method) == 0 &&
            route_matches(route->path, rq->path, rq->parameters)) {
            rq->route = route;
            return 0;
        }
    const char *allow = allowed_methods(rq, routes);
    if (!allow)
        return fail(rq, NOT_FOUND, "There is no such route. See GET / for where to begin.");
    reply_header(rq, "Allow", allow);
    if (strcmp(rq->method, "OPTIONS") == 0)
        return reply_body(rq, 204, NULL, (struct slice){NULL, 0});
    return fail(rq, NOT_FOUND, "This path does not know the method; it knows %s.", allow);
}

bool route_check_scopes(const char *executable, const struct route *routes) {
    for (const struct route *route = routes; route->method; route++) {
        bool is_scoped = scope_name(route->scope) || route->scope == SCOPE_BY_EDGE;
        if (route_has_caller(route) ? is_scoped : !route->scope)
            continue;
        fprintf(stderr, "%s: the route %s %s requires %s: its row must have %s\n", executable,
                route->method, route->path, route_has_caller(route) ? "a caller" : "no caller",
                route_has_caller(route) ? "one scope" : "no scope");
        return false;
    }
    return true;
}

bool route_leaves_row(const char *trail) {
    return trail && *trail != '-' && strchr(trail, '.') != NULL;
}

bool route_check_trails(const char *executable, const struct route *routes) {
    for (; routes->method; routes++)
        if (!routes->trail && strcmp(routes->method, "GET") != 0) {
            fprintf(stderr, "switchboard %s: %s %s says nothing about the trail\n", executable,
                    routes->method, routes->path);
            return false;
        }
    return true;
}

void route_write_trail(struct json_writer *out, const char *trail) {
    const bool is_none = trail && *trail == '-';
    json_write_text(out, "trail", is_none ? "none" : trail);
    if (is_none)
        json_write_text(out, "no_trail", trail + 1);
}
