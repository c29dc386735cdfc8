#!/usr/bin/env bats
# `switchboard init` migrates every earlier schema version to exactly what schema.sql creates.
# tests/schemas/vN.sql is the schema of version N; such a file is never edited once its version has been
# released.
# transports: direct
# SQLite only: the earlier versions are files; postgresql.bats has those on a server
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

setup() {
    export STACK=$BATS_TEST_TMPDIR/installation
    mkdir -m 700 "$STACK"
    export DB=$STACK/switchboard.db LOG=$STACK/log SANDBOX=http://127.0.0.1:1
    export SWITCHBOARD_CONFIG=$STACK/switchboard.conf
    write_config "spool_dir = $STACK/spool"
    application=$((0x53574244))
    newest=$(newest_schema)
}

# Creates a database of schema version N: old_database FILE N
old_database() {
    sqlite3 "$1" 'PRAGMA journal_mode = WAL' >/dev/null
    { printf 'BEGIN;\n'; cat "$root/tests/schemas/v$2.sql"; printf 'COMMIT;\n'; } | sqlite3 -bail "$1"
    sqlite3 "$1" "PRAGMA application_id = $application; PRAGMA user_version = $2"
}

# Adds a user with an account and a line, in any version.
add_line() {
    db "INSERT INTO user (id, email, created_at) VALUES ('usr_1', 'a@example.org', 1);
        INSERT INTO account (id, user_id, waba_id, name, created_at)
            VALUES ('acc_1', 'usr_1', '1', 'A', 1);
        INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered,
            is_coexisting, created_at) VALUES ('lin_1', 'acc_1', '1', '+1', 1, 0, 1)"
}

# The schema of a database in a canonical order: columns, keys, references, checks, indexes, STRICT,
# triggers.
# Comments, spaces and the order of columns are left out: describe FILE
describe() {
    sqlite3 -batch "$1" <<'END'
SELECT 'version', (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id);
SELECT 'table', name, type, strict, wr FROM pragma_table_list WHERE schema = 'main' AND name NOT GLOB 'sqlite_*'
    ORDER BY name;
SELECT 'column', t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
    FROM pragma_table_list t, pragma_table_xinfo(t.name) c WHERE t.schema = 'main' ORDER BY t.name, c.name;
SELECT 'reference', t.name, f."table", f.seq, f."from", f."to", f.on_update, f.on_delete
    FROM pragma_table_list t, pragma_foreign_key_list(t.name) f WHERE t.schema = 'main'
    ORDER BY t.name, f."table", f."from", f."to";
SELECT 'index', t.name, iif(i.origin = 'c', i.name, i.origin), i."unique", i.partial,
        (SELECT group_concat(x.name || iif(x.desc, ' desc', '') || ' ' || x.coll, ',')
         FROM pragma_index_xinfo(i.name) x WHERE x.key = 1)
    FROM pragma_table_list t, pragma_index_list(t.name) i WHERE t.schema = 'main' ORDER BY 2, 3, 6;
SELECT 'trigger', tbl_name, replace(replace(replace(sql, char(10), ' '), '    ', ' '), '  ', ' ')
    FROM sqlite_master WHERE type = 'trigger' ORDER BY name;
END
    sqlite3 -batch "$1" "SELECT name || ' ' || sql || char(10) || '/' FROM sqlite_master
        WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'" | conditions | sort
}

# The CHECKs of tables and the WHEREs of indexes, from lines `NAME CREATE ...` that end with `/`.
conditions() {
    sed 's/--.*//' | tr '\n/' ' \n' | tr -s ' ' | awk '
        {
            name = $1
            rest = $0
            while (match(rest, /CHECK \(/)) {
                rest = substr(rest, RSTART + 6)
                depth = 0
                for (end = 1; end <= length(rest); end++) {
                    character = substr(rest, end, 1)
                    depth += (character == "(") - (character == ")")
                    if (depth == 0)
                        break
                }
                check = substr(rest, 1, end)
                gsub(/ /, "", check)
                print "check|" name "|" check
                rest = substr(rest, end + 1)
            }
            if ($2 $3 ~ /^CREATE(UNIQUE|INDEX)$/ && match($0, / WHERE .*/))
                print "where|" name "|" substr($0, RSTART + 7)
        }'
}

@test "every schema version becomes what schema.sql creates" {
    local version old
    switchboard init >/dev/null
    describe "$DB" >"$BATS_TEST_TMPDIR/fresh"
    for ((version = 1; version <= newest; version++)); do
        rm -f "$DB"
        old_database "$DB" "$version"
        db "INSERT INTO user (id, email, created_at) VALUES ('usr_1', 'old@example.org', 17)"
        switchboard init
        assert_equal "$(db "SELECT id, email, created_at FROM user")" 'usr_1|old@example.org|17'
        assert_equal "$(db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok
        describe "$DB" >"$BATS_TEST_TMPDIR/migrated"
        diff "$BATS_TEST_TMPDIR/fresh" "$BATS_TEST_TMPDIR/migrated" || fail "version $version became something \
else than schema.sql. Where schema.sql changed: raise SCHEMA_VERSION, add a step to lib/store/migrate.c, \
freeze the new schema as tests/schemas/v$((newest + 1)).sql."
    done
}

@test "the migration counts the replies to flows that arrived in earlier versions" {
    old_database "$DB" 1
    add_line
    db "INSERT INTO contact (id, account_id, phone, created_at, updated_at) VALUES ('con_1', 'acc_1', '1', 1, 1);
        INSERT INTO thread VALUES ('thr_1', 'lin_1', 'con_1', 1, 1);
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 9)
        INSERT INTO message (id, thread_id, line_id, wamid, direction, source, type, status, status_at, timestamp,
            body, created_at) SELECT 'msg_' || n, 'thr_1', 'lin_1', n, 'in', 'webhook', 'interactive', 'received',
            1, 1, x'', 1 FROM n;
        INSERT INTO flow_response SELECT id, 'acc_1', CASE WHEN wamid < 6 THEN 'f1' WHEN wamid < 9 THEN 'f2' END
            FROM message"
    switchboard init
    assert_equal "$(db 'SELECT * FROM flow_reply_count ORDER BY flow_id')" $'acc_1|f1|5\nacc_1|f2|3'
}

@test "the migration to version 4 finds the last inbound message, and indexes the words of every contact" {
    old_database "$DB" 3
    add_line
    db "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1234)
        INSERT INTO contact (id, account_id, phone, name, created_at, updated_at)
            SELECT printf('con_%04d', n), 'acc_1', 15550000000 + n, 'Zoë Nº' || n, 1, 1 FROM n;
        INSERT INTO thread SELECT 'thr' || substr(id, 4), 'usr_1', 'lin_1', id, 1, 9 FROM contact WHERE id < 'con_0003';
        INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status, status_at,
            timestamp, body, created_at) VALUES
            ('msg_1', 'usr_1', 'thr_0001', 'lin_1', 'a', 'in', 'webhook', 'text', 'received', 1, 5, x'', 1),
            ('msg_2', 'usr_1', 'thr_0001', 'lin_1', 'b', 'in', 'webhook', 'text', 'received', 1, 7, x'', 1),
            ('msg_3', 'usr_1', 'thr_0001', 'lin_1', 'c', 'out', 'api', 'text', 'sent', 1, 9, x'', 1),
            ('msg_4', 'usr_1', 'thr_0002', 'lin_1', 'd', 'out', 'api', 'text', 'sent', 1, 9, x'', 1)"
    switchboard init
    assert_equal "$(db 'SELECT id, last_inbound_at, unread, changed FROM thread ORDER BY id')" \
        $'thr_0001|7|0|0\nthr_0002||0|0'
    assert_equal "$(db 'SELECT change_sequence FROM user')" 0
    assert_equal "$(db "SELECT term, count(*) FROM contact_term WHERE account_id = 'acc_1' AND term = 'zoe'")" 'zoe|1234'
    assert_equal "$(db "SELECT group_concat(term) FROM contact_term WHERE contact_id = 'con_1234' ORDER BY term")" \
        '15550001234,no1234,zoe'
}

@test "the migration counts the usage of the messages and statuses that are stored" {
    local hour=3600000
    old_database "$DB" 3
    add_line
    db "INSERT INTO contact (id, account_id, phone, created_at, updated_at)
            VALUES ('con_1', 'acc_1', '1', 1, 1);
        INSERT INTO thread VALUES ('thr_1', 'usr_1', 'lin_1', 'con_1', 1, 1);
        CREATE TEMP TABLE m (id, way, source, hour);
        INSERT INTO m VALUES ('a', 'in', 'webhook', 5), ('b', 'in', 'history', 5),
            ('c', 'out', 'api', 5), ('d', 'out', 'echo', 6), ('e', 'out', 'status', 6),
            ('f', 'in', 'webhook', 7);
        INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type,
            status, status_at, timestamp, body, created_at) SELECT id, 'usr_1', 'thr_1', 'lin_1',
            id, way, source, 'text', 'sent', 1, 1, x'', hour * $hour + 17 FROM m;
        INSERT INTO message_status VALUES
            ('usr_1', 'c', 'sent', '', 1, CAST('{}' AS BLOB), 5 * $hour),
            ('usr_1', 'c', 'read', '', 1, CAST('{}' AS BLOB), 9 * $hour),
            ('usr_1', 'c', 'delivered', '', 1,
                CAST('{\"pricing\":{\"category\":\"utility\"}}' AS BLOB), 8 * $hour),
            ('usr_1', 'd', 'sent', '', 1, CAST('not JSON' AS BLOB), 6 * $hour),
            ('usr_1', 'd', 'delivered', '', 1, CAST('not JSON' AS BLOB), 6 * $hour),
            ('usr_1', 'e', 'failed', '', 1, CAST('{}' AS BLOB), 7 * $hour)"
    switchboard init
    assert_equal "$(db 'SELECT hour, measure, count, user_id, line_id FROM usage ORDER BY 1, 2')" \
        "$(printf '%s|usr_1|lin_1\n' '5|in|1' '5|out|1' '5|sent|1' '6|delivered|1' '6|out|2' \
            '6|sent|1' '7|failed|1' '7|in|1' '8|delivered|1' '8|utility|1' '9|read|1')"
}

# Prints SQL that fills a database of version 1 or 2: two users, each with an account, a line and
# SIZE contacts; each contact has a thread, two messages, a status, a flow reply, a block, a lead and an
# event with its attempt. fill_old SIZE
fill_old() {
    cat <<END
BEGIN;
CREATE TEMP TABLE u AS SELECT 1 AS u UNION ALL SELECT 2;
CREATE TEMP TABLE n AS WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < $1)
    SELECT u, u || '_' || n AS k, n FROM u, n;
INSERT INTO user (id, email, created_at) SELECT 'usr_' || u, u || '@example.org', 1 FROM u;
INSERT INTO account (id, user_id, waba_id, name, created_at)
    SELECT 'acc_' || u, 'usr_' || u, u, 'A', 1 FROM u;
INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered, is_coexisting,
    created_at) SELECT 'lin_' || u, 'acc_' || u, u, '+1', 1, 0, 1 FROM u;
INSERT INTO contact (id, account_id, phone, created_at, updated_at)
    SELECT 'con_' || k, 'acc_' || u, n, n, n FROM n;
INSERT INTO contact_block SELECT 'lin_' || u, 'con_' || k, n FROM n;
INSERT INTO lead SELECT 'con_' || k, 'ad', n FROM n;
INSERT INTO thread SELECT 'thr_' || k, 'lin_' || u, 'con_' || k, n, n + 1 FROM n;
INSERT INTO message SELECT 'msg_' || k || j, 'thr_' || k, 'lin_' || u, k || j, 'out', 'api', 'text',
    'failed', n, n + 1, k, CAST('{' || k AS BLOB), CAST('[' || k AS BLOB), n + 2
    FROM n, (SELECT 'a' AS j UNION ALL SELECT 'b');
INSERT INTO message_status SELECT id, 'failed', 'r', status_at, body, created_at FROM message
    WHERE id LIKE '%a';
INSERT INTO flow_response SELECT 'msg_' || k || 'b', 'acc_' || u, n % 3 FROM n;
INSERT INTO event (id, user_id, sequence, type, contact_id, body, state, next_attempt_at,
    created_at) SELECT 'evt_' || k, 'usr_' || u, n, 'ping', 'con_' || k, x'', 'pending', n, n FROM n;
INSERT INTO event_attempt SELECT 'evt_' || k, 1, n, 2, 500, 'HTTP 500', '::1', x'00ff' FROM n;
COMMIT;
END
}

# Each table of version 3 that has a user_id since then, and its other columns.
divided=('contact_block line_id, contact_id, created_at' 'lead contact_id, source, created_at'
    'thread id, line_id, contact_id, created_at, last_message_at'
    'message id, thread_id, line_id, wamid, direction, source, type, status, status_at, timestamp,
        context_wamid, hex(body), hex(error), created_at'
    'message_status message_id, status, recipient, timestamp, hex(body), received_at'
    'event_attempt event_id, attempt, started_at, duration_ms, http_status, error, address,
        hex(response_head)' 'flow_response message_id, account_id, flow_id')

# Prints the rows of those tables without user_id.
rows() {
    local table
    for table in "${divided[@]}"; do
        db "SELECT '${table%% *}', ${table#* } FROM ${table%% *} ORDER BY 2, 3, 4"
    done
}

@test "every row of a full database of an older version gets its customer and keeps its content" {
    local version table
    for version in 1 2; do
        rm -f "$DB"*
        old_database "$DB" "$version"
        fill_old 3000 | sqlite3 -bail "$DB"
        rows >"$BATS_TEST_TMPDIR/before"
        (($(wc -l <"$BATS_TEST_TMPDIR/before") == 8 * 6000))
        switchboard init
        rows >"$BATS_TEST_TMPDIR/after"
        cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
        for table in contact_block lead thread message message_status event_attempt; do
            # the keys of all rows contain the number of their customer: con_1_17, msg_2_5a
            assert_equal "$table $(db "SELECT count(*), count(DISTINCT user_id) FROM $table
                WHERE user_id = 'usr_' || substr($(key_of "$table"), 5, 1)")" \
                "$table $([[ $table == message ]] && echo 12000 || echo 6000)|2"
        done
        assert_equal "$(db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok
        cmp "$BATS_TEST_TMPDIR/before" <(DB=$DB.before-v$((version + 1)) rows)
    done
}

key_of() { # TABLE: its column with the number of the customer
    case $1 in
    contact_block | lead) echo contact_id ;;
    message_status) echo message_id ;;
    event_attempt) echo event_id ;;
    *) echo id ;;
    esac
}

@test "a database with a row that belongs to no customer is not migrated, and stays as it was" {
    old_database "$DB" 2
    fill_old 20 | sqlite3 -bail "$DB"
    db "UPDATE message SET line_id = 'lin_none' WHERE id = 'msg_1_7a'"
    rows >"$BATS_TEST_TMPDIR/before"
    run switchboard init
    [[ $status != 0 ]]
    [[ $output == *'NOT NULL constraint failed'* ]] || fail "$output"
    assert_equal "$(db 'PRAGMA user_version')" 2
    cmp "$BATS_TEST_TMPDIR/before" <(rows)
}

# Fills a database of version 4: users with a webhook, without one, with an unset one; events in
# each state.
fill_events() { # COUNT
    cat <<END
BEGIN;
INSERT INTO user (id, email, event_sequence, created_at) VALUES ('usr_a', 'a@example.org', 9, 7),
    ('usr_b', 'b@example.org', 0, 8), ('usr_c', 'c@example.org', 0, 9),
    ('usr_d', 'd@example.org', 0, 9);
INSERT INTO webhook (user_id, url, code, previous_code, previous_until, wants_message_status,
    failing_since, suspended_at, next_probe_at, updated_at) VALUES
    ('usr_a', 'http://a/', x'01', x'02', 3, 0, 4, 5, 6, 17),
    ('usr_b', '', NULL, NULL, NULL, 1, NULL, NULL, NULL, 18);
CREATE TEMP TABLE n AS WITH RECURSIVE n (n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < $1) SELECT n FROM n;
INSERT INTO event (id, user_id, sequence, type, contact_id, body, state, attempts,
    next_attempt_at, lease_until, lease_owner, last_status, last_error, created_at, finished_at)
    SELECT printf('evt_%s%07d', u, n), 'usr_' || u, n, iif(n % 3, 'message.received', 'ping'),
        iif(n % 3, 'con_' || n, NULL), CAST('body ' || u || n AS BLOB),
        CASE n % 4 WHEN 0 THEN 'pending' WHEN 1 THEN 'done' WHEN 2 THEN 'dead' ELSE 'cancelled' END,
        n % 11, 1000 + n, iif(n % 8, 0, 50), iif(n % 8, NULL, 'cou_1'), iif(n % 4 = 1, 200, NULL),
        iif(n % 4 = 2, 'HTTP 500', NULL), n, iif(n % 4, n + 1, NULL)
    FROM n, (SELECT 'a' AS u UNION ALL SELECT 'c');
INSERT INTO event_attempt (user_id, event_id, attempt, started_at, duration_ms, http_status,
    response_head) SELECT user_id, id, k, 100 * k + sequence, 3, 500, x'00ff'
    FROM event, (SELECT 1 AS k UNION ALL SELECT 2) WHERE sequence % 2;
INSERT INTO event_turn VALUES ('usr_a', 3, 'con_1', 'con_9'), ('usr_d', 1, 'x', 'y');
COMMIT;
END
}

# Prints the attempts without the webhook that version 5 adds.
attempt_rows() {
    db "SELECT user_id, event_id, attempt, started_at, duration_ms, http_status, error, address,
        hex(response_head) FROM event_attempt ORDER BY 2, 3"
}

@test "events of version 4 keep their content, state and attempts, and have one delivery each" {
    local own='attempts, next_attempt_at, lease_until, lease_owner, last_status, last_error'
    old_database "$DB" 4
    fill_events 2000 | sqlite3 -bail "$DB"
    {
        db "SELECT id, type, hex(body), user_id, sequence, contact_id, state, $own, created_at,
            finished_at FROM event ORDER BY id"
        attempt_rows
    } >"$BATS_TEST_TMPDIR/before"
    switchboard init
    assert_equal "$(db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok
    {
        db "SELECT e.id, e.type, hex(e.body), d.user_id, d.sequence, d.order_key, d.state, $own,
            d.created_at, d.finished_at
            FROM event e JOIN delivery d ON d.event_id = e.id ORDER BY e.id"
        attempt_rows
    } >"$BATS_TEST_TMPDIR/after"
    cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    assert_equal "$(db "SELECT DISTINCT webhook_id, user_id FROM delivery ORDER BY 1")" \
        $'whk_a|usr_a\nwhk_c|usr_c'
    assert_equal "$(db "SELECT count(*) FROM event_attempt
        WHERE webhook_id <> 'whk_' || substr(user_id, 5)")" 0
    assert_equal "$(db "SELECT count(*) FROM event e JOIN delivery d ON d.event_id = e.id
        WHERE e.state <> d.state OR e.has_error <> (d.last_error IS NOT NULL)
        OR e.finished_at IS NOT d.finished_at OR d.last_attempt_at IS NOT
            (SELECT max(started_at) FROM event_attempt WHERE event_id = e.id)")" 0
}

@test "a webhook of version 4 keeps URL, codes, types and state, and the turn of its contacts" {
    old_database "$DB" 4
    fill_events 4 | sqlite3 -bail "$DB"
    switchboard init
    assert_equal "$(db "SELECT id, user_id, name, kind, url, hex(code), hex(previous_code),
        previous_until, event_types, line_ids, paused_at, failing_since, suspended_at,
        next_probe_at, created_at, updated_at, deleted_at FROM webhook ORDER BY id")" \
        'whk_a|usr_a||event|http://a/|01|02|3||||4|5|6|17|17|
whk_b|usr_b||event|||||message.received lead.created message.status||||||18|18|
whk_c|usr_c||event|||||||||||9|9|'
    assert_equal "$(db 'SELECT * FROM event_turn; SELECT sum(forward_sequence) FROM user')" \
        $'whk_a|3|con_1|con_9\n0'
}

@test "version 7 keeps the counts of usage, and checks the same values as version 6" {
    local before value table column
    old_database "$DB" 6
    add_line
    db "INSERT INTO contact (id, account_id, phone, created_at, updated_at)
            VALUES ('con_1', 'acc_1', '1', 1, 1);
        INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at)
            VALUES ('thr_1', 'usr_1', 'lin_1', 'con_1', 1, 1);
        INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type,
            status, status_at, timestamp, body, created_at)
            VALUES ('msg_1', 'usr_1', 'thr_1', 'lin_1', 'w', 'out', 'api', 'text', 'sent', 1, 1,
                x'', 1);
        INSERT INTO lead VALUES ('usr_1', 'con_1', 'ad', 1);
        INSERT INTO usage VALUES ('usr_1', 9, 'lin_1', 'out', 3), ('usr_1', 8, 'lin_1', 'in', 5),
            ('usr_1', 9, 'lin_1', 'service', 1)"
    before=$(db 'SELECT * FROM usage ORDER BY 1, 2, 3, 4; SELECT * FROM message')
    switchboard init
    assert_equal "$(db 'SELECT * FROM usage ORDER BY 1, 2, 3, 4; SELECT * FROM message')" "$before"
    while read -r table column value; do
        db "UPDATE $table SET $column = '$value' WHERE rowid = 1"
        run sqlite3 "$DB" "UPDATE $table SET $column = '${value}x' WHERE rowid = 1"
        [[ $output == *'CHECK constraint failed'* ]] || fail "$table.$column: $output"
    done <<'END'
message source api
message source webhook
message source echo
message source history
message source status
message status received
message status accepted
message status sent
message status delivered
message status read
message status played
message status failed
lead source new_contact
lead source ad
lead source lead_event
END
    for value in in out sent delivered read failed marketing utility authentication service; do
        db "INSERT OR REPLACE INTO usage VALUES ('usr_1', 7, 'lin_1', '$value', 1)"
    done
    run sqlite3 "$DB" "INSERT INTO usage VALUES ('usr_1', 7, 'lin_1', 'x', 1)"
    [[ $output == *'CHECK constraint failed'* ]] || fail "$output"
}

@test "the newest file in tests/schemas is the schema version of this program" {
    switchboard init >/dev/null
    assert_equal "$(db 'PRAGMA user_version')" "$newest"
    old_database "$BATS_TEST_TMPDIR/frozen" "$newest"
    diff <(describe "$DB") <(describe "$BATS_TEST_TMPDIR/frozen")
}

@test "of an idempotency key that version 1 had on several routes the newest answer is kept; other keys are unchanged" {
    old_database "$DB" 1
    sqlite3 -bail "$DB" <<'END'
INSERT INTO user (id, email, created_at) VALUES ('usr_1', 'a@example.org', 0), ('usr_2', 'b@example.org', 0);
INSERT INTO idempotency (user_id, route, key, fingerprint, request_id, status, answer, wamid, wa_id, created_at)
    SELECT u, r, k, zeroblob(32), q, s, CASE WHEN s THEN CAST('"' || q || '"' AS BLOB) END, w, w, t FROM (
        SELECT 'usr_1' u, 'POST /a' r, 'both' k, 'req_1' q, 200 s, NULL w, 1 t
        UNION ALL SELECT 'usr_1', 'POST /b', 'both', 'req_2', 502, NULL, 2
        UNION ALL SELECT 'usr_1', 'POST /c', 'both', 'req_3', NULL, NULL, 3
        UNION ALL SELECT 'usr_2', 'POST /a', 'both', 'req_4', 200, NULL, 1
        UNION ALL SELECT 'usr_1', 'POST /a', 'open', 'req_5', NULL, NULL, 4
        UNION ALL SELECT 'usr_1', 'POST /b', 'open', 'req_6', NULL, 'w', 5
        UNION ALL SELECT 'usr_1', 'POST /a', 'one', 'req_7', 502, 'v', 6);
END
    switchboard init
    assert_equal "$(sqlite3 "$DB" "SELECT user_id, key, route, request_id, status, CAST(answer AS TEXT), wamid, wa_id,
        length(fingerprint), created_at FROM idempotency ORDER BY user_id, key")" \
        'usr_1|both|POST /b|req_2|502|"req_2"|||32|2
usr_1|one|POST /a|req_7|502|"req_7"|v|v|32|6
usr_1|open|POST /b|req_6|||w|w|32|5
usr_2|both|POST /a|req_4|200|"req_4"|||32|1'
    assert_equal "$(sqlite3 "$DB" 'PRAGMA foreign_key_check; PRAGMA integrity_check')" ok
}

@test "an older database is copied before it is migrated" {
    local version
    for ((version = 1; version < newest; version++)); do
        rm -f "$DB"*
        old_database "$DB" "$version"
        switchboard init
        assert_equal "$(sqlite3 "$DB.before-v$((version + 1))" 'PRAGMA user_version')" "$version"
        assert_equal "$(stat -c %a "$DB.before-v$((version + 1))")" 600
    done
    rm -f "$DB"*
    old_database "$DB" "$newest"
    switchboard init
    assert_equal "$(find "$STACK" -name '*before*')" ''
}

@test "the comparison detects a changed column, check, reference, index, default, STRICT and version" {
    local fresh=$BATS_TEST_TMPDIR/fresh change number=0
    old_database "$fresh" "$newest"
    describe "$fresh" >"$fresh.text"
    (($(wc -l <"$fresh.text") > 200))
    for change in 's/name_folded TEXT NOT NULL/name_folded TEXT/' 's/ CHECK (is_addon IN (0, 1))//' \
        's/(state IN (.pending., /(state IN (/' 's/event_sequence     INTEGER NOT NULL DEFAULT 0/event_sequence INTEGER NOT NULL/' \
        's/ REFERENCES line (id)//' 's/CREATE UNIQUE INDEX plan_primary/CREATE INDEX plan_primary/' \
        's/ WHERE is_addon = 0//' 's/(account_id, updated_at DESC)/(account_id, updated_at)/' \
        's/^    UNIQUE (line_id, wamid),//' '0,/) STRICT;/s/) STRICT;/);/' 's/    email              TEXT/    mail               TEXT/; s/"user" (email)/"user" (mail)/'; do
        sed "$change" "$root/tests/schemas/v$newest.sql" >"$BATS_TEST_TMPDIR/changed.sql"
        refute cmp -s "$root/tests/schemas/v$newest.sql" "$BATS_TEST_TMPDIR/changed.sql"
        ((++number))
        sqlite3 -bail "$fresh.$number" <"$BATS_TEST_TMPDIR/changed.sql"
        sqlite3 "$fresh.$number" "PRAGMA application_id = $application; PRAGMA user_version = $newest"
        describe "$fresh.$number" >"$BATS_TEST_TMPDIR/changed.text"
        refute cmp -s "$fresh.text" "$BATS_TEST_TMPDIR/changed.text"
    done
    sqlite3 "$fresh" 'PRAGMA user_version = 99'
    refute cmp -s "$fresh.text" <(describe "$fresh")
}
