/* The bodies that webhooks of the kind forward get of a POST of the platform.
 *
 * A body is made of the bytes of the POST. It is the whole POST when nothing is left out; else an
 * object with `object` and `entry`, which holds the bytes of the entries that are kept. Where a
 * change of an entry is left out, the entry keeps its other members and changes, unchanged.
 *
 * An entry belongs to the account that its `id` names. An entry without changes, or a change
 * without the member `field`, is kept only where all fields are wanted. Of several members with one
 * name the last counts, and a body that is not the whole POST has no other `entry` and `changes`
 * than that.
 *
 * When messages are split, a body has one entry with one change, and in its value one message, one
 * status or one echo; the other members of the value stay, and the cards of `contacts` that are not
 * about the person of the message are left out when there is one that is.
 */
#ifndef SWITCHBOARD_PAYLOAD_FORWARD_BODY_H
#define SWITCHBOARD_PAYLOAD_FORWARD_BODY_H

#include "base/json.h"
#include "store/forward.h"

/* A POST: its bytes, and the value that json_read made of all of them. */
struct forward_post {
    struct slice body;
    struct json value;
};

/* Returns the POST for the store, with all that its entries and changes are about; in `arena`. A
 * place is repeated only where others stand between. `post` must stay valid. */
struct store_post forward_body_post(struct forward_post *post, struct arena *arena);

/* The forward_maker of a POST; `context` is its struct forward_post. The recipes are in the order
 * of the text. */
void forward_body_make(void *context, struct arena *arena,
                       const struct forward_selection *selection, struct forward_recipe **recipes,
                       size_t *count);

#endif
