# shellcheck shell=bash
# Controls the sandbox, which replaces the platform: the requests that it received, and the faults
# that it simulates. `switchboard-sandbox --help` lists its control calls.

# Calls a path below /_sandbox/: sandbox METHOD PATH [BODY]; with @FILE, the body is a file. The
# shell makes the request without a process of its own, because every test makes several calls.
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
        [[ ${line,,} != content-length:* ]] || length=${line//[!0-9]/}
    done
    if [[ $1 != GET && ${4-} != silent ]]; then # JSON: the shell reads it, without a process
        IFS= read -r -N "$length" text <&"$socket" || true
        printf '%s' "$text"
    elif [[ ${4-} != silent ]]; then
        cat <&"$socket"
    fi
    exec {socket}>&-
}

# Deletes the recorded requests and the faults of the previous test.
forget_sent() {
    [[ -n ${SANDBOX-} ]] || return 0
    sandbox DELETE requests '' silent
    sandbox DELETE faults '' silent
}

# Sets the platform's next answer: fault '{"status":500,"code":2}'
fault() {
    sandbox POST faults "$1" silent
}

# Makes the platform's next answer wait for `answer_now`, for a time that no test takes.
hold_answer() {
    fault '{"kind":"delay","ms":25000}'
}

# Sends the answers that the platform holds back, and deletes all faults.
answer_now() {
    sandbox DELETE faults '' silent
}

# Makes a request in the background whose call of the platform is held back, and waits until the
# platform has that call: begin_held COMMAND...
begin_held() {
    hold_answer
    (
        answer_dir=$BATS_TEST_TMPDIR/held
        mkdir "$answer_dir"
        "$@"
        printf '%s' "$status" >"$answer_dir/status"
    ) 3>&- &
    eventually something_sent
}

# Has the platform answer the request of begin_held, and expects its status: end_held STATUS
end_held() {
    answer_now
    wait
    assert_equal "$(cat "$BATS_TEST_TMPDIR/held/status")" "$1"
}

# Sets the platform's next answer, byte for byte: platform_answers STATUS TEXT
platform_answers() {
    fault "$(gojq -nc --argjson status "$1" --arg body "$2" \
        '{status: $status, body: $body, headers: {"Content-Type": "application/json"}}')"
}

# Prints how many requests the platform received; QUERY such as `path=/messages`: sent_count [QUERY]
sent_count() {
    local answer
    answer=$(sandbox GET "requests/count?${1-}")
    if [[ $answer =~ ^\{\"count\":([0-9]+)\}$ ]]; then
        printf '%s\n' "${BASH_REMATCH[1]}"
    else
        gojq .count <<<"$answer"
    fi
}

# Succeeds if the platform received a request: eventually something_sent
something_sent() {
    (($(sent_count) > 0))
}

# Prints the body of the last request, unchanged: sent [QUERY]
sent() {
    sandbox GET "requests/last/body?${1-}"
}

# Prints the query of the last request; nothing when it has none.
query_sent() {
    sandbox GET requests/last | gojq -r '.query // ""'
}

# Prints the header Authorization of the last request.
token_sent() {
    sandbox GET requests/last | gojq -r .headers.authorization
}

assert_sent() { # TEXT [QUERY]: the exact body that the platform received last
    local found
    found=$(sent "${2-}"; printf .)
    [[ ${found%.} == "$1" ]] || fail "expected upstream: $1"$'\n'"actual:            ${found%.}"
}

assert_sent_to() { # PATH: the path of the last request, without the version
    local found
    found=$(sandbox GET requests/last | gojq -r .path)
    [[ ${found#/v*/} == "${1#/}" ]] || fail "expected a request to $1, not $found"
}

assert_sent_json() { # PATH EXPECTED [QUERY]: assert_json on the body of the last request
    local body=$BATS_TEST_TMPDIR/upstream headers=/dev/null
    sent "${3-}" >"$body"
    assert_json "$1" "$2"
}

assert_nothing_sent() {
    assert_equal "$(sent_count)" 0
}
