#include "api/graph/graph_fields.h"

/* The members of media, templates and flows. */
static const char *const object_fields[] = {
    "add_security_recommendation",
    "application",
    "assets",
    "categories",
    "category",
    "code_expiration_minutes",
    "components",
    "correct_category",
    "created_time",
    "creative_sourcing_spec",
    "cta_url_link_tracking_opted_out",
    "data_api_version",
    "data_channel_uri",
    "degrees_of_freedom_spec",
    "display_format",
    "endpoint_uri",
    "file_size",
    "health_status",
    "id",
    "is_primary_device_delivery_only",
    "json_version",
    "language",
    "last_updated_time",
    "library_template_name",
    "message_send_ttl_seconds",
    "messaging_product",
    "metric",
    "mime_type",
    "name",
    "parameter_format",
    "preview",
    "previous_category",
    "quality_score",
    "rejected_reason",
    "rejection_info",
    "sha256",
    "status",
    "sub_category",
    "updated_at",
    "url",
    "validation_errors",
    "whatsapp_business_account",
};

/* Takes one field off the front of the list: up to a comma that is not in parentheses. */
static struct slice take_field(struct slice *list) {
    struct slice field = {list->p, 0};
    int depth = 0;
    while (field.n < list->n && (depth > 0 || list->p[field.n] != ',')) {
        depth += list->p[field.n] == '(';
        depth -= list->p[field.n] == ')';
        field.n++;
    }
    *list = slice_skip(*list, field.n + 1);
    return slice_trim(field);
}

/* The name of a field, without its modifiers and arguments. */
static struct slice name_of(struct slice field) {
    size_t n = 0;
    while (n < field.n && field.p[n] != '.' && field.p[n] != '(')
        n++;
    return (struct slice){field.p, n};
}

static bool is_object_field(struct slice field) {
    for (size_t i = 0; i < sizeof object_fields / sizeof *object_fields; i++)
        if (slice_equal(name_of(field), slice_of(object_fields[i])))
            return true;
    return false;
}

/* Whether the list has fields of connected nodes: in braces, or in the older notation
 * `NODE.fields(...)`. */
static bool has_connected(struct slice list) {
    static const char word[] = "fields";
    if (list.n && (memchr(list.p, '{', list.n) || memchr(list.p, '}', list.n)))
        return true;
    while (list.n) {
        slice_cut(&list, '.');
        struct slice rest = slice_trim(list);
        if (rest.n <= strlen(word) || strncasecmp(rest.p, word, strlen(word)) != 0)
            continue;
        rest = slice_trim(slice_skip(rest, strlen(word)));
        if (slice_starts(rest, SLICE("(")))
            return true;
    }
    return false;
}

int graph_check_list(struct request *rq, struct slice list, enum graph_kind kind) {
    if (has_connected(list))
        return fail(rq, INVALID,
                    "The parameter fields may have no braces and no .fields(): read connected "
                    "nodes by their ids.");
    while (list.n && kind & GRAPH_OBJECT) {
        struct slice field = take_field(&list);
        if (!is_object_field(field))
            return fail(rq, INVALID, "Tried accessing nonexisting field (%.*s)",
                        (int)(field.n < 64 ? field.n : 64), field.p);
    }
    return 0;
}

int graph_check_fields(struct request *rq, enum graph_kind kind) {
    return graph_check_list(rq, graph_parameter(rq, "fields"), kind);
}

bool graph_asks_for(struct request *rq, const char *name) {
    struct slice list = graph_parameter(rq, "fields");
    while (list.n)
        if (slice_equal(name_of(take_field(&list)), slice_of(name)))
            return true;
    return false;
}
