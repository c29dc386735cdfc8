#!/usr/bin/env bats
# `switchboard init` migrates every earlier schema version to exactly what schema.sql creates.
# tests/schemas/vN.sql is the schema of version N; such a file is never edited once its version has been
# released.
# transports: direct
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

# The schema of a database in a canonical order: columns, keys, references, checks, indexes, STRICT.
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
    db "INSERT INTO user (id, email, created_at) VALUES ('usr_1', 'a@example.org', 1);
        INSERT INTO account (id, user_id, waba_id, name, created_at) VALUES ('acc_1', 'usr_1', '1', 'A', 1);
        INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered, is_coexisting, created_at)
            VALUES ('lin_1', 'acc_1', '1', '+1', 1, 0, 1);
        INSERT INTO contact (id, account_id, phone, created_at, updated_at) VALUES ('con_1', 'acc_1', '1', 1, 1);
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
        's/^    UNIQUE (line_id, wamid),//' '0,/) STRICT;/s/) STRICT;/);/' 's/    email              TEXT/    mail               TEXT/; s/user (email)/user (mail)/'; do
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

refute() { # COMMAND...: it must fail
    if "$@"; then
        fail "expected this to fail: $*"
    fi
}
