#!/usr/bin/env bats
# `switchboard init` migrates a database to the next schema version, and refuses one that it does not know.
# tests/next makes that version: helpers/next_switchboard is the CLI with it.
# transports: direct
# needs: next
# SQLite only: the databases are files; postgresql.bats has the same on a server
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

setup() {
    export STACK=$BATS_TEST_TMPDIR/installation
    mkdir -m 700 "$STACK" "$STACK"/{log,data}
    export DB=$STACK/data/switchboard.db LOG=$STACK/log/switchboard.log SANDBOX=http://127.0.0.1:1
    export SWITCHBOARD_CONFIG=$STACK/switchboard.conf
    write_config
    version=$(newest_schema)
    next=$((version + 1))
}

next_switchboard() {
    "$HELPERS/next_switchboard" "$@"
}

# Adds COUNT users, each with a token: fill COUNT
fill() {
    db "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < $1)
        INSERT INTO user (id, email, created_at) SELECT 'usr_' || n, n || '@example.org', n FROM n;
        INSERT INTO api_token (user_id, hash, created_at, last4)
            SELECT id, CAST(printf('%32s', id) AS BLOB), created_at, 'last' FROM user"
}

# Prints the rows of the tables that the migration changes or reads.
rows() {
    sqlite3 "$1" 'SELECT id, email, created_at FROM user ORDER BY id;
        SELECT user_id, hex(hash), created_at, last4 FROM api_token ORDER BY 1'
}

# Checks that `init` and programs of this version refuse the database, and that nothing changes: refused TEXT
refused() {
    local command
    db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    sha256sum "$DB" >"$BATS_TEST_TMPDIR/before"
    for command in init 'user list' doctor "backup $BATS_TEST_TMPDIR/copy"; do
        # shellcheck disable=SC2086
        run switchboard $command
        [[ $status == 1 && $output == *"$1"* ]] || fail "$command: $status: $output"
    done
    run switchboard restore "$DB" --config "$BATS_TEST_TMPDIR/other.conf"
    [[ $status == 1 && $output == *"$1"* ]] || fail "restore: $status: $output"
    sha256sum --status -c "$BATS_TEST_TMPDIR/before"
    assert_equal "$(find "$STACK" "$BATS_TEST_TMPDIR" -name '*before-v*' -o -name copy)" ''
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

@test "a database of this version becomes what the next schema.sql creates, and keeps its rows" {
    next_switchboard init >/dev/null
    describe "$DB" >"$BATS_TEST_TMPDIR/fresh"
    grep -q '^table|token_note|' "$BATS_TEST_TMPDIR/fresh"
    rm "$DB"*
    switchboard init >/dev/null
    fill 3000
    rows "$DB" >"$BATS_TEST_TMPDIR/before"
    run next_switchboard init
    [[ $output == *"database $DB: migrated from schema version $version to $next; the copy made before is \
$DB.before-v$next" ]] || fail "$output"
    describe "$DB" | diff "$BATS_TEST_TMPDIR/fresh" - || fail 'the steps of tests/next make something else'
    rows "$DB" | cmp "$BATS_TEST_TMPDIR/before" -
    assert_equal "$(db 'SELECT count(*), min(size), min(label) FROM token_note JOIN api_token USING (user_id)
        WHERE body = hash')" '3000|32|migrated'
    assert_equal "$(db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok
    run next_switchboard init
    [[ $output == *"up to date, schema version $next" ]] || fail "$output"
}

@test "an older database is copied before it is migrated; the copy can be used again" {
    switchboard init >/dev/null
    fill 3
    next_switchboard init >/dev/null
    assert_equal "$(stat -c %a "$DB.before-v$next")" 600
    rows "$DB" | cmp - <(rows "$DB.before-v$next")
    next_switchboard restore "$DB.before-v$next" >"$BATS_TEST_TMPDIR/restored"
    grep -q 'Its schema version is older: run `switchboard init` now' "$BATS_TEST_TMPDIR/restored"
    assert_equal "$(switchboard user list --json | jq length)" 3
    sqlite3 "$DB.before-v$next" 'CREATE TRIGGER evil AFTER INSERT ON session BEGIN DELETE FROM user; END'
    run next_switchboard restore "$DB.before-v$next"
    [[ $status == 1 && $output == *'has the trigger evil on the table session'* ]] || fail "$output"
    rm "$DB"*
    switchboard init >/dev/null
    assert_equal "$(find "$STACK" -name '*before*')" ''
}

@test "a migration that fails leaves the database as it was" {
    switchboard init >/dev/null
    fill 3
    db 'CREATE TABLE token_note (x)' # the step cannot create it
    rows "$DB" >"$BATS_TEST_TMPDIR/before"
    run next_switchboard init
    [[ $status == 1 && $output == *'token_note already exists'* ]] || fail "$status: $output"
    assert_equal "$(db 'PRAGMA user_version')" "$version"
    rows "$DB" | cmp "$BATS_TEST_TMPDIR/before" -
    db 'DROP TABLE token_note'
    next_switchboard init >/dev/null
    assert_equal "$(db 'PRAGMA user_version')" "$next"
}

@test "of eight runs at once one migrates the database" {
    local i
    switchboard init >/dev/null
    fill 3000
    for i in {1..8}; do
        next_switchboard init >"$BATS_TEST_TMPDIR/init.$i" &
    done
    wait
    assert_equal "$(cat "$BATS_TEST_TMPDIR"/init.* | grep -cE ': (migrated from|up to date)')" 8
    assert_equal "$(db 'SELECT count(*) FROM token_note; PRAGMA integrity_check')" $'3000\nok'
}

@test "programs refuse an older database until init has run" {
    switchboard init >/dev/null
    run next_switchboard user list
    [[ $status == 1 && $output == *"it has schema version $version, this program needs $next: run "* ]] ||
        fail "$status: $output"
    next_switchboard init >/dev/null
    next_switchboard user list
}

@test "a database of a newer version is refused and not changed" {
    sed "s|$STACK|$BATS_TEST_TMPDIR|" "$SWITCHBOARD_CONFIG" >"$BATS_TEST_TMPDIR/other.conf"
    next_switchboard init >/dev/null
    refused "it has schema version $next, made by a newer program; this one supports $version"
}

# Before the first release the tables of version 1 change; databases had the versions 1 to 7 before.
# bats test_tags=long
@test "a database of a development version is refused with what to do, and not changed" {
    local old
    sed "s|$STACK|$BATS_TEST_TMPDIR|" "$SWITCHBOARD_CONFIG" >"$BATS_TEST_TMPDIR/other.conf"
    switchboard init >/dev/null
    edition=$(db 'PRAGMA application_id')
    db "PRAGMA application_id = $((edition ^ 1))"
    refused 'made by a development version'
    run next_switchboard init
    [[ $status == 1 && $output == *'made by a development version'* ]] || fail "$status: $output"
    for old in 1 7; do
        db "PRAGMA application_id = $((0x53574244)); PRAGMA user_version = $old"
        refused 'for this program name another database and run `switchboard init`'
    done
    db "PRAGMA application_id = $edition; PRAGMA user_version = $version"
    switchboard user list
}

# bats test_tags=long
@test "the comparison detects a changed column, check, reference, index, default, STRICT and version" {
    local fresh=$BATS_TEST_TMPDIR/fresh change number=0
    sqlite3 -bail "$fresh" <"$root/schema.sql"
    describe "$fresh" >"$fresh.text"
    (($(wc -l <"$fresh.text") > 200))
    for change in 's/name_folded TEXT NOT NULL/name_folded TEXT/' 's/ CHECK (is_addon IN (0, 1))//' \
        's/(state IN (.pending., /(state IN (/' 's/event_sequence     INTEGER NOT NULL DEFAULT 0/event_sequence INTEGER NOT NULL/' \
        's/ REFERENCES line (id)//' 's/CREATE UNIQUE INDEX plan_primary/CREATE INDEX plan_primary/' \
        's/ WHERE is_addon = 0//' 's/(account_id, updated_at DESC)/(account_id, updated_at)/' \
        's/^    UNIQUE (wamid, line_id),.*//' '0,/) STRICT;/s/) STRICT;/);/' 's/    email              TEXT/    mail               TEXT/; s/"user" (email)/"user" (mail)/'; do
        sed "$change" "$root/schema.sql" >"$BATS_TEST_TMPDIR/changed.sql"
        refute cmp -s "$root/schema.sql" "$BATS_TEST_TMPDIR/changed.sql"
        ((++number))
        sqlite3 -bail "$fresh.$number" <"$BATS_TEST_TMPDIR/changed.sql"
        describe "$fresh.$number" >"$BATS_TEST_TMPDIR/changed.text"
        refute cmp -s "$fresh.text" "$BATS_TEST_TMPDIR/changed.text"
    done
    sqlite3 "$fresh" 'PRAGMA user_version = 99'
    refute cmp -s "$fresh.text" <(describe "$fresh")
}
