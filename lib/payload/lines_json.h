/* The lines that a member or a token may use, as the store keeps them: a list of ids, or null for
 * all. */
#ifndef SWITCHBOARD_LINES_JSON_H
#define SWITCHBOARD_LINES_JSON_H

#include "base/json.h"

/* The array of the words of a text, which are separated by one space. */
void words_json_write(struct json_writer *out, const char *name, struct slice words);

void lines_json_write(struct json_writer *out, const char *name, const char *line_ids);

#endif
