#!/usr/bin/env bats
# The rows by which requests are authorized. A FastCGI process keeps those that it has read; a
# change by any program counts from its commit on.
# transports: fcgi
# starts first
load helpers/all
load helpers/background

setup_file() {
    start_stack
    make_user
}

setup() {
    forget_sent
    TOKEN=$(switchboard token regenerate "$EMAIL")
}

# Sends a text from the line and prints the status: send_status
send_status() {
    print_status /v2/messages/send/text -H "X-API-Token: $TOKEN" \
        -H 'Content-Type: application/json' \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001111\",\"text\":\"x\"}"
}

# Each of 4 sends, of which each of the two processes serves some, has this status:
# assert_sends STATUS
assert_sends() {
    local number
    for number in 1 2 3 4; do
        assert_equal "$(send_status)" "$1"
    done
}

# A change by another program than ours stops sends with this status, and its reverse lets them
# pass: assert_stops STATUS SQL REVERSE
assert_stops() {
    assert_sends 200
    db "$2"
    assert_sends "$1"
    db "$3"
    assert_sends 200
}

# bats test_tags=long
@test "a changed row of a user, a plan, an account or a line counts for the next request of every process" {
    local user account line
    user=$(db "SELECT id FROM \"user\" WHERE email = '$EMAIL'")
    account=$(db "SELECT id FROM account WHERE user_id = '$user'")
    line="phone_number_id = '$LINE'"
    assert_stops 401 "UPDATE \"user\" SET deleted_at = 1 WHERE id = '$user'" \
        "UPDATE \"user\" SET deleted_at = NULL WHERE id = '$user'"
    assert_stops 403 "UPDATE plan SET ends_at = 1 WHERE user_id = '$user'" \
        "UPDATE plan SET ends_at = NULL WHERE user_id = '$user'"
    assert_stops 403 "UPDATE plan SET name = 'Basic' WHERE user_id = '$user'" \
        "UPDATE plan SET name = 'Premium' WHERE user_id = '$user'"
    assert_stops 403 "UPDATE line SET archived_at = 1 WHERE $line" \
        "UPDATE line SET archived_at = NULL WHERE $line"
    db "CREATE TABLE kept AS SELECT * FROM account WHERE id = '$account'"
    assert_stops 404 "UPDATE account SET access_token = NULL WHERE id = '$account'" \
        "UPDATE account SET access_token = (SELECT access_token FROM kept) WHERE id = '$account'"
    db 'DROP TABLE kept'
    db "CREATE TABLE kept AS SELECT * FROM api_token WHERE user_id = '$user'"
    assert_stops 401 "DELETE FROM api_token WHERE user_id = '$user'" \
        'INSERT INTO api_token SELECT * FROM kept'
    db 'DROP TABLE kept'
    [[ -z ${SERVER-} ]] || return 0
    # rows that are replaced, which in SQLite fires no DELETE trigger
    db "CREATE TABLE kept AS SELECT * FROM plan WHERE user_id = '$user'"
    assert_stops 403 "DELETE FROM plan WHERE user_id = '$user'" \
        'INSERT OR REPLACE INTO plan SELECT * FROM kept'
    assert_stops 403 \
        'INSERT OR REPLACE INTO plan SELECT user_id, name, is_addon, 1, created_at FROM kept' \
        'INSERT OR REPLACE INTO plan SELECT * FROM kept'
    db 'DROP TABLE kept'
}

# bats test_tags=long
@test "a change by the CLI counts for the next request of every process" {
    local before=$TOKEN
    assert_sends 200
    TOKEN=$(switchboard token regenerate "$EMAIL")
    assert_sends 200
    TOKEN=$before assert_sends 401
    switchboard plan set "$EMAIL" Basic >/dev/null
    assert_sends 403
    switchboard plan set "$EMAIL" Premium >/dev/null
    assert_sends 200
    rotate_keys
    assert_sends 200
}

# bats test_tags=long
@test "a restored database counts for the next request, although its versions were seen before" {
    local first=$TOKEN second
    only_on_sqlite 'sqlite3 restores the file'
    assert_sends 200
    sqlite3 "$DB" ".backup '$BATS_TEST_TMPDIR/first.db'"
    second=$(switchboard token regenerate "$EMAIL")
    TOKEN=$second assert_sends 200
    sqlite3 "$DB" ".restore '$BATS_TEST_TMPDIR/first.db'"
    TOKEN=$first assert_sends 200
    TOKEN=$second assert_sends 401
    # a change in the restored database has another number than the one that was overwritten
    TOKEN=$(switchboard token regenerate "$EMAIL")
    assert_sends 200
    TOKEN=$first assert_sends 401
    TOKEN=$second assert_sends 401
}

@test "the number changes with each change of a row, and with no number of an event or a thread" {
    local before
    before=$(db 'SELECT version FROM settings_version')
    assert_sends 200
    db 'UPDATE "user" SET event_sequence = 90, change_sequence = 90, forward_sequence = 90,
        verifying_until = 1'
    assert_equal "$(db 'SELECT version FROM settings_version')" "$before"
    db 'UPDATE line SET name = name'
    [[ $(db 'SELECT version FROM settings_version') != "$before" ]] ||
        fail 'an update has no effect'
}

# Prints the statuses of 640 requests, 64 at a time, each once, with the reason of a request that
# has none. Apache closes kept connections while all its threads are busy; curl repeats a request on
# them, but no more than 5 times by itself: many_statuses
many_statuses() {
    curl -sS -Z --no-progress-meter --parallel-max 64 --max-time 600 --retry 5 \
        --retry-all-errors --retry-delay 1 -o /dev/null -w '%{http_code}%{errormsg}\n' \
        -H "X-API-Token: $TOKEN" "$BASE/v2/me?[1-640]" | sort -u
}

# bats test_tags=long
@test "64 processes under load refuse a revoked token from the commit on" {
    local round old
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    start_apache --fcgi-max 64
    for round in 1 2 3; do
        in_background "load$round" many_statuses
    done
    eventually each_ran_more_than 0
    for round in 1 2 3 4; do
        old=$TOKEN
        TOKEN=$(switchboard token regenerate "$EMAIL")
        assert_equal "$(many_statuses)" 200
        assert_equal "$(TOKEN=$old many_statuses)" 401
    done
    touch "$BATS_TEST_TMPDIR/enough"
    wait "${background[@]}"
    assert_equal "$(sort -u "$BATS_TEST_TMPDIR"/background.* | tr '\n' ' ')" '200 401 '
}
