#include "nodes/template_quota.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "state/settings.h"
#include "text/memory.h"

#define HOUR (INT64_C(3600) * 1000)
#define DAY  (24 * HOUR)

enum { EDITS_MAX = 10 };

struct deed {
    struct deed *next;
    int64_t at;
    enum template_deed kind;
    char key[]; /* owner and name, each with a NUL byte after it */
};

static struct deed *deeds; /* the latest first */

static void free_from(struct deed **link) {
    while (*link) {
        struct deed *gone = *link;
        *link = gone->next;
        free(gone);
    }
}

void template_quota_add(enum template_deed kind, const char *owner, const char *name) {
    const size_t owner_size = strlen(owner) + 1, name_size = strlen(name) + 1;
    struct deed *deed = memory_block(sizeof *deed + owner_size + name_size);
    struct deed **link = &deeds;
    deed->at = clock_now();
    deed->kind = kind;
    memcpy(deed->key, owner, owner_size);
    memcpy(deed->key + owner_size, name, name_size);
    while (*link && (*link)->at > deed->at - 30 * DAY)
        link = &(*link)->next;
    free_from(link);
    deed->next = deeds;
    deeds = deed;
}

static size_t count_since(enum template_deed kind, const char *owner, const char *name,
                          int64_t since) {
    size_t count = 0;
    for (const struct deed *deed = deeds; deed && deed->at > since; deed = deed->next)
        count += deed->kind == kind && strcmp(deed->key, owner) == 0 &&
                 strcmp(deed->key + strlen(deed->key) + 1, name) == 0;
    return count;
}

size_t template_quota_count(enum template_deed kind, const char *owner, const char *name) {
    return count_since(kind, owner, name,
                       clock_now() - (kind == TEMPLATE_CREATED ? HOUR : 30 * DAY));
}

bool template_quota_forbids_edit(const char *id) {
    return settings.template_quotas &&
           (count_since(TEMPLATE_EDITED, id, "", clock_now() - DAY) > 0 ||
            template_quota_count(TEMPLATE_EDITED, id, "") >= EDITS_MAX);
}

void template_quota_clear(void) {
    free_from(&deeds);
}
