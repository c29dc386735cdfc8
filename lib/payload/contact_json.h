/* The identities and the profile of a contact in JSON: in answers, events and lists of the CLI. */
#ifndef SWITCHBOARD_CONTACT_JSON_H
#define SWITCHBOARD_CONTACT_JSON_H

#include "base/json.h"
#include "store/contact.h"

/* Writes the members `phone`, `userId` and those of the profile into the open object; null: not
 * known. */
void contact_write_person(struct json_writer *w, const struct contact *contact);

#endif
