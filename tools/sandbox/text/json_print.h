/* The printing of JSON in the platform's form: compact, `\/`, each character beyond ASCII as
 * lower-case \uXXXX. */
#ifndef SANDBOX_JSON_PRINT_H
#define SANDBOX_JSON_PRINT_H

#include <cjson/cJSON.h>

#include "base/buffer.h"

/* Appends `text` as a JSON string. A byte that is not valid UTF-8 becomes \ufffd. */
void json_quote(struct buffer *out, struct slice text);

/* Appends the C string `text` as a JSON string; NULL as null. */
void json_quote_text(struct buffer *out, const char *text);

/* Appends a whole value. */
void json_print(struct buffer *out, const cJSON *value);

#endif
