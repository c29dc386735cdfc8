#include "store/ingest/ingest_update.h"

const char *ingest_id(struct ingest *in, const char *prefix) {
    char *id = arena_alloc(in->arena, ID_SIZE);
    id_make(id, prefix, in->now);
    return id;
}

struct occasion ingest_occasion(struct ingest *in, int64_t at, const char *new_id) {
    return (struct occasion){.store = in->store,
                             .arena = in->arena,
                             .account_id = in->owner.account_id,
                             .at = at,
                             .now = in->now,
                             .new_id = new_id};
}

bool ingest_count(struct ingest *in, enum usage_measure measure) {
    return usage_count(in->store, in->owner.user_id, in->owner.line_id, in->now, measure);
}
