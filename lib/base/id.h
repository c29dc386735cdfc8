/* Ids made by the program: text, unique, sortable by the time of their making. */
#ifndef SWITCHBOARD_ID_H
#define SWITCHBOARD_ID_H

#include <stdint.h>

enum { ID_SIZE = 32 }; /* prefix of at most 5 bytes, 26 characters, NUL */

/* Writes `prefix` (such as "evt_", at most 5 bytes) and a ULID: 48 bits of `now_ms` and 80 random
 * bits in 26 characters of Crockford's base 32, lower case. Those that one process makes in one
 * millisecond are counted up from random bits: they sort in the order of their making. */
void id_make(char id[ID_SIZE], const char *prefix, int64_t now_ms);

/* Writes the least id that id_make could give at the time `ms`: ids made from then on are not less.
 * Times before 1970 are 1970's. */
void id_least(char id[ID_SIZE], const char *prefix, int64_t ms);

#endif
