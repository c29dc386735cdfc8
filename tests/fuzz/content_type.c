/* Parsers of short texts: Content-Type of a form with its boundary, MIME types, URLs, addresses,
 * Retry-After, times. */
#include "base/clock.h"
#include "base/url.h"
#include "delivery/egress.h"
#include "delivery/retry.h"
#include "fuzz.h"
#include "payload/mime.h"
#include "web/multipart.h"

static ssize_t nothing(void *context, void *bytes, size_t n) {
    (void)context, (void)bytes, (void)n;
    return 0;
}

static void read_type(struct arena *arena, const char *text) {
    struct multipart form;
    const char *type = mime_read(arena, text);
    MUST(!type || (strchr(type, '/') && !strpbrk(type, "\r\n; ")));
    if (multipart_is(text) && multipart_start(&form, arena, text, nothing, NULL) != 0)
        MUST(form.error);
}

static void read_times(const char *text) {
    int64_t wait, ms, next;
    char shown[CLOCK_ISO8601_SIZE];
    struct retry_failure failure = {
        .attempts = 1, .status = 503, .retry_after = text, .now = INT64_C(1795000000000)};
    retry_read_retry_after(text, failure.now, &wait);
    MUST(retry_schedule(&failure, 7, &next));
    MUST(next - failure.now >= 60 * 1000 && next - failure.now <= 60 * 60 * 1000);
    if (clock_parse(text, &ms)) {
        clock_format(ms, shown);
        MUST(strlen(shown) == 24);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    char *text = fuzz_text(data, size);
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    read_type(&arena, text);
    read_times(text);
    url_check(slice_of(text));
    MUST(!egress_allows_text(EGRESS_PUBLIC, text) || egress_allows_text(EGRESS_PRIVATE, text));
    arena_free(&arena);
    free(text);
    return 0;
}
