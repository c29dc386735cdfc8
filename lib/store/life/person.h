/* Internal to the store: what identifies a person, and whether bytes name the person. */
#ifndef SWITCHBOARD_STORE_PERSON_H
#define SWITCHBOARD_STORE_PERSON_H

#include "base/arena.h"

/* The names of a person, one a line: digits of phones, user ids, and ids of its contacts. */
struct person {
    struct slice names;
};

/* Whether one of the names is in the bytes, as a number or word of its own, or in an id of a
 * message
 * (`wamid.` and base64), which holds the phone. `arena` is for the call alone. */
bool person_is_named(const struct person *person, struct arena *arena, struct slice bytes);

/* Whether the platform's JSON names no other sender, recipient or card than the person. */
bool person_is_alone(const struct person *person, struct slice json);

/* Whether the text is one of the names. */
bool person_has(const struct person *person, const char *text);

#endif
