#include "nodes/edges.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "state/list_page.h"
#include "state/template_list.h"
#include "state/template_use.h"
#include "text/json_print.h"
#include "text/strict_json.h"
#include "text/text.h"
#include "wire/graph_error.h"

enum { IDS_MAX = 10, DAYS_MAX = 90, DAY = 24 * 60 * 60 };

/* What a request asks for. Times are in seconds. */
struct query {
    const char *ids[IDS_MAX];
    size_t id_count;
    int64_t from, to; /* at 00:00 UTC; `to` is not in it */
    bool is_marketing;
    unsigned metrics; /* a bit for each of metric_names; 0: all */
};

static const char *const metric_names[] = {"SENT", "DELIVERED", "READ", "CLICKED", "COST"};

enum { METRICS = sizeof metric_names / sizeof *metric_names, CLICKED = 3 };

/* Takes the next item off the front of a list, which is JSON or has commas alone. Returns NULL
 * after the last one. */
static const char *take_item(struct arena *arena, struct slice *list) {
    static const char around[] = "[]\", ";
    while (list->n > 0 && strchr(around, *list->p))
        *list = slice_skip(*list, 1);
    struct slice item = {list->p, 0};
    while (item.n < list->n && !strchr(around, item.p[item.n]))
        item.n++;
    *list = slice_skip(*list, item.n);
    return item.n > 0 ? arena_copy(arena, item) : NULL;
}

/* Reads a parameter that is a UNIX timestamp or a date. Sets `*is_date`. */
static bool read_time(struct exchange *exchange, const char *name, int64_t *time, bool *is_date) {
    const char *text = exchange_parameter(exchange, name);
    struct tm date = {0};
    if (!text || *text == '\0') {
        reply_error(exchange, 100, "(#100) The parameter %s is required.", name);
        return false;
    }
    const char *rest = strptime(text, "%Y-%m-%d", &date);
    bool is_number = strlen(text) <= 11 && strspn(text, "0123456789") == strlen(text);
    *is_date = rest && *rest == '\0';
    *time = *is_date ? timegm(&date) : strtoll(text, NULL, 10);
    if (is_number || *is_date)
        return true;
    reply_error(exchange, 100,
                "(#100) Param %s must be a UNIX timestamp or a date in the format YYYY-MM-DD.",
                name);
    return false;
}

/* Reads the days: those that begin in the range, of which a part lies in it. */
static bool read_days(struct exchange *exchange, struct query *query) {
    const int64_t tomorrow = (clock_now() / 1000 / DAY + 1) * DAY;
    bool is_date;
    if (!read_time(exchange, "start", &query->from, &is_date) ||
        !read_time(exchange, "end", &query->to, &is_date))
        return false;
    query->from -= query->from % DAY;
    query->to = is_date ? query->to + DAY : (query->to + DAY - 1) / DAY * DAY;
    if (query->to <= query->from)
        reply_error(exchange, 100, "(#100) Param end must be after start.");
    else if (query->from < tomorrow - (DAYS_MAX + 1) * (int64_t)DAY)
        reply_error(exchange, 100, "(#100) Param start must be within the last %d days.", DAYS_MAX);
    else
        return query->to = query->to < tomorrow ? query->to : tomorrow, true;
    return false;
}

static bool read_ids(struct exchange *exchange, const struct account *account,
                     struct query *query) {
    struct slice rest = slice_of(exchange_parameter(exchange, "template_ids"));
    const char *id;
    while ((id = take_item(exchange->arena, &rest)) && query->id_count < IDS_MAX) {
        if (template_owner(id) != account) {
            reply_error(exchange, 100, "(#100) Param template_ids[%zu] is no template: %.100s",
                        query->id_count, id);
            return false;
        }
        query->ids[query->id_count++] = id;
    }
    if (id)
        reply_error(exchange, 100, "(#100) Param template_ids must have at most %d items.",
                    IDS_MAX);
    else if (query->id_count == 0)
        reply_error(exchange, 100, "(#100) The parameter template_ids is required.");
    return !id && query->id_count > 0;
}

/* Reads the metrics. Those of websites and apps have no events here. */
static bool read_metrics(struct exchange *exchange, struct query *query) {
    struct slice rest = slice_of(exchange_parameter(exchange, "metric_types"));
    for (const char *name; (name = take_item(exchange->arena, &rest));) {
        size_t i = 0;
        while (i < METRICS && strcasecmp(metric_names[i], name) != 0)
            i++;
        if (i == METRICS && strncasecmp(name, "APP_", 4) != 0 &&
            strncasecmp(name, "WEBSITE_", 8) != 0) {
            reply_error(exchange, 100, "(#100) Param metric_types has an unknown metric: %.100s",
                        name);
            return false;
        }
        query->metrics |= 1U << i;
    }
    return true;
}

static bool read_product(struct exchange *exchange, struct query *query) {
    const char *product = exchange_parameter(exchange, "product_type");
    const char *zone = exchange_parameter(exchange, "use_waba_timezone");
    query->is_marketing =
        product && (strcasecmp(product, "MARKETING_MESSAGES_API_FOR_WHATSAPP") == 0 ||
                    strcasecmp(product, "MARKETING_MESSAGES_LITE_API") == 0);
    if (product && !query->is_marketing && strcasecmp(product, "CLOUD_API") != 0)
        reply_error(exchange, 100,
                    "(#100) Param product_type must be one of {CLOUD_API, "
                    "MARKETING_MESSAGES_API_FOR_WHATSAPP}.");
    else if (zone && strcasecmp(zone, "false") != 0)
        reply_error(exchange, 100, "(#100) Param use_waba_timezone: the days are those of UTC.");
    else
        return true;
    return false;
}

static bool read_query(struct exchange *exchange, const struct account *account,
                       struct query *query) {
    const char *granularity = exchange_parameter(exchange, "granularity");
    if (!granularity || strcasecmp(granularity, "DAILY") != 0) {
        reply_error(exchange, 100, "(#100) Param granularity must be one of {DAILY}.");
        return false;
    }
    return read_days(exchange, query) && read_ids(exchange, account, query) &&
           read_metrics(exchange, query) && read_product(exchange, query);
}

static bool is_asked(const struct query *query, size_t metric) {
    return query->metrics == 0 || query->metrics & 1U << metric;
}

/* Appends the taps of each quick reply; nothing for a template without one, and for one that
 * counts none. */
static void print_clicks(struct buffer *out, const struct template_days *days) {
    const struct item *item = collection_find(&templates, days->template_id);
    cJSON *definition = cJSON_ParseWithLength(item->raw.p, item->raw.n);
    const cJSON *component, *button;
    const char *before = ",\"clicked\":[";
    cJSON_ArrayForEach(component, json_get(definition, "components")) {
        cJSON_ArrayForEach(button, json_get(component, "buttons")) {
            const char *text = json_text(button, "text");
            if (!text || !text_matches(json_text(button, "type"), "QUICK_REPLY") ||
                cJSON_IsTrue(json_get(definition, "cta_url_link_tracking_opted_out")) ||
                text_matches(json_text(definition, "category"), "AUTHENTICATION"))
                continue;
            buffer_printf(out, "%s{\"type\":\"quick_reply_button\",\"button_content\":", before);
            json_quote_text(out, text);
            buffer_printf(out, ",\"count\":%d}", template_use_clicks(days, text));
            before = ",";
        }
    }
    buffer_add_text(out, before[1] ? "" : "]");
    cJSON_Delete(definition);
}

static struct slice print_point(struct arena *arena, const struct query *query, const char *id,
                                int64_t day) {
    const struct template_days days = {id, query->is_marketing, day * 1000, (day + DAY) * 1000};
    const struct template_counts counts = template_use_count(&days);
    const int numbers[] = {counts.sent, counts.delivered, counts.read};
    static const char *const names[] = {"sent", "delivered", "read"};
    struct buffer out = buffer_in(arena);
    buffer_printf(&out, "{\"template_id\":\"%s\",\"start\":%" PRId64 ",\"end\":%" PRId64, id, day,
                  day + DAY);
    for (size_t i = 0; i < CLICKED; i++)
        if (is_asked(query, i))
            buffer_printf(&out, ",\"%s\":%d", names[i], numbers[i]);
    if (is_asked(query, CLICKED))
        print_clicks(&out, &days);
    buffer_add_char(&out, '}');
    return buffer_slice(&out);
}

/* Puts the points of a page, {data: [...], paging}, into the one object of the list. */
static void wrap_page(struct exchange *exchange, const struct query *query) {
    static const char head[] = "{\"data\":";
    struct buffer *out = &exchange->reply.body;
    struct slice page = {arena_copy(exchange->arena, buffer_slice(out)), out->n};
    struct slice points;
    json_member(page, "data", &points);
    out->n = 0;
    buffer_printf(out,
                  "%s[{\"granularity\":\"DAILY\",\"product_type\":\"%s\",\"data_points\":", head,
                  query->is_marketing ? "marketing_messages_api_for_whatsapp" : "cloud_api");
    buffer_add_slice(out, points);
    buffer_add_text(out, "}]");
    buffer_add_slice(out, slice_skip(page, sizeof head - 1 + points.n));
}

void analytics_show(struct exchange *exchange, const struct target *target) {
    static const struct node_shape shape = {.type = "TemplateAnalytics", .without_id = true};
    struct page_rules rules = {.shape = &shape};
    struct query query = {0};
    if (!read_query(exchange, target->account, &query))
        return;
    struct collection all = {0};
    size_t most = query.id_count * (DAYS_MAX + 2);
    all.items = arena_alloc(exchange->arena, most * sizeof *all.items);
    for (size_t i = 0; i < query.id_count; i++)
        for (int64_t day = query.from; day < query.to; day += DAY, all.count++)
            all.items[all.count] =
                (struct item){(int64_t)all.count + 1, target->account->waba_id, query.ids[i],
                              print_point(exchange->arena, &query, query.ids[i], day)};
    list_page(exchange, &all, target->account->waba_id, &rules);
    if (exchange->reply.status == 200)
        wrap_page(exchange, &query);
}
