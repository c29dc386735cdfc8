#!/usr/bin/env bats
# `switchboard copy-to`: a SQLite database moves to a PostgreSQL server while programs use it, and
# back. The tests need the server of `make test DATABASE=postgresql`; without it only the first
# one runs.
# transports: fcgi
# shellcheck disable=SC2034  # SERVER is for create_database
server=${COPY_SERVER-${SERVER-}}
export COPY_SERVER=$server
unset SERVER # the stack of this file begins with a file
# starts first
# bats file_tags=long
load helpers/all
load helpers/fill
load helpers/webhook
load helpers/document

setup_file() {
    start_stack
    make_user
}

setup() {
    [[ -n $server || $BATS_TEST_DESCRIPTION == *'without PostgreSQL'* ]] ||
        skip 'needs a server: make test DATABASE=postgresql'
    forget_sent
    new=$BATS_TEST_TMPDIR/new.db
}

teardown() {
    touch "$BATS_TEST_TMPDIR/enough" # ends the senders
}

# Prints the URL of a new, empty database.
new_database() {
    SERVER=$server create_database
}

# Runs SQL on a database of the server: pg URL SQL
pg() {
    psql -qAtX -v ON_ERROR_STOP=1 -d "$1" -c "$2"
}

# Writes a configuration for another database, and prints its path: config_for NAME TARGET
config_for() {
    local file=$BATS_TEST_TMPDIR/$1.conf
    sed "s|^database = .*|database = ${2//&/\\&}|" "$SWITCHBOARD_CONFIG" >"$file"
    printf 'pending_dir = %s/pending\n' "$BATS_TEST_TMPDIR" >>"$file"
    printf '%s' "$file"
}

# Prints the rows of a file in one order, without the mark of the move and the random number of the
# settings, of which each database has its own.
rows_of() { # FILE
    sqlite3 "$1" .dump | grep -a '^INSERT INTO' |
        grep -avE '^INSERT INTO (database_move|settings_version) ' | LC_ALL=C sort
}

# Expects that two files have the same rows: assert_same_rows FILE FILE
assert_same_rows() {
    rows_of "$1" >"$BATS_TEST_TMPDIR/rows.1"
    rows_of "$2" >"$BATS_TEST_TMPDIR/rows.2"
    (($(wc -l <"$BATS_TEST_TMPDIR/rows.1") > 100))
    diff -a "$BATS_TEST_TMPDIR"/rows.[12] >"$BATS_TEST_TMPDIR/differences" ||
        fail "$(cut -c 1-200 "$BATS_TEST_TMPDIR/differences" | head -20)"
}

# A SQLite database with rows in every table and values of every kind, and a configuration for it.
# Sets `old` (the file) and `config`.
make_rich() {
    old=$BATS_TEST_TMPDIR/old.db
    config=$(config_for old "$old")
    switchboard init --config "$config" >/dev/null
    { fill_sql 300 && rich_sql; } | sqlite3 -bail "$old" >/dev/null
    assert_equal "$(sqlite3 "$old" 'PRAGMA foreign_key_check')" ''
}

rich_sql() {
    cat <<'END'
INSERT INTO webhook (id, user_id, kind, url, code, previous_code, previous_until, created_at,
        updated_at)
    VALUES ('whk_fill', 'usr_fill', 'event', '', x'', x'00ff', 9223372036854775807, 1,
        -9223372036854775808);
INSERT INTO api_token (user_id, hash, created_at) VALUES ('usr_fill', randomblob(32), 1);
INSERT INTO scoped_token (id, user_id, hash, name, last4, scopes, created_by, created_at,
        last_used_at, line_ids)
    VALUES ('tok_fill', 'usr_fill', randomblob(32), 'é', '0000', 'basic read', 'x', 1, 2, 'lin_é');
INSERT INTO trail VALUES ('trl_fill', 'usr_fill', 1, 'cli:é', 'é', 'user.add', NULL, '{}', '', '');
INSERT INTO retention VALUES ('usr_fill', 365, NULL, 9223372036854775807, 0, 'con_é', 'acc_é');
INSERT INTO member (id, email, name, password, created_at)
    VALUES ('mbr_rich', 'rich@example.org', 'é', 'hash', 1);
INSERT INTO membership VALUES ('usr_fill', 'mbr_rich', 'agent', 1, 'x', 'lin_é', 1);
INSERT INTO invitation
    VALUES ('inv_fill', 'usr_fill', randomblob(32), 'é@example.org', 'viewer', NULL, 'x', 1, 2,
        'lin_é', 1);
INSERT INTO login_link (member_id, hash, expires_at) VALUES ('mbr_rich', randomblob(32), 1);
INSERT INTO factor VALUES ('mbr_rich', x'00ff', 1, 1, NULL);
INSERT INTO recovery_code VALUES ('mbr_rich', randomblob(32)), ('mbr_rich', randomblob(32));
INSERT INTO pending_login
    VALUES (randomblob(32), 'mbr_rich', 1, 9223372036854775807, 4, 'att_rich');
INSERT INTO reply (id, user_id, shortcut, text, created_at, updated_at)
    VALUES ('rpl_fill', 'usr_fill', 'é', '🙂', 1, 1);
INSERT INTO opt_out VALUES ('acc_fill', 'é', 'api', 9223372036854775807);
INSERT INTO sender_lease VALUES (1, 'snd_fill', 1);
INSERT INTO sender_streak VALUES ('lin_é', 132012, 9);
INSERT INTO plan (user_id, name, is_addon, created_at)
    VALUES ('usr_fill', 'Größe 🙂 '' "', 0, 1);
INSERT INTO template (account_id, name, language, updated_at)
    VALUES ('acc_fill', 'a', 'de', 1), ('acc_fill', 'a' || char(1), 'de', 1),
        ('acc_fill', 'é', '', 1);
INSERT INTO event_turn (webhook_id, turn, order_key, round_end) VALUES ('whk_fill', 1, '', '');
INSERT INTO foreign_waba (line_id, waba_id, count, first_at, last_at)
    VALUES ('lin_fill', '1', 1, 1, 1);
INSERT INTO heartbeat (name, pid, beat_at) VALUES ('courier', 1, 1);
INSERT INTO webhook_refusal (id, hash, reason, size, count, first_at, last_at, body)
    VALUES ('ref_1', randomblob(32), 'too large', 3000000, 1, 1, 1, randomblob(3000000));
UPDATE message SET body = randomblob(100000) WHERE id IN (SELECT id FROM message LIMIT 10);
UPDATE contact SET name = '' WHERE id IN (SELECT id FROM contact LIMIT 3);
UPDATE contact SET name = NULL WHERE id IN (SELECT id FROM contact ORDER BY id DESC LIMIT 3);
UPDATE "user" SET primary_line_id = 'lin_fill', default_account_id = 'acc_fill'
    WHERE id = 'usr_fill';
END
}

copy_to() { # CONFIG TARGET [OPTION...]
    run --separate-stderr "$OUT/tools/switchboard" copy-to "$2" --config "$1" "${@:3}"
}

# Runs a command of the page with the target here; it succeeds: copy_by COMMAND CONFIG
copy_by() {
    [[ $1 == 'switchboard copy-to '* ]] || fail "$1"
    copy_to "$2" "${1#switchboard copy-to }" --json
    assert_equal "$status $stderr" '0 '
}

# Expects that copy-to fails with a text on stderr: refuses TEXT CONFIG TARGET
refuses() {
    copy_to "${@:2}"
    [[ $status == 1 && $stderr == *"$1"* ]] || fail "status $status: $output $stderr"
}

@test "a program without PostgreSQL says what it supports and does not print the password" {
    [[ -z $server ]] || skip 'this program supports PostgreSQL'
    copy_to "$SWITCHBOARD_CONFIG" - <<<'postgresql://u:SECRET@h/d'
    assert_equal "$status $output" '1 '
    [[ $stderr == 'switchboard: database postgresql://h/d: this program supports no database'* ]] ||
        fail "$stderr"
    assert_equal "$(switchboard user list | wc -l)" 2
}

@test "a URL with a password is refused as an argument, also without PostgreSQL" {
    local url
    for url in 'postgresql://u:SECRET@h/d' 'postgresql://u@h/d?a=b&password=SECRET'; do
        copy_to "$SWITCHBOARD_CONFIG" "$url"
        assert_equal "$status $output" '2 '
        [[ $stderr == *'TARGET `postgresql://h/d` has a password, which every user of '* ]] ||
            fail "$stderr"
        [[ $stderr == *'give - as TARGET and the URL on standard input'*PGPASSFILE* ]]
        [[ $stderr != *SECRET* ]]
    done
    assert_equal "$(switchboard user list | wc -l)" 2
}

@test "every row of every table moves to a server and back unchanged, and both ways print the same hashes" {
    local url there table command
    make_rich
    for table in $(sqlite3 "$old" "SELECT name FROM sqlite_schema WHERE type = 'table'"); do
        assert_equal "$table $(sqlite3 "$old" "SELECT count(*) > 0 FROM \"$table\"")" "$table 1"
    done
    cp "$old" "$BATS_TEST_TMPDIR/before.db"
    url=$(new_database)
    command=$(block doc/moving-to-postgresql.md 'switchboard copy-to postgresql')
    copy_by "${command/postgresql:*/"$url"}" "$config"
    there=$output
    assert_equal "$(gojq -c '[.rows - ([.tables[].rows] | add), .changes, .wasDone]' <<<"$there")" \
        '[0,0,false]'
    while read -r table count; do
        assert_equal "$table $(pg "$url" "SELECT count(*) FROM \"$table\"")" "$table $count"
        assert_equal "$table $(sqlite3 "$old" "SELECT count(*) FROM \"$table\"")" "$table $count"
    done < <(gojq -r '.tables[] | "\(.name) \(.rows)"' <<<"$there")
    # the references and their rules are as `init` makes them
    assert_equal "$(pg "$url" "SELECT count(*) > 40, bool_or(condeferrable), bool_and(convalidated)
        FROM pg_constraint WHERE contype = 'f'")" 't|f|t'
    config=$(config_for new "$url")
    switchboard init --config "$config" >/dev/null
    command=$(block doc/moving-to-postgresql.md 'switchboard copy-to /var')
    copy_by "${command/\/var*/"$new"}" "$config"
    assert_equal "$(gojq -c .tables <<<"$output")" "$(gojq -c .tables <<<"$there")"
    assert_same_rows "$BATS_TEST_TMPDIR/before.db" "$new"
    assert_equal "$(sqlite3 "$new" 'PRAGMA integrity_check; PRAGMA foreign_key_check;
        PRAGMA journal_mode')" $'ok\nwal'
    assert_equal "$(stat -c '%a %u %g' "$new")" "660 $(stat -c '%u %g' "$BATS_TEST_TMPDIR")"
    switchboard user list --config "$(config_for back "$new")" | grep -q fill@example.org
}

@test "copy-to prints number and hash of each table, the times, and what to write into the configuration" {
    local url
    make_rich
    url=$(new_database)
    copy_to "$config" - <<<"$url&password=SECRET"
    assert_equal "$status $stderr" '0 '
    [[ ${lines[0]} =~ ^TABLE' '+ROWS' '+HASH$ ]] || fail "$output"
    grep -qE '^message +900 +[0-9a-f]{16}$' <<<"$output"
    grep -qE '^[0-9]+ rows are equal in both, by number and hash of each table\.$' <<<"$output"
    grep -qE 'writers waited for [0-9.]+ s, while 0 changed rows were copied\.$' <<<"$output"
    [[ $output == *"Programs refuse $old from now on"*"write into $config"* ]] || fail "$output"
    [[ $output == *'database = TARGET of this command'* ]]
    [[ $output != *SECRET* ]]
}

@test "copy-to refuses a target with rows, of another version or another program, and changes nothing" {
    local url other
    make_rich
    cp "$old" "$BATS_TEST_TMPDIR/before.db"
    url=$(new_database)
    other=$(config_for other "$url")
    switchboard init --config "$other" >/dev/null
    switchboard user add b@example.org --config "$other" >/dev/null
    refuses 'it has rows already, in the table' "$config" "$url"
    pg "$url" 'DELETE FROM trail; DELETE FROM api_token; DELETE FROM membership; DELETE FROM member;
        DELETE FROM "user"; UPDATE schema_version SET edition = edition + 1'
    refuses 'it was made by a development version' "$config" "$url"
    pg "$url" 'UPDATE schema_version SET version = 99, edition = edition - 1'
    refuses 'it has schema version 99' "$config" "$url"
    url=$(new_database)
    pg "$url" 'CREATE TABLE t (x int)'
    refuses 'it belongs to another program' "$config" "$url"
    refuses 'moves between SQLite and PostgreSQL' "$config" "$new"
    refuses 'moves between SQLite and PostgreSQL' "$config" "$old"
    refuses 'not one that libpq reads' "$config" - <<<'postgresql://u:SECRET@h:nonsense/d'
    [[ $stderr != *SECRET* ]]
    refuses 'database postgresql://127.0.0.1:1/d: ' "$config" - \
        <<<'postgresql://u:SECRET@127.0.0.1:1/d'
    [[ $stderr != *SECRET* ]]
    refuses 'name the server instead of the pooler' "$config" "$(new_database)&pooler=transaction"
    run "$OUT/tools/switchboard" copy-to 'postgresql://u:SECRET@h/d' 'postgresql://u:SECRET@h/d' x
    [[ $status == 2 && $output != *SECRET* ]] || fail "$output"
    for other in '' 'relative.db' $'postgresql://h/d\npostgresql://i/d' SECRET; do
        refuses 'the target on standard input must be one line' "$config" - <<<"$other"
        [[ $stderr != *SECRET* ]]
    done
    run "$OUT/tools/switchboard" copy-to relative.db
    [[ $status == 2 && $output == *'must be the absolute path of a SQLite database, '* ]] ||
        fail "$output"
    [[ ! -e $new ]]
    assert_same_rows "$BATS_TEST_TMPDIR/before.db" "$old"
    switchboard user list --config "$config" >/dev/null
}

@test "texts with a NUL or without UTF-8 are named by table, column and row before anything is copied" {
    local url row=con_00000000000000000000000007
    make_rich
    url=$(new_database)
    sqlite3 "$old" "UPDATE contact SET name = CAST(x'41ff' AS TEXT) WHERE id = '$row';
        INSERT INTO template (account_id, name, language, updated_at)
            VALUES ('acc_fill', CAST(x'62000a63' AS TEXT), 'de', 1)"
    cp "$old" "$BATS_TEST_TMPDIR/before.db"
    refuses "table contact, column name, row id=$row: not UTF-8" "$config" "$url"
    [[ $stderr == *'2 rows have a text'* ]] || fail "$stderr"
    row='account_id=acc_fill, name=b\x00\x0ac, language=de'
    [[ $stderr == *"table template, column name, row $row: a NUL byte" ]] || fail "$stderr"
    assert_equal "$(pg "$url" "SELECT count(*) FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace")" 0
    assert_same_rows "$BATS_TEST_TMPDIR/before.db" "$old"
}

@test "a source with a reference to a missing row is refused, and nothing is changed" {
    local url
    make_rich
    url=$(new_database)
    sqlite3 "$old" "DELETE FROM webhook WHERE id = 'whk_fill'"
    refuses 'violates foreign key constraint "delivery_webhook_id_fkey"' "$config" "$url"
    assert_equal "$(pg "$url" 'SELECT count(*) FROM "user"')" 0
    switchboard user list --config "$config" >/dev/null
}

# Succeeds when the copy has begun: its view of the source is older.
copy_has_begun() { # URL
    [[ $(pg "$1" "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'switchboard'") == 1 ]]
}

@test "rows that are inserted, changed and deleted during the copy are moved too" {
    local url copying
    make_rich
    url=$(new_database)
    "$OUT/tools/switchboard" copy-to "$url" --config "$config" --json \
        >"$BATS_TEST_TMPDIR/out" 3>&- &
    copying=$!
    eventually copy_has_begun "$url"
    sqlite3 "$old" "PRAGMA foreign_keys = ON; BEGIN;
        DELETE FROM session WHERE id IN (SELECT id FROM session LIMIT 5);
        UPDATE contact SET phone = NULL WHERE id = 'con_00000000000000000000000001';
        UPDATE contact SET phone = '1777000000001' WHERE id = 'con_00000000000000000000000002';
        INSERT INTO account (id, user_id, waba_id, name, created_at)
            VALUES ('acc_z', 'usr_fill', 'z', 'z', 1);
        INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered,
                is_coexisting, created_at)
            VALUES ('lin_a', 'acc_z', '1', '+1', 1, 0, 1);
        UPDATE \"user\" SET primary_line_id = 'lin_a' WHERE id = 'usr_fill'; COMMIT"
    wait "$copying"
    assert_equal "$(gojq .changes "$BATS_TEST_TMPDIR/out")" 10
    copy_to "$(config_for new "$url")" "$new"
    assert_equal "$status $stderr" '0 '
    assert_same_rows "$old" "$new"
}

@test "a copy killed at any moment leaves a source that works, and a repeated command completes it" {
    local url pause
    make_rich
    cp "$old" "$BATS_TEST_TMPDIR/before.db"
    url=$(new_database)
    for pause in 0.02 0.05 0.1 0.2 0.3 0.5 1 2 2.1 2.2 2.25 2.3 2.35 2.4 2.5; do
        "$OUT/tools/switchboard" copy-to "$url" --config "$config" >/dev/null 2>&1 3>&- &
        sleep "$pause"
        kill -KILL $! 2>/dev/null || true
        wait $! || true
        # one of the two is open, or the repetition below ends what was begun
        switchboard user list --config "$config" >/dev/null 2>&1 || break
    done
    copy_to "$config" "$url"
    assert_equal "$status $stderr" '0 '
    copy_to "$(config_for new "$url")" "$new"
    assert_equal "$status $stderr" '0 '
    assert_same_rows "$BATS_TEST_TMPDIR/before.db" "$new"
}

# The states between the three commits at the end, in which a kill is improbable.
@test "a copy killed between the commit of the target and that of the source is made again" {
    local url command
    make_rich
    url=$(new_database)
    copy_to "$config" "$url"
    # the target is marked as incomplete, the source is not moved, and goes on
    pg "$url" 'UPDATE schema_version SET version = -version' >/dev/null
    command=$(block doc/moving-to-postgresql.md 'sqlite3 FILE' | head -n 1)
    [[ $command == "sqlite3 FILE '"* ]] || fail "$command"
    command=${command/FILE/"$old"}
    eval "${command/version = N/version = $(newest_schema)}"
    sqlite3 "$old" "UPDATE contact SET name = 'later' WHERE id = 'con_00000000000000000000000001'"
    run switchboard user list --config "$(config_for new "$url")"
    [[ $status == 1 && $output == *'a copy to it is incomplete'* ]] || fail "$output"
    run switchboard init --config "$(config_for new "$url")"
    [[ $status == 1 && $output == *'a copy to it is incomplete'* ]] || fail "$output"
    copy_to "$config" "$url"
    assert_equal "$status $stderr" '0 '
    copy_to "$(config_for new "$url")" "$new"
    assert_same_rows "$old" "$new"
}

@test "a copy killed after the source was moved is completed, and a completed one is not repeated" {
    local url other
    make_rich
    url=$(new_database)
    copy_to "$config" "$url"
    pg "$url" 'UPDATE schema_version SET version = -version' >/dev/null
    other=$(new_database)
    refuses 'its content was moved to postgresql:///test_' "$config" "$other"
    for _ in 1 2; do
        copy_to "$config" "$url"
        assert_equal "$status $stderr" '0 '
        [[ $output == 'An earlier run of this command has moved everything to postgresql:'* ]]
        switchboard user list --config "$(config_for new "$url")" >/dev/null
    done
    run switchboard user list --config "$config"
    [[ $status == 1 && $output == *'its content was moved to another database'* ]] || fail "$output"
    run switchboard init --config "$config"
    [[ $status == 1 && $output == *'its content was moved to another database'* ]] || fail "$output"
    # the same from the server
    copy_to "$(config_for new "$url")" "$new"
    assert_equal "$status $stderr" '0 '
    sqlite3 "$new" "PRAGMA user_version = -$(newest_schema)" >/dev/null
    for _ in 1 2; do
        copy_to "$(config_for new "$url")" "$new"
        assert_equal "$status $stderr" '0 '
        [[ $output == "An earlier run of this command has moved everything to $new."* ]] ||
            fail "$output"
    done
    assert_same_rows "$old" "$new"
    run pg "$url" 'DELETE FROM heartbeat'
    [[ $status != 0 && $output == *'was moved to another one'* ]] || fail "$output"
}

# Makes requests until one is answered 200, and records the status and Retry-After of the others:
# until_200 COMMAND...
until_200() {
    for ((tries = 0; tries < 600; tries++)); do
        "$@" || true
        [[ $status != 200 ]] || return 0
        printf '%s %s\n' "$status" "$(header retry-after)" >>"$BATS_TEST_TMPDIR/refused"
        sleep 0.1
    done
    fail "$*: $status"
}

# Sends messages with keys, one after the other, each until it is answered 200: send_many NAME
send_many() {
    answer_dir=$BATS_TEST_TMPDIR/answers.$1
    mkdir -p "$answer_dir"
    for ((number = 1; ; number++)); do
        [[ ! -e $BATS_TEST_TMPDIR/enough ]] || break
        until_200 api POST /v2/messages/send/text -H "Idempotency-Key: $1-$number" \
            -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"1555$1$number\",\"text\":\"$1-$number\"}"
        printf '%s\n' "$1-$number" >>"$BATS_TEST_TMPDIR/done.$1"
    done
}

# Delivers messages of the platform, each until it is answered 200: deliver_many NAME
deliver_many() {
    answer_dir=$BATS_TEST_TMPDIR/answers.$1
    mkdir -p "$answer_dir"
    for ((number = 1; ; number++)); do
        [[ ! -e $BATS_TEST_TMPDIR/enough ]] || break
        payload "$(inbound "wamid.$1-$number" "1666$1$number" '')" >"$answer_dir/payload"
        until_200 deliver "@$answer_dir/payload"
        printf '%s\n' "wamid.$1-$number" >>"$BATS_TEST_TMPDIR/done.$1"
    done
}

# A request is refused because the content was moved, not because a connection was ended:
# is_moved COMMAND...
is_moved() {
    local answer_dir=$BATS_TEST_TMPDIR
    "$@"
    assert_error 503 INTERNAL_ERROR
    assert_header Retry-After 10
}

# Requests that read and write, and the webhook of the platform, are refused because the content was
# moved. COMMAND is `eventually` after a server has ended the connections: assert_moved [COMMAND]
assert_moved() {
    local message="The gateway's database is being moved; try again in 10 seconds."
    ${1-} is_moved api GET /v2/me
    assert_error 503 INTERNAL_ERROR "$message"
    ${1-} is_moved api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001\",\"text\":\"x\"}"
    assert_error 503 INTERNAL_ERROR "$message"
    payload "$(inbound wamid.moved 16660001 '')" >"$BATS_TEST_TMPDIR/payload"
    ${1-} is_moved deliver "@$BATS_TEST_TMPDIR/payload"
}

# Succeeds when each sender has completed more than COUNT requests: all_have_done COUNT NAME...
all_have_done() {
    local name
    for name in "${@:2}"; do
        [[ -e $BATS_TEST_TMPDIR/done.$name ]] || return 1
        (($(wc -l <"$BATS_TEST_TMPDIR/done.$name") > $1)) || return 1
    done
}

# A writer as the programs are: it changes a message, then counts the change in the row of its user.
# Ends when the database refuses it: write_to URL NUMBER
write_to() {
    for _ in {1..500}; do
        psql -qX -v ON_ERROR_STOP=1 -d "$1" -c "BEGIN;
            UPDATE message SET type = type
                WHERE id = (SELECT id FROM message OFFSET $2 LIMIT 1);
            SELECT pg_sleep(0.2);
            UPDATE \"user\" SET email = email WHERE id = 'usr_fill'; COMMIT" || return 0
    done
}

@test "a server is left while transactions write in the programs' order: none of them is a deadlock" {
    local number url config source
    make_rich
    source=$(new_database)
    copy_to "$config" "$source"
    config=$(config_for server "$source")
    for number in 1 2 3 4 5 6; do
        write_to "$source" "$number" >/dev/null 2>"$BATS_TEST_TMPDIR/writer.$number" 3>&- &
    done
    sleep 1
    copy_to "$config" "$new"
    [[ $status == 0 ]] || fail "$output $stderr"
    wait
    refute grep -h 'deadlock' "$BATS_TEST_TMPDIR"/writer.*
    grep -q 'was moved to another one' "$BATS_TEST_TMPDIR/writer.1"
}

@test "a server whose tables stay locked is not moved, and copy-to says what to do" {
    local config source
    make_rich
    source=$(new_database)
    copy_to "$config" "$source"
    config=$(config_for server "$source")
    psql -qX -d "$source" -c 'BEGIN; UPDATE line SET id = id; SELECT pg_sleep(60)' \
        >/dev/null 2>&1 3>&- &
    eventually has_sleeper "$source"
    refuses 'Nothing was changed, and the gateway works on: run the command again' "$config" "$new"
    pg "$source" "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%pg_sleep(60)'
            AND pid <> pg_backend_pid()" >/dev/null
    copy_to "$config" "$new"
    [[ $status == 0 ]] || fail "$output $stderr"
}

has_sleeper() { # URL
    [[ $(pg "$1" "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND query LIKE '%pg_sleep(60)' AND wait_event = 'PgSleep'") == 1 ]]
}

@test "under traffic nothing is lost or doubled, and requests to the former database are refused" {
    local url sent inbound count before names=(11 12 13 14)
    url=$(new_database)
    switchboard webhook add "$EMAIL" http://127.0.0.1:9/ >/dev/null
    send_many 11 3>&- &
    send_many 12 3>&- &
    deliver_many 13 3>&- &
    deliver_many 14 3>&- &
    eventually all_have_done 5 "${names[@]}"
    copy_to "$SWITCHBOARD_CONFIG" "$url" --json
    assert_equal "$status $stderr" '0 '
    rows_of "$DB" >"$BATS_TEST_TMPDIR/moved"
    # the processes that have the file open refuse to use it, and so do new ones
    for ((count = 0; count < 5; count++)); do
        assert_moved
    done
    # no new request began while the running ones ended
    grep -qx '503 1' "$BATS_TEST_TMPDIR/refused"
    assert_equal "$(rows_of "$DB" | sha256sum)" "$(sha256sum <"$BATS_TEST_TMPDIR/moved")"
    before=$(cat "$BATS_TEST_TMPDIR"/done.* | wc -l)
    DB=$url
    write_config
    eventually all_have_done $((before / 4 + 10)) "${names[@]}"
    touch "$BATS_TEST_TMPDIR/enough"
    wait
    sent=$(cat "$BATS_TEST_TMPDIR"/done.1[12] | wc -l)
    inbound=$(cat "$BATS_TEST_TMPDIR"/done.1[34] | wc -l)
    ((sent > 20 && inbound > 20))
    # every message once, in the database and at the platform
    assert_equal "$(pg "$url" "SELECT count(*), count(DISTINCT wamid) FROM message
        WHERE direction = 'out' AND source = 'api'")" "$sent|$sent"
    assert_equal "$(sent_count path=/messages)" "$sent"
    assert_equal "$(pg "$url" "SELECT wamid FROM message WHERE direction = 'in'" | LC_ALL=C sort)" \
        "$(cat "$BATS_TEST_TMPDIR"/done.1[34] | LC_ALL=C sort)"
    # and one event for each
    assert_equal "$(pg "$url" "SELECT count(*), min(sequence), max(sequence),
        count(DISTINCT sequence) FROM event")" \
        "$((2 * inbound))|1|$((2 * inbound))|$((2 * inbound))"
    # and back, to a new file
    copy_to "$SWITCHBOARD_CONFIG" "$new"
    assert_equal "$status $stderr" '0 '
    assert_moved eventually
    # so do processes that start now
    replace_processes
    assert_moved
    DB=$new
    write_config
    answer_dir=$BATS_TEST_TMPDIR until_200 api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001\",\"text\":\"x\"}"
    assert_equal "$(sqlite3 "$new" "SELECT count(*) FROM message WHERE direction = 'out'")" \
        $((sent + 1))
}
