/* The platform's errors: their codes, HTTP status and texts. */
#ifndef SANDBOX_GRAPH_ERROR_H
#define SANDBOX_GRAPH_ERROR_H

#include "exchange.h"

/* Answers with the error of that code. HTTP status and type come from the table, and so do message
 * and details if NULL, and the subcode if 0. Unknown codes are 400. */
void reply_error_as(struct exchange *exchange, int code, int subcode, const char *message,
                    const char *details);

/* The same with a message, or with details below the table's message. */
void reply_error(struct exchange *exchange, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reply_error_details(struct exchange *exchange, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Answers 400, code 100, subcode 33: the object does not exist or belongs to another account. */
void reply_unknown_object(struct exchange *exchange, const char *id);

/* Appends the error object of a webhook: code, title, message, error_data, href. */
void graph_error_webhook(struct bytes *out, int code, const char *details);

/* Writes a trace id in the platform's form, for answers and headers, to the 24 bytes of out. */
void trace_id(char out[24]);

#endif
