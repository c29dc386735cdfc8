/* The settings of a number and those of its shop. Called under the lock of the state. */
#ifndef SANDBOX_PHONE_SETTINGS_H
#define SANDBOX_PHONE_SETTINGS_H

#include "state/graph_target.h"

/* GET and POST /{phone-number-id}/settings. */
void phone_settings_show(struct exchange *exchange, const struct target *target);
void phone_settings_change(struct exchange *exchange, const struct target *target);

/* GET and POST /{phone-number-id}/whatsapp_commerce_settings. */
void commerce_settings_show(struct exchange *exchange, const struct target *target);
void commerce_settings_change(struct exchange *exchange, const struct target *target);

#endif
