/* GET /{waba-id}/message_templates, GET /{template-id}, and the templates that sends use. All calls
 * are made under the lock of the state. */
#ifndef SANDBOX_TEMPLATE_LIST_H
#define SANDBOX_TEMPLATE_LIST_H

#include "state/graph_target.h"
#include "state/list_page.h"

/* All templates. */
extern struct collection templates;

/* Answers with a page of an account's templates, filtered by name, language, status and category of
 * the query. */
void template_list(struct exchange *exchange, const struct target *target);

/* Answers with the template of this id, which exists. */
void template_show(struct exchange *exchange, const struct target *target);

/* Returns the account of the template with this id, or NULL. */
const struct account *template_owner(const char *id);

/* Returns an account's template by name and language, or NULL. `arena` takes temporary texts. */
const struct item *template_find(struct arena *arena, const struct account *account,
                                 const char *name, const char *language);

/* Ends the review of a template that is PENDING, or pauses one that is APPROVED: sets its status
 * and the reason of a rejection. False if it is gone or has another status. Called under the write
 * lock.
 */
bool template_settle(const char *id, const char *status, const char *reason);

#endif
