# shellcheck shell=bash disable=SC2034
# Requests to the sandbox itself, for the tests of what it answers: `load helpers/all`, then `load
# helpers/sandbox_calls`. Each test file has its own sandbox, and each test begins with its start
# state.

LINE=106540352242922
WABA=102290129340398
OTHER_LINE=206540352242922
OTHER_WABA=202290129340398

setup_file() {
    export STACK=$BATS_FILE_TMPDIR/stack
    mkdir -p "$STACK"
    start_sandbox
}

teardown_file() {
    kill "$(cat "$STACK/sandbox.pid")"
}

setup() {
    headers=$BATS_TEST_TMPDIR/headers body=$BATS_TEST_TMPDIR/body
    token=sandbox-token-1
    sandbox POST reset >/dev/null
}

# Starts a sandbox for this test; sets $SANDBOX to its URL, $own to its pid: start_own [option...]
start_own() {
    local port=$BATS_TEST_TMPDIR/port
    "$OUT/tools/switchboard-sandbox" --port-file "$port" --state-dir "$BATS_TEST_TMPDIR" "$@" \
        >/dev/null 3>&- &
    own=$!
    eventually test -s "$port"
    SANDBOX=http://127.0.0.1:$(cat "$port")
}

teardown() {
    [[ -z ${own-} ]] || kill "$own" 2>/dev/null || true
}

# One request; sets $status, $headers, $body and $code (of curl): fetch URL [curl option...]
fetch() {
    : >"$body"
    : >"$headers"
    code=0
    status=$(curl -sS -g --max-time 20 -D "$headers" -o "$body" -w '%{http_code}' "${@:2}" "$1" \
        2>"$BATS_TEST_TMPDIR/error") || code=$?
    sed -i 's/\r$//' "$headers"
}

# The same with the token: fetch_as URL [curl option...]
fetch_as() {
    fetch "$1" -H "Authorization: Bearer $token" "${@:2}"
}

# A request to the Graph API of the sandbox: graph METHOD PATH [curl option...]
graph() {
    fetch_as "$SANDBOX/v26.0/$2" -X "$1" "${@:3}"
}

post() { # PATH JSON
    graph POST "$1" -H 'Content-Type: application/json' --data-binary "$2"
}

# Sends a message to +16505551234: send MEMBERS, such as '"type":"text","text":{"body":"x"}'
send() {
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"+16505551234\",$1}"
}

send_interactive() { # JSON of the interactive object
    send "\"type\":\"interactive\",\"interactive\":$1"
}

send_template() { # JSON of the template object
    send "\"type\":\"template\",\"template\":$1"
}

text='"text":{"body":"hello"}'

# A user has just written to the number, so that all messages are delivered: wrote USER
wrote() {
    sandbox POST windows "{\"phoneNumberId\":\"$LINE\",\"user\":\"$1\"}" >/dev/null
}

assert_accepted() {
    assert_status 200
    assert_that '.messages[0].id | test("^wamid\\.[A-Za-z0-9+/=]+$")'
}

# The answer is the platform's error: assert_refused STATUS CODE [PART of message or details]
assert_refused() {
    assert_status "$1"
    assert_json .error.code "$2"
    assert_that '.error | (.type | test("Exception$")) and (.fbtrace_id | length > 10)'
    [[ -z ${3-} ]] || [[ $(gojq -r '.error | .message, .error_data.details' "$body") == *"$3"* ]] ||
        fail_answer "expected an error that contains: $3"
}

# A receiver of webhooks: the sandbox itself, below /inbox.
open_inbox() {
    fault '{"match":{"path":"/inbox"},"times":0,"status":200}'
    sandbox POST settings "{\"webhookUrl\":\"$SANDBOX/inbox\"}" >/dev/null
}

inbox_holds() { # COUNT
    (($(sent_count path=/inbox) >= $1))
}
