/* Folding of names: terms are UTF-8, each once, within their limits, and fold to themselves. */
#include "store/inbox/contact_term.h"
#include "fuzz.h"

static void check(const struct terms *terms) {
    MUST(terms->count <= MOST_TERMS);
    for (size_t i = 0; i < terms->count; i++) {
        const size_t n = strnlen(terms->text[i], TERM_SIZE);
        MUST(n > 0 && n < TERM_SIZE && utf8_valid((struct slice){terms->text[i], n}));
        for (size_t j = 0; j < i; j++)
            MUST(strcmp(terms->text[i], terms->text[j]) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct terms terms = {0}, none = {0};
    char *text = fuzz_text(data, size);
    terms_add(&terms, text);
    check(&terms);
    terms_add(&terms, text); /* a second text of the same contact */
    check(&terms);
    terms_add(&none, NULL);
    MUST(none.count == 0);
    free(text);
    return 0;
}
