#include "multipart.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *header_parameter(const char *value, const char *name) {
    size_t length = strlen(name);

    while (value != NULL && (value = strchr(value, ';')) != NULL) {
        struct bytes text = {0};
        bool quoted;

        value += 1 + strspn(value + 1, " \t");
        if (strncasecmp(value, name, length) != 0 || value[length] != '=') {
            continue;
        }
        value += length + 1;
        quoted = *value == '"';
        for (value += quoted; *value != '\0' && *value != (quoted ? '"' : ';'); value++) {
            value += quoted && *value == '\\' && value[1] != '\0';
            bytes_append(&text, value, 1);
        }
        while (!quoted && text.length > 0 && isspace((unsigned char)text.data[text.length - 1])) {
            text.data[--text.length] = '\0';
        }
        return bytes_take(&text);
    }
    return NULL;
}

char *part_header(const char *headers, const char *name) {
    size_t length = strlen(name);

    while (headers != NULL && *headers != '\0') {
        size_t line = strcspn(headers, "\r\n");

        if (line > length && strncasecmp(headers, name, length) == 0 && headers[length] == ':') {
            const char *value = headers + length + 1;
            const char *end = headers + line;

            while (value < end && isspace((unsigned char)*value)) {
                value++;
            }
            while (end > value && isspace((unsigned char)end[-1])) {
                end--;
            }
            return memory_piece(value, (size_t)(end - value));
        }
        headers += line;
        headers += strspn(headers, "\r\n");
    }
    return NULL;
}

void multipart_start(struct multipart *multipart, const char *content_type,
                     const struct multipart_events *events, void *cls) {
    char *boundary = header_parameter(content_type, "boundary");

    memset(multipart, 0, sizeof *multipart);
    multipart->events = events;
    multipart->cls = cls;
    if (content_type == NULL || strncasecmp(content_type, "multipart/form-data", 19) != 0) {
        multipart->problem = "the request is not multipart/form-data";
    } else if (boundary == NULL || *boundary == '\0' || strlen(boundary) > BOUNDARY_MAX) {
        multipart->problem = "the Content-Type has no boundary of 1 to 70 characters";
    } else {
        multipart->delimiter_length = (size_t)snprintf(
            multipart->delimiter, sizeof multipart->delimiter, "\r\n--%s", boundary);
        bytes_text(&multipart->pending, "\r\n");
    }
    free(boundary);
}

static void pending_drop(struct bytes *pending, size_t length) {
    memmove(pending->data, pending->data + length, pending->length - length);
    pending->length -= length;
}

/* Passes on `length` pending bytes, which cannot belong to a delimiter any more. */
static void give_data(struct multipart *multipart, size_t length) {
    if (multipart->state == MULTIPART_BODY && length > 0) {
        multipart->events->data(multipart->cls, multipart->pending.data, length);
    }
    pending_drop(&multipart->pending, length);
}

/* Looks for the next delimiter. Returns true if the state changed. */
static bool find_delimiter(struct multipart *multipart) {
    struct bytes *pending = &multipart->pending;
    size_t length = multipart->delimiter_length;
    char *at = memmem(pending->data, pending->length, multipart->delimiter, length);
    const char *after;

    if (at == NULL) {
        give_data(multipart, pending->length < length ? 0 : pending->length - length + 1);
        return false;
    }
    give_data(multipart, (size_t)(at - pending->data));
    if (pending->length < length + 2) {
        return false;
    }
    after = pending->data + length;
    if (multipart->state == MULTIPART_BODY) {
        multipart->events->end(multipart->cls);
    }
    if (memcmp(after, "--", 2) == 0) {
        multipart->state = MULTIPART_DONE;
    } else if (memcmp(after, "\r\n", 2) == 0) {
        multipart->state = MULTIPART_HEADERS;
        pending_drop(pending, length);
    } else {
        multipart->problem = "a boundary is followed by something else than CRLF or two dashes";
    }
    return true;
}

/* Reads a header block; `pending` starts with the CRLF that ends the delimiter's line. Returns true
 * if the state changed. */
static bool find_headers(struct multipart *multipart) {
    struct bytes *pending = &multipart->pending;
    char *end = memmem(pending->data, pending->length, "\r\n\r\n", 4);
    size_t length;

    if (end == NULL) {
        if (pending->length > PART_HEADERS_MAX) {
            multipart->problem = "the headers of a part are too long";
        }
        return false;
    }
    length = (size_t)(end - pending->data);
    *end = '\0';
    multipart->events->begin(multipart->cls, length < 2 ? "" : pending->data + 2,
                             length < 2 ? 0 : length - 2);
    pending_drop(pending, length + 4);
    multipart->state = MULTIPART_BODY;
    return true;
}

void multipart_feed(struct multipart *multipart, const char *data, size_t length) {
    bool moved = true;

    if (multipart->problem != NULL || multipart->state == MULTIPART_DONE) {
        return;
    }
    bytes_append(&multipart->pending, data, length);
    while (moved && multipart->problem == NULL && multipart->state != MULTIPART_DONE) {
        moved = multipart->state == MULTIPART_HEADERS ? find_headers(multipart)
                                                      : find_delimiter(multipart);
    }
}

const char *multipart_finish(const struct multipart *multipart) {
    if (multipart->problem != NULL) {
        return multipart->problem;
    }
    return multipart->state == MULTIPART_DONE ? NULL : "the multipart body has no end";
}

void multipart_release(struct multipart *multipart) {
    bytes_release(&multipart->pending);
}
