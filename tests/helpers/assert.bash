# shellcheck shell=bash
# What a test may say of the last request's answer. Each says what it found when it fails.

fail() {
    printf '%s\n' "$*" >&2
    return 1
}

# Waits until a command succeeds, for as long as a machine in trouble may take: eventually COMMAND...
eventually() {
    local deadline=$((SECONDS + 120))
    until "$@"; do
        ((SECONDS < deadline)) || fail "not within two minutes: $*"
        sleep 0.02
    done
}

# Fails with the whole answer.
fail_answer() {
    printf '%s\n' "$*" >&2
    printf -- '--- status %s\n' "$status" >&2
    head -c 2000 "$headers" >&2
    printf -- '---\n' >&2
    head -c 2000 "$body" >&2
    printf '\n---\n' >&2
    return 1
}

assert_equal() { # ACTUAL EXPECTED
    [[ $1 == "$2" ]] || fail "expected: $2"$'\n'"actual:   $1"
}

assert_status() { # STATUS
    [[ $status == "$1" ]] || fail_answer "expected status $1"
}

# The value of a header, nothing when it is absent: header NAME
header() {
    awk -v name="${1,,}" '{ at = index($0, ":") }
        tolower(substr($0, 1, at - 1)) == name { value = substr($0, at + 1); sub(/^ +/, "", value); print value }' \
        "$headers"
}

assert_header() { # NAME [VALUE]
    local value
    value=$(header "$1")
    if (($# == 1)); then
        [[ -n $value ]] || fail_answer "expected a header $1"
    else
        [[ $value == "$2" ]] || fail_answer "expected $1: $2"
    fi
}

refute_header() { # NAME
    [[ -z $(header "$1") ]] || fail_answer "expected no header $1"
}

# The value at a jq path. EXPECTED that reads as JSON stands for that value (true, 17, null, "17",
# [1,2]), anything else for a string.
assert_json() { # PATH EXPECTED
    local found expected=$2
    jq -e . >/dev/null 2>&1 <<<"$expected" || [[ $expected == false || $expected == null ]] ||
        expected=$(jq -n --arg text "$2" '$text')
    found=$(jq -c "$1" "$body" 2>&1) || true
    [[ $found == "$(jq -c . <<<"$expected")" ]] || fail_answer "expected $1 to be $expected, not $found"
}

# As assert_json, but EXPECTED is always a string, digits too.
assert_text() { # PATH EXPECTED
    local found
    found=$(jq -c "$1" "$body" 2>&1) || true
    [[ $found == "$(jq -nc --arg text "$2" '$text')" ]] ||
        fail_answer "expected $1 to be the string $2, not $found"
}

# A jq condition on the whole body: assert_that '.data.items | length == 3'
assert_that() {
    jq -e "$1" "$body" >/dev/null 2>&1 || fail_answer "expected: $1"
}

assert_body_is() { # TEXT, or @FILE
    if [[ $1 == @* ]]; then
        cmp -s "${1#@}" "$body" || fail_answer "expected the body to be the bytes of ${1#@}"
    else
        printf '%s' "$1" | cmp -s - "$body" || fail_answer "expected the body to be $1"
    fi
}

# 200 and the success envelope (spec 2.1).
assert_success() {
    assert_status 200
    assert_header Content-Type 'application/json; charset=utf-8'
    assert_that '.success == true and (keys == ["data", "success"])'
}

# The error envelope and nothing but it (spec 2.1, 7); MESSAGE-PART anywhere in the message.
assert_error() { # STATUS CODE [MESSAGE-PART]
    assert_status "$1"
    assert_header Content-Type 'application/json; charset=utf-8'
    jq -e --arg code "$2" --arg part "${3-}" '.success == false and .error == $code
        and (.message | contains($part)) and (.message | length > 0)
        and (keys - ["success", "error", "message", "details"] == [])' "$body" >/dev/null 2>&1 ||
        fail_answer "expected the error $2 with a message that holds: ${3-}"
}

# An issue in the details of a schema failure: assert_issue PATH [MESSAGE-PART]
assert_issue() {
    jq -e --arg path "$1" --arg part "${2-}" '.details | any(.path == $path
        and (.message | contains($part)) and (.code | length > 0))' "$body" >/dev/null 2>&1 ||
        fail_answer "expected an issue with the path $1 and a message that holds: ${2-}"
}
