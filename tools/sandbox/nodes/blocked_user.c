#include "nodes/edges.h"

#include "state/list_page.h"
#include "state/number.h"
#include "state/window.h"
#include "text/json_print.h"
#include "text/text.h"
#include "wire/addressee.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

enum { BLOCKED_MAX = 4096, REQUEST_MAX = 1000, DIGITS_MAX = 20 };

/* The owner of an item is the number, its id `NUMBER/USER`. */
struct collection blocked_users;

/* One user of a request. */
struct user {
    const char *input;
    const char *name;  /* member of the answer: wa_id or user_id */
    const char *wa_id; /* its value; NULL: the input is neither a number nor a BSUID */
    int64_t fail_code; /* of the number, or 0 */
};

static bool is_number(struct arena *arena, const char *text) {
    size_t length = text ? strlen(text_digits(arena, text)) : 0;
    return length > 0 && length <= DIGITS_MAX;
}

static struct user user_read(struct arena *arena, const cJSON *item) {
    struct user user = {.input = json_text(item, "user")};
    if (!user.input)
        user.input = json_text(item, "user_id");
    if (is_bsuid(user.input)) {
        user.name = "user_id";
        user.wa_id = user.input;
    } else if (is_number(arena, user.input)) {
        const char *digits = text_digits(arena, user.input);
        const struct number *number = number_find(digits);
        user.name = "wa_id";
        user.wa_id = number_wa_id(digits);
        user.fail_code = number ? number->fail_code : 0;
    } else {
        user.fail_code = 131047;
    }
    return user;
}

static void print_user(struct buffer *out, const struct user *user) {
    buffer_add_text(out, out->p[out->n - 1] == '[' ? "{\"input\":" : ",{\"input\":");
    json_quote_text(out, user->input);
    if (user->wa_id) {
        buffer_printf(out, ",\"%s\":", user->name);
        json_quote_text(out, user->wa_id);
    }
}

static const char *item_id(struct arena *arena, const char *line, const char *user) {
    return arena_printf(arena, "%s/%s", line, user);
}

bool blocked_user_find(struct arena *arena, const char *line, const char *user) {
    return collection_find(&blocked_users, item_id(arena, line, user));
}

/* Blocks or unblocks one user. Only who wrote in the last 24 hours can be blocked. Returns the code
 * of an error, or 0. */
static int user_apply(struct arena *arena, const struct target *target, const struct user *user,
                      bool block) {
    struct buffer raw = buffer_in(arena);
    if (user->fail_code != 0)
        return (int)user->fail_code;
    if (strcmp(user->wa_id, target->phone->display) == 0)
        return 131021;
    const char *id = item_id(arena, target->id, user->wa_id);
    if (!block) {
        collection_remove(&blocked_users, id);
        return 0;
    }
    if (collection_find(&blocked_users, id))
        return 0;
    if (!window_is_open(target->id, user->wa_id))
        return 131047;
    if (collection_count(&blocked_users, target->id) >= BLOCKED_MAX)
        return 139101;
    buffer_printf(&raw, "{\"messaging_product\":\"whatsapp\",\"%s\":", user->name);
    json_quote_text(&raw, user->wa_id);
    buffer_add_char(&raw, '}');
    collection_insert(&blocked_users, target->id, id, buffer_slice(&raw));
    return 0;
}

/* Appends the error object that the answer has beside the lists when a user failed. */
static void print_failure(struct exchange *exchange, struct slice lists) {
    reply_error_as(exchange, 139100, 0, NULL, NULL);
    struct slice error =
        slice_of(arena_copy(exchange->arena, slice_skip(buffer_slice(&exchange->reply.body), 1)));
    exchange->reply.body.n = 0;
    buffer_add_slice(&exchange->reply.body, lists);
    buffer_add_char(&exchange->reply.body, ',');
    buffer_add_slice(&exchange->reply.body, error);
}

static void users_apply(struct exchange *exchange, const struct target *target, const cJSON *users,
                        bool block) {
    struct buffer done = buffer_in(exchange->arena);
    struct buffer failed = buffer_in(exchange->arena);
    const cJSON *item;
    buffer_printf(&done, "{\"messaging_product\":\"whatsapp\",\"block_users\":{\"%s_users\":[",
                  block ? "added" : "removed");
    buffer_add_text(&failed, "],\"failed_users\":[");
    size_t empty = failed.n;
    cJSON_ArrayForEach(item, users) {
        struct user user = user_read(exchange->arena, item);
        int code = user_apply(exchange->arena, target, &user, block);
        print_user(code == 0 ? &done : &failed, &user);
        if (code != 0) {
            buffer_add_text(&failed, ",\"errors\":[");
            graph_error_webhook(&failed, code);
            buffer_add_char(&failed, ']');
        }
        buffer_add_char(code == 0 ? &done : &failed, '}');
    }
    if (failed.n > empty)
        buffer_add_slice(&done, buffer_slice(&failed));
    buffer_add_text(&done, failed.n > empty ? "]}" : "]}}");
    if (failed.n > empty)
        print_failure(exchange, buffer_slice(&done));
    else
        buffer_add_slice(&exchange->reply.body, buffer_slice(&done));
}

static void users_change(struct exchange *exchange, const struct target *target, bool block) {
    const cJSON *users = parameter(exchange, "block_users");
    if (!parameter_product(exchange))
        return;
    if (!cJSON_IsArray(users) || cJSON_GetArraySize(users) == 0)
        reply_error(exchange, 100, "(#100) The parameter block_users is required.");
    else if (cJSON_GetArraySize(users) > REQUEST_MAX)
        reply_error_as(exchange, 130429, 0, NULL, "Too many numbers in the request.");
    else
        users_apply(exchange, target, users, block);
}

void blocked_user_add(struct exchange *exchange, const struct target *target) {
    users_change(exchange, target, true);
}

void blocked_user_remove(struct exchange *exchange, const struct target *target) {
    users_change(exchange, target, false);
}

void blocked_user_list(struct exchange *exchange, const struct target *target) {
    static const struct node_shape shape = {.type = "WhatsAppBlockedUser",
                                            .known = "messaging_product,wa_id,user_id",
                                            .without_id = true};
    struct page_rules rules = {.shape = &shape};
    list_page(exchange, &blocked_users, target->id, &rules);
}

void blocked_user_clear(void) {
    collection_clear(&blocked_users, NULL);
}
