/* The parameters of a request to an edge, wherever the client put them: in a JSON object, in the
 * fields of a form, or in the query (request_body.c). */
#ifndef SANDBOX_PARAMETERS_H
#define SANDBOX_PARAMETERS_H

#include "text/json_fields.h"
#include "wire/exchange.h"

/* Returns a parameter of a request that is no GET, NULL when it is absent or null. A text that is a
 * JSON object or a list is parsed. */
const cJSON *parameter(struct exchange *exchange, const char *name);

/* Returns a parameter of any request as a text in the memory of the exchange: a string, or a number
 * or a flag as it is printed; NULL when it is absent or another value. */
const char *parameter_text(struct exchange *exchange, const char *name);

/* The same, with the error `The parameter NAME is required` as the answer when it is NULL or
 * empty. */
const char *parameter_needed(struct exchange *exchange, const char *name);

/* Sets `*flag` when the parameter is there. Returns false after answering with an error when it is
 * neither true nor false. */
bool parameter_flag(struct exchange *exchange, const char *name, bool *flag);

/* Whether messaging_product is whatsapp; else answers with the error. */
bool parameter_product(struct exchange *exchange);

/* Answers {"success":true}. */
void reply_success(struct exchange *exchange);

#endif
