#include "state/account.h"

#include "text/memory.h"
#include "text/text.h"

static struct account *accounts;

static const struct json_field account_fields[] = {
    {"token", JSON_TEXT, offsetof(struct account, token)},
    {"wabaId", JSON_TEXT, offsetof(struct account, waba_id)},
    {"name", JSON_TEXT, offsetof(struct account, name)},
    {"phones", JSON_ELSEWHERE, 0},
    {NULL, JSON_ELSEWHERE, 0},
};

static const struct json_field phone_fields[] = {
    {"id", JSON_TEXT, offsetof(struct phone, id)},
    {"displayNumber", JSON_TEXT, offsetof(struct phone, display)},
    {NULL, JSON_ELSEWHERE, 0},
};

static const char *read_phones(struct account *account, const cJSON *list) {
    account->phone_count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (account->phone_count == PHONES_MAX)
            return arena_printf(account->arena, "an account has at most %d phones", PHONES_MAX);
        struct phone *phone = &account->phones[account->phone_count++];
        *phone = (struct phone){0};
        const char *problem = json_fill(account->arena, phone, phone_fields, item);
        if (problem)
            return problem;
        if (!phone->id || !phone->display)
            return "a phone needs id and displayNumber";
    }
    return NULL;
}

/* Returns a copy of `from` in an arena of its own; an empty account when `from` is NULL. */
static struct account *account_copy(const struct account *from) {
    struct arena *arena = memory_open();
    struct account *account = arena_alloc(arena, sizeof *account);
    if (from)
        *account = *from;
    account->arena = arena;
    json_fields_copy(arena, account, account_fields);
    for (size_t i = 0; i < account->phone_count; i++)
        json_fields_copy(arena, &account->phones[i], phone_fields);
    return account;
}

/* Returns the link to the account with this WABA id, or the link at the end. */
static struct account **account_link(const char *waba_id) {
    struct account **link = &accounts;
    while (*link && !text_matches((*link)->waba_id, waba_id))
        link = &(*link)->next;
    return link;
}

const char *account_put(struct arena *arena, const cJSON *json) {
    const char *waba_id = json_text(json, "wabaId");
    const cJSON *phones = json_get(json, "phones");
    if (!waba_id)
        return "wabaId is missing";
    struct account **link = account_link(waba_id);
    struct account *old = *link;
    if (!old && !json_text(json, "token"))
        return "a new account needs a token";
    struct account *account = account_copy(old);
    const char *problem = json_fill(account->arena, account, account_fields, json);
    if (!problem && !account->token)
        problem = "an account needs a token";
    if (!problem && phones)
        problem = read_phones(account, phones);
    if (problem) {
        problem = arena_copy(arena, slice_of(problem));
        memory_close(account->arena);
        return problem;
    }
    *link = account;
    if (old)
        memory_close(old->arena);
    return NULL;
}

const struct account *account_first(void) {
    return accounts;
}

const char *account_name(const struct account *account) {
    return account->name ? account->name : "";
}

const struct account *account_by_waba(const char *id) {
    return *account_link(id);
}

const struct account *account_by_phone(const char *id, const struct phone **phone) {
    for (struct account *account = accounts; account; account = account->next) {
        for (size_t i = 0; i < account->phone_count; i++) {
            if (strcmp(account->phones[i].id, id) == 0) {
                if (phone)
                    *phone = &account->phones[i];
                return account;
            }
        }
    }
    return NULL;
}

const struct account *account_by_token(const char *token) {
    const struct account *account = accounts;
    while (account && strcmp(account->token, token) != 0)
        account = account->next;
    return account;
}

/* Appends the numbers and the brace that closes the object. */
static void print_phones(struct buffer *out, const struct account *account) {
    buffer_add_text(out, ",\"phones\":[");
    for (size_t i = 0; i < account->phone_count; i++) {
        buffer_add_text(out, i == 0 ? "" : ",");
        json_fields_print(out, &account->phones[i], phone_fields);
    }
    buffer_add_text(out, "]}");
}

void account_list(struct buffer *out) {
    buffer_add_text(out, "[");
    for (const struct account *account = accounts; account; account = account->next) {
        buffer_add_text(out, account == accounts ? "{\"account\":" : ",{\"account\":");
        json_fields_print(out, account, account_fields);
        print_phones(out, account);
    }
    buffer_add_text(out, "]");
}

void account_print(struct buffer *out) {
    for (const struct account *account = accounts; account; account = account->next) {
        buffer_add_text(out, account == accounts ? "" : ",\n");
        json_fields_print(out, account, account_fields);
        out->n--; /* the brace that closes the object */
        print_phones(out, account);
    }
}

void account_clear(void) {
    while (accounts) {
        struct account *gone = accounts;
        accounts = gone->next;
        memory_close(gone->arena);
    }
}
