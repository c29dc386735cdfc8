/* switchboard webhook add, change */
#include <errno.h>
#include <stdio.h>

#include "base/crypto.h"
#include "base/http_client.h"
#include "cmd_webhook.h"
#include "command.h"
#include "delivery/handshake.h"
#include "nouns.h"
#include "output.h"
#include "payload/webhook_rules.h"
#include "secret.h"
#include "store/seal_context.h"

enum { LONGEST_TOKEN = 1024 };

/* A code to be sealed and stored. */
struct code {
    struct invocation *call;
    const char *user_id;
    const char *text; /* NULL: the code stays */
    struct slice sealed;
    bool has_failed; /* it could not be sealed; the reason was printed */
};

static struct slice seal_code(void *context) {
    struct code *code = context;
    struct invocation *call = code->call;
    code->sealed = secret_seal(call, slice_of(code->text),
                               webhook_code_context(&call->arena, code->user_id), code->sealed);
    code->has_failed = !code->sealed.p;
    return code->sealed;
}

/* Replaces the separators of a list; NULL for the word that stands for NULL. */
static const char *words_of(struct arena *arena, const char *list, const char *preset) {
    if (!list || strcmp(list, preset) == 0)
        return NULL;
    char *words = arena_copy(arena, slice_of(list));
    for (char *c = words; *c; c++)
        if (*c == ',')
            *c = ' ';
    return words;
}

/* Finds the ids of the lines of --lines. Returns an exit code, after printing a failure. */
static int read_lines(struct invocation *call, struct store_webhook_change *change) {
    change->sets_lines = call->options[OPTION_LINES] != NULL;
    return line_option_read(call, change->user_id,
                            words_of(&call->arena, call->options[OPTION_LINES], "all"),
                            &change->line_ids);
}

/* Refuses the options that the kind of the webhook does not have. */
static int check_kind(struct invocation *call, const char *kind) {
    static const int forward[] = {OPTION_FIELDS, OPTION_UPDATES, OPTION_SPLIT, OPTION_NO_SPLIT,
                                  OPTION_VERIFY_TOKEN_FILE};
    if (strcmp(kind, WEBHOOK_FORWARD) == 0)
        return call->options[OPTION_TYPES]
                   ? fail_usage(call, "--types is for webhooks of the kind event")
                   : EXIT_DONE;
    for (size_t i = 0; i < sizeof forward / sizeof *forward; i++)
        if (call->options[forward[i]])
            return fail_usage(call, "%s is for webhooks of the kind forward",
                              option_rules[forward[i]].name);
    return EXIT_DONE;
}

/* Sets what the options and the URL say. Returns an exit code, after printing a failure. */
static int read_change(struct invocation *call, struct store_webhook_change *change) {
    const char *const *options = call->options;
    const char *fields = options[OPTION_FIELDS];
    if (options[OPTION_SPLIT] && options[OPTION_NO_SPLIT])
        return fail_usage(call, "give either --split or --no-split");
    change->sets_name = options[OPTION_NAME] != NULL;
    change->name = options[OPTION_NAME];
    change->sets_event_types = options[OPTION_TYPES] != NULL;
    change->event_types = words_of(&call->arena, options[OPTION_TYPES], "default");
    change->sets_fields = fields != NULL;
    change->fields = fields && strcmp(fields, "all") == 0
                         ? WEBHOOK_ALL_FIELDS
                         : words_of(&call->arena, fields, "default");
    change->sets_updates = options[OPTION_UPDATES] != NULL;
    change->updates = words_of(&call->arena, options[OPTION_UPDATES], "all");
    change->sets_splitting = options[OPTION_SPLIT] || options[OPTION_NO_SPLIT];
    change->splits_messages = options[OPTION_SPLIT] != NULL;
    change->now = call->now;
    return read_lines(call, change);
}

/* Reads the verify token: one line. Returns an exit code, after printing a failure. */
static int read_token(struct invocation *call, char *text, size_t size, struct slice *token) {
    const char *path = call->options[OPTION_VERIFY_TOKEN_FILE];
    ssize_t n;
    if (path) {
        FILE *file = fopen(path, "r");
        if (!file)
            return fail("cannot open %s: %s", path, strerror(errno));
        n = (ssize_t)fread(text, 1, size, file);
        fclose(file);
    } else if ((n = secret_read("verify token", text, size)) < 0) {
        return EXIT_FAILED;
    }
    *token = (struct slice){text, (size_t)n};
    while (token->n && strchr("\r\n", token->p[token->n - 1]))
        token->n--;
    bool is_line = token->n && token->n <= LONGEST_TOKEN && !memchr(token->p, '\n', token->n) &&
                   !memchr(token->p, '\0', token->n);
    return is_line ? EXIT_DONE
                   : fail("the verify token in %s must be one line of 1 to %d bytes",
                          path ? path : "standard input", LONGEST_TOKEN);
}

/* Verifies the URL at its receiver. Returns an exit code, after printing a failure. */
static int verify(struct invocation *call, const char *url) {
    char text[LONGEST_TOKEN + 64];
    struct slice token;
    int status = read_token(call, text, sizeof text, &token);
    if (status == EXIT_DONE && !http_prepare())
        status = fail("libcurl cannot be initialized");
    if (status == EXIT_DONE) {
        const char *reason = handshake_verify(&call->arena, &call->config, url, token);
        status = reason ? fail("%s could not be verified: %s", url, reason) : EXIT_DONE;
    }
    crypto_wipe(text, sizeof text);
    return status;
}

/* Prints the webhook, and its new code if it has one. */
static int print_saved(struct invocation *call, const char *id, const char *code) {
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", id);
    if (!code)
        return object_print(call, &json, "%s", id);
    json_write_text(&json, "code", code);
    return object_print(call, &json, "%s\n%s", id, code);
}

int webhook_add(struct invocation *call) {
    const char *email = call->operands[0], *url = call->operands[1];
    const char *kind = call->options[OPTION_KIND] ? call->options[OPTION_KIND] : WEBHOOK_EVENT;
    char user_id[ID_SIZE], id[ID_SIZE];
    struct code code = {
        .call = call, .user_id = user_id, .text = webhook_code_make(&call->arena).p};
    const struct store_secret secret = {seal_code, &code};
    struct store_webhook_change change = {
        .id = id, .user_id = user_id, .kind = kind, .sets_url = true, .url = url, .code = &secret};
    enum store_result result = store_find_user(call->store, email, user_id);
    int status =
        result == STORE_OK ? check_kind(call, kind) : fail_row(call, result, ROW_USER, email);
    if (status == EXIT_DONE)
        status = read_change(call, &change);
    if (status == EXIT_DONE && strcmp(kind, WEBHOOK_FORWARD) == 0)
        status = verify(call, url);
    if (status != EXIT_DONE)
        return status;
    id_make(id, "whk_", call->now);
    result = store_insert_webhook(call->store, &change);
    if (code.has_failed)
        return EXIT_FAILED;
    if (result == STORE_CONFLICT)
        return fail("%s has %d webhooks already; delete one", email, STORE_WEBHOOKS_KEPT);
    return result == STORE_OK ? print_saved(call, id, code.text) : fail_store(call, result);
}

int webhook_change(struct invocation *call) {
    struct store_webhook webhook;
    const char *url = call->operand_count > 1 ? call->operands[1] : NULL;
    int status = webhook_find(call, &webhook);
    if (status != EXIT_DONE)
        return status;
    struct code code = {.call = call, .user_id = webhook.user_id};
    const struct store_secret secret = {seal_code, &code};
    struct store_webhook_change change = {
        .id = webhook.id, .user_id = webhook.user_id, .sets_url = url != NULL, .url = url};
    const bool is_forward = strcmp(webhook.kind, WEBHOOK_FORWARD) == 0;
    if (call->options[OPTION_NEW_CODE] || (url && !webhook.sealed_code.n)) {
        code.text = webhook_code_make(&call->arena).p;
        change.code = &secret;
    }
    if ((status = check_kind(call, webhook.kind)) == EXIT_DONE)
        status = read_change(call, &change);
    if (status == EXIT_DONE && is_forward &&
        ((url && strcmp(url, webhook.url) != 0) || call->options[OPTION_VERIFY_TOKEN_FILE]))
        status = verify(call, url ? url : webhook.url);
    if (status != EXIT_DONE)
        return status;
    enum store_result result = webhook_store_change(call, &change);
    if (code.has_failed)
        return EXIT_FAILED;
    return result == STORE_OK ? print_saved(call, webhook.id, code.text)
                              : fail_row(call, result, ROW_WEBHOOK, webhook.id);
}
