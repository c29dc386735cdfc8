/* The platform's errors: their codes, HTTP status and texts. */
#ifndef SANDBOX_GRAPH_ERROR_H
#define SANDBOX_GRAPH_ERROR_H

#include "exchange.h"

/* Answers with the error of that code: HTTP status, type, subcode and texts come from the table
 * where they are not given (message and details may be NULL, subcode 0). Unknown codes are 400. */
void reply_error_as(struct exchange *exchange, int code, int subcode, const char *message,
                    const char *details);

/* The same with a message, or with details below the table's message. */
void reply_error(struct exchange *exchange, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reply_error_details(struct exchange *exchange, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* 400, code 100, subcode 33: the object does not exist or is somebody else's. */
void reply_unknown_object(struct exchange *exchange, const char *id);

/* The error object of a webhook: code, title, message, error_data, href. */
void graph_error_webhook(struct bytes *out, int code, const char *details);

/* A trace id as the platform makes them, for answers and headers; out holds 24 bytes. */
void trace_id(char out[24]);

#endif
