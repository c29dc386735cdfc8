/* The words of a message, as a person reads them. */
#ifndef SWITCHBOARD_PAYLOAD_MESSAGE_TEXT_H
#define SWITCHBOARD_PAYLOAD_MESSAGE_TEXT_H

#include "base/buffer.h"

/* Appends the folded texts (fold.h) of a message body, in either direction, each followed by a line
 * break: text, captions, names of files, titles and texts of replies, buttons and lists, names of
 * locations, contacts with their phones and emails, the name and the parameters of a template, and
 * the answers to a flow. Ids, numbers of the sender and links have none. Nothing for a body that is
 * no JSON. What it needs lives in the arena of `out`. */
void message_text_add(struct buffer *out, struct slice body);

#endif
