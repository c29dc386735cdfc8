#include "accounts.h"

#include <stdlib.h>
#include <string.h>

struct token_override {
    char *token;
    enum token_state state;
    struct token_override *next;
};

static struct account *accounts;
static struct token_override *token_overrides;

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

static void phones_clear(struct account *account) {
    for (size_t i = 0; i < account->phone_count; i++) {
        json_fields_release(&account->phones[i], phone_fields);
    }
    account->phone_count = 0;
}

static void account_free(struct account *account) {
    json_fields_release(account, account_fields);
    phones_clear(account);
    free(account);
}

static char *read_phones(struct account *account, const cJSON *list) {
    const cJSON *item;

    phones_clear(account);
    cJSON_ArrayForEach(item, list) {
        struct phone *phone = &account->phones[account->phone_count];
        char *problem;

        if (account->phone_count == PHONES_MAX) {
            return memory_format("an account has at most %d phones", PHONES_MAX);
        }
        account->phone_count++;
        problem = json_fill(phone, phone_fields, item);
        if (problem != NULL) {
            return problem;
        }
        if (phone->id == NULL || phone->display == NULL) {
            return memory_text("a phone needs id and displayNumber");
        }
    }
    return NULL;
}

/* Returns the account with that WABA id, and adds it if there is none. */
static struct account *account_open(const char *waba_id) {
    struct account *account = account_by_waba(waba_id);
    struct account **link = &accounts;

    if (account == NULL) {
        account = memory_new(sizeof *account);
        while (*link != NULL) {
            link = &(*link)->next;
        }
        *link = account;
    }
    return account;
}

char *account_put(const cJSON *json) {
    const char *waba_id = json_text(json, "wabaId");
    const cJSON *phones = cJSON_GetObjectItemCaseSensitive(json, "phones");
    struct account *account;
    char *problem;

    if (waba_id == NULL) {
        return memory_text("wabaId is missing");
    }
    if (account_by_waba(waba_id) == NULL && json_text(json, "token") == NULL) {
        return memory_text("a new account needs a token");
    }
    account = account_open(waba_id);
    problem = json_fill(account, account_fields, json);
    return problem == NULL && phones != NULL ? read_phones(account, phones) : problem;
}

struct account *account_first(void) {
    return accounts;
}

struct account *account_by_waba(const char *id) {
    struct account *account = accounts;

    while (account != NULL && !text_matches(account->waba_id, id)) {
        account = account->next;
    }
    return account;
}

struct account *account_by_phone(const char *id, const struct phone **phone) {
    for (struct account *account = accounts; account != NULL; account = account->next) {
        for (size_t i = 0; i < account->phone_count; i++) {
            if (strcmp(account->phones[i].id, id) == 0) {
                if (phone != NULL) {
                    *phone = &account->phones[i];
                }
                return account;
            }
        }
    }
    return NULL;
}

enum token_state token_check(const char *token) {
    for (const struct token_override *override = token_overrides; override != NULL;
         override = override->next) {
        if (strcmp(override->token, token) == 0) {
            return override->state;
        }
    }
    for (const struct account *account = accounts; account != NULL; account = account->next) {
        if (strcmp(account->token, token) == 0) {
            return TOKEN_VALID;
        }
    }
    return TOKEN_UNKNOWN;
}

char *token_put(const cJSON *json) {
    static const char *const names[] = {
        [TOKEN_VALID] = "valid", [TOKEN_EXPIRED] = "expired", [TOKEN_REVOKED] = "revoked"};
    const char *token = json_text(json, "token");
    const char *state = json_text(json, "state");

    for (int i = TOKEN_VALID; token != NULL && i <= TOKEN_REVOKED; i++) {
        if (text_matches(state, names[i]) && state != NULL) {
            struct token_override *override = memory_new(sizeof *override);

            override->token = memory_text(token);
            override->state = (enum token_state)i;
            override->next = token_overrides;
            token_overrides = override;
            return NULL;
        }
    }
    return memory_text("token and state (valid, expired or revoked) are needed");
}

void account_list(struct bytes *out) {
    bytes_text(out, "[");
    for (const struct account *account = accounts; account != NULL; account = account->next) {
        bytes_text(out, account == accounts ? "{\"account\":" : ",{\"account\":");
        json_fields_print(out, account, account_fields);
        bytes_text(out, ",\"phones\":[");
        for (size_t i = 0; i < account->phone_count; i++) {
            bytes_text(out, i == 0 ? "" : ",");
            json_fields_print(out, &account->phones[i], phone_fields);
        }
        bytes_text(out, "]}");
    }
    bytes_text(out, "]");
}

void account_clear(void) {
    while (accounts != NULL) {
        struct account *gone = accounts;

        accounts = gone->next;
        account_free(gone);
    }
    while (token_overrides != NULL) {
        struct token_override *gone = token_overrides;

        token_overrides = gone->next;
        free(gone->token);
        free(gone);
    }
}
