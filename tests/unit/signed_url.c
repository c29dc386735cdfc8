/* URLs of media with a signature. */
#include "api/media/signed_url.h"

#include "base/buffer.h"
#include "compare.h"

static struct arena arena;

static const struct signed_url good = {
    .media_id = "1234567890", .user_id = "usr_A", .account_id = "acc_B", .expires_at = 1700000000};
static const char secret[] = "EAAsecret";

/* The signature at the end of the URL. */
static struct slice signature_of(const char *url) {
    const char *found = strstr(url, "&signature=");
    return found ? slice_of(found + strlen("&signature=")) : (struct slice){NULL, 0};
}

/* Checks that a URL with another member is refused. */
static void check_other(const char *label, struct signed_url other, struct slice signature) {
    CHECK_INTEGER_AS(label, signed_url_is_genuine(&other, signature, secret), false);
}

static void check_forged(struct slice signature) {
    static const struct signed_url forged[] = {
        {"1234567891", "usr_A", "acc_B", 1700000000}, {"123456789", "usr_A", "acc_B", 1700000000},
        {"", "usr_A", "acc_B", 1700000000},           {"1234567890", "usr_a", "acc_B", 1700000000},
        {"1234567890", "usr_A", "acc_C", 1700000000}, {"1234567890", "usr_Aa", "cc_B", 1700000000},
        {"1234567890", "usr_A", "acc_B", 1700000001}, {"1234567890", "usr_A", "acc_B", -1700000000},
        {"1234567890", "usr_A", "acc_B", 170000000},  {"01234567890", "usr_A", "acc_", 1700000000},
    };
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++)
        check_other(forged[i].media_id, forged[i], signature);
}

/* Every other signature is refused: with a changed digit, shorter, longer, empty, none. */
static void check_signatures(const char *signature) {
    char text[65];
    CHECK_INTEGER(strlen(signature), 64);
    for (size_t i = 0; i < 64; i++) {
        snprintf(text, sizeof text, "%s", signature);
        text[i] = text[i] == '0' ? '1' : '0';
        CHECK(!signed_url_is_genuine(&good, slice_of(text), secret));
    }
    CHECK(!signed_url_is_genuine(&good, (struct slice){signature, 62}, secret));
    CHECK(!signed_url_is_genuine(&good, (struct slice){signature, 63}, secret));
    CHECK(!signed_url_is_genuine(&good, slice_of(arena_printf(&arena, "%s00", signature)), secret));
    CHECK(!signed_url_is_genuine(&good, SLICE(""), secret));
    CHECK(!signed_url_is_genuine(&good, slice_of(NULL), secret));
}

int main(void) {
    arena_init(&arena, 1024 * 1024, NULL);
    char *url = signed_url_make(&arena, "https://gw.example/base", &good, secret);
    struct slice signature = signature_of(url);
    CHECK_TEXT((char *)arena_copy(&arena, (struct slice){url, strlen(url) - signature.n}),
               "https://gw.example/base/graph/media/1234567890?user=usr_A&account=acc_B"
               "&expires=1700000000&signature=");
    CHECK(signed_url_is_genuine(&good, signature, secret));
    CHECK(!signed_url_is_genuine(&good, signature, "EAAsecreT"));
    CHECK(!signed_url_is_genuine(&good, signature, ""));
    check_forged(signature);
    check_signatures(signature.p);
    struct signed_url odd = good;
    odd.media_id = "a/b\"c";
    CHECK_HOLDS(signed_url_make(&arena, "", &odd, secret), "/graph/media/a%2Fb%22c?");
    arena_free(&arena);
    return check_failures();
}
