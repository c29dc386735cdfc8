#!/usr/bin/env bats
# A program that only reads the database has no descriptor for writing to it, and still reads every commit.
# transports: direct cgi fcgi
# bats file_tags=long
load helpers/all

rename_account() { # NAME
    db "UPDATE account SET name = '$1' WHERE id = '$ACCOUNT'"
}

@test "a request reads every earlier commit, in any state of the write-ahead log" {
    only_on_sqlite 'it is about the write-ahead log of SQLite'
    make_user
    rename_account one
    assert_named one
    db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    assert_named one
    rename_account two
    assert_named two
    # a killed writer leaves a write-ahead log and a wal-index without an owner
    # shellcheck disable=SC2016  # for the shell that sqlite3 starts
    sqlite3 -cmd '.timeout 60000' "$DB" \
        "UPDATE account SET name = 'three' WHERE id = '$ACCOUNT'" '.shell kill -KILL $PPID' || true
    [[ -s $DB-wal ]] || fail 'the killed writer left no write-ahead log'
    assert_named three
    # an invalid wal-index: SQLite's change counter differs in its two copies
    printf 'x' | dd of="$DB-shm" bs=1 seek=8 conv=notrunc status=none
    request GET /v2/me -H "X-API-Token: $TOKEN"
    [[ $status == 200 ]] || { [[ $TRANSPORT == fcgi && $status == 500 ]] && sleep 1; }
    assert_named three
    # the snapshot of another reader blocks the truncation of the write-ahead log
    sqlite3 -cmd '.timeout 60000' "$DB" 'BEGIN' 'SELECT count(*) FROM account' '.shell sleep 2' 3>&- >/dev/null &
    rename_account four
    db 'PRAGMA wal_checkpoint(PASSIVE)' >/dev/null
    assert_named four
    rename_account five
    assert_named five
    wait $!
    [[ $TRANSPORT == fcgi ]] || rm -f "$DB-shm"
    assert_named five
}

@test "many readers beside writers and checkpoints never read a state older than the last commit" {
    local readers=() reader turn
    make_user
    rename_account 0
    printf '0\n' >"$BATS_TEST_TMPDIR/committed"
    for reader in 1 2 3; do
        (
            body=$BATS_TEST_TMPDIR/body.$reader
            answer_dir=$BATS_TEST_TMPDIR/$reader
            mkdir "$answer_dir"
            until [[ -e $BATS_TEST_TMPDIR/enough ]]; do
                floor=$(cat "$BATS_TEST_TMPDIR/committed")
                api GET /v2/me
                printf '%s %s %s\n' "$status" "${floor:-0}" "$(jq -r '.data.accounts[0].displayName' "$body")"
            done >"$BATS_TEST_TMPDIR/seen.$reader"
        ) 3>&- &
        readers+=($!)
    done
    for turn in {1..25}; do
        rename_account "$turn"
        printf '%s\n' "$turn" >"$BATS_TEST_TMPDIR/new"
        mv "$BATS_TEST_TMPDIR/new" "$BATS_TEST_TMPDIR/committed"
        ((turn % 3)) || [[ -n ${SERVER-} ]] || db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    done
    touch "$BATS_TEST_TMPDIR/enough"
    wait "${readers[@]}"
    (($(cat "$BATS_TEST_TMPDIR"/seen.* | wc -l) >= 3)) || fail 'the readers made too few requests'
    assert_equal "$(awk '$1 != 200 || $3 < $2' "$BATS_TEST_TMPDIR"/seen.*)" ''
}

# Replaces the definition of the table of flows, which is one of the last, by one that cannot be parsed.
damage_flow() {
    db '.dbconfig defensive off' "PRAGMA writable_schema = ON" \
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE flow (' WHERE name = 'flow'"
}
