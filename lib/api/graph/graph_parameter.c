#include "api/graph/graph_parameter.h"

#include "web/plain_name.h"

/* Of a name in a message. */
enum { SHOWN = 64 };

static int shown(struct slice name) {
    return (int)(name.n < SHOWN ? name.n : SHOWN);
}

bool graph_is_secret(struct slice name) {
    return plain_name_is(name, "access_token") || plain_name_is(name, "appsecret_proof");
}

int graph_check_name(struct request *rq, struct graph_seen *seen, struct slice name) {
    if (!plain_name_check(name))
        return fail(rq, INVALID,
                    "The parameter %.*s is not accepted: a name consists of letters, digits, _ and "
                    "-, with keys in brackets, as NAME[KEY].",
                    shown(name), name.p);
    if (plain_name_is(name, "method") || plain_name_is(name, "batch") ||
        (plain_name_is(name, "ids") && (seen->has_node || !slice_equal(name, SLICE("ids")))))
        return fail(rq, INVALID, "The parameter %.*s is not accepted here.", shown(name), name.p);
    if (!plain_name_is(name, "fields"))
        return 0;
    if (seen->has_fields || !slice_equal(name, SLICE("fields")))
        return fail(rq, INVALID,
                    "The parameter fields may stand in the request once, as one text.");
    seen->has_fields = true;
    return 0;
}

int graph_take_name(struct request *rq, struct graph_seen *seen, struct graph_names *names,
                    struct slice name) {
    if (graph_check_name(rq, seen, name))
        return -1;
    for (size_t i = 0; i < names->count; i++)
        if (plain_name_clash(names->names[i], name))
            return fail(rq, INVALID,
                        "The parameter %.*s is not accepted: %.*s was given before; send one value "
                        "in one place.",
                        shown(name), name.p, shown(names->names[i]), names->names[i].p);
    names->names[names->count++] = name;
    return 0;
}

int graph_check_part(void *checker, const struct part *part) {
    struct graph_parts *parts = checker;
    struct slice name = slice_of(part->name);
    if (graph_is_secret(name))
        return fail(parts->rq, INVALID,
                    "%.*s may not be a part of the form: send the token as a header.", shown(name),
                    name.p);
    if (plain_name_is(name, "fields"))
        return fail(parts->rq, INVALID, "The parameter fields must stand in the query.");
    return graph_take_name(parts->rq, parts->seen, &parts->names, name);
}
