#include "payload/person_json.h"

void contact_write_person(struct json_writer *w, const struct contact *contact) {
    json_write_text(w, "phone", contact->phone);
    json_write_text(w, "userId", contact->bsuid);
#define WRITE(number, column, json, title) json_write_text(w, json, contact->column);
    CONTACT_PROFILE(WRITE)
#undef WRITE
}

void contact_json_write(struct json_writer *w, const struct contact *contact) {
    if (!contact->id) {
        json_write_null(w, "contact");
        return;
    }
    json_write_object(w, "contact");
    json_write_text(w, "id", contact->id);
    contact_write_person(w, contact);
    json_write_end(w);
}

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

void opt_out_json_write(struct json_writer *out, const struct store_opt_out *row) {
    json_write_object(out, NULL);
    json_write_text(out, "identity", row->identity);
    json_write_text(out, "source", row->source);
    json_write_time(out, "since", row->since);
    json_write_end(out);
}
