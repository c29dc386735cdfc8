#include "store/places.h"

char *account_token_place(struct arena *arena, const char *account_id) {
    return arena_printf(arena, "account.access_token|%s", account_id);
}

char *webhook_code_place(struct arena *arena, const char *user_id) {
    return arena_printf(arena, "webhook.code|%s", user_id);
}
