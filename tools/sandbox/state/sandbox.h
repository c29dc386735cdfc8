/* switchboard-sandbox: a simulator of the WhatsApp Cloud API, for demonstrations and tests. This
 * header has what every part of it uses: the lock of the state and its origin.
 *
 * Its rooms, each of which includes the earlier ones only (tests/lint/rooms.bash):
 *
 *   text       memory, texts, JSON
 *   wire       a request and its answer: HTTP, forms, faults, errors of the platform, the record
 *   state      what the simulated platform stores: accounts, templates, flows, media, settings
 *   judge      whether the platform would send a message
 *   webhooks   what the sandbox sends to the callbacks of accounts
 *   nodes      the edges of the Graph API
 *   control    /_sandbox/..., by which a test sets up and reads the sandbox
 *
 * The sandbox is the oracle of the tests: an error that it shared with the gateway would not be
 * found. What it may share with the gateway is therefore a list of headers, which lint compares
 * with its includes:
 *
 *   shared (lib/base): arena.h, buffer.h, slice.h (memory and text), clock.h (time), crypto.h
 *   (SHA-256 of recorded bodies and of media, random bytes, hexadecimal, base64), utf8.h (output
 *   only: printing of strings, and whether a recorded body is shown as text), write_all.h,
 *   process/program.h and manual.h (the command line, --help and the manual page).
 *
 *   independent: all that reads, checks or judges a request of the gateway. JSON is checked by
 *   strict_json.c (with its own UTF-8 check) and read by cJSON; HTTP by libmicrohttpd; multipart
 *   bodies by multipart_stream.c, forms by form_field.c; the platform's rules stand in judge/ and
 *   media_upload.c; ids and signed URLs are made by wamid.c, cursor.c, media_url.c. Webhooks are
 *   signed by webhook_post.c with libsodium directly (not with crypto.h) and sent with its own
 *   libcurl options. base/json.h, seal.h, keyring.h, url.h, id.h, log.h (which is built on json.h)
 *   and everything of lib outside of base stay out.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stdint.h>

#include "base/arena.h"

/* The lock of the simulated platform's state: accounts, templates, flows, media, settings.
 * state_read takes it shared, state_write exclusively, state_done releases either. An answer is
 * built whole while it is held, so that none refers to the state afterwards. */
void state_read(void);
void state_write(void);
void state_done(void);

/* Sets the origin of links, such as https://sandbox.example; NULL: that of the request that asks.
 * The text must stay. */
void sandbox_set_public_url(const char *url);

/* Sets the host, as in a URL, and the port at which the sandbox reaches itself, once. */
void sandbox_set_address(const char *host, uint16_t port);

/* Returns the origin of links, in `arena`: the public one, else that of `host`, which a request
 * names, else, when `host` is NULL, the sandbox's own. */
const char *sandbox_origin(struct arena *arena, const char *host);

#endif
