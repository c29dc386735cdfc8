#include "flow_list.h"

#include <inttypes.h>

#include "settings.h"

static void flow_make(struct buffer *out, const char *prefix, int64_t i) {
    static int64_t count;
    count++;
    buffer_printf(out,
                  "{\"id\":\"77%012" PRId64 "\",\"name\":\"%s%" PRId64
                  "\",\"status\":\"PUBLISHED\",\"categories\":[\"OTHER\"],"
                  "\"validation_errors\":[]}",
                  count, prefix, i);
}

struct collection flows = {
    .default_fields = "id,name,status,categories,validation_errors",
    .make = flow_make,
};

void flow_list(struct exchange *exchange, const struct account *account) {
    struct page_rules rules = {.cap = settings.flow_page_cap,
                               .silent = settings.flow_page_cap_silent};
    list_page(exchange, &flows, account, &rules);
}

void flow_show(struct exchange *exchange, const char *id) {
    list_item(exchange, &flows, collection_find(&flows, id));
}

const struct account *flow_owner(const char *id) {
    return collection_owner(&flows, id);
}
