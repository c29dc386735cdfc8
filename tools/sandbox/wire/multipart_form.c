#include "wire/multipart_form.h"

#include "wire/multipart_stream.h"

struct form {
    struct arena *arena; /* of the request */
    struct buffer value; /* of the part that is read */
    struct slice file;
    bool in_file;
};

static void form_part_begin(void *cls, const char *headers) {
    struct form *form = cls;
    const char *disposition = part_header(form->arena, headers, "Content-Disposition");
    const char *name = header_parameter(form->arena, disposition, "name");
    form->in_file = !form->file.p && name && strcmp(name, "file") == 0;
    form->value = buffer_in(form->arena);
}

static void form_part_data(void *cls, struct slice piece) {
    struct form *form = cls;
    if (form->in_file)
        buffer_add_slice(&form->value, piece);
}

static void form_part_end(void *cls) {
    struct form *form = cls;
    if (form->in_file)
        form->file = form->value.n > 0 ? buffer_slice(&form->value) : SLICE("");
}

const char *form_file(const struct exchange *exchange, struct slice *bytes) {
    static const struct multipart_events events = {form_part_begin, form_part_data, form_part_end};
    struct form form = {.arena = exchange->arena};
    struct multipart multipart;
    multipart_start(&multipart, exchange->arena, exchange_header(exchange, "Content-Type"), &events,
                    &form);
    multipart_feed(&multipart, exchange_body(exchange));
    *bytes = form.file;
    return multipart_finish(&multipart);
}
