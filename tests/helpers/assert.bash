# shellcheck shell=bash
# What a test may say of the last request's answer. Each says what it found when it fails.

fail() {
    printf '%s\n' "$*" >&2
    return 1
}

# Waits until a command succeeds, for as long as a machine in trouble may take: eventually COMMAND...
eventually() {
    local deadline=$((SECONDS + 600))
    until "$@"; do
        ((SECONDS < deadline)) || fail "not within ten minutes: $*"
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
    local value
    read_header "$1" && printf '%s\n' "$value"
    return 0
}

# Sets `value`, a line for each time that the header is there; fails when it is not: read_header NAME
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

# Common questions about JSON are asked of a small program first, since jq takes longer to start than
# most requests take in all. It only ever says that something is so for sure (tests/helpers/json.c);
# jq decides what it leaves open.
surely() {
    [[ -x $HELPERS/json ]] && "$HELPERS/json" "$body" "$@" 2>/dev/null
}

# The value at a jq path. EXPECTED that reads as JSON stands for that value (true, 17, null, "17",
# [1,2]), anything else for a string.
assert_json() { # PATH EXPECTED
    local found expected=$2
    ! surely is "$1" "$2" || return 0
    jq -e . >/dev/null 2>&1 <<<"$expected" || [[ $expected == false || $expected == null ]] ||
        expected=$(jq -n --arg text "$2" '$text')
    found=$(jq -c "$1" "$body" 2>&1) || true
    [[ $found == "$(jq -c . <<<"$expected")" ]] || fail_answer "expected $1 to be $expected, not $found"
}

# As assert_json, but EXPECTED is always a string, digits too.
assert_text() { # PATH EXPECTED
    local found
    ! surely text "$1" "$2" || return 0
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
    surely success || assert_that '.success == true and (keys == ["data", "success"])'
}

# The error envelope and nothing but it (spec 2.1, 7); MESSAGE-PART anywhere in the message.
assert_error() { # STATUS CODE [MESSAGE-PART]
    assert_status "$1"
    assert_header Content-Type 'application/json; charset=utf-8'
    ! surely error "$2" "${3-}" || return 0
    jq -e --arg code "$2" --arg part "${3-}" '.success == false and .error == $code
        and (.message | contains($part)) and (.message | length > 0)
        and (keys - ["success", "error", "message", "details"] == [])' "$body" >/dev/null 2>&1 ||
        fail_answer "expected the error $2 with a message that holds: ${3-}"
}

# An issue in the details of a schema failure: assert_issue PATH [MESSAGE-PART]
assert_issue() {
    ! surely issue "$1" "${2-}" || return 0
    jq -e --arg path "$1" --arg part "${2-}" '.details | any(.path == $path
        and (.message | contains($part)) and (.code | length > 0))' "$body" >/dev/null 2>&1 ||
        fail_answer "expected an issue with the path $1 and a message that holds: ${2-}"
}

# `details` of a failure is the platform's answer, and left out when that is empty (spec 2.1):
# assert_details ANSWER
assert_details() {
    case $1 in
    '{}' | '[]' | null) assert_that 'has("details") | not' ;;
    *) assert_json .details "$1" ;;
    esac
}
