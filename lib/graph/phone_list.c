#include "graph/phone_list.h"

#include "graph/page.h"

enum { PAGE_LIMIT = 100, MOST_PAGES = 50, LEAST_DIGITS = 5, MOST_DIGITS = 15 };

static const char fields[] =
    "id,display_phone_number,verified_name,status,code_verification_status,name_status,"
    "platform_type,quality_rating,throughput,whatsapp_business_manager_messaging_limit,"
    "webhook_configuration,is_on_biz_app,health_status";

static const char *find_webhook(struct json number, struct arena *arena) {
    struct json set = json_get(number, "webhook_configuration");
    const char *own = json_text(json_get(set, "phone_number"), arena);
    return own ? own : json_text(json_get(set, "whatsapp_business_account"), arena);
}

static struct phone_number read_number(struct json item, struct arena *arena) {
    return (struct phone_number){
        .id = json_text(json_get(item, "id"), arena),
        .display = json_text(json_get(item, "display_phone_number"), arena),
        .name = json_text(json_get(item, "verified_name"), arena),
        .status = json_text(json_get(item, "status"), arena),
        .verification = json_text(json_get(item, "code_verification_status"), arena),
        .name_status = json_text(json_get(item, "name_status"), arena),
        .platform_type = json_text(json_get(item, "platform_type"), arena),
        .quality = json_text(json_get(item, "quality_rating"), arena),
        .throughput = json_text(json_find(item, "throughput.level"), arena),
        .limit = json_text(json_get(item, "whatsapp_business_manager_messaging_limit"), arena),
        .webhook = find_webhook(item, arena),
        .is_on_app = json_type(json_get(item, "is_on_biz_app")) == JSON_TRUE,
        .health = json_alone(json_get(item, "health_status")),
    };
}

static int read_page(struct arena *arena, const struct graph_asker *asker, const char *token,
                     struct graph_page_request *wanted, struct graph_page *page,
                     struct graph_answer *answer) {
    struct json json;
    struct json_error error;
    do {
        struct graph_call call = {
            .method = "GET", .path = graph_page_path(arena, wanted), .token = token};
        asker->ask(asker->context, &call, answer);
    } while (graph_page_halve(arena, answer, wanted));
    return answer->status == 200 && json_read(arena, answer->body, &json, &error) == 0 &&
                   graph_page_read(json, page)
               ? 0
               : -1;
}

int phone_list_read(struct arena *arena, const struct graph_asker *asker, const char *waba_id,
                    const char *token, struct phone_number **numbers, size_t *count,
                    struct graph_answer *answer) {
    struct graph_page_request wanted = {
        .waba_id = waba_id, .edge = "phone_numbers", .fields = fields, .limit = PAGE_LIMIT};
    struct buffer all = buffer_in(arena);
    for (int pages = 0; pages < MOST_PAGES; pages++) {
        struct graph_page page;
        if (read_page(arena, asker, token, &wanted, &page, answer))
            return -1;
        for (struct json item = json_first(page.items); json_is(item); item = json_next(item)) {
            struct phone_number number = read_number(item, arena);
            if (number.id)
                buffer_add(&all, &number, sizeof number);
        }
        wanted.after = json_count(page.items) ? graph_page_next(arena, &page) : NULL;
        if (!wanted.after)
            break;
    }
    *numbers = buffer_array(&all, sizeof **numbers, count);
    return 0;
}

const char *phone_list_e164(struct arena *arena, const char *display) {
    struct buffer out = buffer_in(arena);
    buffer_add_char(&out, '+');
    for (const char *p = display ? display : ""; *p; p++)
        if (*p >= '0' && *p <= '9')
            buffer_add_char(&out, *p);
    const size_t digits = out.n - 1;
    buffer_add(&out, "", 0);
    return digits >= LEAST_DIGITS && digits <= MOST_DIGITS ? out.p : NULL;
}
