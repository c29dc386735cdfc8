# shellcheck shell=bash
# Assertions that hold for every route. `load helpers/conventions` after helpers/all.

# Checks the headers that every answer has, and that Content-Length is the length of the body, which
# an answer that is written while it is read does not know: assert_conventions [streamed]
assert_conventions() {
    local value size
    assert_header Cache-Control no-store
    assert_header X-Content-Type-Options nosniff
    { read_header X-Request-Id && [[ $value =~ ^[A-Za-z0-9._@-]{1,64}$ ]]; } ||
        fail_answer 'expected an X-Request-Id'
    if [[ $status == 204 ]]; then
        refute_header Content-Type
        [[ ! -s $body ]] || fail_answer 'expected no body'
    elif [[ ${1-} == streamed ]]; then
        # Apache counts what a CGI program has written, if that has ended by then
        [[ $TRANSPORT == cgi ]] || refute_header Content-Length
    elif [[ -s $body ]]; then
        measure_body
        assert_header Content-Length "$size"
    fi
}

# Sets `size` to the number of bytes of the body.
measure_body() {
    local LC_ALL=C text
    if IFS= read -r -d '' -n 65536 text <"$body"; then
        size=$(stat -c %s "$body") # it is long, or has a NUL
    else
        size=${#text}
    fi
}

# Checks that a path refuses all methods but the given ones, HEAD (with GET) and OPTIONS:
# assert_methods PATH METHOD... (spec 7, RFC 9110 9, 10.2.1)
assert_methods() {
    local path=$1 known=("${@:2}") allow method
    allow=$(printf '%s, ' "${known[@]}")
    allow=${allow/GET, /GET, HEAD, }OPTIONS
    request OPTIONS "$path"
    assert_status 204
    assert_header Allow "$allow"
    assert_conventions
    for method in GET HEAD POST PUT PATCH DELETE get FOO; do
        [[ ", $allow, " != *", $method, "* ]] || continue
        request "$method" "$path"
        assert_status 404
        assert_header Allow "$allow"
        assert_conventions
        [[ $method == HEAD ]] || assert_error 404 NOT_FOUND "$allow"
    done
}

# Checks that paths similar to PATH are 404, with a token and without (spec 7).
assert_no_other_paths() {
    local path token
    for path in "$1/" "$1/x" "$1//x" "${1}x" "$1/%20" "${1/v2/v1}" "${1/v2/V2}" "$1%00" "$1;x"; do
        # Apache itself refuses a NUL and merges double slashes; the program does not see them
        [[ $TRANSPORT != direct || $path != *%00 ]] || continue
        for token in "" "${TOKEN:?}"; do
            request GET "$path" ${token:+--as "$token"}
            assert_error 404 NOT_FOUND
            refute_header Allow
        done
    done
}

# Checks that a valid X-Request-Id of the caller is returned, and that an invalid one is replaced.
assert_request_ids() { # METHOD PATH [option...]
    local id
    for id in x req-1.A_z "$(printf 'a%.0s' {1..64})"; do
        request "$@" -H "X-Request-Id: $id"
        assert_header X-Request-Id "$id"
        assert_equal "$(log_of_request | gojq -r .request_id)" "$id"
    done
    for id in "$(printf 'a%.0s' {1..65})" 'a b' 'a"b' 'a,b' 'a/b' "$(printf 'a\xc3\xa9')" ''; do
        request "$@" -H "X-Request-Id: $id"
        assert_conventions
        [[ $(header X-Request-Id) != "$id" ]] || fail_answer "expected another id than $id"
    done
}

# Prints the log line of the last request, a JSON object. Waits for it, because the program writes it
# after the answer.
log_of_request() {
    local value
    read_header X-Request-Id
    eventually print_last_line_with "\"request_id\":\"$value\""
}

# Sets `logged` to the log line of the last request without a process, for tests of many requests:
# reads the lines since the last call. Waits for the line if it is not yet there.
read_log_line() {
    local value line text
    read_header X-Request-Id
    text="\"request_id\":\"$value\"" logged=''
    [[ -n ${log_lines-} ]] || exec {log_lines}<"$LOG"
    while IFS= read -r line <&"$log_lines"; do
        [[ $line != *"$text"* ]] || logged=$line
    done
    [[ -n $logged ]] || logged=$(log_of_request)
}

# Prints the last line of the log with this text; fails if there is none.
print_last_line_with() {
    local found
    found=$(grep -F "$1" "$LOG") || return 1
    printf '%s\n' "${found##*$'\n'}"
}

# Checks the upstream time of the last request as the program measured it: from the start of its first
# call to the platform to the end of its last call, without the start of the process. libcurl counts
# whole milliseconds, and so does the log: a limit of LEAST may end one millisecond earlier. The
# default of MOST is one second more: the process may have to wait for a processor.
# assert_upstream_ms LEAST [MOST]
assert_upstream_ms() {
    local ms
    ms=$(log_of_request | gojq .upstream_ms)
    ((ms >= $1 - 1 && ms <= ${2-$(($1 + 1000))})) ||
        fail_answer "expected the platform to take from $1 to ${2-$(($1 + 1000))} ms, not $ms"
}

# Checks that neither the log nor the logs of Apache contain the text: assert_not_logged TEXT...
assert_not_logged() {
    local text
    log_of_request >"$BATS_TEST_TMPDIR/line" # waits until the last line is written
    [[ -s $BATS_TEST_TMPDIR/line ]] || fail 'expected a log line of the request'
    for text; do
        ! grep -rFl -- "$text" "$LOG" "$STACK"/stderr.log "$STACK"/apache/*.log 2>/dev/null ||
            fail "the log contains $text"
    done
}

# Checks that an executable contains none of the functions and is not linked with their libraries:
# assert_without PROGRAM NAME... with names such as sqlite3_open, curl_easy_init.
assert_without() {
    local program=$OUT/cgi-bin/$1 name
    [[ $(head -c 2 "$program" | tr '\0' ' ') != '#!' ]] || skip 'the program runs in an emulator'
    nm "$program" >"$BATS_TEST_TMPDIR/symbols"
    grep -q ' serve$' "$BATS_TEST_TMPDIR/symbols" || fail "$program has no symbols to look at"
    for name in "${@:2}"; do
        ! grep -E " $name(@|\$)" "$BATS_TEST_TMPDIR/symbols" >&2 || fail "$program has $name"
        ! ldd "$program" 2>/dev/null | grep -F "lib${name%%_*}" || fail "$program needs lib${name%%_*}"
    done
}
