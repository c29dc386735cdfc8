#include "web/multipart.h"

#include <ctype.h>

#include "base/buffer.h"
#include "base/header.h"
#include "base/utf8.h"

enum { WINDOW = 128 * 1024, LONGEST_BOUNDARY = 70 };

static int fail_form(struct multipart *form, const char *error) {
    form->state = MULTIPART_FAILED;
    form->error = error;
    return -1;
}

/* --- parameters: `; name=value`, where the value is a token or a quoted string --- */

/* Takes a quoted string off the front of `*rest`; p == NULL when its closing quote is missing. A
 * backslash escapes a quote or a backslash only: some clients send whole Windows paths. */
static struct slice take_quoted(struct arena *arena, struct slice *rest) {
    struct buffer value = buffer_in(arena);
    buffer_add(&value, "", 0);
    for (size_t i = 1; i < rest->n; i++) {
        if (rest->p[i] == '"') {
            *rest = slice_skip(*rest, i + 1);
            return buffer_slice(&value);
        }
        if (rest->p[i] == '\\' && i + 1 < rest->n && strchr("\"\\", rest->p[i + 1]))
            i++;
        buffer_add_char(&value, rest->p[i]);
    }
    return (struct slice){NULL, 0};
}

/* Takes one parameter off the front of `*rest`. Returns 1, 0 when there are no more, -1 when it is
 * malformed. */
static int take_parameter(struct arena *arena, struct slice *rest, struct slice *name,
                          struct slice *value) {
    *rest = slice_trim(*rest);
    while (rest->n && rest->p[0] == ';')
        *rest = slice_trim(slice_skip(*rest, 1));
    if (!rest->n)
        return 0;
    if (!memchr(rest->p, '=', rest->n))
        return -1;
    *name = slice_trim(slice_cut(rest, '='));
    *rest = slice_trim(*rest);
    if (rest->n && rest->p[0] == '"') {
        *value = take_quoted(arena, rest);
        struct slice after = slice_trim(*rest);
        if (!value->p || (after.n && after.p[0] != ';'))
            return -1;
    } else {
        *value = slice_trim(slice_cut(rest, ';'));
    }
    return header_is_token(*name) && value->p ? 1 : -1;
}

/* Returns the decoded text of an ext-value in UTF-8 (RFC 8187 3.2); NULL when `text` is not one. */
static const char *extended_value(struct arena *arena, struct slice text) {
    struct slice charset = slice_cut(&text, '\'');
    slice_cut(&text, '\''); /* the language */
    struct buffer out = buffer_in(arena);
    if (!slice_is_word(charset, "UTF-8") || !text.n)
        return NULL;
    for (size_t i = 0; i < text.n; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *high, *low;
        if (text.p[i] != '%') {
            buffer_add_char(&out, text.p[i]);
            continue;
        }
        if (text.n - i < 3 || !isxdigit((unsigned char)text.p[i + 1]) ||
            !isxdigit((unsigned char)text.p[i + 2]))
            return NULL;
        high = strchr(digits, tolower((unsigned char)text.p[++i]));
        low = strchr(digits, tolower((unsigned char)text.p[++i]));
        buffer_add_char(&out, (char)((high - digits) << 4 | (low - digits)));
    }
    struct slice value = buffer_slice(&out);
    return utf8_valid(value) && !memchr(value.p, '\0', value.n) ? value.p : NULL;
}

/* --- the start: the boundary --- */

bool multipart_is(const char *content_type) {
    struct slice rest = slice_of(content_type);
    return slice_is_word(slice_trim(slice_cut(&rest, ';')), "multipart/form-data");
}

ssize_t multipart_from_slice(void *context, void *bytes, size_t n) {
    return (ssize_t)slice_take(context, bytes, n);
}

static bool is_boundary(struct slice text) {
    if (text.n < 1 || text.n > LONGEST_BOUNDARY || text.p[text.n - 1] == ' ')
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (!isalnum((unsigned char)text.p[i]) && !strchr("'()+_,-./:=? ", text.p[i]))
            return false;
    return true;
}

/* Returns the boundary parameter; p == NULL when there is none or more than one. */
static struct slice find_boundary(struct arena *arena, const char *content_type) {
    struct slice rest = slice_of(content_type), name, value, boundary = {NULL, 0};
    slice_cut(&rest, ';');
    int more;
    while ((more = take_parameter(arena, &rest, &name, &value)) > 0) {
        if (!slice_is_word(name, "boundary"))
            continue;
        if (boundary.p)
            return (struct slice){NULL, 0};
        boundary = value;
    }
    return more < 0 ? (struct slice){NULL, 0} : boundary;
}

int multipart_start(struct multipart *form, struct arena *arena, const char *content_type,
                    ssize_t (*read)(void *context, void *bytes, size_t n), void *context) {
    *form = (struct multipart){.arena = arena, .read = read, .context = context};
    struct slice boundary = find_boundary(arena, content_type);
    if (!boundary.p || !is_boundary(boundary))
        return fail_form(form, "The Content-Type must be multipart/form-data with one boundary of "
                               "1 to 70 letters, digits and '()+_,-./:=? characters.");
    memcpy(form->delimiter, "\r\n--", 4);
    memcpy(form->delimiter + 4, boundary.p, boundary.n);
    form->delimiter_length = 4 + boundary.n;
    form->window = arena_alloc(arena, WINDOW);
    /* Every delimiter begins with a line end. With this one in the window, a boundary at the start
     * of the body is found too, and the bytes before the first boundary are skipped like a part. */
    memcpy(form->window, "\r\n", 2);
    form->to = 2;
    form->state = MULTIPART_IN_PART;
    return 0;
}

/* --- the window --- */

static size_t held(const struct multipart *form) {
    return form->to - form->from;
}

static int fail_at_end(struct multipart *form) {
    return fail_form(form, form->parts
                               ? "The body ended before its closing boundary; send it again."
                               : "The body does not hold the boundary that its Content-Type names "
                                 "on a line of its own, ended by CR LF.");
}

/* Reads more bytes into the window, which must not be full. Returns 0, or -1 with `error` at the
 * end of the body. */
static int fill(struct multipart *form) {
    memmove(form->window, form->window + form->from, held(form));
    form->to -= form->from;
    form->from = 0;
    ssize_t got = form->read(form->context, form->window + form->to, WINDOW - form->to);
    if (got > 0)
        form->to += (size_t)got;
    return got > 0 ? 0 : got == 0 ? fail_at_end(form) : fail_form(form, NULL);
}

/* Fills the window until it holds `n` bytes. */
static int fill_to(struct multipart *form, size_t n) {
    while (held(form) < n)
        if (fill(form))
            return -1;
    return 0;
}

/* --- the content of a part --- */

int multipart_read(struct multipart *form, struct slice *bytes) {
    if (form->state == MULTIPART_FAILED)
        return -1;
    if (form->state != MULTIPART_IN_PART)
        return 0;
    for (;;) {
        char *at = form->window + form->from;
        char *found = memmem(at, held(form), form->delimiter, form->delimiter_length);
        if (found == at) {
            form->from += form->delimiter_length;
            form->state = MULTIPART_BEFORE_PART;
            return 0;
        }
        /* without a delimiter: all bytes except those that may begin one */
        size_t n = found                                  ? (size_t)(found - at)
                   : held(form) >= form->delimiter_length ? held(form) - form->delimiter_length + 1
                                                          : 0;
        if (n) {
            *bytes = (struct slice){at, n};
            form->from += n;
            return 1;
        }
        if (fill(form))
            return -1;
    }
}

/* --- the header of a part (RFC 7578 4) --- */

static const char *read_disposition(struct arena *arena, struct slice value, struct part *part) {
    struct slice name, text;
    const char *extended = NULL;
    int more;
    if (!slice_is_word(slice_trim(slice_cut(&value, ';')), "form-data"))
        return "A part's Content-Disposition must be form-data.";
    while ((more = take_parameter(arena, &value, &name, &text)) > 0) {
        const char **target = slice_is_word(name, "name")       ? &part->name
                              : slice_is_word(name, "filename") ? &part->filename
                                                                : NULL;
        if (slice_is_word(name, "filename*") && !extended)
            extended = extended_value(arena, text);
        if (target && *target)
            return "A part's Content-Disposition holds the same parameter twice.";
        if (target)
            *target = arena_copy(arena, text);
    }
    if (more < 0)
        return "A part's Content-Disposition cannot be read; it must be like form-data; "
               "name=\"file\"; filename=\"photo.jpg\".";
    if (extended)
        part->filename = extended;
    return NULL;
}

static const char *read_length(struct slice value, struct part *part) {
    if (value.n < 1 || value.n > 18)
        return "A part's Content-Length is not a number.";
    part->length = 0;
    for (size_t i = 0; i < value.n; i++) {
        if (!isdigit((unsigned char)value.p[i]))
            return "A part's Content-Length is not a number.";
        part->length = part->length * 10 + (value.p[i] - '0');
    }
    return NULL;
}

/* Clients no longer encode parts (RFC 7578 4.7). An encoded part is refused, because its bytes are
 * not those of the file. */
static const char *read_encoding(struct slice value) {
    return slice_is_word(value, "binary") || slice_is_word(value, "8bit") ||
                   slice_is_word(value, "7bit")
               ? NULL
               : "A part has a Content-Transfer-Encoding; send its bytes as they are.";
}

/* Reads one header line. Returns NULL or the problem. Other headers are ignored (RFC 7578 4.8). */
static const char *read_line(struct arena *arena, struct slice line, struct part *part) {
    if (!memchr(line.p, ':', line.n))
        return "A part's header holds a line without a colon.";
    struct slice name = slice_cut(&line, ':'), value = slice_trim(line);
    if (!header_is_token(name))
        return "A part's header holds a line whose name is not one.";
    if (slice_is_word(name, "Content-Disposition"))
        return part->name || part->filename ? "A part has two Content-Disposition headers."
                                            : read_disposition(arena, value, part);
    if (slice_is_word(name, "Content-Type"))
        part->type = arena_copy(arena, value);
    else if (slice_is_word(name, "Content-Length"))
        return read_length(value, part);
    else if (slice_is_word(name, "Content-Transfer-Encoding"))
        return read_encoding(value);
    return NULL;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

/* Reads the header lines, each ended by CR LF; unfolds folded ones (RFC 5322 2.2.3). Returns NULL
 * or the problem. */
static const char *read_header(struct arena *arena, struct slice lines, struct part *part) {
    char *text = arena_copy(arena, lines);
    for (size_t i = 0; i + 2 < lines.n; i++)
        if (text[i] == '\r' && text[i + 1] == '\n' && is_space(text[i + 2]))
            text[i] = text[i + 1] = ' ';
    struct slice rest = {text, lines.n};
    while (rest.n) {
        struct slice line = slice_cut(&rest, '\n');
        if (!line.n || line.p[line.n - 1] != '\r')
            return "A part's header lines must end with CR LF.";
        line.n--;
        if (memchr(line.p, '\r', line.n) || memchr(line.p, '\0', line.n))
            return "A part's header holds a control character.";
        const char *problem = read_line(arena, line, part);
        if (problem)
            return problem;
    }
    return part->name ? NULL : "A part has no Content-Disposition with a name.";
}

/* Reads the bytes after a boundary. Returns 1 for a line end, which stays in the window, 0 for the
 * closing `--`, -1 with `error` otherwise. */
static int read_boundary_end(struct multipart *form) {
    if (fill_to(form, 2))
        return -1;
    if (memcmp(form->window + form->from, "--", 2) == 0) {
        form->state = MULTIPART_ENDED;
        return 0;
    }
    /* white space that transports may add (RFC 2046 5.1.1) */
    for (size_t i = 0; i < MULTIPART_MAX_HEADER && is_space(form->window[form->from]); i++) {
        form->from++;
        if (fill_to(form, 2))
            return -1;
    }
    if (memcmp(form->window + form->from, "\r\n", 2) != 0)
        return fail_form(form, "A boundary must be followed by CR LF, or by -- at the end.");
    return 1;
}

/* Takes the header lines from the window. The line end of the boundary precedes them and is
 * skipped; the empty line after them stays in the window. */
static int take_header(struct multipart *form, struct slice *lines) {
    for (;;) {
        char *at = form->window + form->from;
        char *end = memmem(at, held(form), "\r\n\r\n", 4);
        size_t n = end ? (size_t)(end - at) : held(form);
        if (n > MULTIPART_MAX_HEADER)
            return fail_form(form, "The header of a part is longer than 16 KB.");
        if (end) {
            *lines = (struct slice){at + 2, n};
            form->from += n + 2;
            return 0;
        }
        if (fill(form))
            return -1;
    }
}

int multipart_next(struct multipart *form, struct part *part) {
    struct slice lines;
    while (form->state == MULTIPART_IN_PART)
        multipart_read(form, &lines);
    if (form->state == MULTIPART_FAILED)
        return -1;
    if (form->state == MULTIPART_ENDED)
        return 0;
    int more = read_boundary_end(form);
    if (more <= 0)
        return more;
    if (++form->parts > MULTIPART_MAX_PARTS)
        return fail_form(form, "The body has more than 100 parts.");
    if (take_header(form, &lines))
        return -1;
    *part = (struct part){.length = -1};
    const char *problem = read_header(form->arena, lines, part);
    if (problem)
        return fail_form(form, problem);
    /* Skips the empty line, which a part without content may omit (RFC 2046 5.1.1). */
    if (fill_to(form, form->delimiter_length))
        return -1;
    if (memcmp(form->window + form->from, form->delimiter, form->delimiter_length) != 0)
        form->from += 2;
    form->state = MULTIPART_IN_PART;
    return 1;
}
