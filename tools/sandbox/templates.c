#include "templates.h"

#include "state.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct collection templates = {.edge = "message_templates"};

enum filter_kind { FILTER_SUBSTRING, FILTER_EXACT, FILTER_ANY_CASE };

static bool filter_passes(const struct exchange *exchange, struct slice item, const char *name,
                          enum filter_kind kind) {
    const char *want = exchange_parameter(exchange, name);
    char *text;
    bool passes;

    if (want == NULL || *want == '\0') {
        return true;
    }
    text = json_member_text(item, name);
    passes = text != NULL && (kind == FILTER_SUBSTRING  ? strstr(text, want) != NULL
                              : kind == FILTER_ANY_CASE ? strcasecmp(text, want) == 0
                                                        : strcmp(text, want) == 0);
    free(text);
    return passes;
}

static bool template_wanted(const struct exchange *exchange, struct slice item) {
    static const struct {
        const char *name;
        enum filter_kind kind;
    } filters[] = {
        {"name", FILTER_SUBSTRING},
        {"language", FILTER_EXACT},
        {"status", FILTER_ANY_CASE},
        {"category", FILTER_ANY_CASE},
    };

    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        if (!filter_passes(exchange, item, filters[i].name, filters[i].kind)) {
            return false;
        }
    }
    return true;
}

void template_list(struct exchange *exchange, const struct account *account) {
    struct page_rules rules = {.cap = settings.template_page_cap,
                               .silent = settings.template_page_cap_silent,
                               .wanted = template_wanted};

    collection_page(exchange, &templates, account, &rules);
}

void template_show(struct exchange *exchange, const char *id) {
    item_print(exchange, &templates, collection_find(&templates, id));
}

const struct account *template_owner(const char *id) {
    return collection_owner(&templates, id);
}

static bool member_is(struct slice item, const char *name, const char *want) {
    struct slice value;
    char *text;
    bool same;

    if (!json_member(item, name, &value)) {
        return false;
    }
    if (memchr(value.text, '\\', value.length) == NULL) {
        return value.length == strlen(want) + 2 && value.text[0] == '"' &&
               memcmp(value.text + 1, want, value.length - 2) == 0;
    }
    text = json_member_text(item, name);
    same = text != NULL && strcmp(text, want) == 0;
    free(text);
    return same;
}

const struct item *template_find(const struct account *account, const char *name,
                                 const char *language) {
    for (size_t i = 0; i < templates.count; i++) {
        const struct item *item = &templates.items[i];

        if (strcmp(item->waba_id, account->waba_id) == 0 &&
            member_is(item_slice(item), "name", name) &&
            member_is(item_slice(item), "language", language)) {
            return item;
        }
    }
    return NULL;
}

void template_make(struct bytes *out, const char *prefix, uint64_t i) {
    static uint64_t count;

    count++;
    bytes_format(out,
                 "{\"name\":\"%s%llu\",\"parameter_format\":\"POSITIONAL\",\"components\":[{"
                 "\"type\":\"BODY\",\"text\":\"Message number %llu.\"}],\"language\":\"en_US\","
                 "\"status\":\"APPROVED\",\"category\":\"UTILITY\",\"id\":\"88%012llu\"}",
                 prefix, (unsigned long long)i, (unsigned long long)i, (unsigned long long)count);
}
