/* What the page of the phone shows: the messages between numbers of accounts and users, and their
 * statuses, the last of them. A user is named by the digits of a phone number or by a BSUID. It has
 * a lock of its own, which each call takes. */
#ifndef SANDBOX_CHAT_H
#define SANDBOX_CHAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* A conversation. */
struct chat {
    const char *line; /* the id of the number */
    const char *user;
    const char *bsuid; /* another name of the same user, or NULL */
};

/* Keeps an entry {kind, id, ...}: a message that was sent to the user, one of the user, a status,
 * or that the account has read a message. `members` are further members, without braces, which
 * begin with a comma. */
void chat_add(const struct chat *chat, const char *kind, const char *id, struct slice members);

/* Keeps that the account has read the user's message with this id, and whether it is typing. */
void chat_read(const char *line, const char *id, bool typing);

/* Appends {generation, blocked, entries: [{serial, time, kind, id, ...}]} with the entries whose
 * serial is larger than `after`; the generation changes when all are deleted. The user counts as
 * present for some seconds. */
void chat_list(struct buffer *out, const struct chat *chat, int64_t after);

/* Sets whether the user has blocked the number: messages to the user arrive no more. */
void chat_block(const struct chat *chat, bool blocked);

/* Whether a page shows the conversation, and sends delivered and read itself. */
bool chat_is_open(const struct chat *chat);

/* Whether the user has blocked the number. */
bool chat_is_blocked(const struct chat *chat);

/* Deletes all. */
void chat_clear(void);

#endif
