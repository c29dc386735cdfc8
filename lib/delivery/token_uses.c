#include "delivery/token_uses.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/request_log.h"
#include "store/scoped_token.h"

/* What the database has of the token in each slot, so that it is not asked for each again. */
static struct token_use written[TOKEN_USE_SLOTS];

void token_uses_open(const struct config *config) {
    char problem[MAPPED_FILE_PROBLEM_SIZE];
    request_log_open(config->requests_file, problem);
    if (*problem)
        log_message(LOG_WARN, "%s", problem);
}

static bool is_written(const struct token_use *use, const struct token_use *before) {
    return strcmp(use->id, before->id) == 0 && use->time - before->time < SCOPED_TOKEN_USE_MS;
}

/* A token that is not found was revoked: it is looked for again after an hour of uses only. */
static enum store_result store_use(struct store *store, struct token_use *use) {
    enum store_result result = store_use_scoped_token(store, use->id, &use->time);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result token_uses_store(struct store *store, int64_t now, int64_t end) {
    enum store_result result = STORE_OK;
    struct token_use use;
    for (size_t i = 0; i < TOKEN_USE_SLOTS && result == STORE_OK && clock_monotonic() < end; i++) {
        if (!request_log_read_use(i, &use))
            continue;
        if (use.time > now)
            use.time = now;
        if (is_written(&use, &written[i]))
            continue;
        result = store_use(store, &use);
        if (result == STORE_OK)
            written[i] = use;
    }
    return result;
}
