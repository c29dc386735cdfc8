#include "text/url_text.h"

void url_encode(struct buffer *out, const char *text) {
    for (; *text != '\0'; text++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~", *text))
            buffer_add(out, text, 1);
        else
            buffer_printf(out, "%%%02X", (unsigned char)*text);
}
