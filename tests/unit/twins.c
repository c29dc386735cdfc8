/* Each use-case of the store that writes, made by several processes at the same time on the same
 * rows. `twins -v [CASE]` prints what each case took; with CASE it runs those whose use-cases begin
 * so. */
#include "store/upkeep.h"
#include "twin_admin.h"
#include "twin_life.h"
#include "twin_locks.h"

/* clang-format off */
static const struct twins cases[] = {
    {"store_reseal store_set_account_token store_insert_account store_upsert_webhook_config",
     NULL, rotate, verify_keys, false},
    {"store_insert_send", NULL, send_to_new, verify_new_recipients, false},
    {"store_insert_send store_ingest: statuses", NULL, send_and_report, verify_reports, false},
    {"store_ingest: a new person", NULL, receive_from_new, verify_new_persons, false},
    {"store_ingest: one payload", NULL, receive_again, verify_one_message, false},
    {"store_ingest: two users", make_two_users, receive_for_two, verify_two, true},
    {"store_ingest: a merge, store_insert_send store_block_contact store_block",
     make_pairs, merge, verify_merges, true},
    {"store_ingest store_insert_send store_block_contact store_block store_split_contact "
     "store_mark_read: waits", make_waiting_pairs, wait_for_others, verify_marked, true},
    {"store_block: a deadlock", make_waiting_pairs, wait_crosswise, NULL, false},
    {"store_block_contact: a new contact", NULL, block_new, verify_blocked, true},
    {"store_unblock_contact store_unblock", make_blocked_pairs, unblock, verify_unblocked, true},
    {"store_split_contact: a merge, store_ingest store_insert_send store_block",
     make_merged_pairs, split_merged, verify_split, false},
    {"store_mark_read store_ingest", make_thread, mark_read, verify_unread, false},
    {"store_mark_done store_unmark_done store_mark_unread store_ingest", make_thread, mark_done, verify_done, false},
    {"store_note_typing store_ingest", make_thread, note_typing, verify_typing, false},
    {"store_assign", make_thread, take_thread, NULL, false},
    {"store_assign: a former member, store_remove_member store_change_member", make_thread,
     assign_removed, NULL, false},
    {"store_insert_note store_delete_note", make_thread, write_notes, verify_notes, false},
    {"store_insert_outgoing store_hold_sender_lease store_end_sender_lease store_take_outgoing "
     "store_end_outgoing store_expire_outgoing store_cancel_outgoing store_delete_old_outgoing "
     "store_hold_outgoing store_retry_outgoing store_report_outgoing store_correct_outgoing",
     make_thread, send_outgoing, verify_outgoing, false},
    {"store_insert_campaign store_add_recipients store_change_campaign store_feed_campaign "
     "store_delete_old_campaigns",
     make_thread, run_campaign, verify_campaigns, false},
    {"store_insert_opt_out store_delete_opt_out", NULL, opt_out, verify_opt_outs, false},
    {"store_begin_media_copy store_name_media_copy store_place_media_copy store_delay_media_copy "
     "store_remove_media_copy store_drop_media_file store_repeat_media_copy store_ingest",
     make_thread, copy_media, verify_copies, false},
    {"store_claim_thread store_release_claim store_insert_send", make_thread, answer_at_once, NULL,
     false},
    {"store_ingest: a forward", make_forward, forward_again, verify_forwards, false},
    {"store_upsert_flows store_upsert_template_flows store_delete_flow", NULL, upsert_lists,
     verify_lists, true},
    {"store_exchange_events store_release_event", make_queue, deliver, verify_deliveries, true},
    {"store_delete_webhook store_delete_webhook_config store_insert_test_event store_ingest",
     NULL, remove_webhooks, NULL, false},
    {"store_replay_event store_replay_failed_events store_replay_events store_exchange_events",
     make_dead_events, replay, NULL, false},
    {"store_replay_event: a merge", make_dead_pairs, replay_merged, NULL, false},
    {"store_change_webhook store_exchange_events",
     make_dead_events, resume, verify_resumed, true},
    {"store_upsert_webhook_config store_change_webhook: the first",
     make_users, set_first, verify_first, false},
    {"store_insert_webhook store_begin_verification store_end_verification",
     make_full, insert_last, NULL, false},
    {"store_set_subscribed_fields store_insert_webhook", NULL, set_fields, verify_fields, false},
    {"store_insert_user", NULL, insert_same, NULL, false},
    {"store_set_plan", NULL, set_plans, verify_plans, false},
    {"store_insert_line store_change_line store_register_line store_archive_line "
     "store_set_line_rate store_insert_account",
     NULL, insert_lines, verify_lines, false},
    {"store_delete_user store_set_password store_insert_link store_replace_token "
     "store_rehash_password", make_users_with_logins, delete_users, verify_deleted, false},
    {"store_insert_session", make_password, log_in, verify_sessions, false},
    {"store_join store_insert_invitation store_delete_invitation", NULL, join, NULL, false},
    {"store_accept_invitation store_confirm_session store_choose_workspace",
     make_users_with_logins, accept, NULL, false},
    {"store_add_member store_remove_member store_change_member store_insert_reset_link", NULL,
     end_owners, NULL, false},
    {"store_insert_scoped_token store_change_scoped_token", NULL, insert_tokens, verify_tokens,
     false},
    {"store_change_scoped_token: its lines", NULL, change_token_lines, verify_token_lines, false},
    {"store_delete_scoped_token store_use_scoped_token", NULL, revoke_tokens, NULL, false},
    {"store_insert_canned_reply store_change_canned_reply", NULL, insert_replies, verify_replies,
     false},
    {"store_delete_canned_reply", NULL, delete_replies, NULL, false},
    {"store_use_link store_delete_session store_delete_other_sessions",
     NULL, use_links, NULL, false},
    {"store_renew_session store_delete_old_logins", make_password, renew, NULL, false},
    {"store_begin_factor store_set_factor store_delete_factor store_reset_factor", make_password,
     change_factor, verify_factor, false},
    {"store_end_pending store_set_factor_rule store_replace_recovery_codes", make_factor, use_code,
     NULL, false},
    {"store_begin_login store_fail_login", make_factor, fail_logins, verify_failures, false},
    {"store_clear_login_failures", NULL, clear_failures, NULL, false},
    {"store_insert_idempotency_key store_update_idempotency_key "
     "store_update_idempotency_heartbeat store_seal_idempotency_key", NULL, use_keys, NULL, false},
    {"store_delete_idempotency_key", NULL, delete_keys, NULL, false},
    {"store_upsert_refusal store_delete_refusal store_upsert_heartbeat "
     "store_end_heartbeat store_delete_heartbeats",
     NULL, refuse, verify_refusals, false},
    {"store_leave_trail store_delete_old_trail", NULL, leave_trail, verify_trail, false},
    {"store_prune store_set_retention store_hold_contact store_ingest", make_old_threads,
     prune_old, verify_pruned, false},
    {"store_erase_contact store_erase_part store_ingest", make_persons, erase_persons,
     verify_erased, false},
    {"store_erase_contact: two of one change of identity", make_changed_pairs, erase_pairs,
     verify_no_change, false},
    {"store_delete_old_rows store_insert_idempotency_key", NULL, restart_keys, NULL, false},
    {"store_delete_old_rows store_delete_old_logins", make_key, delete_old, NULL, false},
    {"store_delete_old_rows store_delete_old_logins: the work of another", make_key, leave_chores,
     NULL, true},
    {"store_delete_old_rows store_repair_times store_replay_events",
     rename_pruned, prune, NULL, false},
};
/* clang-format on */

int main(int argc, char **argv) {
    const bool is_verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    int from, to;
    choose_database();
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    arena_init(&scratch, 256 * 1024 * 1024, NULL);
    check_ok(store_migrate(database, &from, &to, &store));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc < 3 || strncmp(cases[i].use_cases, argv[2], strlen(argv[2])) == 0)
            run_twins(&cases[i], is_verbose);
    arena_free(&scratch);
    close_state();
    return check_failures();
}
