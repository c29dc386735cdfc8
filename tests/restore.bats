#!/usr/bin/env bats
# `switchboard restore`: a backup replaces the database while the service runs.
# SQLite only: a backup is a file; a server has its own programs for it
load helpers/all
load helpers/background

setup() {
    rm -f "$STACK"/{copy,other,damaged} "$DB.before-restore"
    make_user
}

backup_named() { # NAME: a backup whose account has that name
    db "UPDATE account SET name = '$1' WHERE id = '$ACCOUNT'"
    rm -f "$STACK/copy"
    switchboard backup "$STACK/copy" >/dev/null
}

refuses() { # PART FILE
    run switchboard restore "$2"
    [[ $status == 1 && $output == *"$1"* ]] || fail "status $status: $output"
    assert_named now
    [[ ! -e $DB.before-restore ]] || fail 'a former database was saved'
}

@test "restore replaces the content of the database with the backup and saves the old database" {
    local before
    backup_named 'then'
    db "UPDATE account SET name = 'now' WHERE id = '$ACCOUNT'"
    assert_named now
    chmod 640 "$DB"
    before=$(stat -c '%i %a %u %g' "$DB")
    run switchboard restore "$STACK/copy"
    assert_equal "$status" 0
    assert_equal "$output" "$DB now has the content of $STACK/copy; its former content is in $DB.before-restore"
    assert_named 'then'
    assert_equal "$(stat -c '%i %a %u %g' "$DB")" "$before"
    assert_equal "$(sqlite3 "$DB.before-restore" "SELECT name FROM account WHERE id = '$ACCOUNT'")" now
    assert_equal "$(stat -c %a "$DB.before-restore")" 600
    assert_equal "$(db 'PRAGMA integrity_check')" ok
    assert_equal "$(db 'PRAGMA journal_mode')" wal
    chmod 660 "$DB"
    # and restore the old database
    mv "$DB.before-restore" "$STACK/other"
    switchboard restore "$STACK/other" --json | jq -e --arg f "$DB.before-restore" '.formerDatabase == $f'
    assert_named now
}

@test "restore refuses a file that is not a complete database of this program and changes nothing" {
    backup_named now
    refuses "there is no file $STACK/nothing" "$STACK/nothing"
    refuses 'is the database itself' "$DB"
    rm -f "$STACK/other"
    sqlite3 "$STACK/other" 'CREATE TABLE t (x)'
    refuses 'is not a database of this program' "$STACK/other"
    mkfifo "$STACK/fifo"
    refuses "$STACK/fifo is not a regular file" "$STACK/fifo"
    refuses "$STACK is not a regular file" "$STACK"
    rm "$STACK/fifo"
    printf 'this is no database at all, however long it may be, and it is longer than a header is: %0500d' 0 >"$STACK/other"
    refuses "the backup $STACK/other cannot be read, the database was not changed: the backup is damaged, or no\
 SQLite database" "$STACK/other"
    cp "$STACK/copy" "$STACK/other"
    sqlite3 "$STACK/other" "PRAGMA user_version = 99" >/dev/null
    refuses 'schema version 99, made by a newer program' "$STACK/other"
    cp "$STACK/copy" "$STACK/damaged"
    dd if=/dev/zero of="$STACK/damaged" bs=4096 seek=8 count=2 conv=notrunc status=none
    refuses "$STACK/damaged" "$STACK/damaged"
    [[ $output == *damaged* && $output != *"database $DB"* ]] || fail "$output"
    touch "$DB.before-restore"
    run switchboard restore "$STACK/copy"
    [[ $status == 1 && $output == *"$DB.before-restore exists already"*'Nothing was changed'* ]] || fail "$output"
    assert_named now
}

# bats test_tags=long
@test "restore refuses a backup with another trigger, table, index or view, or without one; doctor reports such a database" {
    local change found config=$STACK/copy.conf
    sed "s|^database = .*|database = $STACK/copy|" "$SWITCHBOARD_CONFIG" >"$config"
    while IFS=$'\t' read -r change found; do
        backup_named now
        sqlite3 -cmd '.dbconfig defensive off' "$STACK/copy" "$change" >/dev/null
        refuses "$STACK/copy $found: correct a copy of it with sqlite3" "$STACK/copy"
        switchboard doctor --config "$config" --json >"$body" 2>/dev/null || true
        jq -e --arg found "the database $found" \
            'any(.[]; .check == "schema" and .status == "fail" and .detail == $found)' "$body" || fail "$change: $(cat "$body")"
    done <<'END'
CREATE TRIGGER evil AFTER INSERT ON session BEGIN UPDATE user SET email = 'attacker@example.org'; END	has the trigger evil on the table session, which this program did not make
DROP TRIGGER plan_settings_update	lacks the trigger plan_settings_update on the table plan
DROP TRIGGER line_settings_insert; CREATE TRIGGER line_settings_insert AFTER INSERT ON line BEGIN UPDATE settings_version SET version = 1; END	has the trigger line_settings_insert on the table line, which this program did not make
PRAGMA writable_schema = 1; UPDATE sqlite_schema SET name = 'sqlite_stat1', sql = replace(sql, 'line_settings_insert', 'sqlite_stat1') WHERE name = 'line_settings_insert'	has the trigger sqlite_stat1 on the table line, which this program did not make
CREATE TABLE extra (x)	has the table extra, which this program did not make
CREATE VIEW extra AS SELECT 1	has the view extra, which this program did not make
CREATE INDEX extra ON session (id) WHERE abs(-9223372036854775808)	has the index extra on the table session, which this program did not make
DROP INDEX contact_parent	lacks the index contact_parent on the table contact
PRAGMA foreign_keys = 0; DROP TABLE session	lacks the index session_age on the table session
PRAGMA foreign_keys = 0; DROP TABLE session; CREATE VIEW session AS SELECT 1 AS id	has the view session, which this program did not make
ALTER TABLE session ADD COLUMN extra TEXT	has the table session, which this program did not make
ALTER TABLE session DROP COLUMN agent	has the table session, which this program did not make
END
}

# bats test_tags=long
@test "restore refuses a backup whose secrets the key file does not open, unless it is forced" {
    local key=$STACK/secret.key
    backup_named now
    cp -p "$key" "$BATS_TEST_TMPDIR/secret.key"
    switchboard key rotate | grep -qx 'Backups made before open only with a copy of the key file of their time'
    refuses " secrets of $STACK/copy, written at 20" "$STACK/copy"
    [[ $output == *"do not open with $key; their keys: $(cut -d ' ' -f 1 "$BATS_TEST_TMPDIR/secret.key"). Nothing was changed."* ]] ||
        fail "$output"
    mv "$key" "$key.away"
    refuses "$key" "$STACK/copy"
    mv "$key.away" "$key"
    api GET /v2/templates
    assert_success
    # what the message says: the lines of the older file first
    cat "$key" >>"$BATS_TEST_TMPDIR/secret.key"
    cat "$BATS_TEST_TMPDIR/secret.key" >"$key"
    switchboard restore "$STACK/copy" >/dev/null
    api GET /v2/templates
    assert_success
    # the newest key seals, and opens nothing of the older database
    rm "$DB.before-restore"
    sed -i 1d "$key"
    switchboard restore "$STACK/copy" --force | grep -q '^.* now has the content of '
    api GET /v2/templates
    assert_error 500 INTERNAL_ERROR 'cannot decrypt a platform access token'
    cat "$BATS_TEST_TMPDIR/secret.key" >"$key"
    api GET /v2/templates
    assert_success
}

@test "restore creates a missing database, with its directory's owner and group and mode 0660" {
    local config=$STACK/gone.conf
    backup_named 'then'
    mkdir -p "$BATS_TEST_TMPDIR/state"
    ((EUID != 0)) || chown 64990:64991 "$BATS_TEST_TMPDIR/state"
    sed "s|^database = .*|database = $BATS_TEST_TMPDIR/state/new.db|" "$SWITCHBOARD_CONFIG" >"$config"
    touch "$BATS_TEST_TMPDIR/state/new.db-wal"
    run switchboard restore "$STACK/copy" --config "$config"
    [[ $status == 1 && $output == *'new.db-wal is left from a database that was removed'* ]] || fail "$output"
    rm "$BATS_TEST_TMPDIR/state/new.db-wal"
    run switchboard restore "$STACK/copy" --config "$config"
    assert_equal "$output" "$BATS_TEST_TMPDIR/state/new.db now has the content of $STACK/copy"
    assert_equal "$(stat -c '%a %u %g' "$BATS_TEST_TMPDIR/state/new.db")" "660 $(stat -c '%u %g' "$BATS_TEST_TMPDIR/state")"
    assert_equal "$(sqlite3 "$BATS_TEST_TMPDIR/state/new.db" "SELECT name FROM account WHERE id = '$ACCOUNT'")" 'then'
    assert_equal "$(ls "$BATS_TEST_TMPDIR/state")" new.db
}

# Makes a request whose answer has a directory of its own, and prints the status:
# ask_api NAME METHOD PATH [option of api...]
ask_api() {
    answer_dir=$BATS_TEST_TMPDIR/answer.$1
    mkdir -p "$answer_dir"
    api "${@:2}"
    printf '%s\n' "$status"
}

@test "a restore under load fails no request, and every commit is in one of the two databases" {
    local text="{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230007\",\"text\":\"x\"}" sent=0 kept
    backup_named 'then'
    db "UPDATE account SET name = 'now' WHERE id = '$ACCOUNT'"
    in_background me ask_api me GET /v2/me
    in_background send ask_api send POST /v2/messages/send/text -d "$text"
    eventually grep -q 200 "$BATS_TEST_TMPDIR/background.send"
    run switchboard restore "$STACK/copy"
    assert_equal "$status" 0
    end_background 200
    sent=$(wc -l <"$BATS_TEST_TMPDIR/background.send")
    kept=$(sqlite3 "$DB.before-restore" "SELECT count(*) FROM message WHERE line_id = (SELECT id FROM line WHERE phone_number_id = '$LINE')")
    assert_equal "$((kept + $(db "SELECT count(*) FROM message WHERE line_id = (SELECT id FROM line WHERE phone_number_id = '$LINE')")))" "$sent"
    assert_named 'then'
}

# bats test_tags=long
@test "a restore killed at any moment has changed nothing or everything" {
    local pause name
    backup_named 'then'
    for pause in 0 0.01 0.02 0.04 0.08 0.3; do
        db "UPDATE account SET name = 'now' WHERE id = '$ACCOUNT'"
        rm -f "$DB.before-restore"*
        "$OUT/tools/switchboard" restore "$STACK/copy" >/dev/null 2>&1 3>&- &
        sleep "$pause"
        kill -KILL $! 2>/dev/null || true
        wait $! || true
        assert_equal "$(db 'PRAGMA integrity_check')" ok
        name=$(db "SELECT name FROM account WHERE id = '$ACCOUNT'")
        [[ $name == now || $name == 'then' ]] || fail "the name is $name"
        assert_named "$name"
    done
    rm -f "$DB.before-restore"*
    switchboard restore "$STACK/copy" >/dev/null
    assert_named 'then'
}
