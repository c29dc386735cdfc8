#include "payload/opt_out_json.h"

void opt_out_json_write(struct json_writer *out, const struct store_opt_out *row) {
    json_write_object(out, NULL);
    json_write_text(out, "identity", row->identity);
    json_write_text(out, "source", row->source);
    json_write_time(out, "since", row->since);
    json_write_end(out);
}
