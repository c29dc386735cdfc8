/* MIME types: parsing, types of file names, and file name extensions (spec 4.6). */
#include "payload/mime.h"
#include "compare.h"

static struct arena arena;

static const struct {
    const char *text, *type; /* NULL: no type */
} values[] = {
    {"image/jpeg", "image/jpeg"},
    {"Image/JPEG", "image/jpeg"},
    {" image/jpeg ", "image/jpeg"},
    {"audio/ogg; codecs=opus", "audio/ogg"},
    {"audio/ogg;codecs=opus", "audio/ogg"},
    {"text/plain ;charset=utf-8", "text/plain"},
    {"application/vnd.ms-excel", "application/vnd.ms-excel"},
    {"image/svg+xml", "image/svg+xml"},
    {NULL, NULL},
    {"", NULL},
    {";", NULL},
    {"image", NULL},
    {"image/", NULL},
    {"/jpeg", NULL},
    {"image/jpeg/x", NULL},
    {"image /jpeg", NULL},
    {"image/jp eg", NULL},
    {"image/jpeg\r\nX: y", NULL},
    {"image/jpeg\"", NULL},
    {"im\xc3\xa4ge/jpeg", NULL},
};

static const struct {
    const char *name, *type;
} names[] = {
    {"photo.jpg", "image/jpeg"},
    {"photo.JPEG", "image/jpeg"},
    {"a.b.pdf", "application/pdf"},
    {".pdf", "application/pdf"},
    {"voice.ogg", "audio/ogg"},
    {"pdf", NULL},
    {"a.pdf.", NULL},
    {"a.pdf2", NULL},
    {"", NULL},
};

static const struct {
    const char *type, *extension;
} extensions[] = {
    {"image/jpeg", ".jpg"},
    {"audio/mpeg", ".mp3"},
    {"audio/mp4", ".m4a"},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"},
    {"application/octet-stream", ""},
    {"text/html", ""},
};

int main(void) {
    arena_init(&arena, 1024 * 1024, NULL);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        CHECK_TEXT_AS(values[i].text, mime_read(&arena, values[i].text), values[i].type);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_TEXT_AS(names[i].name, mime_of_name(names[i].name), names[i].type);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        CHECK_TEXT_AS(extensions[i].type, mime_extension(extensions[i].type),
                      extensions[i].extension);
    CHECK(mime_is_generic("application/octet-stream"));
    CHECK(mime_is_generic("application/x-www-form-urlencoded"));
    CHECK(!mime_is_generic("image/jpeg"));
    arena_free(&arena);
    return check_failures();
}
