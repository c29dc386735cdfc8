#!/usr/bin/env bats
# Connections that Apache keeps to pools of a fixed number of processes (SWITCHBOARD_REUSE).
# transports: fcgi
# starts first
load helpers/all
load helpers/background

pools=(me messages graph platform) # those of apache.conf

# One process of Apache, which keeps 4 connections to each of these pools. It does not use those
# again that were idle for a second.
setup_file() {
    start_stack
    make_user
}

setup() {
    forget_sent
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    local name
    for name in "${pools[@]}"; do
        printf '<Proxy "unix:%s/%s.sock|fcgi://%s/">\nProxySet ttl=1\n</Proxy>\n' "$STACK/apache" \
            "$name" "$name"
    done >"$STACK/extra.conf"
    start_apache --threads 64 --reuse 4 --extra "$STACK/extra.conf"
}

# Prints the number of connections to the socket of a pool: connections_of POOL
connections_of() {
    awk -v path="$(cat "$STACK/apache/sockets")/$1.sock" '$6 == "03" && $8 == path { n++ }
        END { print n + 0 }' /proc/net/unix
}

send_text() { # NUMBER
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$1\",\"text\":\"a\"}"
}

# Sends a text and prints the status.
print_status_of_send() {
    print_status /v2/messages/send/text -H "Authorization: Bearer $TOKEN" \
        -H 'Content-Type: application/json' \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"a\"}"
}

# Requests `me` and sends texts until end_background, several at a time: keep_busy CLIENTS
keep_busy() {
    local number
    for ((number = 0; number < $1; number++)); do
        in_background "me$number" print_status /v2/me -H "Authorization: Bearer $TOKEN"
        in_background "send$number" print_status_of_send
    done
}

@test "Apache keeps a connection to the pools that it reuses, and none to the others" {
    local turn
    for turn in 1 2 3 4 5; do
        api GET /v2/me
        assert_success
        send_text 15551230001
        assert_success
        request GET /v2/health
        assert_success
        api GET /v2/threads
        assert_success
    done
    assert_equal "$(connections_of me) $(connections_of messages)" '1 1'
    assert_equal "$(connections_of health) $(connections_of threads)" '0 0'
}

@test "one process answers all requests of a kept connection" {
    local process asked
    for process in $(children "$(pool_of me)"); do
        strace -q -f -e trace=accept4 -o "$BATS_TEST_TMPDIR/accepted.$process" -p "$process" 3>&- &
    done
    sleep 0.5
    for asked in 1 2 3 4 5 6; do
        api GET /v2/me
        assert_success
    done
    assert_equal "$(cat "$BATS_TEST_TMPDIR"/accepted.* | grep -c '= [0-9]')" 1
}

@test "of hundreds of requests at once, and after pauses longer than the ttl, none fails" {
    local round number sends
    for round in 1 2; do
        rm -f "$BATS_TEST_TMPDIR/enough"
        background=()
        keep_busy 8
        eventually each_ran_more_than 15
        end_background 200
        sends=$((${sends:-0} + $(cat "$BATS_TEST_TMPDIR"/background.send* | wc -l)))
        rm "$BATS_TEST_TMPDIR"/background.*
        sleep 1.5
    done
    ((sends > 200))
    assert_equal "$(sent_count path=/messages)" "$sends"
}

@test "more clients than connections wait for one" {
    fault '{"match":{"path":"/messages"},"times":0,"latencyMs":100}'
    request_many 24 POST /v2/messages/send/text --as "$TOKEN" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230002\",\"text\":\"a\"}"
    assert_equal "$(statuses)" '24 200'
    (($(connections_of messages) <= 4))
}

@test "a process that is killed while it waits costs no request, and another takes its place" {
    local turn before some
    for turn in 1 2 3; do
        request_many 8 GET /v2/me --as "$TOKEN"
        assert_equal "$(statuses)" '8 200'
        before=$(children "$(pool_of me)")
        read -ra some <<<"$before"
        kill -9 "${some[@]}"
        eventually has_other_children "$(pool_of me)" 4 "$before"
    done
    request_many 8 GET /v2/me --as "$TOKEN"
    assert_equal "$(statuses)" '8 200'
}

@test "a process that is killed during a request costs that request alone" {
    fault '{"match":{"path":"/messages"},"times":1,"kind":"hang"}'
    (
        answer_dir=$BATS_TEST_TMPDIR/slow
        mkdir "$answer_dir"
        send_text 15551230003
        [[ $status == 50[023] ]] || fail_answer 'expected 500, 502 or 503'
        assert_error "$status" INTERNAL_ERROR 'is not known'
        refute_header Retry-After
    ) &
    local asking=$!
    asked() {
        (($(sent_count path=/messages) == 1))
    }
    eventually asked
    local some
    read -ra some < <(children "$(pool_of messages)") || true # no newline
    kill -9 "${some[@]}"
    wait "$asking"
    send_text 15551230004
    assert_success
}

@test "processes that are replaced while they wait cost no request" {
    local turn before
    for turn in 1 2 3; do
        request_many 8 GET /v2/me --as "$TOKEN"
        assert_equal "$(statuses)" '8 200'
        before=$(children "$(pool_of me)")
        kill -HUP "$(pool_of me)"
        eventually has_other_children "$(pool_of me)" 4 "$before"
    done
    request_many 8 GET /v2/me --as "$TOKEN"
    assert_equal "$(statuses)" '8 200'
}

@test "a process ends after its number of requests when its connection is quiet" {
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    start_apache --threads 64 --reuse 4 --recycle 3
    local before turn
    before=$(children "$(pool_of me)")
    for turn in 1 2 3 4 5 6 7 8; do
        api GET /v2/me
        assert_success
        sleep 0.1
    done
    [[ $(children "$(pool_of me)") != "$before" ]]
}

@test "graceful restarts of Apache fail no request" {
    keep_busy 4
    local turn
    for turn in 1 2 3; do
        eventually each_ran_more_than $((turn * 5))
        kill -USR1 "$(cat "$STACK/apache/httpd.pid")"
        sleep 1
    done
    eventually each_ran_more_than 30
    end_background 200
}

@test "a pool that keeps connections has a fixed number of processes" {
    local option
    for option in idle max-processes; do
        run "$OUT/tools/pool" --socket "$BATS_TEST_TMPDIR/s" --processes 4 --keep "--$option" 8 -- \
            "$OUT/cgi-bin/me"
        [[ $status == 2 && $output == *'--keep needs a fixed number of processes'* ]]
    done
}

@test "a pool that keeps no connection logs that Apache does" {
    local pid
    pid=$(pool_of me)
    kill "$pid"
    eventually is_gone "$pid"
    SWITCHBOARD_CONFIG=$SWITCHBOARD_CONFIG "$OUT/tools/pool" --socket "$STACK/apache/me.sock" \
        --processes 2 --pid-file "$STACK/apache/me.pid" -- "$OUT/cgi-bin/me" 3>&- &
    eventually test -S "$STACK/apache/me.sock"
    api GET /v2/me
    assert_success
    eventually grep -qF 'was not started with --keep' "$LOG"
}
