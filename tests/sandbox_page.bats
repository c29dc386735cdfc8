#!/usr/bin/env bats
# doc/sandbox.md: its commands run as they stand, in one shell and in order, and its list of control
# calls is what the program prints.
# transports: direct
# SQLite only: it uses no database
# bats file_tags=long
load helpers/all
load helpers/courier
load helpers/document

page=$root/doc/sandbox.md
sections=('Point a program at it' 'Receive webhooks' 'Fail on purpose' 'Approve a template'
    'Be the customer in a browser' 'Read what was sent')

# Prints the script of the whole page. Each section prints to a file of its name. Before the faults
# are deleted, their effects are printed to the file `faults`.
script() {
    local title
    cat <<'END'
try() {
    curl -sS --max-time 0.3 "$SANDBOX/v26.0/106540352242922/messages" -o answer \
        -H 'Authorization: Bearer sandbox-token-1' -H 'Content-Type: application/json' \
        -d "{\"messaging_product\":\"whatsapp\",\"to\":\"$1\",\"text\":{\"body\":\"x\"}}" \
        2>&1 | grep -q 'timed out' && echo late >>faults ||
        jq '.error.code // "accepted"' answer >>faults
}
try_all() {
    for number in 1 2 3 4 15550001111 6; do try "$number"; done
    curl -sS "$SANDBOX/v26.0/me?access_token=sandbox-token-2" | jq .error.code >>faults
}
END
    commands Start
    printf 'echo $! >sandbox.pid\nset -e\n'
    for title in "${sections[@]}"; do
        printf 'exec >"%s"\n' "$title"
        commands "$title" | sed '/-X DELETE/i try_all'
    done
}

setup_file() {
    export STACK=$BATS_FILE_TMPDIR/stack RUN=$BATS_FILE_TMPDIR/run
    mkdir -p "$STACK" "$RUN"
    PATH=$(realpath "$OUT/tools"):$PATH
    start_receiver bot
    export BOT=$bot_URL/hook
    answers bot hook 'verify sandbox-verify-token'
    cd "$RUN" || return
    script >script.src
    local status=0
    bash script.src 2>errors 3>&- || status=$?
    printf '%s\n' "$status" >status
}

teardown_file() {
    stop_receivers
    end_helper "$RUN/sandbox.pid"
}

setup() {
    cd "$RUN" || return
}

# The file of a section has these lines: assert_lines TITLE LINE...
assert_lines() {
    assert_equal "$(cat "$1")" "$(printf '%s\n' "${@:2}")"
}

@test "every command of the page succeeds" {
    assert_equal "$(cat status errors)" 0
    # no section is left out
    assert_equal "$(sed -n 's/^## //p' "$page")" \
        "$(printf '%s\n' Start "${sections[@]}" 'In a CI service' 'Control calls')"
}

@test "a program is pointed at it and sends a message" {
    [[ $(cat "${sections[0]}") =~ ^wamid\.[A-Za-z0-9+/=]+$ ]]
}

@test "webhooks are verified, set, sent, listed, and signed wrongly" {
    local output
    output=$(cat 'Receive webhooks')
    assert_equal "${output:0:$((${#BOT} + 7))}" "true
\"$BOT\""
    assert_equal "$(sed -n '/^\[/,/^\]/p' <<<"$output" | jq -c '[.[].status]')" '[200]'
    [[ $output == *$'\nbutton_reply\n'*$'\ntemplate_status\n'*$'\n200' ]] || fail "$output"
    jq -e '.entry[0].changes[0].value.messages[0].text.body == "Is it open?"' "$bot_DIR/2.body"
    grep -q '^X-Hub-Signature-256: sha256=[0-9a-f]*$' "$bot_DIR/3.head"
    assert_equal "$(grep -c "$(signature_of "$bot_DIR/2.body")" "$bot_DIR/2.head")" 1
    assert_equal "$(grep -c "$(signature_of "$bot_DIR/3.body")" "$bot_DIR/3.head")" 0
}

signature_of() { # FILE
    openssl dgst -sha256 -hmac sandbox-app-secret -r "$1" | cut -d ' ' -f 1
}

@test "requests fail as the page says" {
    assert_lines faults 130429 late late late late '"accepted"' 190
    assert_lines 'Fail on purpose' 1 2 3 \
        '{"done":true}{"done":true}{"done":true}{"done":true}'
}

@test "a template is approved, and its webhook is delivered" {
    assert_lines 'Approve a template' '{"done":true}200' '{"done":true}'
    jq -se 'any(.[].entry[0].changes[0]; .field == "message_template_status_update" and
        .value.event == "APPROVED")' "$bot_DIR"/*.body
}

@test "the link of the phone opens its page" {
    curl -sSf "$(cat 'Be the customer in a browser')" | grep -q '<main class="phone">'
}

@test "what was sent is read" {
    # the message of the page and those of try_all; the template is a POST too
    assert_lines 'Read what was sent' 15551234567 1 2 3 4 15550001111 6 null 8 \
        '{"done":true}{"done":true}'
}

# Whether no sandbox has this directory; another program may have its port by now.
runs_no_sandbox() {
    local process
    for process in $(pgrep -f switchboard-sandbox); do
        [[ $(readlink "/proc/$process/cwd") != "$(realpath "$PWD")" ]] || return 1
    done
}

@test "the script for a CI service ends with the status of its command, and the sandbox with it" {
    commands 'In a CI service' >"$BATS_TEST_TMPDIR/commands"
    cd "$BATS_TEST_TMPDIR"
    bash commands
    PATH=$(realpath "$OUT/tools"):$PATH run sh with-sandbox \
        sh -c 'printf "%s\n" "$SANDBOX"; curl -sSf "$SANDBOX/_sandbox/health"; exit 7' 3>&-
    assert_equal "$status ${lines[1]}" '7 {"done":true}'
    [[ ${lines[0]} == http://127.0.0.1:* ]]
    eventually runs_no_sandbox
}

# Prints the blocks of this language in a section: blocks TITLE LANGUAGE
blocks() {
    awk -v title="## $1" -v open="\`\`\`$2" '/^## / { inside = $0 == title }
        /^```/ { print_it = inside && $0 == open; next }
        print_it' "$page"
}

@test "the service for a CI service listens for all hosts, and its links have the URL of the service" {
    local port server
    cd "$BATS_TEST_TMPDIR"
    blocks 'In a CI service' sh >serve-sandbox
    grep -qx 'COPY serve-sandbox /' <(blocks 'In a CI service' dockerfile)
    grep -qx 'Package: switchboard-sandbox' "$root/debian/control"
    port=$(free_port)
    PATH=$(realpath "$OUT/tools"):$PATH SANDBOX_URL=http://sandbox:8080 SANDBOX_PORT=$port \
        sh serve-sandbox >log 2>&1 3>&- &
    server=$!
    # what the two services wait for, and their name in the links
    blocks 'In a CI service' yaml | sed -n 's/^ *-\{0,1\} *\(curl .*\)/\1/p' | sort -u >waits
    assert_equal "$(wc -l <waits)" 1
    SANDBOX=http://127.0.0.1:$port bash waits | jq -e .done
    curl -sS "http://127.0.0.1:$port/v26.0/1100000000000001?access_token=sandbox-token-1" |
        jq -e '.url | startswith("http://sandbox:8080/")'
    kill "$server"
    wait "$server"
    grep -q 'http://sandbox:8080' log
}

@test "the page has the list of control calls that --calls prints, with every call of the table" {
    # after a change of the table: switchboard-sandbox --calls prints the end of the page
    assert_equal "$(sed -n '/^### /,$p' "$page")" \
        "$("$OUT/tools/switchboard-sandbox" --calls | sed 1d)"
    assert_equal "$(grep -c '^### ' "$page")" 43
}
