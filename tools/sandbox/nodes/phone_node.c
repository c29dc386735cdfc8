#include "nodes/edges.h"

#include <stdio.h>

#include "state/list_page.h"
#include "state/node_answer.h"
#include "text/json_print.h"
#include "text/memory.h"

static const struct node_shape profile_edge = {.type = "WhatsAppBusinessProfile",
                                               .without_id = true};

static const struct node_member phone_members[] = {{"whatsapp_business_profile", &profile_edge},
                                                   {NULL, NULL}};

const struct node_shape phone_shape = {
    .type = "WhatsAppBusinessPhoneNumber",
    .standard = "verified_name,code_verification_status,display_phone_number,quality_rating,"
                "platform_type,throughput,webhook_configuration,id",
    .known = "certificate,new_certificate,new_display_name,username,last_onboarded_time,"
             "conversational_automation,official_business_account",
    .members = phone_members,
};

/* What is the same for all numbers. */
static const char constant_members[] =
    ",\"quality_rating\":\"GREEN\",\"quality_score\":{\"score\":\"GREEN\"},"
    "\"platform_type\":\"CLOUD_API\",\"throughput\":{\"level\":\"STANDARD\"},"
    "\"account_mode\":\"LIVE\",\"country_dial_code\":\"1\",\"host_platform\":\"CLOUD_API\","
    "\"eligibility_for_api_business_global_search\":\"NON_ELIGIBLE_UNDEFINED\","
    "\"is_official_business_account\":false,\"is_on_biz_app\":false,"
    "\"is_preverified_number\":false,\"messaging_limit_tier\":\"TIER_1K\","
    "\"whatsapp_business_manager_messaging_limit\":\"TIER_1K\",\"name_status\":\"APPROVED\","
    "\"new_name_status\":\"NONE\",\"search_visibility\":\"NON_VISIBLE\"";

static void print_health(struct buffer *out, const struct account *account,
                         const struct phone *phone) {
    buffer_printf(out,
                  ",\"health_status\":{\"can_send_message\":\"AVAILABLE\",\"entities\":["
                  "{\"entity_type\":\"PHONE_NUMBER\",\"id\":\"%s\",\"can_send_message\":"
                  "\"AVAILABLE\"},{\"entity_type\":\"WABA\",\"id\":\"%s\",\"can_send_message\":"
                  "\"AVAILABLE\"},{\"entity_type\":\"APP\",\"id\":\"" APP_ID
                  "\",\"can_send_message\":\"AVAILABLE\"}]}",
                  phone->id, account->waba_id);
}

/* Appends the number as the platform shows it: `+1 555-010-0001`, others as `+4930123`. */
static void print_display(struct buffer *out, const char *digits) {
    char text[40];
    if (strlen(digits) == 11 && *digits == '1')
        snprintf(text, sizeof text, "+1 %.3s-%.3s-%s", digits + 1, digits + 4, digits + 7);
    else
        snprintf(text, sizeof text, "+%s", digits);
    buffer_add_text(out, ",\"display_phone_number\":");
    json_quote_text(out, text);
}

static void print_members(struct buffer *out, const struct account *account,
                          const struct phone *phone) {
    buffer_add_text(out, "{\"verified_name\":");
    json_quote_text(out, account_name(account));
    print_display(out, phone->display);
    buffer_add_text(out, constant_members);
    registration_print(out, phone->id);
    automation_print(out, phone->id);
    buffer_add_text(out, ",\"webhook_configuration\":");
    override_print(out, account->waba_id, phone->id);
    buffer_add_text(out, ",\"whatsapp_business_profile\":");
    profile_print(out, phone->id);
    print_health(out, account, phone);
    buffer_printf(out, ",\"id\":\"%s\"}", phone->id);
}

/* Appends the number with all its fields. */
static void print_phone(struct buffer *out, const struct account *account,
                        const struct phone *phone) {
    struct arena *arena = memory_open();
    struct buffer own = buffer_in(arena);
    print_members(&own, account, phone);
    node_answer_print(out, phone->id, buffer_slice(&own));
    memory_close(arena);
}

void phone_show(struct exchange *exchange, const struct target *target) {
    struct buffer whole = buffer_in(exchange->arena);
    print_phone(&whole, target->account, target->phone);
    fields_print(exchange, buffer_slice(&whole), &phone_shape, fields_chosen(exchange));
}

void phone_print_all(struct buffer *out, const struct account *account) {
    buffer_add_text(out, "{\"data\":[");
    for (size_t i = 0; i < account->phone_count; i++) {
        buffer_add_text(out, i == 0 ? "" : ",");
        print_phone(out, account, &account->phones[i]);
    }
    buffer_add_text(out, "]}");
}

void phone_list(struct exchange *exchange, const struct target *target) {
    const struct account *account = target->account;
    struct page_rules rules = {.shape = &phone_shape};
    struct item *items = arena_alloc(exchange->arena, PHONES_MAX * sizeof *items);
    struct collection all = {.items = items, .count = account->phone_count};
    for (size_t i = 0; i < account->phone_count; i++) {
        struct buffer whole = buffer_in(exchange->arena);
        print_phone(&whole, account, &account->phones[i]);
        items[i] = (struct item){(int64_t)i + 1, account->waba_id, account->phones[i].id,
                                 buffer_slice(&whole)};
    }
    list_page(exchange, &all, account->waba_id, &rules);
}
