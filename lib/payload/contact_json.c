#include "payload/contact_json.h"

void contact_write_person(struct json_writer *w, const struct contact *contact) {
    json_write_text(w, "phone", contact->phone);
    json_write_text(w, "userId", contact->bsuid);
#define WRITE(number, column, json, title) json_write_text(w, json, contact->column);
    CONTACT_PROFILE(WRITE)
#undef WRITE
}
