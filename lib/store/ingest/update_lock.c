#include "store/ingest/update_lock.h"

#include "store/inbox/contact.h"

/* The identities and the ids of messages that the updates of an account name. */
struct names {
    const char **identities, **messages; /* NULL: the names are only counted */
    size_t identity_count, message_count;
};

static void add_message_id(struct names *names, const char *wamid) {
    if (wamid && names->messages)
        names->messages[names->message_count] = wamid;
    names->message_count += wamid != NULL;
}

static void add_who(struct names *names, const struct store_identity *who) {
    const char *const identities[] = {who->phone, who->bsuid, who->parent_bsuid};
    for (size_t i = 0; i < 3; i++) {
        if (identities[i] && names->identities)
            names->identities[names->identity_count] = identities[i];
        names->identity_count += identities[i] != NULL;
    }
}

static void add_names(struct names *names, const struct store_update *update) {
    switch (update->kind) {
    case UPDATE_MESSAGE:
    case UPDATE_ECHO:
    case UPDATE_HISTORY:
        add_who(names, &update->message.who);
        add_message_id(names, update->message.wamid);
        return;
    case UPDATE_STATUS:
        add_who(names, &update->status.who);
        add_message_id(names, update->status.wamid);
        return;
    case UPDATE_IDENTITY:
        add_who(names, &update->identity.before);
        add_who(names, &update->identity.after);
        return;
    case UPDATE_LEAD: add_message_id(names, update->lead.wamid); return;
    case UPDATE_OTHER: add_who(names, &update->other.who); return;
    case UPDATE_TEMPLATE:
    case UPDATE_FLOW: return;
    }
}

/* Adds the names of all updates of the account. */
static void add_all_names(struct names *names, const char *account_id,
                          const struct store_update *updates, const struct update_run *runs,
                          size_t count) {
    for (size_t run = 0, i = 0; run < count; i = runs[run++].end)
        for (; i < runs[run].end && is_set_and_equal(runs[run].owner.account_id, account_id); i++)
            add_names(names, &updates[i]);
}

/* Finds the account with the least id after `after`; NULL: there is none. */
static const char *next_account(const struct update_run *runs, size_t count, const char *after) {
    const char *least = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *id = runs[i].owner.account_id;
        if (id && strcmp(id, after) > 0 && (!least || strcmp(id, least) < 0))
            least = id;
    }
    return least;
}

/* Locks the counters of the users, if there are several: one is locked when it is raised. */
static void lock_users(struct ingest *in, const struct update_run *runs, size_t count) {
    const char **users = arena_alloc(in->arena, count * sizeof *users);
    bool are_several = false;
    for (size_t i = 0, last = 0; i < count; i++) {
        users[i] = runs[i].owner.user_id;
        are_several =
            are_several || (users[i] && users[last] && strcmp(users[i], users[last]) != 0);
        last = users[i] ? i : last;
    }
    if (are_several)
        sql_lock(in->store, LOCK_COUNTERS, NULL, users, count);
}

/* Without names a lock would be that of the whole account. */
void update_lock_all(struct ingest *in, const struct store_update *updates,
                     const struct update_run *runs, size_t count) {
    for (const char *id = ""; (id = next_account(runs, count, id));) {
        struct names names = {0};
        add_all_names(&names, id, updates, runs, count);
        names.identities = arena_alloc(in->arena, names.identity_count * sizeof(char *));
        names.messages = arena_alloc(in->arena, names.message_count * sizeof(char *));
        names.identity_count = names.message_count = 0;
        add_all_names(&names, id, updates, runs, count);
        if (names.identity_count)
            sql_lock(in->store, LOCK_IDENTITY, id, names.identities, names.identity_count);
        if (names.message_count)
            sql_lock(in->store, LOCK_MESSAGE, id, names.messages, names.message_count);
        arena_reset(in->arena);
    }
    lock_users(in, runs, count);
    arena_reset(in->arena);
}
