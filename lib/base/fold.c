#include "base/fold.h"

#include <ctype.h>
#include <utf8proc.h>

#include "base/plain_letter.h"
#include "base/utf8.h"

enum { MOST_PARTS = 32, TATWEEL = 0x0640 };

/* The Arabic letter that is compared instead of one that another keyboard writes. */
static int32_t plain_arabic(int32_t code) {
    switch (code) {
    case 0x0649: /* alef maksura */
    case 0x06CC: return 0x064A;
    case 0x0629: return 0x0647; /* teh marbuta */
    case 0x06A9: return 0x0643;
    default: return code;
    }
}

/* Adds the folded form of a part of a decomposed character. */
static void add_part(int32_t codes[FOLD_MOST], size_t *count, int32_t part) {
    const char *plain = plain_letter(part);
    if (!plain && part != TATWEEL)
        codes[(*count)++] = plain_kana(plain_arabic(part));
    for (; plain && *plain; plain++)
        codes[(*count)++] = *plain;
}

size_t fold_character(const char *text, size_t n, int32_t codes[FOLD_MOST], size_t *count) {
    int32_t code, parts[MOST_PARTS];
    int boundary = 0;
    *count = 0;
    if ((unsigned char)*text < 0x80) {
        codes[(*count)++] = tolower((unsigned char)*text);
        return 1;
    }
    utf8proc_ssize_t length =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)n, &code);
    if (length < 1) {
        codes[(*count)++] = ' ';
        return 1;
    }
    utf8proc_ssize_t found =
        utf8proc_decompose_char(code, parts, MOST_PARTS,
                                UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                                    UTF8PROC_STRIPMARK | UTF8PROC_IGNORE,
                                &boundary);
    for (utf8proc_ssize_t i = 0; i < found && i < MOST_PARTS; i++)
        add_part(codes, count, parts[i]);
    return (size_t)length;
}

static bool is_space(int32_t code) {
    return code <= ' ' || code == 0x7F || utf8proc_category(code) == UTF8PROC_CATEGORY_ZS ||
           utf8proc_category(code) == UTF8PROC_CATEGORY_CC;
}

static void add_code(struct buffer *out, int32_t code) {
    char bytes[4];
    if (code > ' ' && code < 0x7F)
        buffer_add_char(out, (char)code);
    else if (!is_space(code))
        buffer_add(out, bytes, utf8_put((uint32_t)code, bytes));
    else if (out->n && out->p[out->n - 1] != ' ')
        buffer_add_char(out, ' ');
}

void fold_add(struct buffer *out, struct slice text) {
    int32_t codes[FOLD_MOST];
    size_t count;
    for (size_t i = 0; i < text.n;) {
        i += fold_character(text.p + i, text.n - i, codes, &count);
        for (size_t k = 0; k < count; k++)
            add_code(out, codes[k]);
    }
}
