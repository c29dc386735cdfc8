/* switchboard member, invitation */
#include <string.h>

#include "base/crypto.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "payload/team_json.h"
#include "store/invitation.h"
#include "store/listing.h"
#include "store/second_factor.h"

/* --- whom a command names --- */

/* Finds the user of the first operand. Returns EXIT_DONE, or EXIT_FAILED after printing why not. */
static int find_owner(struct invocation *call, char user_id[ID_SIZE]) {
    const char *email = call->operands[0];
    enum store_result result = store_find_user(call->store, email, user_id);
    return result == STORE_OK ? EXIT_DONE : fail_row(call, result, ROW_USER, email);
}

/* Reads --lines and --threads for a member with the role of `standing`. Returns an exit code, after
 * printing a failure. */
static int read_limits(struct invocation *call, const char *user_id, struct standing *standing) {
    char *words = call->options[OPTION_LINES]
                      ? arena_copy(&call->arena, slice_of(call->options[OPTION_LINES]))
                      : NULL;
    for (char *p = words; p && *p; p++)
        if (*p == ',')
            *p = ' ';
    if (words && strcmp(words, "all") == 0)
        words = NULL;
    if (words && standing->role == ROLE_OWNER)
        return fail("an owner has all lines");
    const char *threads = call->options[OPTION_THREADS];
    standing->is_own_only = threads && strcmp(threads, "own") == 0;
    if (standing->is_own_only && standing->role >= ROLE_ADMIN)
        return fail("an admin and an owner see all threads");
    return line_option_read(call, user_id, words, &standing->line_ids);
}

/* Prints why a change failed. */
static int fail_change(struct invocation *call, enum store_result result,
                       enum member_refusal refusal) {
    const char *user = call->operands[0], *member = call->operands[1];
    if (result == STORE_NOT_FOUND)
        return fail("%s has no member %s; `switchboard member list %s` shows all", user, member,
                    user);
    if (result == STORE_CONFLICT)
        return fail("%s is a member of %s already", member, user);
    if (result != STORE_OK)
        return fail_store(call, result);
    if (refusal == MEMBER_OWNER_LINES)
        return fail("an owner has all lines; `switchboard member lines --lines all` gives them");
    if (refusal == MEMBER_ALL_THREADS)
        return fail("an admin and an owner see all threads; `switchboard member threads --threads "
                    "all` shows them");
    if (refusal == MEMBER_LAST_OWNER)
        return fail("%s is the only owner of %s; make another one first", member, user);
    return fail("%s has as many members or invitations as there may be", user);
}

/* --- switchboard member --- */

int member_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    struct store_member *members;
    char user_id[ID_SIZE];
    size_t count;
    if (find_owner(call, user_id) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result = store_list_members(call->store, arena, user_id, &members, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = list_start(call);
    struct table table = TABLE(arena, "ID", "EMAIL", "NAME", "ROLE", "LINES", "THREADS",
                               "SECOND FACTOR", "SINCE", "ADDED BY");
    for (size_t i = 0; i < count; i++) {
        const struct store_member *member = &members[i];
        json_write_object(&json, NULL);
        json_write_text(&json, "id", member->id);
        json_write_text(&json, "email", member->email);
        json_write_text(&json, "name", member->name);
        json_write_text(&json, "role", role_name(member->role));
        json_write_words(&json, "lineIds", member->line_ids);
        json_write_bool(&json, "ownThreadsOnly", member->is_own_only);
        json_write_bool(&json, "hasFactor", member->has_factor);
        json_write_time(&json, "createdAt", member->created_at);
        json_write_text(&json, "createdBy", member->created_by);
        json_write_end(&json);
        table_cell(&table, member->id);
        table_cell(&table, member->email);
        table_cell(&table, member->name);
        table_cell(&table, role_name(member->role));
        table_cell(&table, member->line_ids ? member->line_ids : "all");
        table_cell(&table, member->is_own_only ? "own" : "all");
        table_cell(&table, member->has_factor ? "yes" : "no");
        table_cell(&table, time_text(arena, member->created_at));
        table_cell(&table, member->created_by);
    }
    return list_print(call, &json, &table);
}

int member_add(struct invocation *call) {
    const char *email = call->operands[1], *name = call->options[OPTION_NAME];
    struct standing given = {.role = role_find(call->options[OPTION_ROLE])};
    enum member_refusal refusal;
    char id[ID_SIZE], user_id[ID_SIZE];
    if (find_owner(call, user_id) != EXIT_DONE || read_limits(call, user_id, &given) != EXIT_DONE)
        return EXIT_FAILED;
    id_make(id, "mbr_", call->now);
    const struct store_new_member member = {.id = id,
                                            .user_id = user_id,
                                            .email = email,
                                            .name = name ? name : email,
                                            .role = given.role,
                                            .line_ids = given.line_ids,
                                            .is_own_only = given.is_own_only,
                                            .created_by = "switchboard member",
                                            .now = call->now};
    enum store_result result = store_add_member(call->store, &member, &refusal);
    if (result != STORE_OK || refusal)
        return fail_change(call, result, refusal);
    result = store_find_member(call->store, email, id);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", id);
    json_write_text(&json, "email", email);
    json_write_text(&json, "role", call->options[OPTION_ROLE]);
    json_write_words(&json, "lineIds", given.line_ids);
    json_write_bool(&json, "ownThreadsOnly", given.is_own_only);
    return object_print(call, &json, "%s", id);
}

/* Finds the member of the second operand, for a change. */
static int find_change(struct invocation *call, char user_id[ID_SIZE], char member_id[ID_SIZE],
                       struct store_member_change *change) {
    if (find_owner(call, user_id) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result = store_find_member(call->store, call->operands[1], member_id);
    if (result != STORE_OK)
        return fail_change(call, result, MEMBER_NOT_REFUSED);
    *change = (struct store_member_change){.user_id = user_id, .member_id = member_id};
    return EXIT_DONE;
}

int member_role_set(struct invocation *call) {
    const char *role = call->options[OPTION_ROLE];
    struct store_member_change change;
    enum member_refusal refusal;
    char user_id[ID_SIZE], member_id[ID_SIZE];
    if (find_change(call, user_id, member_id, &change) != EXIT_DONE)
        return EXIT_FAILED;
    change.role = role_find(role);
    enum store_result result = store_change_member(call->store, &call->arena, &change, &refusal);
    if (result != STORE_OK || refusal)
        return fail_change(call, result, refusal);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", member_id);
    json_write_text(&json, "role", role);
    return object_print(call, &json, "%s is %s of %s", call->operands[1], role, call->operands[0]);
}

/* Sets lines, or threads, to what the options say; prints `what` the member sees. */
static int set_limit(struct invocation *call, bool sets_lines, const char *what) {
    struct standing left = {.role = ROLE_NONE};
    struct store_member_change change;
    enum member_refusal refusal;
    char user_id[ID_SIZE], member_id[ID_SIZE];
    if (find_change(call, user_id, member_id, &change) != EXIT_DONE ||
        read_limits(call, user_id, &left) != EXIT_DONE)
        return EXIT_FAILED;
    change.sets_lines = sets_lines;
    change.line_ids = left.line_ids;
    change.sets_own = !sets_lines;
    change.is_own_only = left.is_own_only;
    enum store_result result = store_change_member(call->store, &call->arena, &change, &refusal);
    if (result != STORE_OK || refusal)
        return fail_change(call, result, refusal);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", member_id);
    if (sets_lines)
        json_write_words(&json, "lineIds", left.line_ids);
    else
        json_write_bool(&json, "ownThreadsOnly", left.is_own_only);
    return object_print(call, &json, "%s has the %s of %s", call->operands[1], what,
                        call->operands[0]);
}

int member_lines(struct invocation *call) {
    return set_limit(call, true,
                     arena_printf(&call->arena, "lines %s", call->options[OPTION_LINES]));
}

int member_threads(struct invocation *call) {
    return set_limit(call, false,
                     arena_printf(&call->arena, "threads %s", call->options[OPTION_THREADS]));
}

int member_remove(struct invocation *call) {
    struct store_member_change change;
    enum member_refusal refusal;
    char user_id[ID_SIZE], member_id[ID_SIZE];
    if (find_change(call, user_id, member_id, &change) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result = store_remove_member(call->store, &call->arena, &change, &refusal);
    if (result != STORE_OK || refusal)
        return fail_change(call, result, refusal);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", member_id);
    json_write_bool(&json, "removed", true);
    return object_print(call, &json, "removed %s from %s", call->operands[1], call->operands[0]);
}

int member_factor_reset(struct invocation *call) {
    struct store_member_change change;
    enum member_refusal refusal;
    char user_id[ID_SIZE], member_id[ID_SIZE];
    if (find_change(call, user_id, member_id, &change) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result = store_reset_factor(call->store, &call->arena, &change, &refusal);
    if (result == STORE_OK && refusal == MEMBER_NO_FACTOR)
        return fail("%s has no second factor", call->operands[1]);
    if (result != STORE_OK || refusal)
        return fail_change(call, result, refusal);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", member_id);
    json_write_bool(&json, "removed", true);
    return object_print(call, &json, "removed the second factor of %s", call->operands[1]);
}

static int set_factor_rule(struct invocation *call, bool is_required) {
    enum factor_rule_refusal refusal;
    char user_id[ID_SIZE];
    if (find_owner(call, user_id) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result =
        store_set_factor_rule(call->store, user_id, NULL, is_required, &refusal);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = object_start(call);
    json_write_text(&json, "email", call->operands[0]);
    json_write_bool(&json, "requiresFactor", is_required);
    return object_print(call, &json,
                        is_required ? "each member of %s needs a second factor"
                                    : "members of %s need no second factor",
                        call->operands[0]);
}

int member_factor_require(struct invocation *call) {
    return set_factor_rule(call, true);
}

int member_factor_optional(struct invocation *call) {
    return set_factor_rule(call, false);
}

/* --- switchboard invitation --- */

int invitation_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    struct store_invitation *invitations;
    char user_id[ID_SIZE];
    size_t count;
    if (find_owner(call, user_id) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result =
        store_list_invitations(call->store, arena, WHOLE_VIEW(user_id), &invitations, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = list_start(call);
    struct table table =
        TABLE(arena, "ID", "EMAIL", "ROLE", "LINES", "THREADS", "CREATED BY", "EXPIRES");
    for (size_t i = 0; i < count; i++) {
        json_write_object(&json, NULL);
        team_json_invitation(&json, &invitations[i]);
        json_write_end(&json);
        table_cell(&table, invitations[i].id);
        table_cell(&table, invitations[i].email);
        table_cell(&table, role_name(invitations[i].role));
        table_cell(&table, invitations[i].line_ids ? invitations[i].line_ids : "all");
        table_cell(&table, invitations[i].is_own_only ? "own" : "all");
        table_cell(&table, invitations[i].created_by);
        table_cell(&table, time_text(arena, invitations[i].expires_at));
    }
    return list_print(call, &json, &table);
}

/* The base of links, without a slash at its end. */
static struct slice link_base(const struct invocation *call) {
    const char *base = call->options[OPTION_URL];
    struct slice url = slice_of(base ? base : call->config.public_url);
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    return url;
}

int invitation_add(struct invocation *call) {
    const struct slice url = link_base(call);
    unsigned char random[32], hash[CRYPTO_HASH_SIZE];
    struct standing given = {.role = role_find(call->options[OPTION_ROLE])};
    enum member_refusal refusal;
    char id[ID_SIZE], user_id[ID_SIZE];
    if (!url.n)
        return fail_usage(call, "give --url, or set public_url in %s", call->config_path);
    if (find_owner(call, user_id) != EXIT_DONE || read_limits(call, user_id, &given) != EXIT_DONE)
        return EXIT_FAILED;
    id_make(id, "inv_", call->now);
    crypto_random(random, sizeof random);
    const char *value = crypto_hex(&call->arena, random, sizeof random);
    crypto_sha256(slice_of(value), hash);
    const struct store_invitation invitation = {.id = id,
                                                .user_id = user_id,
                                                .email = call->operands[1],
                                                .role = given.role,
                                                .line_ids = given.line_ids,
                                                .is_own_only = given.is_own_only,
                                                .created_by = "switchboard invitation",
                                                .created_at = call->now,
                                                .expires_at = call->now + INVITATION_MS};
    enum store_result result =
        store_insert_invitation(call->store, &call->arena, &invitation, hash, &refusal);
    if (result != STORE_OK || refusal)
        return fail_change(call, result, refusal);
    const char *link =
        arena_printf(&call->arena, "%.*s/dashboard/#/join/%s", (int)url.n, url.p, value);
    struct json_writer json = object_start(call);
    team_json_invitation(&json, &invitation);
    json_write_text(&json, "url", link);
    return object_print(call, &json, "%s", link);
}

int invitation_revoke(struct invocation *call) {
    const char *id = call->operands[1];
    char user_id[ID_SIZE];
    if (find_owner(call, user_id) != EXIT_DONE)
        return EXIT_FAILED;
    enum store_result result =
        store_delete_invitation(call->store, &call->arena, WHOLE_VIEW(user_id), id);
    if (result == STORE_NOT_FOUND)
        return fail("%s has no invitation %s; `switchboard invitation list %s` shows all",
                    call->operands[0], id, call->operands[0]);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", id);
    json_write_bool(&json, "revoked", true);
    return object_print(call, &json, "revoked invitation %s", id);
}
