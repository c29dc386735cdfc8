#!/usr/bin/env bats
# A PostgreSQL server that is down, and works again: what the processes of the pools do. A confined
# process cannot connect, so it ends, and the pool starts another. The file has a server of its own.
# It runs with programs that support PostgreSQL: those of OUT (`make POSTGRESQL=1`), or of
# SERVER_OUT, which `make test` builds beside the default ones.
# transports: fcgi
unset SERVER # the server of the run is not stopped
load helpers/all
load helpers/postgresql
load helpers/webhook

use_server_programs

setup_file() {
    supports_postgresql || return 0
    export MAIN=$BATS_FILE_TMPDIR/main STACK=$BATS_FILE_TMPDIR/stack
    make_server "$MAIN"
    start_private_server "$MAIN"
    start_stack_on "$MAIN" "host=$MAIN&port=$(port_of "$MAIN")"
}

teardown_file() {
    supports_postgresql || return 0
    stop_stack
    stop_private_server "$MAIN"
}

setup() {
    supports_postgresql || skip 'the programs are built without PostgreSQL'
    start_private_server "$MAIN" 2>/dev/null || true # a test that failed has left it down
}

# Makes requests until each process of a pool has served one, and prints the processes:
# warm PROGRAM COMMAND...
warm() {
    local pool
    pool=$(pool_of "$1")
    "${@:2}"
    assert_success
    eventually both_served "$pool" "${@:2}"
    children "$pool"
}

# A condition, after some simultaneous requests: a pool has two processes, and each has served one
# and so has the socket of a connection to the server, beside those of the listener and of the pool:
# both_served PID COMMAND...
both_served() {
    local child jobs=() answer_dir
    for _ in 1 2 3 4; do
        answer_dir=$(mktemp -d -p "$BATS_TEST_TMPDIR")
        "${@:2}" >/dev/null 2>&1 3>&- &
        jobs+=($!)
    done
    wait "${jobs[@]}"
    has_children "$1" 2 || return 1
    for child in $(children "$1"); do
        (($(find "/proc/$child/fd" -lname 'socket:*' | wc -l) > 2)) || return 1
    done
}

send_text() {
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"x\"}"
}

deliver_text() {
    deliver "$(payload "$(inbound "wamid.$RANDOM$RANDOM" 15551230002 '')")"
}

# Expects the 503 of a server that cannot be reached: assert_unreachable COMMAND...
assert_unreachable() {
    "$@"
    assert_error 503 INTERNAL_ERROR
    assert_header Retry-After
}

succeeds() {
    "$@"
    [[ $status == 200 ]]
}

# bats test_tags=long
@test "confined programs answer 503 and end while the server is down; new processes work when it is back" {
    local readers writers
    readers=$(warm me api GET /v2/me)
    writers=$(warm platform deliver_text)
    stop_private_server "$MAIN"
    for _ in {1..4}; do
        assert_unreachable api GET /v2/me
        assert_header Retry-After 1
        assert_error 503 INTERNAL_ERROR "The gateway's database cannot be reached"
        assert_unreachable deliver_text
    done
    # each of them has ended after one answer, and none has tried to connect, which kills it
    eventually has_other_children "$(pool_of me)" 2 "$readers"
    eventually has_other_children "$(pool_of platform)" 2 "$writers"
    refute grep -q 'killed\|crash' "$LOG" "$STACK/apache/error.log"
    start_private_server "$MAIN"
    eventually succeeds api GET /v2/me
    eventually succeeds deliver_text
    # then every process of the two pools works
    for _ in {1..6}; do
        api GET /v2/me
        assert_success
        deliver_text
        assert_success
    done
}

# bats test_tags=long
@test "a confined program that waits for requests ends with its connection; no request fails after it" {
    local readers
    readers=$(warm me api GET /v2/me)
    stop_private_server "$MAIN"
    start_private_server "$MAIN"
    eventually has_other_children "$(pool_of me)" 2 "$readers"
    for _ in {1..6}; do
        api GET /v2/me
        assert_success
    done
}

# bats test_tags=long
@test "a program that calls the platform answers 503 while the server is down, and connects again" {
    local processes
    processes=$(warm messages send_text)
    stop_private_server "$MAIN"
    assert_unreachable send_text
    assert_unreachable send_text
    start_private_server "$MAIN"
    for _ in {1..4}; do
        send_text
        assert_success
    done
    assert_equal "$(children "$(pool_of messages)")" "$processes"
}

@test "a program that calls the platform, and starts while the server is down, connects when it is back" {
    local processes
    processes=$(warm messages send_text)
    stop_private_server "$MAIN"
    kill -HUP "$(pool_of messages)"
    eventually has_other_children "$(pool_of messages)" 2 "$processes"
    processes=$(children "$(pool_of messages)")
    for _ in {1..4}; do
        assert_unreachable send_text
    done
    start_private_server "$MAIN"
    for _ in {1..4}; do
        send_text
        assert_success
    done
    assert_equal "$(children "$(pool_of messages)")" "$processes"
}
