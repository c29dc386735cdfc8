#!/usr/bin/env bats
# A request that waits for its client or for the platform holds no lock of the database, and waits
# for its client only for a limited time.
# transports: direct
# starts first
load helpers/all

setup_file() {
    start_stack
    make_user
}

setup() {
    pid='' answer=$BATS_TEST_TMPDIR/answer
    mkfifo "$BATS_TEST_TMPDIR/body"
    exec {pipe}<>"$BATS_TEST_TMPDIR/body" # open for writing too, so that the body does not end
}

teardown() {
    exec {pipe}>&-
    stop
}

# The body of the next request is whole: body_is TEXT
body_is() {
    printf '%s' "$1" >"$BATS_TEST_TMPDIR/whole"
    exec {pipe}<"$BATS_TEST_TMPDIR/whole"
}

stop() {
    [[ -z $pid ]] || kill -KILL "$pid" 2>/dev/null || true
    [[ -z $pid ]] || wait "$pid" 2>/dev/null || true
    pid=''
}

# The paths of all protected routes of a method, each `:name` replaced: paths METHOD
paths() {
    local file
    for file in "$root"/cgi-bin/*.c; do
        "$OUT/cgi-bin/$(basename "$file" .c)" </dev/null
    done | sed -n "s|^  $1  *\(/v2/.*\)|\1|p" | sed 's|:webhookId|whk_1|; s|:[A-Za-z]*|1|' |
        grep -vE '/v2/(health|ready|version)$'
}

# Makes a commit that stays in the write-ahead log: its truncation then needs every reader to end.
fill_log() {
    [[ -z ${SERVER-} ]] || return 0
    sqlite3 "$DB" '.dbconfig no_ckpt_on_close on' 'UPDATE user SET email = email' >/dev/null
    [[ -s $DB-wal ]] || fail 'the write-ahead log is empty'
}

# Starts a request whose body does not arrive, or is that of body_is:
# start METHOD PATH [environment...]
start() {
    find_program "$2"
    # shellcheck disable=SC2154  # find_program sets these
    env -i GATEWAY_INTERFACE=CGI/1.1 "REQUEST_METHOD=$1" "SCRIPT_NAME=$script_name" \
        "PATH_INFO=$path_info" QUERY_STRING= "HTTP_X_API_TOKEN=$TOKEN" \
        "HTTP_X_PHONE_NUMBER_ID=$LINE" \
        "SWITCHBOARD_CONFIG=$SWITCHBOARD_CONFIG" "${@:3}" "$OUT/cgi-bin/$program" \
        <&"$pipe" >"$answer" 2>"$BATS_TEST_TMPDIR/errors" 3>&- &
    pid=$!
}

# The process has ended, whether it was waited for or not.
has_ended() {
    ! grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$pid/status"
}

# The process has read what there is of the body, so that it waits for the rest, or it has refused
# the request without it.
has_read_or_ended() {
    ! read -r -t 0 -u "$pipe" || has_ended
}

# A lock of the process on the database would block the truncation of the write-ahead log. On a
# server it would be that of an open transaction.
holds_no_lock() {
    if [[ -n ${SERVER-} ]]; then
        [[ $(db "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND state LIKE 'idle in %'") == 0 ]]
    else
        [[ $(db 'PRAGMA wal_checkpoint(TRUNCATE)') == '0|0|0' ]]
    fi
}

# Expects that the process holds no lock before its wait ends: assert_holds_no_lock WHAT
assert_holds_no_lock() {
    eventually holds_no_lock
    ! has_ended || fail "$1: ended before the check: $(cat "$answer")"
}

has_called_or_ended() {
    something_sent || has_ended
}

# bats test_tags=long
@test "while the body of a request has not arrived" {
    local path type count=0
    for path in $(paths POST); do
        for type in application/json image/jpeg 'multipart/form-data; boundary=x'; do
            fill_log
            printf '%50s' '' >&"$pipe" # valid at the start of each type
            start POST "$path" CONTENT_LENGTH=100 "CONTENT_TYPE=$type"
            eventually has_read_or_ended
            eventually holds_no_lock
            ! grep -q '^Status: 408' "$answer" || fail "$path: held a lock until the time limit"
            stop
            ! read -r -t 0 -u "$pipe" || read -r -N 50 -u "$pipe"
            count=$((count + 1))
        done
    done
    ((count >= 45)) || fail "only $count requests"
}

# bats test_tags=long
@test "while the platform has not answered a request that reads" {
    local path count=0
    for path in $(paths GET); do
        forget_sent
        fault '{"times":0,"kind":"hang"}'
        fill_log
        start GET "$path" CONTENT_LENGTH=0
        eventually has_called_or_ended
        if something_sent; then
            assert_holds_no_lock "$path"
            count=$((count + 1))
        fi
        stop
    done
    ((count == 6)) || fail "$count routes called the platform"
}

@test "while the platform has not answered a send" {
    local text="{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"x\"}"
    forget_sent
    fault '{"times":0,"kind":"hang"}'
    fill_log
    body_is "$text"
    start POST /v2/messages/send/text CONTENT_TYPE=application/json "CONTENT_LENGTH=${#text}"
    eventually something_sent
    assert_holds_no_lock send
}

@test "while the platform has not answered an upload" {
    forget_sent
    fault '{"times":0,"kind":"hang"}'
    fill_log
    body_is "image 123"
    start POST /v2/media/upload CONTENT_TYPE=image/jpeg CONTENT_LENGTH=9
    eventually something_sent
    assert_holds_no_lock upload
}

# bats test_tags=long
@test "a body that stops arriving is 408 after 30 seconds, and a second for each 10,000 bytes" {
    local bytes pids=() begin=${EPOCHREALTIME/[.,]/} took
    for bytes in 0 50000; do
        exec {pipe}>&-
        rm "$BATS_TEST_TMPDIR/body"
        mkfifo "$BATS_TEST_TMPDIR/body"
        exec {pipe}<>"$BATS_TEST_TMPDIR/body"
        answer=$BATS_TEST_TMPDIR/answer.$bytes
        start POST /v2/messages/send/text CONTENT_TYPE=application/json CONTENT_LENGTH=100000
        pids+=("$pid")
        head -c "$bytes" /dev/zero >&"$pipe"
    done
    for bytes in 0 50000; do
        wait "${pids[0]}"
        pids=("${pids[@]:1}")
        took=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000 - bytes / 10))
        ((took >= 29900 && took < 60000)) || fail "$bytes bytes: $took ms"
        grep -q '^Status: 408 Request Timeout' "$BATS_TEST_TMPDIR/answer.$bytes"
    done
}
