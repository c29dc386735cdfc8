/* The GET that verifies a webhook URL, and the control call that sends it (POST webhooks/verify).
 */
#ifndef SANDBOX_WEBHOOK_VERIFY_H
#define SANDBOX_WEBHOOK_VERIFY_H

#include "webhooks/webhook_job.h"

/* What is NULL is taken from the settings, or is a default: mode subscribe, a random challenge. */
struct verification {
    const char *url;
    const char *verify_token;
    const char *challenge;
    const char *mode;
};

/* Makes the verification GET the one post of the job. There is a URL here or in the settings.
 * Called under the lock of the state. */
void verification_fill(struct job *job, const struct verification *options);

/* Sends the verification GET and holds the connection until it is answered. Called under the read
 * lock of the state. Returns NULL, or the text of an error, which lives as long as the exchange. */
const char *webhook_verify(struct exchange *exchange);

#endif
