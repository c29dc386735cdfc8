/* The platform's errors: their codes, HTTP status and texts. */
#ifndef SANDBOX_GRAPH_ERROR_H
#define SANDBOX_GRAPH_ERROR_H

#include "wire/exchange.h"

enum { TRACE_ID_SIZE = 24 };

/* Replaces the answer by the error of that code. HTTP status and type come from a table, and so do
 * message and details when NULL, and the subcode when 0. An unknown code has status 400. */
void reply_error_as(struct exchange *exchange, int code, int subcode, const char *message,
                    const char *details);

/* The same with a formatted message. */
void reply_error(struct exchange *exchange, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with formatted details below the message of the table. */
void reply_error_details(struct exchange *exchange, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Answers 400, code 100 with that subcode and with a title and a message for people. */
void reply_error_user(struct exchange *exchange, int subcode, const char *title,
                      const char *message);

/* Answers 400, code 100, subcode 33: the object does not exist or belongs to another account. With
 * the id "", which stands for the root of a version, there is no subcode. */
void reply_unknown_object(struct exchange *exchange, const char *id);

/* Appends the error object of a webhook: code, title, message, error_data, href. */
void graph_error_webhook(struct buffer *out, int code);

/* Writes a random trace id in the platform's form, for answers and headers. */
void trace_id(char out[TRACE_ID_SIZE]);

#endif
