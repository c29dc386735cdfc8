/* Ids that the program generates: text, unique, sorted by the time of their creation. */
#ifndef SWITCHBOARD_ID_H
#define SWITCHBOARD_ID_H

#include <stdint.h>

enum { ID_SIZE = 32 }; /* prefix of at most 5 bytes, 26 characters, NUL */

/* Writes `prefix` (such as "evt_", at most 5 bytes) and a ULID: 48 bits of `now_ms` and 80 random
 * bits as 26 characters of Crockford's base 32, lower case. Ids that one process makes in the same
 * millisecond sort in the order of their creation: each increments the previous id's random bits.
 */
void id_make(char id[ID_SIZE], const char *prefix, int64_t now_ms);

/* Writes the least id that id_make can return at the time `ms`: ids made at that time or later do
 * not sort before it. A time before 1970 counts as 1970. */
void id_least(char id[ID_SIZE], const char *prefix, int64_t ms);

#endif
