#include "text/json_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

static unsigned long decode_utf8(const unsigned char *at, size_t length) {
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    unsigned long point = at[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        point = point << 6 | (at[i] & 0x3F);
    return point;
}

static void quote_point(struct buffer *out, unsigned long point) {
    if (point >= 0x10000) {
        point -= 0x10000;
        buffer_printf(out, "\\u%04lx\\u%04lx", 0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF));
    } else {
        buffer_printf(out, "\\u%04lx", point);
    }
}

static void quote_byte(struct buffer *out, char byte) {
    static const char special[] = "\"\"\\\\//\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof special; i += 2) {
        if (byte == special[i]) {
            buffer_printf(out, "\\%c", special[i + 1]);
            return;
        }
    }
    if ((unsigned char)byte < 0x20)
        quote_point(out, (unsigned char)byte);
    else
        buffer_add(out, &byte, 1);
}

void json_quote(struct buffer *out, struct slice text) {
    buffer_add_char(out, '"');
    while (text.n > 0) {
        size_t length = utf8_length(text.p, text.n);
        if (length == 0)
            buffer_add_text(out, "\\ufffd");
        else if (length == 1)
            quote_byte(out, *text.p);
        else
            quote_point(out, decode_utf8(slice_octets(text), length));
        text = slice_skip(text, length > 1 ? length : 1);
    }
    buffer_add_char(out, '"');
}

void json_quote_text(struct buffer *out, const char *text) {
    if (text)
        json_quote(out, slice_of(text));
    else
        buffer_add_text(out, "null");
}

static void print_number(struct buffer *out, double number) {
    if (!isfinite(number)) {
        buffer_add_text(out, "null");
    } else if (fabs(number) < 9007199254740992.0 && (double)(int64_t)number == number) {
        buffer_printf(out, "%.0f", number);
    } else {
        char text[40];
        snprintf(text, sizeof text, "%.15g", number);
        if (strtod(text, NULL) != number)
            snprintf(text, sizeof text, "%.17g", number);
        buffer_add_text(out, text);
    }
}

static void print_list(struct buffer *out, const cJSON *list) {
    bool object = cJSON_IsObject(list);
    const cJSON *item;
    buffer_add_text(out, object ? "{" : "[");
    cJSON_ArrayForEach(item, list) {
        if (item != list->child)
            buffer_add_text(out, ",");
        if (object) {
            json_quote_text(out, item->string);
            buffer_add_text(out, ":");
        }
        json_print(out, item);
    }
    buffer_add_text(out, object ? "}" : "]");
}

void json_print(struct buffer *out, const cJSON *value) {
    if (cJSON_IsObject(value) || cJSON_IsArray(value))
        print_list(out, value);
    else if (cJSON_IsString(value))
        json_quote_text(out, value->valuestring);
    else if (cJSON_IsNumber(value))
        print_number(out, value->valuedouble);
    else if (cJSON_IsBool(value))
        buffer_add_text(out, cJSON_IsTrue(value) ? "true" : "false");
    else if (cJSON_IsRaw(value))
        buffer_add_text(out, value->valuestring);
    else
        buffer_add_text(out, "null");
}
