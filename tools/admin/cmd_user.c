/* switchboard user, token */
#include "base/crypto.h"
#include "base/password.h"
#include "base/token.h"
#include "base/utf8.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "secret.h"
#include "store/admin.h"
#include "store/listing.h"
#include "store/logins.h"
#include "store/member.h"

/* --- switchboard token --- */

/* Prints the token and its user. The token is not stored, so it cannot be printed again. */
static void print_token(struct invocation *call, const char *user_id, const char *email,
                        const struct token *token) {
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", user_id);
    json_write_text(&json, "email", email);
    json_write_text(&json, "token", token->text);
    object_print(call, &json, "%s", token->text);
}

int token_regenerate(struct invocation *call) {
    const char *email = call->operands[0];
    struct token token;
    char user_id[ID_SIZE];
    token_make(&token, TOKEN_MAIN);
    enum store_result result =
        store_replace_token(call->store, email, token.hash, token.last4, call->now);
    if (result == STORE_OK)
        result = store_find_user(call->store, email, user_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, email);
    print_token(call, user_id, email, &token);
    crypto_wipe(&token, sizeof token);
    return EXIT_DONE;
}

/* --- switchboard user --- */

int user_add(struct invocation *call) {
    struct store_new_user user = {.email = call->operands[0], .now = call->now};
    struct token token;
    char id[ID_SIZE], member_id[ID_SIZE];
    id_make(id, "usr_", call->now);
    id_make(member_id, "mbr_", call->now);
    token_make(&token, TOKEN_MAIN);
    user.id = id;
    user.member_id = member_id;
    user.token_last4 = token.last4;
    memcpy(user.token_hash, token.hash, sizeof user.token_hash);
    enum store_result result = store_insert_user(call->store, &user);
    if (result == STORE_CONFLICT)
        return fail("there is a user %s already; `switchboard token regenerate %s` makes a new "
                    "token",
                    user.email, user.email);
    if (result != STORE_OK)
        return fail_store(call, result);
    print_token(call, id, user.email, &token);
    crypto_wipe(&token, sizeof token);
    return EXIT_DONE;
}

int user_delete(struct invocation *call) {
    const char *email = call->operands[0];
    enum store_result result = store_delete_user(call->store, email, call->now);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, email);
    struct json_writer json = object_start(call);
    json_write_text(&json, "email", email);
    json_write_bool(&json, "deleted", true);
    return object_print(call, &json, "deleted user %s", email);
}

/* Reads the password; the end of the line is not part of it. Returns EXIT_DONE, or EXIT_FAILED
 * after printing the reason. */
static int read_password(char *text, size_t size, struct slice *password) {
    ssize_t n = secret_read("password", text, size);
    if (n < 0)
        return EXIT_FAILED;
    *password = (struct slice){text, (size_t)n};
    if (password->n && password->p[password->n - 1] == '\n')
        password->n--;
    if (password->n && password->p[password->n - 1] == '\r')
        password->n--;
    if (memchr(password->p, '\n', password->n) || !utf8_valid(*password))
        return fail("the password on standard input must be one line of UTF-8");
    const char *problem = password_problem(*password);
    return problem ? fail("the password on standard input must be %s", problem) : EXIT_DONE;
}

static int set_password(struct invocation *call, const char *email, struct slice password) {
    char member_id[ID_SIZE], hash[PASSWORD_HASH_SIZE];
    enum store_result result = store_find_member(call->store, email, member_id);
    if (result == STORE_OK && !password_hash(password, hash))
        return fail("too little memory to hash a password: 19 MiB are needed");
    if (result == STORE_OK)
        result = store_set_password(call->store, member_id, hash, NULL, call->now);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_MEMBER, email);
    struct json_writer json = object_start(call);
    json_write_text(&json, "email", email);
    json_write_bool(&json, "passwordIsSet", true);
    return object_print(call, &json, "set the password of %s; all sessions have ended", email);
}

int user_password(struct invocation *call) {
    char text[PASSWORD_LONGEST + 64];
    struct slice password;
    int status = read_password(text, sizeof text, &password);
    if (status == EXIT_DONE)
        status = set_password(call, call->operands[0], password);
    crypto_wipe(text, sizeof text);
    return status;
}

int user_login_link(struct invocation *call) {
    const char *email = call->operands[0], *base = call->options[OPTION_URL];
    unsigned char random[32], hash[CRYPTO_HASH_SIZE];
    struct slice url = slice_of(base ? base : call->config.public_url);
    if (!url.n)
        return fail_usage(call, "give --url, or set public_url in %s", call->config_path);
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    crypto_random(random, sizeof random);
    const char *value = crypto_hex(&call->arena, random, sizeof random);
    crypto_sha256(slice_of(value), hash);
    enum store_result result = store_insert_link(call->store, email, hash, call->now);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_MEMBER, email);
    const char *link =
        arena_printf(&call->arena, "%.*s/dashboard/#/login/%s", (int)url.n, url.p, value);
    struct json_writer json = object_start(call);
    json_write_text(&json, "email", email);
    json_write_text(&json, "url", link);
    json_write_time(&json, "expiresAt", call->now + LINK_MS);
    return object_print(call, &json, "%s", link);
}

static void write_user(struct json_writer *json, const struct store_user_entry *user) {
    json_write_object(json, NULL);
    json_write_text(json, "id", user->id);
    json_write_text(json, "email", user->email);
    json_write_text(json, "defaultAccountId", user->default_account_id);
    json_write_array(json, "plans");
    for (size_t i = 0; i < user->plan_count; i++) {
        json_write_object(json, NULL);
        json_write_text(json, "name", user->plans[i].name);
        json_write_bool(json, "isAddon", user->plans[i].is_addon);
        json_write_time_or_null(json, "endsAt", user->plans[i].ends_at);
        json_write_end(json);
    }
    json_write_end(json);
    json_write_time(json, "createdAt", user->created_at);
    json_write_end(json);
}

/* Such as `Premium until 2027-01-31T00:00:00.000Z, +Extra`. */
static const char *plans_text(struct arena *arena, const struct store_user_entry *user) {
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < user->plan_count; i++) {
        const struct store_plan *plan = &user->plans[i];
        const char *ends = time_text(arena, plan->ends_at);
        buffer_printf(&text, "%s%s%s%s%s", i ? ", " : "", plan->is_addon ? "+" : "", plan->name,
                      ends ? " until " : "", ends ? ends : "");
    }
    return text.p;
}

int user_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    struct store_user_entry *users;
    size_t count;
    enum store_result result = store_list_users(call->store, arena, &users, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = list_start(call);
    struct table table = TABLE(arena, "ID", "EMAIL", "CREATED", "PLANS");
    for (size_t i = 0; i < count; i++) {
        write_user(&json, &users[i]);
        table_cell(&table, users[i].id);
        table_cell(&table, users[i].email);
        table_cell(&table, time_text(arena, users[i].created_at));
        table_cell(&table, plans_text(arena, &users[i]));
    }
    return list_print(call, &json, &table);
}
