/* The functions of the command table. The functions of a noun are in cmd_NOUN.c. */
#ifndef SWITCHBOARD_ADMIN_NOUNS_H
#define SWITCHBOARD_ADMIN_NOUNS_H

struct invocation;

int init_run(struct invocation *call);

int user_add(struct invocation *call);
int user_delete(struct invocation *call);
int user_export(struct invocation *call);
int user_list(struct invocation *call);
int user_login_link(struct invocation *call);
int user_password(struct invocation *call);
int token_regenerate(struct invocation *call);

int member_list(struct invocation *call);
int member_add(struct invocation *call);
int member_role_set(struct invocation *call);
int member_lines(struct invocation *call);
int member_threads(struct invocation *call);
int member_remove(struct invocation *call);
int member_factor_reset(struct invocation *call);
int member_factor_require(struct invocation *call);
int member_factor_optional(struct invocation *call);
int invitation_list(struct invocation *call);
int invitation_add(struct invocation *call);
int invitation_revoke(struct invocation *call);

int scoped_token_list(struct invocation *call);
int scoped_token_add(struct invocation *call);
int scoped_token_revoke(struct invocation *call);
int plan_set(struct invocation *call);

int account_add(struct invocation *call);
int account_token(struct invocation *call);
int account_list(struct invocation *call);
int account_check(struct invocation *call);

int line_add(struct invocation *call);
int line_archive(struct invocation *call);
int line_list(struct invocation *call);
int line_import(struct invocation *call);
int line_rate(struct invocation *call);
int line_register(struct invocation *call);

/* Sets `*ids` to the ids of the lines of the user that `list` names by the platform's ids, words
 * separated by spaces, like the result; NULL: all lines. Returns an exit code, after printing a
 * failure. */
int line_option_read(struct invocation *call, const char *user_id, const char *list,
                     const char **ids);

int contact_block(struct invocation *call);
int contact_unblock(struct invocation *call);
int contact_list(struct invocation *call);
int contact_split(struct invocation *call);
int contact_hold(struct invocation *call);
int contact_release(struct invocation *call);
int contact_erase(struct invocation *call);
int contact_export(struct invocation *call);
int opt_out_list(struct invocation *call);
int opt_out_add(struct invocation *call);
int opt_out_remove(struct invocation *call);
int message_list(struct invocation *call);
int archive_check(struct invocation *call);
int archive_repair(struct invocation *call);

int forms_sync(struct invocation *call);

int event_list(struct invocation *call);
int event_show(struct invocation *call);
int event_replay(struct invocation *call);
int event_resume(struct invocation *call);
int event_test(struct invocation *call);
int event_enable(struct invocation *call);
int event_disable(struct invocation *call);

int webhook_list(struct invocation *call);
int webhook_show(struct invocation *call);
int webhook_add(struct invocation *call);
int webhook_change(struct invocation *call);
int webhook_pause(struct invocation *call);
int webhook_resume(struct invocation *call);
int webhook_test(struct invocation *call);
int webhook_delete(struct invocation *call);

int retention_list(struct invocation *call);
int retention_set(struct invocation *call);
int trail_run(struct invocation *call);
int usage_run(struct invocation *call);

int refusal_list(struct invocation *call);
int refusal_show(struct invocation *call);
int refusal_retry(struct invocation *call);
int refusal_drop(struct invocation *call);

int key_add(struct invocation *call);
int key_drop(struct invocation *call);
int key_list(struct invocation *call);
int key_rotate(struct invocation *call);
int key_use(struct invocation *call);

int doctor_run(struct invocation *call);
int backup_run(struct invocation *call);
int restore_run(struct invocation *call);
int copy_to_run(struct invocation *call);

int manual_run(struct invocation *call);
int completion_run(struct invocation *call);

#endif
