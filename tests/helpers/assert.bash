# shellcheck shell=bash
# Assertions about the answer to the last request. Each prints what it found when it fails.

fail() {
    printf '%s\n' "$*" >&2
    return 1
}

refute() { # COMMAND...: it must fail
    if "$@"; then
        fail "expected this to fail: $*"
    fi
}

# Fails with a message and the answer: status, headers and the first 2000 bytes of the body.
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

# Prints the value of a header, or nothing when it is absent: header NAME
header() {
    local value
    read_header "$1" && printf '%s\n' "$value"
    return 0
}

# Sets `value` to the values of a header, one a line; fails when the header is absent: read_header
# NAME
read_header() {
    local line text found=''
    value=''
    while IFS= read -r line || [[ -n $line ]]; do
        text=${line%%:*}
        [[ $line == *:* && ${text,,} == "${1,,}" ]] || continue
        text=${line#*:}
        value+=${found:+$'\n'}${text#"${text%%[! ]*}"} found=1
    done <"$headers"
    [[ -n $found ]]
}

assert_header() { # NAME [VALUE]
    local value
    read_header "$1" || true
    if (($# == 1)); then
        [[ -n $value ]] || fail_answer "expected a header $1"
    else
        [[ $value == "$2" ]] || fail_answer "expected $1: $2"
    fi
}

refute_header() { # NAME
    local value
    ! read_header "$1" || [[ -z $value ]] || fail_answer "expected no header $1"
}

# jq takes longer to start (17 ms) than most requests take. The most common checks of JSON are made
# by a small program (tests/helpers/json.c, 1 ms): success means that the condition holds; failure
# means nothing, and the caller then runs jq. Everything whose result does not depend on the order
# of the members of an object is left to gojq (2 ms), which sorts them.
quick_check() {
    [[ -x $HELPERS/json ]] && "$HELPERS/json" "$body" "$@" 2>/dev/null
}

# Compares the value at a jq path. An EXPECTED that is valid JSON is that value (true, 17, null,
# "17", [1,2]); any other EXPECTED is a string.
assert_json() { # PATH EXPECTED
    local found expected=$2
    ! quick_check is "$1" "$2" || return 0
    ! has_value "$1" "$2" || return 0
    found=$(jq -c "$1" "$body" 2>&1) || true
    ! "$HELPERS/json" /dev/stdin is . "$2" <<<"$found" 2>/dev/null || return 0
    jq -e . >/dev/null 2>&1 <<<"$expected" || [[ $expected == false || $expected == null ]] ||
        expected=$(jq -n --arg text "$2" '$text')
    [[ $found == "$(jq -c . <<<"$expected")" ]] ||
        fail_answer "expected $1 to be $expected, not $found"
}

# Succeeds if the value at a jq path is EXPECTED, which has no objects. Failure means nothing.
has_value() { # PATH EXPECTED
    local found
    [[ $2 != *'{'* ]] || return 1
    mapfile -t found < <(gojq -c --arg expected "$2" \
        "(\$expected | try fromjson catch \$expected), ($1)" "$body" 2>/dev/null)
    [[ ${#found[@]} == 2 && ${found[0]} == "${found[1]}" ]]
}

# Runs a jq filter on JSON in a file: filter OPTION FILTER FILE. jq runs only if gojq fails or
# prints an object, whose members it would sort.
filter() {
    local found
    if found=$(gojq "$@" 2>/dev/null) && [[ $found != *'{'* ]]; then
        [[ -z $found ]] || printf '%s\n' "$found"
    else
        jq "$@"
    fi
}

# Like assert_json, but EXPECTED is always a string, even if it consists of digits.
assert_text() { # PATH EXPECTED
    local found
    ! quick_check text "$1" "$2" || return 0
    found=$(gojq -c --arg expected "$2" "\$expected, ($1)" "$body" 2>/dev/null) || true
    [[ $found != "${found%%$'\n'*}"$'\n'"${found%%$'\n'*}" ]] || return 0
    found=$(jq -c "$1" "$body" 2>&1) || true
    [[ $found == "$(jq -nc --arg text "$2" '$text')" ]] ||
        fail_answer "expected $1 to be the string $2, not $found"
}

# Checks a jq condition on the whole body: assert_that '.data.items | length == 3'
assert_that() {
    gojq -e "$1" "$body" >/dev/null 2>&1 || jq -e "$1" "$body" >/dev/null 2>&1 ||
        fail_answer "expected: $1"
}

assert_body_is() { # TEXT, or @FILE
    if [[ $1 == @* ]]; then
        cmp -s "${1#@}" "$body" || fail_answer "expected the body to be the bytes of ${1#@}"
    else
        printf '%s' "$1" | cmp -s - "$body" || fail_answer "expected the body to be $1"
    fi
}

# Expects status 200 and the success envelope (spec 2.1).
assert_success() {
    assert_status 200
    assert_header Content-Type 'application/json; charset=utf-8'
    quick_check success || assert_that '.success == true and (keys == ["data", "success"])'
}

# Expects the error envelope without other members (spec 2.1, 7); the message contains MESSAGE-PART.
assert_error() { # STATUS CODE [MESSAGE-PART]
    assert_status "$1"
    assert_header Content-Type 'application/json; charset=utf-8'
    ! quick_check error "$2" "${3-}" || return 0
    gojq -e --arg code "$2" --arg part "${3-}" '.success == false and .error == $code
        and (.message | contains($part)) and (.message | length > 0)
        and (keys - ["success", "error", "message", "details"] == [])' "$body" >/dev/null 2>&1 ||
        fail_answer "expected the error $2 with a message that contains: ${3-}"
}

# Expects an issue in the details of a validation error: assert_issue PATH [MESSAGE-PART]
assert_issue() {
    ! quick_check issue "$1" "${2-}" || return 0
    gojq -e --arg path "$1" --arg part "${2-}" '.details | any(.path == $path
        and (.message | contains($part)) and (.code | length > 0))' "$body" >/dev/null 2>&1 ||
        fail_answer "expected an issue with the path $1 and a message that contains: ${2-}"
}

# `details` of a failure is the platform's answer, and left out when that is empty (spec 2.1):
# assert_details ANSWER
assert_details() {
    case $1 in
    '{}' | '[]' | null) assert_that 'has("details") | not' ;;
    *) assert_json .details "$1" ;;
    esac
}

# Requests a file of the reference, and expects its bytes and the headers that apache.conf gives it:
# assert_reference_file PATH TYPE FILE
assert_reference_file() {
    request GET "$1"
    assert_status 200
    assert_header Content-Type "$2"
    assert_header Cache-Control no-cache
    assert_header X-Content-Type-Options nosniff
    assert_header Content-Security-Policy \
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    assert_header ETag
    assert_header X-Request-Id
    cmp "$body" "$OUT/htdocs/$3"
}
