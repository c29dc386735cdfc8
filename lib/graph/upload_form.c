#include "graph/upload_form.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/header.h"
#include "base/id.h"

#define PART "--%s\r\nContent-Disposition: form-data; name=\"%s\""

struct upload_form upload_form_make(struct arena *arena, const struct upload_text *texts,
                                    const char *file_name, const char *file_type) {
    struct buffer head = buffer_in(arena);
    char boundary[ID_SIZE];
    id_make(boundary, "part-", clock_now()); /* 80 random bits, so no file contains it */
    for (; texts->name; texts++)
        buffer_printf(&head, PART "\r\n\r\n%s\r\n", boundary, texts->name, texts->value);
    buffer_printf(&head, PART "; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n", boundary, "file",
                  header_file_name(arena, file_name), file_type);
    return (struct upload_form){
        .head = buffer_slice(&head),
        .tail = slice_of(arena_printf(arena, "\r\n--%s--\r\n", boundary)),
        .type = arena_printf(arena, "multipart/form-data; boundary=%s", boundary)};
}
