/* The owners of the updates of a payload, and its locks. */
#include "store/inbox/contact_find.h"
#include "store/ingest/ingest_update.h"

#define OWNER_COLUMNS "a.user_id, a.id, a.waba_id"
#define OF(member)    ROW_MEMBER(struct update_owner, member)
#define OWNER_MEMBERS OF(user_id), OF(account_id), OF(waba_id)
static const struct row_layout account_owner_layout =
    ROW_LAYOUT(struct update_owner, OWNER_MEMBERS);
static const struct row_layout line_owner_layout = ROW_LAYOUT(
    struct update_owner, OWNER_MEMBERS, OF(line_id), OF(phone_number_id), OF(is_archived));

/* Finds the owner of an update: the line, or the account where it names no line. is_foreign: the
 * line belongs to another account than the entry's WABA id. */
static bool find_owner(struct ingest *in, const struct store_update *update) {
    static struct statement by_line = {
        .sql = "SELECT " OWNER_COLUMNS ", l.id, l.phone_number_id, l.archived_at IS NOT NULL "
               "FROM line l JOIN account a ON a.id = l.account_id WHERE l.phone_number_id = ?1"};
    static struct statement by_account = {.sql = "SELECT " OWNER_COLUMNS
                                                 " FROM account a WHERE a.waba_id = ?1"};
    struct update_owner *owner = &in->owner;
    *owner = (struct update_owner){0};
    if (update->phone_number_id) {
        sql_start(in->store, &by_line, TEXT(update->phone_number_id));
        owner->is_foreign = row_find(in->store, &by_line, in->lasting, &line_owner_layout, owner) &&
                            update->waba_id &&
                            !is_equal_or_both_null(update->waba_id, owner->waba_id);
    } else {
        sql_start(in->store, &by_account, TEXT(update->waba_id));
        row_find(in->store, &by_account, in->lasting, &account_owner_layout, owner);
    }
    return !sql_failed(in->store);
}

bool update_owner_find_all(struct ingest *in, const struct store_update *updates, size_t count,
                           struct buffer *runs) {
    for (size_t i = 0; i < count;) {
        const struct store_update *first = &updates[i];
        if (!find_owner(in, first) || !sql_is_within_limit(in->store, 0))
            return false;
        while (i < count && is_equal_or_both_null(updates[i].waba_id, first->waba_id) &&
               is_equal_or_both_null(updates[i].phone_number_id, first->phone_number_id))
            i++;
        const struct update_run run = {in->owner, i};
        buffer_add(runs, &run, sizeof run);
    }
    return true;
}

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

static void add_who(struct names *names, const struct contact *who) {
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

/* sql_lock without a name would lock the whole account, so it is called with names only. */
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
