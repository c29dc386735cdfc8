#include "graph/asset_form.h"

#include "base/buffer.h"
#include "base/crypto.h"

/* A text that does not occur in the file (RFC 2046 5.1.1): 128 random bits, so a Flow JSON that was
 * written before cannot have it. */
static const char *make_boundary(struct arena *arena) {
    unsigned char noise[16];
    crypto_random(noise, sizeof noise);
    return crypto_hex(arena, noise, sizeof noise);
}

static void add_text(struct buffer *form, const char *boundary, const char *name,
                     const char *value) {
    buffer_printf(form, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n",
                  boundary, name, value);
}

struct slice graph_asset_form(struct arena *arena, struct slice json, const char **type) {
    const char *boundary = make_boundary(arena);
    struct buffer form = buffer_in(arena);
    add_text(&form, boundary, "name", "flow.json");
    add_text(&form, boundary, "asset_type", "FLOW_JSON");
    buffer_printf(&form,
                  "--%s\r\nContent-Disposition: form-data; name=\"file\"; "
                  "filename=\"flow.json\"\r\nContent-Type: application/json\r\n\r\n",
                  boundary);
    buffer_add_slice(&form, json);
    buffer_printf(&form, "\r\n--%s--\r\n", boundary);
    *type = arena_printf(arena, "multipart/form-data; boundary=%s", boundary);
    return buffer_slice(&form);
}
