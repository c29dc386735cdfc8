#include "secret.h"

#include <errno.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include "base/crypto.h"
#include "command.h"
#include "store/places.h"

enum { LONGEST_TOKEN = 4096 };

/* All of standard input, up to a little more than a token can be; -1 on a read error. */
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

/* Asks at the terminal, with echo off, and with signals off so that it is surely put on again. */
static ssize_t read_terminal(char *text, size_t size) {
    struct termios before, silent;
    bool is_known = tcgetattr(STDIN_FILENO, &before) == 0;
    if (is_known) {
        silent = before;
        silent.c_lflag &= (tcflag_t) ~(tcflag_t)(ECHO | ISIG);
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    fputs("platform access token: ", stderr);
    ssize_t n = read_input(text, size, true);
    fputc('\n', stderr);
    if (is_known)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    return n;
}

/* `text` without the white space at its ends. */
static struct slice trim(struct slice text) {
    while (text.n && strchr(" \t\r\n", text.p[0]))
        text = slice_skip(text, 1);
    while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
        text.n--;
    return text;
}

/* What is wrong with a token, or NULL. It will travel in a header, so it must be visible ASCII. */
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

static int seal(struct invocation *call, const char *account_id, struct slice token,
                struct slice *sealed) {
    struct keyring ring;
    const char *error;
    if (keyring_read(call->config.secret_key_file, &call->arena, &ring, &error) != 0)
        return fail("%s", error);
    *sealed =
        crypto_seal(&ring, &call->arena, token, account_token_place(&call->arena, account_id));
    crypto_wipe(&ring, sizeof ring);
    return EXIT_DONE;
}

int secret_read_token(struct invocation *call, const char *account_id, struct slice *sealed) {
    char text[LONGEST_TOKEN + 64];
    ssize_t n = isatty(STDIN_FILENO) ? read_terminal(text, sizeof text)
                                     : read_input(text, sizeof text, false);
    int status = EXIT_DONE;
    *sealed = (struct slice){NULL, 0};
    struct slice token = n < 0 ? *sealed : trim((struct slice){text, (size_t)n});
    const char *wrong = check_token(token);
    if (n < 0)
        status =
            fail("cannot read the platform access token from standard input: %s", strerror(errno));
    else if (wrong)
        status = fail("the platform access token on standard input %s", wrong);
    else if (token.n)
        status = seal(call, account_id, token, sealed);
    crypto_wipe(text, sizeof text);
    return status;
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
    *token = crypto_open(&ring, &call->arena, account->sealed_token,
                         account_token_place(&call->arena, account->id))
                 .p;
    crypto_wipe(&ring, sizeof ring);
    return *token ? EXIT_DONE
                  : fail("the platform access token of account %s cannot be decrypted with %s; "
                         "`switchboard account token %s` replaces it",
                         account->id, call->config.secret_key_file, account->id);
}
