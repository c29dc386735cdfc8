#include "control/control_reply.h"

#include "text/json_print.h"

void control_refuse(struct exchange *exchange, int status, const char *problem) {
    struct buffer *out = &exchange->reply.body;
    out->n = 0;
    exchange->reply.status = status;
    buffer_add_text(out, "{\"error\":");
    json_quote_text(out, problem);
    buffer_add_text(out, "}\n");
}

void control_done(struct exchange *exchange, const char *problem) {
    if (problem)
        control_refuse(exchange, 400, problem);
    else
        buffer_add_text(&exchange->reply.body, "{\"done\":true}");
}

void control_found(struct exchange *exchange, bool found) {
    if (!found)
        control_refuse(exchange, 404, "there is none");
}
