/* The headers of a session: a cookie counts only with all of them, and then it is within Cookie. */
#include "api/session_cookie.h"
#include "fuzz.h"

/* The value of X-Switchboard, Sec-Fetch-Site, Origin, Host or Cookie is a line of the input; an
 * empty line: the header is missing. */
static const char *const names[] = {"HTTP_X_SWITCHBOARD", "HTTP_SEC_FETCH_SITE", "HTTP_ORIGIN",
                                    "HTTP_HOST", "HTTP_COOKIE"};

static void set_headers(char *text) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *end = text + strcspn(text, "\n");
        const bool is_last = !*end;
        *end = '\0';
        if (*text)
            setenv(names[i], text, 1);
        else
            unsetenv(names[i]);
        text = is_last ? end : end + 1;
    }
    setenv("REQUEST_SCHEME", "https", 1);
}

static void check(struct request *rq) {
    const char *cookie = getenv("HTTP_COOKIE"), *ours = getenv("HTTP_X_SWITCHBOARD");
    const char *site = getenv("HTTP_SEC_FETCH_SITE");
    const struct slice value = session_cookie(rq);
    if (!value.p)
        return;
    MUST(cookie && value.n && value.p >= cookie);
    MUST(value.p + value.n <= cookie + strlen(cookie));
    MUST(!memchr(value.p, ';', value.n) && strstr(cookie, SESSION_COOKIE));
    MUST(ours && strcmp(ours, "1") == 0);
    MUST(site ? strcmp(site, "same-origin") == 0 : getenv("HTTP_ORIGIN") != NULL);
    MUST(!session_is_foreign(rq));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct config config = {.public_url = ""};
    struct request rq = {.arena = &arena, .config = &config};
    char *text = fuzz_text(data, size);
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    set_headers(text);
    check(&rq);
    config.public_url = "https://gate.example.org/api";
    check(&rq);
    arena_free(&arena);
    free(text);
    return 0;
}
