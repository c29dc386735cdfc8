#include "state/wamid.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/buffer.h"
#include "base/crypto.h"

static atomic_int_fast64_t made; /* ids of this run */

static unsigned char run[3]; /* differs from run to run of the sandbox */

static void run_make(void) {
    crypto_random(run, sizeof run);
}

/* The layout of the platform's message ids as observed: a tagged blob, the chat's digits as text,
 * and an id of eighteen hexadecimal digits, all in base64. */
const char *wamid_new(struct arena *arena, const char *digits) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const unsigned char middle[] = {0x15, 0x02, 0x00, 0x11, 0x18, 0x12};
    struct buffer blob = buffer_in(arena);
    pthread_once(&once, run_make);
    buffer_add(&blob, "\x1c\x18", 2);
    buffer_add_char(&blob, (char)strlen(digits));
    buffer_add_text(&blob, digits);
    buffer_add(&blob, middle, sizeof middle);
    buffer_printf(&blob, "%02X%02X%02X%012" PRIX64, run[0], run[1], run[2], (uint64_t)++made);
    buffer_add_char(&blob, '\0');
    return arena_printf(arena, "wamid.%s", crypto_base64(arena, blob.p, blob.n));
}
