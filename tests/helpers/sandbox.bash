# shellcheck shell=bash
# The platform's side: what it was sent, and how it shall misbehave. `graph-sandbox --help` lists
# its calls.

# A call below /_sandbox/: sandbox METHOD PATH [BODY]; with @FILE, the bytes of a file. The shell makes
# it itself, since there are several in every test.
sandbox() {
    local LC_ALL=C # lengths are bytes
    local socket line text=${3-} length
    length=${#text}
    [[ $text != @* ]] || length=$(stat -L -c %s "${text#@}")
    exec {socket}<>"/dev/tcp/127.0.0.1/${SANDBOX##*:}" || return
    printf '%s /_sandbox/%s HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' \
        "$1" "$2" "$length" >&"$socket"
    if [[ $text == @* ]]; then
        cat "${text#@}" >&"$socket"
    else
        printf '%s' "$text" >&"$socket"
    fi
    while IFS= read -r line <&"$socket" && [[ $line != $'\r' ]]; do
        :
    done
    [[ ${4-} == silent ]] || cat <&"$socket"
    exec {socket}>&-
}

# Forgets requests and faults of the test before.
forget_sent() {
    [[ -n ${SANDBOX-} ]] || return 0
    sandbox DELETE requests '' silent
    sandbox DELETE faults '' silent
}

# The platform's next answer: fault '{"status":500,"code":2}'
fault() {
    sandbox POST faults "$1" >/dev/null
}

# How many requests the platform received; QUERY as `path=/messages`: sent_count [QUERY]
sent_count() {
    local answer
    answer=$(sandbox GET "requests/count?${1-}")
    if [[ $answer =~ ^\{\"count\":([0-9]+)\}$ ]]; then
        printf '%s\n' "${BASH_REMATCH[1]}"
    else
        jq .count <<<"$answer"
    fi
}

# Whether the platform was asked anything: eventually something_sent
something_sent() {
    (($(sent_count) > 0))
}

# The last request's body, as it came.
sent() {
    sandbox GET "requests/last/body?${1-}"
}

assert_sent() { # TEXT [QUERY]: the very bytes that the platform received last
    local found
    found=$(sent "${2-}"; printf .)
    [[ ${found%.} == "$1" ]] || fail "expected upstream: $1"$'\n'"actual:            ${found%.}"
}

assert_sent_to() { # PATH: where the last one went, without the version
    local found
    found=$(sandbox GET requests/last | jq -r .path)
    [[ ${found#/v*/} == "${1#/}" ]] || fail "expected a request to $1, not $found"
}

assert_sent_json() { # PATH EXPECTED: as assert_json, on the last request's body
    local body=$BATS_TEST_TMPDIR/upstream headers=/dev/null
    sent >"$body"
    assert_json "$1" "$2"
}

assert_nothing_sent() {
    assert_equal "$(sent_count)" 0
}
