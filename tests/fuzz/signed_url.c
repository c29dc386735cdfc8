/* Signed URLs: one that the gateway makes has only the characters of a URL and is genuine, and no
 * other is. The input is lines: user, account, media id, time, secret, signature. */
#include "api/media/signed_url.h"

#include "base/buffer.h"
#include "fuzz.h"

static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                              "-._~%/?&=:";

/* The signature of a URL: what follows its last `=`. */
static struct slice signature_of(const char *url) {
    const char *last = strrchr(url, '=');
    MUST(last && strlen(last + 1) == 64);
    return slice_of(last + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    char *text = fuzz_text(data, size);
    struct slice rest = slice_of(text), lines[6];
    arena_init(&arena, 16 * 1024 * 1024, NULL);
    for (size_t i = 0; i < 6; i++)
        lines[i] = slice_cut(&rest, '\n');
    struct signed_url url = {.user_id = arena_copy(&arena, lines[0]),
                             .account_id = arena_copy(&arena, lines[1]),
                             .media_id = arena_copy(&arena, lines[2]),
                             .expires_at = strtoll(arena_copy(&arena, lines[3]), NULL, 10)};
    const char *secret = arena_copy(&arena, lines[4]);
    const char *made = signed_url_make(&arena, "https://g.example", &url, secret);
    const struct slice signature = signature_of(made);
    MUST(made[strspn(made, allowed)] == '\0' && signed_url_is_genuine(&url, signature, secret));
    MUST(!signed_url_is_genuine(&url, lines[5], secret));
    MUST(!signed_url_is_genuine(&url, signature, arena_printf(&arena, "%s.", secret)));
    struct signed_url other = url;
    other.expires_at ^= 1;
    MUST(!signed_url_is_genuine(&other, signature, secret));
    other = url;
    other.media_id = arena_printf(&arena, "%s0", url.media_id);
    MUST(!signed_url_is_genuine(&other, signature, secret));
    other = url; /* the same bytes, parted elsewhere */
    other.user_id = arena_printf(&arena, "%s%s", url.user_id, url.account_id);
    other.account_id = "";
    MUST(!*url.account_id || !signed_url_is_genuine(&other, signature, secret));
    arena_free(&arena);
    free(text);
    return 0;
}
