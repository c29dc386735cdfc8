/* multipart/form-data (RFC 7578): valid and invalid bodies, in pieces of any size. */
#include "web/multipart.h"
#include "base/buffer.h"
#include "compare.h"

enum { CAP = 64 * 1024 * 1024 };

static struct arena arena;

/* A source that returns a first piece of one length and then pieces of another. */
struct source {
    struct slice rest;
    size_t first, step;
};

static ssize_t give(void *context, void *bytes, size_t n) {
    struct source *source = context;
    size_t length = source->first ? source->first : source->step;
    length = length < n ? length : n;
    length = length < source->rest.n ? length : source->rest.n;
    if (length)
        memcpy(bytes, source->rest.p, length);
    source->first = 0;
    source->rest = slice_skip(source->rest, length);
    return (ssize_t)length;
}

static ssize_t give_nothing(void *context, void *bytes, size_t n) {
    (void)context, (void)bytes, (void)n;
    return -1;
}

/* A part as text: [name|filename|type|length|content]. */
static void describe(struct buffer *out, const struct part *part, struct slice content) {
    buffer_printf(out, "[%s|%s|%s|%lld|", part->name, part->filename ? part->filename : "-",
                  part->type ? part->type : "-", (long long)part->length);
    buffer_add_slice(out, content);
    buffer_add_char(out, ']');
}

/* All parts as text; p == NULL and `*error` set when the body is refused. */
static struct slice read_form(const char *type, struct source source, const char **error) {
    struct multipart form;
    struct part part;
    struct slice bytes;
    struct buffer out = buffer_in(&arena);
    buffer_add(&out, "", 0);
    int more = multipart_start(&form, &arena, type, give, &source);
    while (more == 0 && (more = multipart_next(&form, &part)) > 0) {
        struct buffer content = buffer_in(&arena);
        while ((more = multipart_read(&form, &bytes)) > 0)
            buffer_add_slice(&content, bytes);
        if (more == 0)
            describe(&out, &part, buffer_slice(&content));
        else
            break;
    }
    *error = form.error;
    return more < 0 ? (struct slice){NULL, 0} : buffer_slice(&out);
}

static struct slice read_whole(const char *type, struct slice body, const char **error) {
    return read_form(type, (struct source){body, 0, body.n + 1}, error);
}

/* --- the forms of a boundary --- */

#define SEVENTY "1234567890123456789012345678901234567890123456789012345678901234567890"

static const struct {
    const char *type;
    const char *boundary; /* NULL: refused */
} boundaries[] = {
    {"multipart/form-data; boundary=b", "b"},
    {"multipart/form-data;boundary=b", "b"},
    {"Multipart/Form-Data; Boundary=b", "b"},
    {"multipart/form-data ; boundary = b", "b"},
    {"multipart/form-data; boundary=\"b\"", "b"},
    {"multipart/form-data; boundary=\"a b\"", "a b"},
    {"multipart/form-data; boundary=\"a;b=c\"", NULL},
    {"multipart/form-data; boundary=\"a\\b\"", NULL},
    {"multipart/form-data; charset=utf-8; boundary=b", "b"},
    {"multipart/form-data; boundary=b; charset=utf-8", "b"},
    {"multipart/form-data; boundary=b;", "b"},
    {"multipart/form-data; boundary=\"'()+_,-./:=?\"", "'()+_,-./:=?"},
    {"multipart/form-data; boundary=----WebKitFormBoundaryA1", "----WebKitFormBoundaryA1"},
    {"multipart/form-data; boundary=" SEVENTY, SEVENTY},
    {"multipart/form-data; boundary=" SEVENTY "1", NULL},
    {"multipart/form-data; boundary=", NULL},
    {"multipart/form-data; boundary=\"\"", NULL},
    {"multipart/form-data; boundary=\"b ", NULL},
    {"multipart/form-data; boundary=\"b \"", NULL},
    {"multipart/form-data; boundary=\"b\"c", NULL},
    {"multipart/form-data; boundary=b; boundary=b", NULL},
    {"multipart/form-data; boundary=b@c", NULL},
    {"multipart/form-data; boundary=b\xc3\xa9", NULL},
    {"multipart/form-data; boundary", NULL},
    {"multipart/form-data", NULL},
    {"multipart/form-data; x", NULL},
};

static void check_boundaries(void) {
    for (size_t i = 0; i < sizeof boundaries / sizeof *boundaries; i++) {
        const char *type = boundaries[i].type, *boundary = boundaries[i].boundary, *error;
        const char *used = boundary ? boundary : "b";
        struct slice body = slice_of(arena_printf(
            &arena, "--%s\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--%s--\r\n",
            used, used));
        struct slice found = read_whole(type, body, &error);
        CHECK_INTEGER_AS(type, found.p != NULL, boundary != NULL);
        CHECK_INTEGER_AS(type, error != NULL, boundary == NULL);
        if (boundary)
            CHECK_SLICE_AS(type, found, SLICE("[a|-|-|-1|1]"));
    }
    check(multipart_is("multipart/form-data"), "also without a boundary");
    check(multipart_is("MULTIPART/FORM-DATA ; boundary=b"), "case and space");
    check(!multipart_is("multipart/mixed; boundary=b"), "another multipart");
    check(!multipart_is("multipart/form-data2"), "a longer name");
    check(!multipart_is(NULL), "no Content-Type");
}

/* --- bodies, with the boundary b --- */

#define D   "Content-Disposition: form-data; "
#define B   "--b\r\n"
#define END "\r\n--b--\r\n"

static const struct {
    const char *body;
    const char *found; /* NULL: refused */
    const char *says;  /* a part of the reason */
} bodies[] = {
    {B D "name=\"a\"\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    {B D "name=\"a\"\r\n\r\n" END, "[a|-|-|-1|]", NULL},
    {B D "name=\"a\"\r\n\r\n--b--\r\n", "[a|-|-|-1|]", NULL},
    {B D "name=\"a\"\r\n\r\n1\r\n" B D "name=\"c\"\r\n\r\n2" END, "[a|-|-|-1|1][c|-|-|-1|2]", NULL},
    {B D "name=\"a\"\r\n\r\n" B D "name=\"c\"\r\n\r\n2" END, "[a|-|-|-1|][c|-|-|-1|2]", NULL},
    {"--b--\r\n", "", NULL},
    {"--b--", "", NULL},
    /* before and after */
    {"a preamble\r\n" B D "name=\"a\"\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    {"\r\n" B D "name=\"a\"\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    {"x--b\r\n--bb", NULL, "boundary"},
    {B D "name=\"a\"\r\n\r\n1" END "an epilogue\r\n--b\r\n", "[a|-|-|-1|1]", NULL},
    {B D "name=\"a\"\r\n\r\n1\r\n--b--", "[a|-|-|-1|1]", NULL},
    {"--b \t \r\n" D "name=\"a\"\r\n\r\n1\r\n--b--", "[a|-|-|-1|1]", NULL},
    /* lines that resemble a boundary */
    {B D "name=\"a\"\r\n\r\nx--b\r\n\r\n-b\r\n--\r\n--c\r\n\r\r\n" END,
     "[a|-|-|-1|x--b\r\n\r\n-b\r\n--\r\n--c\r\n\r\r\n]", NULL},
    {B D "name=\"a\"\r\n\r\n1\r\n--bc\r\n" END, NULL, "followed by CR LF"},
    /* line ends */
    {"--b\n" D "name=\"a\"\n\n1\n--b--\n", NULL, "CR LF"},
    {"x\n--b\r\n" D "name=\"a\"\r\n\r\n1" END, "", NULL},
    {B D "name=\"a\"\nX: y\r\n\r\n1" END, NULL, "CR LF"},
    {B D "name=\"a\"\rX: y\r\n\r\n1" END, NULL, "control"},
    {B D "name=\"a\"\r\n\r\n1\n--b--\r\n", NULL, "closing boundary"},
    {B D "name=\"a\"\r\n\r\n1\r\n--b-", NULL, "closing boundary"},
    {B D "name=\"a\"\r\n\r\n1\r\n--b-x", NULL, "followed by CR LF"},
    {"", NULL, "boundary"},
    {"{\"json\":1}", NULL, "boundary"},
    /* Content-Disposition */
    {B "X: y\r\n\r\n1" END, NULL, "Content-Disposition"},
    {B "\r\n1" END, NULL, "Content-Disposition"},
    {B "Content-Disposition: attachment; name=\"a\"\r\n\r\n1" END, NULL, "form-data"},
    {B "Content-Disposition: form-data\r\n\r\n1" END, NULL, "name"},
    {B "Content-Disposition: form-data; filename=\"a\"\r\n\r\n1" END, NULL, "name"},
    {B D "name=\"a\r\n\r\n1" END, NULL, "Content-Disposition"},
    {B D "name\r\n\r\n1" END, NULL, "Content-Disposition"},
    {B D "name=\"a\" x\r\n\r\n1" END, NULL, "Content-Disposition"},
    {B D "name=\"a\"; name=\"c\"\r\n\r\n1" END, NULL, "twice"},
    {B D "name=\"a\"; filename=\"x\"; filename=\"y\"\r\n\r\n1" END, NULL, "twice"},
    {B D "name=\"a\"\r\n" D "name=\"c\"\r\n\r\n1" END, NULL, "two"},
    {B D "name=a\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    {B D "name=\"\"\r\n\r\n1" END, "[|-|-|-1|1]", NULL},
    {B "content-DISPOSITION:form-data;NAME=\"a\"\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    {B "Content-Disposition: form-data;\r\n name=\"a\"\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    {B "Content-Disposition: form-data;\r\n\tname=\"a\"\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    {B D "name=\"a\"; x=\"y\"; filename=\"f\"\r\n\r\n1" END, "[a|f|-|-1|1]", NULL},
    /* file names */
    {B D "name=\"a\"; filename=\"photo 1.jpg\"\r\n\r\n1" END, "[a|photo 1.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename=photo.jpg\r\n\r\n1" END, "[a|photo.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename=\"\"\r\n\r\n1" END, "[a||-|-1|1]", NULL},
    {B D "name=\"a\"; filename=\"a;b=c.jpg\"\r\n\r\n1" END, "[a|a;b=c.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename=\"f\xc3\xbc.jpg\"\r\n\r\n1" END, "[a|f\xc3\xbc.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename=\"f\xfc.jpg\"\r\n\r\n1" END, "[a|f\xfc.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename=\"x\\\"y\\\\z.jpg\"\r\n\r\n1" END, "[a|x\"y\\z.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename=\"C:\\dir\\f.jpg\"\r\n\r\n1" END, "[a|C:\\dir\\f.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename=\"%22.jpg\"\r\n\r\n1" END, "[a|%22.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename*=UTF-8''f%C3%BC.jpg\r\n\r\n1" END, "[a|f\xc3\xbc.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename*=utf-8'de'f%c3%bc; filename=\"f.jpg\"\r\n\r\n1" END,
     "[a|f\xc3\xbc|-|-1|1]", NULL},
    {B D "name=\"a\"; filename=\"f.jpg\"; filename*=UTF-8''f%C3%BC\r\n\r\n1" END,
     "[a|f\xc3\xbc|-|-1|1]", NULL},
    {B D "name=\"a\"; filename=\"f.jpg\"; filename*=UTF-8''f%C3\r\n\r\n1" END, "[a|f.jpg|-|-1|1]",
     NULL},
    {B D "name=\"a\"; filename=\"f.jpg\"; filename*=UTF-8''f%0\r\n\r\n1" END, "[a|f.jpg|-|-1|1]",
     NULL},
    {B D "name=\"a\"; filename=\"f.jpg\"; filename*=UTF-8''f%00\r\n\r\n1" END, "[a|f.jpg|-|-1|1]",
     NULL},
    {B D "name=\"a\"; filename=\"f.jpg\"; filename*=ISO-8859-1''f%FC\r\n\r\n1" END,
     "[a|f.jpg|-|-1|1]", NULL},
    {B D "name=\"a\"; filename*=nonsense\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    /* the other headers */
    {B D "name=\"a\"\r\nContent-Type: image/jpeg; x=y\r\n\r\n1" END, "[a|-|image/jpeg; x=y|-1|1]",
     NULL},
    {B "Content-Type: image/jpeg\r\n" D "name=\"a\"\r\n\r\n1" END, "[a|-|image/jpeg|-1|1]", NULL},
    {B D "name=\"a\"\r\nContent-Length: 17\r\n\r\n1" END, "[a|-|-|17|1]", NULL},
    {B D "name=\"a\"\r\nContent-Length: x\r\n\r\n1" END, NULL, "Content-Length"},
    {B D "name=\"a\"\r\nContent-Length: -1\r\n\r\n1" END, NULL, "Content-Length"},
    {B D "name=\"a\"\r\nContent-Length:\r\n\r\n1" END, NULL, "Content-Length"},
    {B D "name=\"a\"\r\nContent-Length: 9999999999999999999\r\n\r\n1" END, NULL, "Content-Length"},
    {B D "name=\"a\"\r\nContent-Transfer-Encoding: binary\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    {B D "name=\"a\"\r\nContent-Transfer-Encoding: base64\r\n\r\nMQ==" END, NULL,
     "Content-Transfer-Encoding"},
    {B D "name=\"a\"\r\nX-Other: y\r\n\r\n1" END, "[a|-|-|-1|1]", NULL},
    {B D "name=\"a\"\r\nno colon\r\n\r\n1" END, NULL, "colon"},
    {B D "name=\"a\"\r\nbad name: y\r\n\r\n1" END, NULL, "name"},
    {B D "name=\"a\"\r\n: y\r\n\r\n1" END, NULL, "name"},
    /* a form inside a part is content */
    {B D "name=\"a\"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--" END,
     "[a|-|multipart/mixed; boundary=c|-1|--c\r\n\r\nx\r\n--c--]", NULL},
};

enum { BODIES = sizeof bodies / sizeof *bodies };

static const char type_b[] = "multipart/form-data; boundary=b";

static void check_body(size_t i, struct source source) {
    const char *error;
    struct slice found = read_form(type_b, source, &error);
    if (bodies[i].found) {
        CHECK_SLICE_AS(bodies[i].body, found, slice_of(bodies[i].found));
    } else {
        CHECK_INTEGER_AS(bodies[i].body, found.p != NULL, false);
        CHECK_HOLDS_AS(bodies[i].body, error, bodies[i].says);
    }
    arena_reset(&arena);
}

/* Each body in one piece, byte by byte, and in two pieces split at every byte. */
static void check_bodies(void) {
    for (size_t i = 0; i < BODIES; i++) {
        struct slice body = slice_of(bodies[i].body);
        check_body(i, (struct source){body, 0, body.n + 1});
        check_body(i, (struct source){body, 0, 1});
        for (size_t first = 1; first < body.n; first++)
            check_body(i, (struct source){body, first, body.n});
    }
}

/* --- truncated bodies --- */

/* A body without a complete closing boundary is refused; bytes after the boundary are ignored. */
static void check_truncations(void) {
    static const char body[] = B D "name=\"file\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg"
                                   "\r\n\r\n\xff\xd8\r\n--\r\n--a--b\r\n\r\n\r\n" B D
                                   "name=\"phoneNumberId\"\r\n\r\n106\r\n--b--\r\nepilogue";
    static const char wanted[] = "[file|a.jpg|image/jpeg|-1|\xff\xd8\r\n--\r\n--a--b\r\n\r\n]"
                                 "[phoneNumberId|-|-|-1|106]";
    size_t end = sizeof body - 1 - strlen("\r\nepilogue");
    for (size_t n = 0; n < sizeof body; n++) {
        const char *error, *label = arena_printf(&arena, "the first %zu bytes", n);
        struct slice found = read_whole(type_b, (struct slice){body, n}, &error);
        if (n >= end)
            CHECK_SLICE_AS(label, found, SLICE(wanted));
        else
            CHECK_HOLDS_AS(label, error, "boundary");
        CHECK_INTEGER_AS(label, found.p != NULL, n >= end);
        arena_reset(&arena);
    }
}

/* --- sizes --- */

static struct buffer repeated(size_t count, const char *text) {
    struct buffer body = buffer_in(&arena);
    for (size_t i = 0; i < count; i++)
        buffer_add_text(&body, text);
    return body;
}

static void check_part_count(size_t count, bool is_read) {
    const char *error;
    struct buffer body = repeated(count, B D "name=\"a\"\r\n\r\n1\r\n");
    buffer_add_text(&body, "--b--\r\n");
    struct slice found = read_whole(type_b, buffer_slice(&body), &error);
    check((found.p != NULL) == is_read, "%zu parts", count);
    if (!is_read)
        CHECK_HOLDS(error, "100 parts");
    arena_reset(&arena);
}

static void check_header_size(size_t size, bool is_read) {
    const char *error;
    struct buffer body = buffer_in(&arena), line = repeated(size, "x");
    buffer_printf(&body, B D "name=\"a\"\r\nX: %s\r\n\r\n1" END, line.p);
    struct slice found = read_whole(type_b, buffer_slice(&body), &error);
    check((found.p != NULL) == is_read, "a header of %zu bytes", size);
    if (!is_read)
        CHECK_HOLDS(error, "16 KB");
    arena_reset(&arena);
}

/* Content much larger than the window, in which every line begins like a boundary. Over the steps
 * the window ends at every byte of the pattern. */
static void check_large_content(size_t step) {
    const char *error;
    struct buffer content = repeated(60000, "\r\n--a\r\n-\r\r\n--");
    struct buffer body = buffer_in(&arena), wanted = buffer_in(&arena);
    buffer_add_text(&body, B D "name=\"a\"\r\n\r\n");
    buffer_add_slice(&body, buffer_slice(&content));
    buffer_add_text(&body, END);
    buffer_add_text(&wanted, "[a|-|-|-1|");
    buffer_add_slice(&wanted, buffer_slice(&content));
    buffer_add_char(&wanted, ']');
    struct slice found = read_form(type_b, (struct source){buffer_slice(&body), 0, step}, &error);
    check(slice_equal(found, buffer_slice(&wanted)), "in steps of %zu bytes", step);
    arena_reset(&arena);
}

/* --- the source, and the end --- */

static void check_source_failure(void) {
    struct multipart form;
    struct part part;
    CHECK_INTEGER(multipart_start(&form, &arena, type_b, give_nothing, NULL), 0);
    CHECK_INTEGER(multipart_next(&form, &part), -1);
    CHECK(!form.error);
    CHECK_INTEGER(multipart_next(&form, &part), -1);
}

/* A part that is not read is skipped; after the end there are no parts and no bytes. */
static void check_skipping(void) {
    struct source source = {SLICE(B D "name=\"a\"\r\n\r\n1\r\n" B D "name=\"c\"\r\n\r\n2" END), 0,
                            7};
    struct multipart form;
    struct part part;
    struct slice bytes;
    CHECK_INTEGER(multipart_start(&form, &arena, type_b, give, &source), 0);
    CHECK_INTEGER(multipart_next(&form, &part), 1);
    CHECK_INTEGER(multipart_next(&form, &part), 1);
    CHECK_TEXT(part.name, "c");
    CHECK_INTEGER(multipart_next(&form, &part), 0);
    CHECK_INTEGER(multipart_read(&form, &bytes), 0);
    CHECK_INTEGER(multipart_next(&form, &part), 0);
}

int main(void) {
    arena_init(&arena, CAP, NULL);
    check_boundaries();
    check_bodies();
    check_truncations();
    check_part_count(100, true);
    check_part_count(101, false);
    check_part_count(10000, false);
    check_header_size(16000, true);
    check_header_size(64 * 1024, false);
    check_header_size(1024 * 1024, false);
    for (size_t step = 4096; step < 4096 + 14; step++)
        check_large_content(step);
    check_large_content(1024 * 1024);
    check_source_failure();
    check_skipping();
    arena_free(&arena);
    return check_failures();
}
