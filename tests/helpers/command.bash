# shellcheck shell=bash
# Runs of the admin CLI: `load helpers/command` after helpers/all. Standard output is the file
# $body, standard error the file $headers.

# Runs the CLI and sets $status, $body (file: standard output) and $headers (file: standard error).
cli() {
    status=0
    switchboard "$@" >"$body" 2>"$headers" || status=$?
}

# The command must succeed without output on standard error: done_quietly COMMAND...
done_quietly() {
    cli "$@"
    [[ $status == 0 ]] || fail_answer "expected switchboard $* to succeed"
    [[ ! -s $headers ]] || fail_answer "expected nothing on standard error"
}

# The command must succeed with a warning that contains PART: done_warning PART COMMAND...
done_warning() {
    local part=$1
    shift
    cli "$@"
    [[ $status == 0 ]] || fail_answer "expected switchboard $* to succeed"
    grep -qF -e "switchboard: warning: " "$headers" || fail_answer "expected a warning"
    grep -qF -e "$part" "$headers" || fail_answer "expected a warning of: $part"
}

# The command must end with status 1 and one line that contains PART: fails_with PART COMMAND...
fails_with() {
    local part=$1
    shift
    cli "$@"
    [[ $status == 1 ]] || fail_answer "expected switchboard $* to fail with 1"
    [[ ! -s $body ]] || fail_answer "expected nothing on standard output"
    [[ $(wc -l <"$headers") == 1 ]] || fail_answer "expected one line on standard error"
    grep -qF -e "$part" "$headers" || fail_answer "expected it to say: $part"
}

# The command must end with status 2, a line that contains PART and a usage line:
# usage_error PART COMMAND...
usage_error() {
    local part=$1
    shift
    cli "$@"
    [[ $status == 2 ]] || fail_answer "expected switchboard $* to be wrong usage"
    [[ ! -s $body ]] || fail_answer "expected nothing on standard output"
    [[ $(wc -l <"$headers") == 2 ]] || fail_answer "expected two lines on standard error"
    sed -n 1p "$headers" | grep -qF -e "$part" || fail_answer "expected it to say: $part"
    sed -n 2p "$headers" | grep -q '^usage: switchboard ' || fail_answer "expected a usage line"
}

# Runs a list command as text and as JSON, to be followed by assert_that: list_as_json COMMAND...
list_as_json() {
    done_quietly "$@" --json
}

prints() { # TEXT: standard output is exactly this line
    assert_equal "$(cat "$body")" "$1"
}

# Creates a user with an account and a line; sets EMAIL, ACCOUNT, LINE.
make_some() {
    EMAIL=ann@example.org LINE=8001
    switchboard user add $EMAIL >/dev/null
    ACCOUNT=$(printf platform-secret-1 | switchboard account add $EMAIL --waba-id 9001 --name One)
    switchboard line add "$ACCOUNT" --phone-number-id $LINE --number +15550000001 >/dev/null
}
