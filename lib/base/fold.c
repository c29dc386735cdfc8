#include "base/fold.h"

#include <ctype.h>
#include <utf8proc.h>

#include "base/utf8.h"

enum { MOST_PARTS = 32, TATWEEL = 0x0640 };

/* A letter, in lower case, and what replaces it. */
struct letter {
    uint16_t code;
    char plain[3];
};

/* In the order of the codes: the Latin letters of PostgreSQL's unaccent.rules that have no
 * decomposition in Unicode, without those of capitals, and 7 more that names are written with (such
 * as the schwa). A modifier letter that stands for an apostrophe becomes one, and so does a single
 * quotation mark, which some keyboards write instead. */
static const struct letter letters[] = {
    {0x00E6, "ae"}, {0x00F0, "d"},  {0x00F8, "o"},  {0x00FE, "th"}, {0x0111, "d"},  {0x0127, "h"},
    {0x0131, "i"},  {0x0138, "q"},  {0x0142, "l"},  {0x014B, "n"},  {0x0153, "oe"}, {0x0167, "t"},
    {0x0180, "b"},  {0x0183, "b"},  {0x0188, "c"},  {0x018C, "d"},  {0x0192, "f"},  {0x0195, "hv"},
    {0x0199, "k"},  {0x019A, "l"},  {0x019E, "n"},  {0x01A3, "oi"}, {0x01A5, "p"},  {0x01AB, "t"},
    {0x01AD, "t"},  {0x01B4, "y"},  {0x01B6, "z"},  {0x01DD, "e"},  {0x01E5, "g"},  {0x0221, "d"},
    {0x0225, "z"},  {0x0234, "l"},  {0x0235, "n"},  {0x0236, "t"},  {0x0237, "j"},  {0x0238, "db"},
    {0x0239, "qp"}, {0x023C, "c"},  {0x023F, "s"},  {0x0240, "z"},  {0x0247, "e"},  {0x0249, "j"},
    {0x024D, "r"},  {0x024F, "y"},  {0x0253, "b"},  {0x0254, "o"},  {0x0255, "c"},  {0x0256, "d"},
    {0x0257, "d"},  {0x0259, "e"},  {0x025B, "e"},  {0x025F, "j"},  {0x0260, "g"},  {0x0261, "g"},
    {0x0262, "g"},  {0x0263, "g"},  {0x0266, "h"},  {0x0267, "h"},  {0x0268, "i"},  {0x0269, "i"},
    {0x026A, "i"},  {0x026B, "l"},  {0x026C, "l"},  {0x026D, "l"},  {0x0271, "m"},  {0x0272, "n"},
    {0x0273, "n"},  {0x0274, "n"},  {0x0275, "o"},  {0x0276, "oe"}, {0x027C, "r"},  {0x027D, "r"},
    {0x027E, "r"},  {0x0280, "r"},  {0x0282, "s"},  {0x0288, "t"},  {0x0289, "u"},  {0x028A, "u"},
    {0x028B, "v"},  {0x028F, "y"},  {0x0290, "z"},  {0x0291, "z"},  {0x0292, "z"},  {0x0299, "b"},
    {0x029B, "g"},  {0x029C, "h"},  {0x029D, "j"},  {0x029F, "l"},  {0x02A0, "q"},  {0x02A3, "dz"},
    {0x02A5, "dz"}, {0x02A6, "ts"}, {0x02AA, "ls"}, {0x02AB, "lz"}, {0x02B9, "'"},  {0x02BA, "'"},
    {0x02BB, "'"},  {0x02BC, "'"},  {0x02BD, "'"},  {0x02BE, "'"},  {0x02BF, "'"},  {0x1D00, "a"},
    {0x1D01, "ae"}, {0x1D03, "b"},  {0x1D04, "c"},  {0x1D05, "d"},  {0x1D06, "d"},  {0x1D07, "e"},
    {0x1D0A, "j"},  {0x1D0B, "k"},  {0x1D0C, "l"},  {0x1D0D, "m"},  {0x1D0F, "o"},  {0x1D18, "p"},
    {0x1D1B, "t"},  {0x1D1C, "u"},  {0x1D20, "v"},  {0x1D21, "w"},  {0x1D22, "z"},  {0x1D6B, "ue"},
    {0x1D6C, "b"},  {0x1D6D, "d"},  {0x1D6E, "f"},  {0x1D6F, "m"},  {0x1D70, "n"},  {0x1D71, "p"},
    {0x1D72, "r"},  {0x1D73, "r"},  {0x1D74, "s"},  {0x1D75, "t"},  {0x1D76, "z"},  {0x1D7A, "th"},
    {0x1D7B, "i"},  {0x1D7D, "p"},  {0x1D7E, "u"},  {0x1D80, "b"},  {0x1D81, "d"},  {0x1D82, "f"},
    {0x1D83, "g"},  {0x1D84, "k"},  {0x1D85, "l"},  {0x1D86, "m"},  {0x1D87, "n"},  {0x1D88, "p"},
    {0x1D89, "r"},  {0x1D8A, "s"},  {0x1D8C, "v"},  {0x1D8D, "x"},  {0x1D8E, "z"},  {0x1D8F, "a"},
    {0x1D91, "d"},  {0x1D92, "e"},  {0x1D93, "e"},  {0x1D96, "i"},  {0x1D99, "u"},  {0x1E9C, "s"},
    {0x1E9D, "s"},  {0x1EFB, "ll"}, {0x1EFD, "v"},  {0x1EFF, "y"},  {0x2018, "'"},  {0x2019, "'"},
    {0x2C61, "l"},  {0x2C65, "a"},  {0x2C66, "t"},  {0x2C68, "h"},  {0x2C6A, "k"},  {0x2C6C, "z"},
    {0x2C71, "v"},  {0x2C73, "w"},  {0x2C74, "v"},  {0x2C78, "e"},  {0x2C7A, "o"},  {0xA730, "f"},
    {0xA731, "s"},  {0xA733, "aa"}, {0xA735, "ao"}, {0xA737, "au"}, {0xA739, "av"}, {0xA73B, "av"},
    {0xA73D, "ay"}, {0xA741, "k"},  {0xA743, "k"},  {0xA745, "k"},  {0xA747, "l"},  {0xA749, "l"},
    {0xA74B, "o"},  {0xA74D, "o"},  {0xA74F, "oo"}, {0xA751, "p"},  {0xA753, "p"},  {0xA755, "p"},
    {0xA757, "q"},  {0xA759, "q"},  {0xA75F, "v"},  {0xA761, "vy"}, {0xA765, "th"}, {0xA767, "th"},
    {0xA771, "d"},  {0xA772, "l"},  {0xA773, "m"},  {0xA774, "n"},  {0xA775, "r"},  {0xA776, "r"},
    {0xA777, "t"},  {0xA77A, "d"},  {0xA77C, "f"},  {0xA787, "t"},  {0xA791, "n"},  {0xA793, "c"},
    {0xA7A1, "g"},  {0xA7A3, "k"},  {0xA7A5, "n"},  {0xA7A7, "r"},  {0xA7A9, "s"},
};

/* The 1 or 2 ASCII characters for a Latin letter in lower case with a stroke, a hook and such, for
 * a ligature, a small capital, the dotless i, thorn, eth, eng and others; an apostrophe for a
 * letter that stands for one (U+02BB). NULL for every other character. So a search from another
 * keyboard finds a name. */
static const char *plain_letter(int32_t code) {
    size_t low = 0, high = sizeof letters / sizeof *letters;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (letters[middle].code == code)
            return letters[middle].plain;
        if (letters[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The Hiragana of a Katakana; any other character as it is. They differ as upper and lower case do:
 * in the tertiary weight (UTS #10). */
static int32_t plain_kana(int32_t code) {
    enum { FIRST = 0x30A1, LAST = 0x30F6, ITERATION = 0x30FD, DISTANCE = 0x60 };
    return (code >= FIRST && code <= LAST) || code == ITERATION ? code - DISTANCE : code;
}

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
