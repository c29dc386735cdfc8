#include "wire/multipart_stream.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

/* Reads a parameter's value from after its `=`: the text between quotes, in which a backslash
 * escapes a character, or the text up to a semicolon without the space at its end. */
static const char *parameter_value(struct arena *arena, const char *value) {
    struct buffer text = buffer_in(arena);
    bool quoted = *value == '"';
    for (value += quoted; *value && *value != (quoted ? '"' : ';'); value++) {
        value += quoted && *value == '\\' && value[1];
        buffer_add_char(&text, *value);
    }
    while (!quoted && text.n > 0 && isspace((unsigned char)text.p[text.n - 1]))
        text.n--;
    return arena_copy(arena, buffer_slice(&text));
}

const char *header_parameter(struct arena *arena, const char *value, const char *name) {
    size_t length = strlen(name);
    while (value && (value = strchr(value, ';'))) {
        value += 1 + strspn(value + 1, " \t");
        if (strncasecmp(value, name, length) == 0 && value[length] == '=')
            return parameter_value(arena, value + length + 1);
    }
    return NULL;
}

static struct slice trim(struct slice text) {
    while (text.n > 0 && isspace((unsigned char)*text.p))
        text = slice_skip(text, 1);
    while (text.n > 0 && isspace((unsigned char)text.p[text.n - 1]))
        text.n--;
    return text;
}

const char *part_header(struct arena *arena, const char *headers, const char *name) {
    size_t length = strlen(name);
    while (*headers) {
        size_t line = strcspn(headers, "\r\n");
        if (line > length && strncasecmp(headers, name, length) == 0 && headers[length] == ':')
            return arena_copy(arena, trim((struct slice){headers + length + 1, line - length - 1}));
        headers += line;
        headers += strspn(headers, "\r\n");
    }
    return NULL;
}

void multipart_start(struct multipart *multipart, struct arena *arena, const char *content_type,
                     const struct multipart_events *events, void *cls) {
    const char *boundary = header_parameter(arena, content_type, "boundary");
    *multipart = (struct multipart){.events = events, .cls = cls, .pending = buffer_in(arena)};
    if (!content_type || strncasecmp(content_type, "multipart/form-data", 19) != 0) {
        multipart->problem = "the request is not multipart/form-data";
    } else if (!boundary || *boundary == '\0' || strlen(boundary) > BOUNDARY_MAX) {
        multipart->problem = "the Content-Type has no boundary of 1 to 70 characters";
    } else {
        multipart->delimiter_length = (size_t)snprintf(
            multipart->delimiter, sizeof multipart->delimiter, "\r\n--%s", boundary);
        buffer_add_text(&multipart->pending, "\r\n");
    }
}

static void pending_drop(struct buffer *pending, size_t length) {
    memmove(pending->p, pending->p + length, pending->n - length);
    pending->n -= length;
}

/* Passes on `length` pending bytes, which cannot belong to a delimiter any more. */
static void give_data(struct multipart *multipart, size_t length) {
    if (multipart->state == MULTIPART_BODY && length > 0)
        multipart->events->data(multipart->cls, (struct slice){multipart->pending.p, length});
    pending_drop(&multipart->pending, length);
}

/* Looks for the next delimiter. Returns true if the state changed. */
static bool find_delimiter(struct multipart *multipart) {
    struct buffer *pending = &multipart->pending;
    size_t length = multipart->delimiter_length;
    char *at = memmem(pending->p, pending->n, multipart->delimiter, length);
    const char *after;
    if (!at) {
        give_data(multipart, pending->n < length ? 0 : pending->n - length + 1);
        return false;
    }
    give_data(multipart, (size_t)(at - pending->p));
    if (pending->n < length + 2)
        return false;
    after = pending->p + length;
    if (multipart->state == MULTIPART_BODY)
        multipart->events->end(multipart->cls);
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
    struct buffer *pending = &multipart->pending;
    char *end = memmem(pending->p, pending->n, "\r\n\r\n", 4);
    size_t length;
    if (!end) {
        if (pending->n > PART_HEADERS_MAX)
            multipart->problem = "the headers of a part are too long";
        return false;
    }
    length = (size_t)(end - pending->p);
    *end = '\0';
    multipart->events->begin(multipart->cls, length < 2 ? "" : pending->p + 2);
    pending_drop(pending, length + 4);
    multipart->state = MULTIPART_BODY;
    return true;
}

void multipart_feed(struct multipart *multipart, struct slice piece) {
    bool moved = true;
    if (multipart->problem || multipart->state == MULTIPART_DONE)
        return;
    buffer_add_slice(&multipart->pending, piece);
    while (moved && !multipart->problem && multipart->state != MULTIPART_DONE) {
        moved = multipart->state == MULTIPART_HEADERS ? find_headers(multipart)
                                                      : find_delimiter(multipart);
    }
}

const char *multipart_finish(const struct multipart *multipart) {
    if (multipart->problem)
        return multipart->problem;
    return multipart->state == MULTIPART_DONE ? NULL : "the multipart body has no end";
}
