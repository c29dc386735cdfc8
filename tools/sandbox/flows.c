#include "flows.h"

#include "state.h"

struct collection flows = {
    .edge = "flows",
    .default_fields = "id,name,status,categories,validation_errors",
};

void flow_list(struct exchange *exchange, const struct account *account) {
    struct page_rules rules = {.cap = settings.flow_page_cap,
                               .silent = settings.flow_page_cap_silent};

    collection_page(exchange, &flows, account, &rules);
}

void flow_show(struct exchange *exchange, const char *id) {
    item_print(exchange, &flows, collection_find(&flows, id));
}

const struct account *flow_owner(const char *id) {
    return collection_owner(&flows, id);
}

void flow_make(struct bytes *out, const char *prefix, uint64_t i) {
    static uint64_t count;

    count++;
    bytes_format(out,
                 "{\"id\":\"77%012llu\",\"name\":\"%s%llu\",\"status\":\"PUBLISHED\","
                 "\"categories\":[\"OTHER\"],\"validation_errors\":[]}",
                 (unsigned long long)count, prefix, (unsigned long long)i);
}
