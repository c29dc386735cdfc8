#!/usr/bin/env bats
# A program that crashes during a request: its client, its log and other requests. The executables are
# probe builds, which crash on request (tests/probe.c).
# transports: direct cgi fcgi
# SQLite only: the probe builds are of the default programs
# needs: probes
load helpers/all

OUT=$root/build/probe
export OUT

# Prints the log lines of request NAME that contain PART: NAME PART
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

@test "abort() is 500 and a log line" {
    request GET /v2/health -H 'X-Probe: abort' -H 'X-Request-Id: crash-abort'
    assert_crash crash-abort 'the program crashed health' SIGABRT
}

@test "a wild pointer is 500 and a log line" {
    request GET /v2/health -H 'X-Probe: fault' -H 'X-Request-Id: crash-fault'
    assert_crash crash-fault 'the program crashed health' SIGSEGV
}

@test "a stack overflow is 500 and a log line" {
    request GET /v2/health -H 'X-Probe: overflow' -H 'X-Request-Id: crash-overflow'
    assert_crash crash-overflow 'the program crashed health' SIGSEGV
}

# bats test_tags=long
@test "an endless loop is 500 and a log line, after the CPU time limit" {
    # the limit of a probe build is one second
    request GET /v2/health -H 'X-Probe: loop' -H 'X-Request-Id: crash-loop'
    assert_crash crash-loop 'the program exceeded its CPU time limit health' SIGPROF
}

# bats test_tags=long
@test "the CPU time limit is of each part of a body: a table of 100,000 recipients is taken whole" {
    # the limit of a probe build is one second, and this table takes more
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"items\":[{\"id\":\"72\",\"name\":\"plain\",\"language\":\"de\",
        \"status\":\"APPROVED\",\"category\":\"UTILITY\",\"components\":[{\"type\":\"BODY\",\"text\":\"x\"}]}]}" >/dev/null
    api POST /v2/campaigns -d "{\"phoneNumberId\":\"$LINE\",\"name\":\"all\",\"templateName\":\"plain\",\"language\":\"de\"}"
    { printf 'to\n' && seq 15552000001 15552100000; } >"$BATS_TEST_TMPDIR/table"
    local path
    path=/v2/campaigns/$(gojq -r .data.id "$body")/recipients
    api PUT "$path" -H 'Content-Type: text/csv' -d "@$BATS_TEST_TMPDIR/table"
    assert_json .data.accepted 100000
    api GET "$path.csv"
    assert_status 200
    assert_equal "$(wc -l <"$body")" 100001
}

@test "exhausted memory is 500 and a log line" {
    request GET /v2/health -H 'X-Probe: exhaust' -H 'X-Request-Id: crash-exhaust'
    assert_crash crash-exhaust 'out of memory health' -
}

@test "a crash of a program with the platform's contract is an error in the platform's shape" {
    request GET /v21.0/ -H 'X-Probe: abort' -H 'X-Request-Id: crash-graph'
    assert_status 500
    assert_that '.error.code == 1 and .error.type == "OAuthException"
        and .error.fbtrace_id == "crash-graph" and (.error.message | contains("crash-graph"))'
}

@test "a crash is counted by its program, and the request is not counted as answered" {
    counted() {
        request GET /metrics
        assert_status 200
        sed -n -e 's/^switchboard_crashes_total{program="health"} //p' "$body"
        grep -c 'route="/v2/health",status="500"' "$body" || true
    }
    local before after
    request GET /v2/health -H 'X-Probe: abort'
    assert_status 500
    mapfile -t before < <(counted)
    request GET /v2/health -H 'X-Probe: fault'
    request GET /v2/health -H 'X-Probe: abort'
    mapfile -t after < <(counted)
    assert_equal "${after[0]}" $((before[0] + 2))
    assert_equal "${after[1]}" 0
}

@test "no request comes over a connection whose process has crashed: the web server cannot keep it" {
    # over FastCGI the end of the connection ends the answer, and no end of the request before it
    [[ $TRANSPORT == fcgi ]] || skip 'a CGI has no connection'
    local socket ended
    socket=$(cat "$STACK/apache/sockets")/health.sock
    crash() {
        ended=0
        "$HELPERS/fcgi" "$socket" REQUEST_METHOD=GET SCRIPT_NAME=/v2/health HTTP_X_PROBE=abort \
            HTTP_X_REQUEST_ID=crash-kept "$@" >"$BATS_TEST_TMPDIR/answer" || ended=$?
        grep -q '^Status: 500' "$BATS_TEST_TMPDIR/answer"
        grep -q '"success":false,"error":"INTERNAL_ERROR".*crash-kept' "$BATS_TEST_TMPDIR/answer"
    }
    crash --keep
    assert_equal "$ended" 1
    crash # a web server that keeps no connection gets the end of the request
    assert_equal "$ended" 0
    request GET /v2/health
    assert_success
}

@test "the answer to HEAD has no body" {
    request HEAD /v2/health -H 'X-Probe: abort' -H 'X-Request-Id: crash-head'
    assert_status 500
    assert_header X-Request-Id crash-head
    [[ ! -s $body ]]
}

@test "the client gets the answer although the body of its request was not read" {
    head -c 900000 /dev/zero | tr '\0' ' ' >"$BATS_TEST_TMPDIR/large"
    api POST /v2/messages/send/text -d "@$BATS_TEST_TMPDIR/large" -H 'X-Probe: fault' \
        -H 'X-Request-Id: crash-body'
    assert_error 500 INTERNAL_ERROR
    logged crash-body SIGSEGV
}

# bats test_tags=long
@test "other requests are not affected" {
    local number
    begin_held api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"x\"}"
    for number in 1 2 3 4 5; do
        api GET /v2/me -H 'X-Probe: abort' -H "X-Request-Id: crash-other-$number"
        assert_status 500
        api GET /v2/webhooks/config
        assert_success
    done
    end_held 200
    api GET /v2/me
    assert_success
}

@test "a crash writes no core file and logs nothing of the request" {
    request GET /v2/health -H 'X-Probe: abort' -H 'X-Request-Id: crash-core' -H 'X-API-Token: do-not-log-me'
    assert_status 500
    [[ -z $(find "$STACK" -name 'core*') ]]
    ! grep -rqF do-not-log-me "$STACK" --include='*log*' || fail 'the token is logged'
}
