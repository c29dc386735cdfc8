/* The phone in the browser: its files, and the conversation that it shows. */
#ifndef SANDBOX_PHONE_PAGE_H
#define SANDBOX_PHONE_PAGE_H

#include "wire/exchange.h"

/* Answers with the page, or with the file that the path names. Returns false when there is none. */
bool phone_page_file(struct exchange *exchange);

/* Answers with the conversation of {phoneNumberId, phone, bsuid} in the query, from `after` on.
 * Returns NULL, or the text of an error. */
const char *phone_page_chat(struct exchange *exchange);

/* Sets whether the user of {phoneNumberId, phone, bsuid, blocked} has blocked the number. Returns
 * NULL, or in the arena of the exchange the text of an error. */
const char *phone_page_block(struct exchange *exchange);

#endif
