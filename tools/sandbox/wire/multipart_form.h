/* The file in a multipart/form-data body that was read whole. */
#ifndef SANDBOX_MULTIPART_FORM_H
#define SANDBOX_MULTIPART_FORM_H

#include "wire/exchange.h"

/* Sets `*bytes` to the content of the first part with the name `file`; p NULL: there is none.
 * Returns NULL, or the error in the body as a text. */
const char *form_file(const struct exchange *exchange, struct slice *bytes);

#endif
