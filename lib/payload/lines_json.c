#include "payload/lines_json.h"

void words_json_write(struct json_writer *out, const char *name, struct slice words) {
    json_write_array(out, name);
    while (words.n)
        json_write_string(out, NULL, slice_cut(&words, ' '));
    json_write_end(out);
}

void lines_json_write(struct json_writer *out, const char *name, const char *line_ids) {
    if (line_ids)
        words_json_write(out, name, slice_of(line_ids));
    else
        json_write_null(out, name);
}
