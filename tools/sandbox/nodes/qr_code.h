/* The QR codes and short links of a number: /{phone-number-id}/message_qrdls. Called under the lock
 * of the state. */
#ifndef SANDBOX_QR_CODE_H
#define SANDBOX_QR_CODE_H

#include "state/graph_target.h"

/* GET and POST of the edge, and GET and DELETE of one code, which is the segment after it. */
void qr_code_list(struct exchange *exchange, const struct target *target);
void qr_code_put(struct exchange *exchange, const struct target *target);
void qr_code_show(struct exchange *exchange, const struct target *target);
void qr_code_delete(struct exchange *exchange, const struct target *target);

/* Deletes the codes of all numbers. */
void qr_code_clear(void);

#endif
