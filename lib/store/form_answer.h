/* The answers to a form: the replies to a flow that were stored (spec 2.6). */
#ifndef SWITCHBOARD_STORE_FORM_ANSWER_H
#define SWITCHBOARD_STORE_FORM_ANSWER_H

#include "store/listing.h"

struct store_form_answer {
    const char *message_id, *wamid, *thread_id;
    int64_t received_at;
    struct {
        const char *id, *name, *phone, *bsuid; /* except id NULL: not known */
    } contact;
    struct slice body; /* the platform's message object */
};

/* Finds the user's account that has this flow or answers to it. STORE_NOT_FOUND: none. */
enum store_result store_find_form_account(struct store *store, const char *user_id,
                                          const char *flow_id, char account_id[ID_SIZE]);

/* Lists the answers to the flow, the newest first: at most `page->limit` of those before the
 * message `page->after`, which need not exist; NULL: the newest ones. */
enum store_result store_list_form_answers(struct store *store, struct arena *arena,
                                          const char *account_id, const char *flow_id,
                                          const struct store_page *page,
                                          struct store_form_answer **answers, size_t *count);

#endif
