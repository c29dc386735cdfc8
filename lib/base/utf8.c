#include "base/utf8.h"

size_t utf8_length(const char *p, size_t n) {
    const unsigned char *u = (const unsigned char *)p;
    if (n == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    size_t length = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
    if (u[0] < 0xc2 || u[0] > 0xf4 || n < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
        (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
        return 0;
    return length;
}

size_t utf8_put(uint32_t code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[length] | code);
    return length;
}

bool utf8_valid(struct slice text) {
    for (size_t i = 0, length; i < text.n; i += length)
        if (!(length = utf8_length(text.p + i, text.n - i)))
            return false;
    return true;
}

size_t utf8_clip(struct slice text, size_t most) {
    size_t n = 0, length;
    while (n < text.n && n < most && (length = utf8_length(text.p + n, text.n - n)))
        n += length;
    return n;
}

static uint32_t decode(const char *p, size_t length) {
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)p[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)p[i] & 0x3f);
    return code;
}

static bool is_shown(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return false;
    return true;
}

void utf8_show(char *text, bool keeps_lines) {
    char *end = text;
    for (size_t left = strlen(text), length; left; text += length, left -= length) {
        const size_t valid = utf8_length(text, left);
        length = valid ? valid : 1;
        if ((valid && is_shown(decode(text, valid))) || (keeps_lines && *text == '\n')) {
            memmove(end, text, length);
            end += length;
        } else
            *end++ = '?';
    }
    *end = '\0';
}
