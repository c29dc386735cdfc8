#!/usr/bin/env bats
# A program that crashes under a request: what its client, its log and other requests see. The
# executables are probe builds, which crash when they are asked to (tests/probe.c).
load helpers/all

OUT=$root/build/probe
export OUT

# The lines of the log about the request NAME that hold PART.
logged() {
    grep -F "\"request_id\":\"$1\"" "$LOG" | grep -F "$2"
}

assert_crash() { # NAME REASON SIGNAL
    assert_error 500 INTERNAL_ERROR "request id $1"
    assert_header X-Request-Id "$1"
    assert_header Cache-Control no-store
    assert_equal "$(logged "$1" '"level":"error"' | jq -r '[.message, .program, .signal // "-"] | join(" ")')" "$2 $3"
    jq -e '.ts | test("^20[0-9-]+T[0-9:.]+Z$")' <<<"$(logged "$1" '"level":"error"')" >/dev/null
    request GET /v2/health
    assert_success
}

@test "abort() is a 500 and a line of the log" {
    request GET /v2/health -H 'X-Probe: abort' -H 'X-Request-Id: crash-abort'
    assert_crash crash-abort 'the program crashed health' SIGABRT
}

@test "a wild pointer is a 500 and a line of the log" {
    request GET /v2/health -H 'X-Probe: fault' -H 'X-Request-Id: crash-fault'
    assert_crash crash-fault 'the program crashed health' SIGSEGV
}

@test "an overflowing stack is a 500 and a line of the log" {
    request GET /v2/health -H 'X-Probe: overflow' -H 'X-Request-Id: crash-overflow'
    assert_crash crash-overflow 'the program crashed health' SIGSEGV
}

@test "an endless loop is a 500 and a line of the log, when it has computed long enough" {
    # a probe build gives it a second of the processor's time
    request GET /v2/health -H 'X-Probe: loop' -H 'X-Request-Id: crash-loop'
    assert_crash crash-loop 'the program exceeded its CPU time limit health' SIGPROF
}

@test "exhausted memory is a 500 and a line of the log" {
    request GET /v2/health -H 'X-Probe: exhaust' -H 'X-Request-Id: crash-exhaust'
    assert_crash crash-exhaust 'out of memory health' -
}

@test "the answer to HEAD has no body" {
    request HEAD /v2/health -H 'X-Probe: abort' -H 'X-Request-Id: crash-head'
    assert_status 500
    assert_header X-Request-Id crash-head
    [[ ! -s $body ]]
}

@test "a crash with a body that was not read yet reaches the client" {
    head -c 900000 /dev/zero | tr '\0' ' ' >"$BATS_TEST_TMPDIR/large"
    api POST /v2/messages/send/text -d "@$BATS_TEST_TMPDIR/large" -H 'X-Probe: fault' \
        -H 'X-Request-Id: crash-body'
    assert_error 500 INTERNAL_ERROR
    logged crash-body SIGSEGV
}

@test "other requests are untouched" {
    fault '{"kind":"delay","ms":2000}'
    local number
    answer_dir=$BATS_TEST_TMPDIR/slow
    mkdir "$answer_dir"
    (
        api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"x\"}"
        printf '%s' "$status" >"$answer_dir/status"
    ) 3>&- &
    answer_dir=$BATS_TEST_TMPDIR
    sleep 0.3
    for number in 1 2 3 4 5; do
        api GET /v2/me -H 'X-Probe: abort' -H "X-Request-Id: crash-other-$number"
        assert_status 500
        api GET /v2/webhooks/config
        assert_success
    done
    wait
    assert_equal "$(cat "$BATS_TEST_TMPDIR/slow/status")" 200
    api GET /v2/me
    assert_success
}

@test "a crash writes no core, and nothing of the request is in the log" {
    request GET /v2/health -H 'X-Probe: abort' -H 'X-Request-Id: crash-core' -H 'X-API-Token: do-not-log-me'
    assert_status 500
    [[ -z $(find "$STACK" -name 'core*') ]]
    ! grep -rqF do-not-log-me "$STACK" --include='*log*' || fail 'the token is logged'
}
