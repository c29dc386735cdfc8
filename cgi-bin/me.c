/* GET /v2/me: the caller's user, business accounts and lines (spec 2.2, 4.2). */
#include "api/auth.h"
#include "api/view/account_view.h"

struct me {
    const struct store_user *user;
    struct store_account *accounts;
    size_t account_count;
    struct line *lines;
    size_t line_count;
};

/* The default account; the first one if none is the default; NULL without accounts. */
static const struct store_account *default_account(const struct me *me) {
    for (size_t i = 0; i < me->account_count; i++)
        if (me->accounts[i].is_default)
            return &me->accounts[i];
    return me->account_count ? &me->accounts[0] : NULL;
}

/* The only line, else the primary one if it is listed, else none (spec 2.2). */
static const char *default_phone_number_id(const struct me *me) {
    if (me->line_count == 1)
        return me->lines[0].phone_number_id;
    for (size_t i = 0; i < me->line_count && me->user->primary_line_id; i++)
        if (strcmp(me->lines[i].id, me->user->primary_line_id) == 0)
            return me->lines[i].phone_number_id;
    return NULL;
}

static void write_lines(struct json_writer *w, const struct me *me) {
    json_write_array(w, "phoneNumbers");
    for (size_t i = 0; i < me->line_count; i++) {
        json_write_object(w, NULL);
        line_view_members(w, &me->lines[i]);
        json_write_end(w);
    }
    json_write_end(w);
}

static int reply_me(struct request *rq, const struct me *me) {
    const struct store_account *account = default_account(me);
    struct json_writer w;
    reply_start(rq, &w);
    json_write_object(&w, "user");
    json_write_text(&w, "id", me->user->id);
    json_write_text(&w, "email", me->user->email);
    json_write_end(&w);
    json_write_object(&w, "account");
    json_write_text(&w, "id", account ? account->id : NULL);
    json_write_text(&w, "wabaid", account ? account->waba_id : NULL);
    json_write_end(&w);
    account_view_write(&w, me->accounts, me->account_count);
    write_lines(&w, me);
    json_write_text(&w, "defaultPhoneNumberId", default_phone_number_id(me));
    return reply_object(rq, &w);
}

static int get_me(struct request *rq) {
    struct caller *caller = rq->caller;
    struct me me = {.user = &caller->user};
    if (auth_list_accounts(rq, &me.accounts, &me.account_count))
        return -1;
    enum store_result result = store_list_lines(
        caller->store, rq->arena, &(struct line_filter){&caller->view, .is_without_archived = true},
        &me.lines, &me.line_count);
    return result == STORE_OK ? reply_me(rq, &me) : state_fail(rq, result);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/me",
     .scope = SCOPE_BASIC, .lines = LINES_LISTED, .guard = &caller_guard, .handle = get_me},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "me", .routes = routes, .needs = READS_DATABASE};
