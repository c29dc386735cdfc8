/* The creation, change and deletion of templates by clients. Called under the write lock of the
 * state. */
#ifndef SANDBOX_TEMPLATE_WRITE_H
#define SANDBOX_TEMPLATE_WRITE_H

#include "state/graph_target.h"

/* POST /{waba-id}/message_templates: the new template has the status PENDING. */
void template_create(struct exchange *exchange, const struct target *target);

/* POST /{template-id}: the status becomes PENDING again. */
void template_change(struct exchange *exchange, const struct target *target);

/* DELETE /{waba-id}/message_templates?name=, all languages, or with hsm_id= the one template. */
void template_delete(struct exchange *exchange, const struct target *target);

/* The control call: merges the object `change` into the template with this id, such as
 * {status:"APPROVED"}. Returns NULL, or the text of an error. */
const char *template_control(struct arena *arena, const char *id, const cJSON *change);

#endif
