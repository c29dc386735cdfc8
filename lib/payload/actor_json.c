#include "payload/actor_json.h"

void actor_json_write(struct json_writer *w, const char *name, const struct actor *actor) {
    if (!actor->id) {
        json_write_null(w, name);
        return;
    }
    json_write_object(w, name);
    json_write_text(w, "id", actor->id);
    json_write_text(w, "name", actor->name);
    json_write_end(w);
}
