#include "web/form_copy.h"

#include "base/buffer.h"
#include "base/crypto.h"
#include "base/header.h"
#include "web/plain_name.h"

/* The header of a part may become longer than it was by at most GROWTH bytes, its boundary not
 * counted: four spaces, four quotes, the name of a file that had none, and the line end that a part
 * without content shares with the boundary after it. */
enum { GROWTH = 4 + 4 + 4 + 2 };

static int fail_copy(struct form_copy *copy, const char *error) {
    copy->error = error;
    return -1;
}

/* --- the start --- */

static void make_boundary(char *text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char random[FORM_COPY_BOUNDARY];
    crypto_random(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        text[i] = digits[random[i] % 64];
    text[sizeof random] = '\0';
}

/* The most bytes by which the copy can be longer than the form: at each boundary. */
static int64_t longest_growth(const struct multipart *form) {
    int64_t boundary = (int64_t)form->delimiter_length - 4;
    int64_t growth = FORM_COPY_BOUNDARY + GROWTH - boundary;
    return growth > 0 ? growth * (MULTIPART_MAX_PARTS + 1) : 0;
}

int form_copy_start(struct form_copy *copy, struct arena *arena, const struct form_source *source) {
    *copy = (struct form_copy){.source = *source, .size = -1};
    if (multipart_start(&copy->form, arena, source->content_type, source->read, source->context))
        return fail_copy(copy, copy->form.error);
    make_boundary(copy->boundary);
    copy->content_type = arena_printf(arena, "multipart/form-data; boundary=%s", copy->boundary);
    if (source->size >= 0)
        copy->size = source->size + longest_growth(&copy->form);
    return 0;
}

/* --- the header of a part --- */

/* The value of a parameter, without its quotes. */
static struct slice unquoted(struct slice value) {
    bool is_quoted = value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"';
    return is_quoted ? (struct slice){value.p + 1, value.n - 2} : value;
}

/* The type of a part as it is copied: without its parameters, unless all are plain. NULL with
 * `*error` when readers of mail would find parts within the part, or other text in it. */
static const char *clean_type(struct arena *arena, const char *text, const char **error) {
    struct slice rest = slice_of(text), type = slice_trim(slice_cut(&rest, ';')), subtype = type;
    struct slice main_type = slice_cut(&subtype, '/');
    bool are_plain = true;
    *error = "The Content-Type of a part must be a MIME type other than multipart and message, "
             "with no charset but UTF-8.";
    if (!header_is_token(main_type) || !header_is_token(subtype) ||
        slice_is_word(main_type, "multipart") || slice_is_word(main_type, "message"))
        return NULL;
    while (rest.n) {
        struct slice value = slice_trim(slice_cut(&rest, ';'));
        struct slice name = slice_trim(slice_cut(&value, '='));
        value = unquoted(slice_trim(value));
        bool is_charset = name.n >= 7 && strncasecmp(name.p, "charset", 7) == 0;
        if (is_charset && !slice_is_word(value, "utf-8") && !slice_is_word(value, "us-ascii"))
            return NULL;
        are_plain &= plain_name_check(name) && header_is_token(value);
    }
    return are_plain ? text : arena_copy(arena, type);
}

static int write_header(struct form_copy *copy, const struct part *part) {
    struct buffer header = buffer_in(copy->form.arena);
    if (!plain_name_check(slice_of(part->name)))
        return fail_copy(copy, "The name of a part must consist of letters, digits, _ and -, with "
                               "keys in brackets: name=\"NAME\" or name=\"NAME[KEY]\".");
    const char *error,
        *type = part->type && *part->type ? clean_type(copy->form.arena, part->type, &error) : NULL;
    if (part->type && *part->type && !type)
        return fail_copy(copy, error);
    if (copy->source.check(copy->source.checker, part))
        return fail_copy(copy, NULL);
    buffer_printf(&header, "%s--%s\r\nContent-Disposition: form-data; name=\"%s\"",
                  copy->parts++ ? "\r\n" : "", copy->boundary, part->name);
    if (part->filename)
        buffer_printf(&header, "; filename=\"%s\"",
                      header_file_name(copy->form.arena, part->filename));
    if (type)
        buffer_printf(&header, "\r\nContent-Type: %s", type);
    buffer_add_text(&header, "\r\n\r\n");
    copy->ready = buffer_slice(&header);
    return 0;
}

/* --- reading --- */

/* Reads what follows the last boundary: only then is it known that the form is whole. */
static int read_rest(struct form_copy *copy) {
    char dropped[4096];
    ssize_t got;
    while ((got = copy->source.read(copy->source.context, dropped, sizeof dropped)) > 0)
        ;
    return got < 0 ? fail_copy(copy, NULL) : 0;
}

/* Readers of mail take a form without parts for text. */
static int write_end(struct form_copy *copy) {
    if (!copy->parts)
        return fail_copy(copy, "The form has no part.");
    if (read_rest(copy))
        return -1;
    copy->is_ended = true;
    copy->ready = slice_of(arena_printf(copy->form.arena, "\r\n--%s--\r\n", copy->boundary));
    return 0;
}

/* Makes the next bytes ready. */
static int advance(struct form_copy *copy) {
    struct part part;
    int more = copy->in_part ? multipart_read(&copy->form, &copy->ready) : 0;
    if (more == 0) {
        more = multipart_next(&copy->form, &part);
        copy->in_part = more > 0;
        if (more >= 0)
            return more ? write_header(copy, &part) : write_end(copy);
    }
    return more < 0 ? fail_copy(copy, copy->form.error) : 0;
}

/* Blanks after the end, which readers ignore (RFC 2046 5.1.1). */
static size_t fill_up(const struct form_copy *copy, void *bytes, size_t n) {
    int64_t left = copy->size - copy->written;
    if (left <= 0) /* all is written, or the size is not known */
        return 0;
    n = (int64_t)n < left ? n : (size_t)left;
    memset(bytes, ' ', n);
    return n;
}

ssize_t form_copy_read(struct form_copy *copy, void *bytes, size_t n) {
    while (!copy->ready.n && !copy->is_ended)
        if (advance(copy))
            return -1;
    size_t got = copy->ready.n ? slice_take(&copy->ready, bytes, n) : fill_up(copy, bytes, n);
    copy->written += (int64_t)got;
    return (ssize_t)got;
}
