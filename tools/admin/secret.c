#include "secret.h"

#include <errno.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/seal.h"
#include "command.h"
#include "store/seal_context.h"

enum { LONGEST_TOKEN = 4096 };

/* Reads up to `size` bytes of standard input, to its end or to the end of a line. Returns the
 * number of bytes, or -1 on a read error. */
static ssize_t read_input(char *text, size_t size, bool one_line) {
    size_t n = 0;
    while (n < size && !(one_line && n && text[n - 1] == '\n')) {
        ssize_t got = read(STDIN_FILENO, text + n, size - n);
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

/* Reads a line from the terminal with echo off. Signals from the keyboard are off too, so that none
 * ends the program before echo is on again. */
static ssize_t read_terminal(const char *what, char *text, size_t size) {
    struct termios before, silent;
    bool is_known = tcgetattr(STDIN_FILENO, &before) == 0;
    if (is_known) {
        silent = before;
        silent.c_lflag &= (tcflag_t) ~(tcflag_t)(ECHO | ISIG);
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    fprintf(stderr, "%s: ", what);
    ssize_t n = read_input(text, size, true);
    fputc('\n', stderr);
    if (is_known)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    return n;
}

ssize_t secret_read(const char *what, char *text, size_t size) {
    ssize_t n =
        isatty(STDIN_FILENO) ? read_terminal(what, text, size) : read_input(text, size, false);
    if (n < 0)
        fail("cannot read the %s from standard input: %s", what, strerror(errno));
    return n;
}

struct slice secret_trim(struct slice text) {
    while (text.n && strchr(" \t\r\n", text.p[0]))
        text = slice_skip(text, 1);
    while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
        text.n--;
    return text;
}

/* Returns the error of a token, or NULL. A token is sent in a header, so it must be visible
 * ASCII. */
static const char *check_token(struct slice token) {
    if (token.n > LONGEST_TOKEN)
        return "is longer than 4096 bytes";
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] == '\n')
            return "must be one line";
        else if (token.p[i] <= 0x20 || token.p[i] >= 0x7f)
            return "must be printable ASCII without spaces";
    return NULL;
}

int secret_read_token(struct invocation *call, const char *account_id, struct secret *secret) {
    *secret = (struct secret){.call = call, .account_id = account_id};
    ssize_t n = secret_read("platform access token", secret->text, sizeof secret->text);
    if (n < 0)
        return EXIT_FAILED;
    secret->token = secret_trim((struct slice){secret->text, (size_t)n});
    const char *wrong = check_token(secret->token);
    if (!wrong)
        return EXIT_DONE;
    secret_wipe(secret);
    return fail("the platform access token on standard input %s", wrong);
}

struct slice secret_seal(struct invocation *call, struct slice text, const char *context,
                         struct slice sealed) {
    struct keyring ring;
    const char *error;
    if (keyring_read(call->config.secret_key_file, &call->arena, &ring, &error) != 0) {
        fail("%s", error);
        sealed = (struct slice){NULL, 0};
    } else if (!sealed.p || (uint8_t)sealed.p[0] != keyring_newest(&ring)->id) {
        sealed = seal_secret(&ring, &call->arena, text, context);
    }
    crypto_wipe(&ring, sizeof ring);
    return sealed;
}

static struct slice seal(void *context) {
    struct secret *secret = context;
    struct invocation *call = secret->call;
    secret->sealed =
        secret_seal(call, secret->token, account_token_context(&call->arena, secret->account_id),
                    secret->sealed);
    secret->has_failed = !secret->sealed.p;
    return secret->sealed;
}

struct store_secret secret_to_store(struct secret *secret) {
    return (struct store_secret){seal, secret};
}

void secret_wipe(struct secret *secret) {
    crypto_wipe(secret->text, sizeof secret->text);
}

int secret_open_token(struct invocation *call, const struct store_account *account,
                      const char **token) {
    struct keyring ring;
    const char *error;
    if (!account->sealed_token.n)
        return fail("account %s has no platform access token; `switchboard account token %s` sets "
                    "one",
                    account->id, account->id);
    if (keyring_read(call->config.secret_key_file, &call->arena, &ring, &error) != 0)
        return fail("%s", error);
    *token = seal_open(&ring, &call->arena, account->sealed_token,
                       account_token_context(&call->arena, account->id))
                 .p;
    crypto_wipe(&ring, sizeof ring);
    return *token ? EXIT_DONE
                  : fail("the platform access token of account %s cannot be decrypted with %s; "
                         "`switchboard account token %s` replaces it",
                         account->id, call->config.secret_key_file, account->id);
}
