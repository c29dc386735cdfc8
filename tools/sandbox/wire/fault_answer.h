/* The answers that faults make instead of the platform. */
#ifndef SANDBOX_FAULT_ANSWER_H
#define SANDBOX_FAULT_ANSWER_H

#include "wire/faults.h"

/* Whether the fault answers instead of the platform, so that the request is not carried out. */
bool fault_replaces(const struct fault *fault);

/* Makes the answer of the exchange's fault. */
void fault_answer(struct exchange *exchange);

#endif
