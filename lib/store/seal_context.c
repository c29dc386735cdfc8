#include "store/seal_context.h"

char *account_token_context(struct arena *arena, const char *account_id) {
    return arena_printf(arena, "account.access_token|%s", account_id);
}

char *webhook_code_context(struct arena *arena, const char *user_id) {
    return arena_printf(arena, "webhook.code|%s", user_id);
}

char *factor_secret_context(struct arena *arena, const char *member_id) {
    return arena_printf(arena, "factor.secret|%s", member_id);
}

char *idempotency_answer_context(struct arena *arena, const char *user_id) {
    return arena_printf(arena, "idempotency.answer|%s", user_id);
}
