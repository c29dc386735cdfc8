# shellcheck shell=bash
# Fills databases.

# Prints SQL that fills a database with SIZE contacts. Each contact has a thread, three messages, three
# statuses, one delivered event and its attempt. SIZE/10 further events are due in one hour. Each other
# table that traffic fills gets SIZE/SHARE rows. One tenth of the contacts belongs to about 1,000 new users
# with an account and a line each; the rest belongs to the first line of the database and its user, which
# are inserted if there is none. fill_sql SIZE [SHARE]
fill_sql() {
    local size=$1 share=$(($1 / ${2-1})) numbers now
    now="(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))"
    numbers='WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <'
    cat <<END
PRAGMA foreign_keys = OFF;
PRAGMA cache_size = -200000;
PRAGMA temp_store = MEMORY;
BEGIN;
CREATE TEMP TABLE at AS SELECT $now AS now, $now - 86400000 AS yesterday;
INSERT INTO user (id, email, created_at) SELECT 'usr_fill', 'fill@example.org', 1
    WHERE NOT EXISTS (SELECT 1 FROM line);
INSERT INTO account (id, user_id, waba_id, name, created_at) SELECT 'acc_fill', 'usr_fill', '70', 'Fill', 1
    WHERE NOT EXISTS (SELECT 1 FROM line);
INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered, is_coexisting, created_at)
    SELECT 'lin_fill', 'acc_fill', '70', '+70', 1, 0, 1 WHERE NOT EXISTS (SELECT 1 FROM line);
CREATE TEMP TABLE owner (k INTEGER PRIMARY KEY, user_id, account_id, line_id);
INSERT INTO owner SELECT 0, a.user_id, a.id, l.id FROM line l JOIN account a ON a.id = l.account_id
    ORDER BY l.created_at, l.id LIMIT 1;
$numbers 999) INSERT INTO owner SELECT i, printf('usr_fill%04d', i), printf('acc_fill%04d', i),
    printf('lin_fill%04d', i) FROM n;
INSERT INTO user (id, email, created_at) SELECT user_id, user_id || '@example.org', 1 FROM owner WHERE k > 0;
INSERT INTO account (id, user_id, waba_id, name, created_at)
    SELECT account_id, user_id, 7000000 + k, 'Fill', 1 FROM owner WHERE k > 0;
INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered, is_coexisting, created_at)
    SELECT line_id, account_id, 7000000 + k, '+7', 1, 0, 1 FROM owner WHERE k > 0;
CREATE TEMP TABLE row (i INTEGER PRIMARY KEY, suffix, user_id, account_id, line_id);
$numbers $size) INSERT INTO row SELECT i, printf('%026d', i), user_id, account_id, line_id
    FROM n JOIN owner ON k = iif(i % 10, 0, 1 + (i / 10) % 999);
INSERT INTO contact (id, account_id, phone, bsuid, name, created_at, updated_at)
    SELECT 'con_' || suffix, account_id, printf('1777%09d', i), printf('US.7%09d', i), 'Person ' || i, i, i FROM row;
INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at)
    SELECT 'thr_' || suffix, user_id, line_id, 'con_' || suffix, i, i FROM row;
INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status,
        status_at, timestamp, body, created_at)
    SELECT 'msg_' || printf('%026d', 3 * i + j), user_id, 'thr_' || suffix, line_id,
    printf('wamid.fill%09d', 3 * i + j), 'out',
    'api', 'text', 'delivered', 1, 3 * i + j, CAST('{"type":"text","text":{"body":"Your order is on its way."}}' AS BLOB), 1
    FROM row, (SELECT 0 AS j UNION ALL SELECT 1 UNION ALL SELECT 2);
INSERT INTO message_status (user_id, message_id, status, recipient, timestamp, body, received_at)
    SELECT user_id, id, 'delivered', '', 1, CAST('{"status":"delivered"}' AS BLOB), 1 FROM message
    WHERE id < 'msg_0~';
INSERT INTO webhook (id, user_id, kind, url, code, created_at, updated_at)
    SELECT 'whk_' || substr(user_id, 5), user_id, 'event', 'http://127.0.0.1:9/', x'00', 1, 1 FROM owner WHERE k > 0;
INSERT INTO event (id, user_id, sequence, type, contact_id, body, state, created_at, finished_at)
    SELECT 'evt_' || suffix, user_id, i, 'message.received', 'con_' || suffix,
    CAST('{"type":"message.received","data":{"note":"about as long as such a thing is, or half of it"}}' AS BLOB),
    'done', i, (SELECT yesterday FROM at) FROM row;
INSERT INTO event_attempt (user_id, event_id, webhook_id, attempt, started_at, duration_ms,
        http_status, address)
    SELECT user_id, 'evt_' || suffix, 'whk_' || substr(user_id, 5), 1, i, 10, 200, '127.0.0.1' FROM row;
INSERT INTO event (id, user_id, sequence, type, contact_id, body, state, created_at)
    SELECT 'evt_1' || substr(suffix, 2), user_id, $size + i, 'message.received', 'con_' || suffix,
    CAST('{"type":"message.received","data":{}}' AS BLOB), 'pending', i FROM row
    WHERE i <= $size / 10;
INSERT INTO delivery (event_id, webhook_id, user_id, sequence, order_key, state, attempts, next_attempt_at,
        last_attempt_at, last_status, created_at, finished_at)
    SELECT id, 'whk_' || substr(user_id, 5), user_id, sequence, contact_id, state, 1,
    iif(state = 'done', created_at, (SELECT now FROM at) + 3600000), created_at, iif(state = 'done', 200, NULL),
    created_at, finished_at FROM event;
INSERT INTO platform_post (id, hash, body, created_at)
    SELECT 'pst_' || suffix, CAST(printf('%032d', i) AS BLOB), CAST('{"entry":[]}' AS BLOB), i FROM row;
INSERT INTO event (id, user_id, is_forward, sequence, type, post_id, state, created_at, finished_at)
    SELECT 'evt_2' || substr(suffix, 2), user_id, 1, i, 'platform.webhook', 'pst_' || suffix, 'done', i,
    (SELECT now FROM at) FROM row WHERE i <= $size / 10;
UPDATE user SET event_sequence = 3 * $size WHERE id IN (SELECT user_id FROM owner);
INSERT INTO contact_term SELECT account_id, term, 'con_' || suffix
    FROM row, (SELECT 'person' AS term UNION ALL SELECT '') WHERE term <> '' OR i <= $size;
UPDATE contact_term SET term = printf('1777%09d', CAST(substr(contact_id, 5) AS INTEGER)) WHERE term = '';
UPDATE thread SET unread = 1 WHERE rowid % 10 = 1;
UPDATE thread SET waiting_since = rowid WHERE rowid % 10 = 2;
UPDATE thread SET failed_at = rowid WHERE rowid % 10 = 3;
UPDATE thread SET assignee_id = 'mbr_fill' WHERE rowid % 10 = 4;
UPDATE thread SET changed = rowid WHERE rowid % 100 = 1;
UPDATE user SET change_sequence = 3 * $size WHERE id IN (SELECT user_id FROM owner);
INSERT INTO thread_claim (thread_id, user_id, claimed_until, answered)
    SELECT 'thr_' || suffix, user_id, 0, i FROM row WHERE i <= $share;
INSERT INTO campaign (id, user_id, account_id, line_id, name, template, language, components, state,
        valid_ms, start_at, created_at, finished_at)
    SELECT 'cmp_' || suffix, user_id, account_id, line_id, 'x', 'x', 'en', CAST('[]' AS BLOB),
    iif(i % 10, 'finished', 'running'), 1, 1, i, iif(i % 10, yesterday, NULL) FROM row, at WHERE i <= $share;
INSERT INTO campaign_recipient (id, account_id, campaign_id, recipient, body, created_at)
    SELECT 'rcp_' || suffix, account_id, 'cmp_' || suffix, printf('1777%09d', i), CAST('{}' AS BLOB), i
    FROM row WHERE i <= $share;
INSERT INTO campaign_count SELECT 'cmp_' || suffix, 'accepted', i FROM row WHERE i <= $share;
INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, send_at, next_at, expires_at,
        created_at, finished_at)
    SELECT 'out_' || suffix, user_id, account_id, line_id, printf('1777%09d', i), CAST('{}' AS BLOB),
    iif(i % 10, 'accepted', 'queued'), i, i, now + 86400000, i, iif(i % 10, yesterday, NULL) FROM row, at
    WHERE i <= $share;
INSERT INTO media_copy (message_id, user_id, account_id, media_id, month, sha256, state, next_attempt_at, created_at)
    SELECT 'msg_' || printf('%026d', 3 * i), user_id, account_id, i, '2026/01', printf('%064x', i),
    iif(i % 100, 'done', 'queued'), iif(i % 100, NULL, i), i FROM row WHERE i <= $share;
INSERT INTO note (id, user_id, thread_id, text, created_at)
    SELECT 'not_' || suffix, user_id, 'thr_' || suffix, 'x', i FROM row WHERE i <= $share;
INSERT INTO thread_alias (id, user_id, thread_id) SELECT 'thr_gone' || i, user_id, 'thr_' || suffix FROM row WHERE i <= $share;
INSERT INTO contact_alias SELECT account_id, printf('1666%09d', i), 'con_' || suffix, 1 FROM row WHERE i <= $share;
INSERT INTO opt_out SELECT account_id, printf('1777%09d', i), 'api', i FROM row WHERE i <= $share;
INSERT INTO contact_sign (account_id, phone, bsuid, since, contact_id, first_at, last_at)
    SELECT account_id, printf('1777%09d', i), '', 0, 'con_' || suffix, 1, 1 FROM row WHERE i <= $size;
INSERT INTO identity_change (account_id, at, old_phone, old_bsuid, new_phone, new_bsuid)
    SELECT account_id, 1, printf('1666%09d', i), '', printf('1777%09d', i), '' FROM row WHERE i <= $share;
INSERT INTO contact_merge (id, account_id, contact_id, merged_id, reason, created_at)
    SELECT 'mrg_' || suffix, account_id, 'con_' || suffix, 'con_gone' || i, 'same_payload', 1 FROM row WHERE i <= $share;
INSERT INTO contact_block (user_id, line_id, contact_id, created_at)
    SELECT user_id, line_id, 'con_' || suffix, 1 FROM row WHERE i <= $share;
INSERT INTO platform_update SELECT account_id, 'key' || i, 'other', x'', 1 FROM row WHERE i <= $share;
INSERT INTO lead (user_id, contact_id, source, created_at)
    SELECT user_id, 'con_' || suffix, 'new_contact', 1 FROM row WHERE i <= $share;
INSERT INTO idempotency (user_id, route, key, fingerprint, request_id, status, answer, created_at)
    SELECT user_id, 'POST /v2/messages/send/text', 'key' || i, zeroblob(32), 'req' || i, 200, x'', (SELECT now FROM at)
    FROM row WHERE i <= $share;
INSERT INTO member (id, email, name, created_at) SELECT 'mbr_' || substr(user_id, 5), user_id || '@example.org', 'Fill', 1
    FROM owner;
INSERT INTO membership SELECT user_id, 'mbr_' || substr(user_id, 5), 'owner', 1, 'fill', NULL, 0 FROM owner;
INSERT INTO session SELECT 'ses_' || suffix, 'mbr_' || substr(user_id, 5), user_id, CAST(printf('%032d', i) AS BLOB), 0,
    '::1', '', i, i, i, i FROM row WHERE i <= $share;
INSERT INTO login_device SELECT 'mbr_' || substr(user_id, 5), CAST(printf('%032d', i) AS BLOB), i FROM row WHERE i <= $share;
INSERT INTO login_failure SELECT 'address:' || i, 1, 'att_' || i, 0, i FROM row WHERE i <= $share;
INSERT INTO trail SELECT 'trl_' || suffix, user_id, (SELECT now FROM at), 'token', 'API token', 'line.update', line_id, '{}', '::1', 'req'
    FROM row WHERE i <= $share;
INSERT INTO thread_removal SELECT 'thr_removed' || i, user_id, iif(i % 2, NULL, i), i, (SELECT now FROM at) FROM row WHERE i <= $share;
INSERT INTO erasure (contact_id, user_id, account_id, erased_at, ended_at, due_at, step, place, names)
    SELECT 'con_erased' || i, user_id, account_id, i, iif(i > 3, i, NULL), i, 0, '', iif(i > 3, NULL, i) FROM row WHERE i <= $share;
INSERT INTO erased_mark SELECT CAST(printf('%032d', i) AS BLOB), user_id, i FROM row WHERE i <= $share;
INSERT INTO flow_token SELECT account_id, 'token' || i, i % 50 FROM row WHERE i <= $share;
INSERT INTO flow_response SELECT 'msg_' || printf('%026d', 3 * i), account_id, i % 50 FROM row WHERE i <= $share;
INSERT INTO flow_reply_count SELECT account_id, flow_id, count(*) FROM flow_response GROUP BY 1, 2;
INSERT INTO usage (user_id, hour, line_id, measure, count)
    SELECT user_id, i, line_id, 'in', 1 FROM row WHERE i <= $share;
$numbers 50) INSERT INTO flow SELECT account_id, i - 1, 'Flow ' || i, 'flow ' || i, 'PUBLISHED', CAST('[]' AS BLOB), i, i
    FROM n JOIN owner ON k = 0;
COMMIT;
END
}
