#!/usr/bin/env bats
# `make run` and `make stop`.
# transports: cgi fcgi
load helpers/all
load helpers/document

# Creates a checkout as after make, with the executables under test.
make_tree() {
    mkdir -p "$1/tools"
    cp -rL "$OUT/cgi-bin" "$OUT/htdocs" "$root/apache.conf" "$1/"
    cp "$root"/tools/{run,stop,common.bash,private-apache} "$OUT"/tools/{switchboard{,-sandbox},pool} "$1/tools/"
    [[ ! -x $OUT/tools/courier ]] || cp "$OUT/tools/courier" "$1/tools/"
}

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree
    make_tree "$TREE"
    unset GRAPH_BASE_URL SWITCHBOARD_CONFIG
    export DEMO=0 # tests/demo.bats has the conversations
}

teardown_file() {
    :
}

setup() {
    export RUN_DIR=$BATS_TEST_TMPDIR/r PORT
    PORT=$(free_port)
}

teardown() {
    local dir
    for dir in "$BATS_TEST_TMPDIR"/*/ ${also-}; do
        [[ ! -e $dir/lock ]] || RUN_DIR=$dir "$TREE/tools/stop"
    done
}

# Runs tools/run with its output in $output. The descriptors of bats are closed, so that bats does not wait
# for the programs that stay running.
demo() {
    local code=0
    "$TREE/tools/run" >"$BATS_TEST_TMPDIR/output" 2>&1 3>&- || code=$?
    output=$(<"$BATS_TEST_TMPDIR/output")
    return $code
}

# Another run of the tests may take the port in between.
run_demo() {
    local try
    for try in 1 2 3; do
        ! demo || return 0
        [[ $output == *"is in use"* ]] || break
        PORT=$(free_port)
    done
    fail "$output"
}

# Sets the variables of demo.env, and $BASE for requests.
use_demo() {
    # shellcheck source=/dev/null
    . "$RUN_DIR/demo.env"
    BASE=$BASE_URL TOKEN=$API_TOKEN
    export SWITCHBOARD_CONFIG
}

listens() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# No process uses the directory.
assert_idle() {
    local found
    found=$(grep -lF "$1/" /proc/[0-9]*/cmdline 2>/dev/null |
        while read -r file; do
            tr '\0' ' ' <"$file" | grep -E '^(/usr/sbin/apache2|[^ ]*/(pool|switchboard-sandbox|courier)) ' || true
        done)
    assert_equal "$found" ''
}

# bats test_tags=route
@test "one command starts everything, sends a message and shows it" {
    run_demo
    [[ $output == *'POST http://127.0.0.1:'"$PORT"'/v2/messages/send/text'* ]]
    [[ $output == *'"success": true'*'"messaging_product": "whatsapp"'* ]]
    [[ $output == *'contact list'*15551234567*'message list'*wamid.* ]]
    curl -sSf "$(sed -n 's|^  \(http.*/_sandbox/phone?phone=15551234567\)$|\1|p' <<<"$output")" |
        grep -q '<main class="phone">'
    assert_equal "$(stat -c %a "$RUN_DIR")" 700
}

# bats test_tags=long
@test "demo.env sets every variable that scripts use" {
    run_demo
    local name
    (
        # shellcheck source=/dev/null
        . "$RUN_DIR/demo.env"
        for name in BASE_URL API_TOKEN USER_EMAIL ACCOUNT_ID WABA_ID PHONE_NUMBER_ID SECOND_ACCOUNT_ID \
            SECOND_WABA_ID SECOND_PHONE_NUMBER_ID META_APP_SECRET META_VERIFY_TOKEN GRAPH_BASE_URL \
            SANDBOX_URL SWITCHBOARD SWITCHBOARD_CONFIG; do
            [[ -n ${!name-} ]] || fail "$name is missing"
        done
        assert_equal "$WABA_ID $PHONE_NUMBER_ID" '102290129340398 106540352242922'
        assert_equal "$SECOND_WABA_ID $SECOND_PHONE_NUMBER_ID" '202290129340398 206540352242922'
    )
    use_demo
    api GET /v2/me
    assert_success
    assert_text .data.user.email "$USER_EMAIL"
    assert_text .data.account.id "$ACCOUNT_ID"
    assert_text .data.account.wabaid "$WABA_ID"
    assert_text .data.defaultPhoneNumberId "$PHONE_NUMBER_ID"
    assert_that '.data.accounts | length == 2'
    assert_that '.data.phoneNumbers | length == 2'
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$SECOND_PHONE_NUMBER_ID\",\"to\":\"15557654321\",\"text\":\"second\"}"
    assert_success
    "$SWITCHBOARD" contact list --account "$SECOND_ACCOUNT_ID" | grep -q 15557654321
}

# bats test_tags=long
@test "the printed curl commands, and those of the README, work unchanged" {
    run_demo
    mkdir "$BATS_TEST_TMPDIR/checkout"
    ln -s "$RUN_DIR" "$BATS_TEST_TMPDIR/checkout/run"
    { block README.md '. run/demo.env'; block README.md 'curl -s $BASE_URL/v2/ready'; } \
        >"$BATS_TEST_TMPDIR/page"
    (cd "$BATS_TEST_TMPDIR/checkout" && bash -e ../page >../page.out) || fail "$(cat "$BATS_TEST_TMPDIR/page.out")"
    assert_equal "$(grep -o '"success":true' "$BATS_TEST_TMPDIR/page.out" | wc -l)" 3
    grep -q 15551234567 "$BATS_TEST_TMPDIR/page.out" # a contact
    grep -q '^ok ' "$BATS_TEST_TMPDIR/page.out" # doctor
    sed -n '/To go on:/,/^Logs are in/p' <<<"$output" | sed '1d;$d' >"$BATS_TEST_TMPDIR/lines"
    assert_equal "$(grep -c curl "$BATS_TEST_TMPDIR/lines")" 3
    bash -e "$BATS_TEST_TMPDIR/lines" >"$BATS_TEST_TMPDIR/answers"
    assert_equal "$(grep -o '"success":true' "$BATS_TEST_TMPDIR/answers" | wc -l)" 3
}

# bats test_tags=route,long
@test "a second run keeps the data and starts the programs that do not run" {
    run_demo
    use_demo
    local token=$API_TOKEN apache sandbox pool runs=3
    apache=$(<"$RUN_DIR/apache/httpd.pid") sandbox=$(<"$RUN_DIR/sandbox.pid")
    run_demo
    use_demo
    assert_equal "$API_TOKEN" "$token"
    assert_equal "$(<"$RUN_DIR/apache/httpd.pid")" "$apache"
    assert_equal "$(<"$RUN_DIR/sandbox.pid")" "$sandbox"
    if [[ $TRANSPORT == fcgi ]]; then
        pool=$(<"$RUN_DIR/apache/messages.pid")
        kill -9 "$pool"
        run_demo
        runs=4
        [[ $(<"$RUN_DIR/apache/messages.pid") != "$pool" ]]
        assert_equal "$(<"$RUN_DIR/apache/httpd.pid")" "$apache"
    fi
    kill -9 "$apache" "$sandbox"
    run_demo
    [[ $(<"$RUN_DIR/apache/httpd.pid") != "$apache" && $(<"$RUN_DIR/sandbox.pid") != "$sandbox" ]]
    use_demo
    assert_equal "$API_TOKEN" "$token"
    local contact
    contact=$("$SWITCHBOARD" contact list --json | jq -r '.[0].id')
    assert_equal "$("$SWITCHBOARD" message list --contact "$contact" --json | jq length)" "$runs"
}

# bats test_tags=route,long
@test "stop ends every program and keeps the data, which the next run uses" {
    run_demo
    use_demo
    local token=$API_TOKEN
    "$TREE/tools/stop"
    run ! listens "$PORT"
    assert_idle "$RUN_DIR"
    [[ -s $RUN_DIR/data/switchboard.db ]]
    "$TREE/tools/stop"
    run_demo
    use_demo
    assert_equal "$API_TOKEN" "$token"
}

# bats test_tags=long
@test "doctor finds no file of the demo where a program could replace it" {
    run_demo
    use_demo
    "$SWITCHBOARD" doctor --json >"$BATS_TEST_TMPDIR/doctor" || true
    assert_equal "$(jq -r '.[] | select(.check == "layout") | .status' "$BATS_TEST_TMPDIR/doctor")" ok
    assert_equal "$(jq -r '.[] | select(.check == "run_dir") | .detail' "$BATS_TEST_TMPDIR/doctor")" \
        "a courier listens at $RUN_DIR/run/switchboard.db.wake"
    for file in data/switchboard.db log/switchboard.log metrics requests conf/secret.key; do
        [[ -s $RUN_DIR/$file ]] || fail "there is no $RUN_DIR/$file"
    done
    assert_equal "$(ls "$RUN_DIR/conf")" $'secret.key\nswitchboard.conf'
}

@test "a directory of an earlier version, with the database beside the keys, is refused and not changed" {
    local before
    mkdir "$RUN_DIR"
    printf 'database = %s/switchboard.db\n' "$RUN_DIR" >"$RUN_DIR/switchboard.conf"
    touch "$RUN_DIR/switchboard.db"
    before=$(stat -c '%n %a %y' "$RUN_DIR" "$RUN_DIR"/*)
    for option in '' --check; do
        run "$TREE/tools/run" $option
        assert_equal "$status" 1
        assert_equal "$output" "run: $RUN_DIR was made by an earlier version, which had the database beside keys and configuration: run make stop RUN_DIR=$RUN_DIR, then remove it, or choose another RUN_DIR. Nothing was changed"
        assert_equal "$(stat -c '%n %a %y' "$RUN_DIR" "$RUN_DIR"/*)" "$before"
    done
}

@test "stop without an earlier run is no error" {
    RUN_DIR=$BATS_TEST_TMPDIR/nowhere run "$TREE/tools/stop"
    assert_equal "$status" 0
    [[ ! -e $BATS_TEST_TMPDIR/nowhere ]]
}

# bats test_tags=long
@test "two runs side by side are independent" {
    run_demo
    local first=$RUN_DIR first_port=$PORT
    RUN_DIR=$BATS_TEST_TMPDIR/second PORT=$(free_port)
    run_demo
    [[ $(grep API_TOKEN "$first/demo.env") != $(grep API_TOKEN "$RUN_DIR/demo.env") ]]
    RUN_DIR=$first "$TREE/tools/stop"
    assert_idle "$first"
    use_demo
    request GET /v2/health
    assert_success
    run ! listens "$first_port"
}

# bats test_tags=long
@test "a run with another port on the same directory moves the service to that port" {
    run_demo
    local before=$PORT
    PORT=$(free_port)
    run_demo
    run ! listens "$before"
    use_demo
    assert_equal "$BASE_URL" "http://127.0.0.1:$PORT"
    request GET /v2/health
    assert_success
}

# bats test_tags=long
@test "another platform is used as configured, and no sandbox is started" {
    run_demo
    local platform
    platform=http://127.0.0.1:$(<"$RUN_DIR/sandbox.port")
    RUN_DIR=$BATS_TEST_TMPDIR/second PORT=$(free_port)
    GRAPH_BASE_URL=$platform run_demo
    [[ ! -e $RUN_DIR/sandbox.pid ]]
    use_demo
    assert_equal "$GRAPH_BASE_URL" "$platform"
    assert_equal "$SANDBOX_URL" ''
}

# bats test_tags=long
@test "a platform that answers another wa_id is accepted, and the stored message is shown" {
    run_demo
    local platform
    platform=http://127.0.0.1:$(<"$RUN_DIR/sandbox.port")
    curl -sf -o /dev/null "$platform/_sandbox/numbers" -d '{"number":"15551234567","waId":"4915551234567"}'
    RUN_DIR=$BATS_TEST_TMPDIR/second PORT=$(free_port)
    GRAPH_BASE_URL=$platform run_demo
    [[ $output == *'contact list'*4915551234567*'message list'*wamid.*'To go on:'* ]] || fail "$output"
    use_demo
    request GET /v2/health
    assert_success
    # the contact among others, the first of which has the number itself as phone
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$PHONE_NUMBER_ID\",\"to\":\"15557654321\",\"text\":\"other\"}"
    assert_success
    GRAPH_BASE_URL=$platform run_demo
    [[ $output == *'message list'*wamid.*wamid.*'To go on:'* ]] || fail "$output"
}

# bats test_tags=long
@test "the sandbox sends the statuses of each message up to read" {
    run_demo
    [[ $output == *'message list'*' read '*wamid.* ]] || fail "$output"
    use_demo
    local contact
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$SECOND_PHONE_NUMBER_ID\",\"to\":\"15557654321\",\"text\":\"second\"}"
    assert_success
    contact=$("$SWITCHBOARD" contact list --account "$SECOND_ACCOUNT_ID" --json | jq -r '.[0].id')
    eventually is_read "$contact"
    # also after a reset of the sandbox
    curl -sf -o /dev/null -X POST "$SANDBOX_URL/_sandbox/reset"
    assert_equal "$(curl -s "$SANDBOX_URL/_sandbox/settings" | jq .automaticStatuses)" true
}

is_read() {
    "$SWITCHBOARD" message list --contact "$1" --json | jq -e '.[0].status == "read"' >/dev/null
}

# bats test_tags=long
@test "the tests run in the locale C.UTF-8, whatever that of the caller" {
    printf '@test "locale" {\n    [[ $LC_ALL == C.UTF-8 ]]\n}\n' >"$BATS_TEST_TMPDIR/locale.bats"
    LC_ALL=tr_TR.UTF-8 TMPDIR=$BATS_TEST_TMPDIR run "$root/tests/run" "$BATS_TEST_TMPDIR/locale.bats"
    assert_equal "$status" 0
}

# Runs a suite of one file, whose test fails as often as it may: runs_of FAILURES [LINE]. Sets `runs`
# to how often it ran.
runs_of() {
    local file=$BATS_TEST_TMPDIR/unsteady.bats
    printf '%s\n@test "fails at first" {\n    echo run >>%q\n    (($(wc -l <%q) > %d))\n}\n' "${2-}" \
        "$BATS_TEST_TMPDIR/runs" "$BATS_TEST_TMPDIR/runs" "$1" >"$file"
    rm -f "$BATS_TEST_TMPDIR/runs"
    FILTER='' TRANSPORTS=first TMPDIR=$BATS_TEST_TMPDIR run "$root/tests/run" "$file"
    runs=$(wc -l <"$BATS_TEST_TMPDIR/runs")
}

@test "a test file that is named and does not exist ends the run before its first test" {
    TRANSPORTS=first TMPDIR=$BATS_TEST_TMPDIR run "$root/tests/run" "$root/tests/version.bats" tests/none.bats
    assert_equal "$status" 1
    assert_equal "$output" 'run: there is no test file tests/none.bats'
}

# bats test_tags=long
@test "a file that may run twice does, which the end of the output says, and no other file" {
    local mark='# may run twice: it drives a browser'
    runs_of 1 "$mark"
    assert_equal "$status $runs" '0 2'
    [[ $output == *'1 tests failed, and passed when their file ran once more:'*'not ok 1 fails at first'* ]]
    [[ $output == *'1 passed, 0 failed' ]]
    runs_of 2 "$mark"
    assert_equal "$status $runs" '1 2'
    [[ $output == *'0 passed, 1 failed' && $output != *'once more'* ]]
    runs_of 0 "$mark"
    assert_equal "$status $runs" '0 1'
    runs_of 1
    assert_equal "$status $runs" '1 1'
}

# bats test_tags=long
@test "SECOND_RUNS other files of which one test fails run twice, and no more of them" {
    # a second run of one file, of two files, of a file in which two tests fail
    SECOND_RUNS=1 runs_of 1
    assert_equal "$status $runs" '0 2'
    [[ $output == *'1 tests failed, and passed when their file ran once more:'*'not ok 1 fails at first'* ]]
    SECOND_RUNS=1 runs_of 2
    assert_equal "$status $runs" '1 2'
    local number
    for number in 1 2; do
        printf '@test "fails" {\n    echo run >>%q\n    false\n}\n' "$BATS_TEST_TMPDIR/fails" \
            >"$BATS_TEST_TMPDIR/$number.bats"
    done
    FILTER='' TRANSPORTS=first TMPDIR=$BATS_TEST_TMPDIR SECOND_RUNS=1 run "$root/tests/run" \
        "$BATS_TEST_TMPDIR/1.bats" "$BATS_TEST_TMPDIR/2.bats"
    assert_equal "$status $(wc -l <"$BATS_TEST_TMPDIR/fails")" '1 3'
    printf '@test "fails too" {\n    false\n}\n' >>"$BATS_TEST_TMPDIR/1.bats"
    rm "$BATS_TEST_TMPDIR/fails"
    FILTER='' TRANSPORTS=first TMPDIR=$BATS_TEST_TMPDIR SECOND_RUNS=1 run "$root/tests/run" \
        "$BATS_TEST_TMPDIR/1.bats"
    assert_equal "$status $(wc -l <"$BATS_TEST_TMPDIR/fails")" '1 1'
}

# Creates a checkout below a directory that root alone may enter, without user namespaces.
make_barred_tree() {
    ((EUID == 0)) || skip 'the service of an ordinary user runs as that user'
    barred=$(mktemp -d "${TMPDIR:-/tmp}/barred-XXXXXX")
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/unshare"
    chmod +x "$BATS_TEST_TMPDIR/bin/unshare"
    make_tree "$barred/src"
    cp "$root/Makefile" "$barred/src/"
    install -D "$root/tests/rules.mk" "$barred/src/tests/rules.mk"
    # the build, which would take a minute
    printf '#!/bin/sh\necho setup was reached\nexit 9\n' >"$barred/src/tools/setup"
    chmod +x "$barred/src/tools/setup"
    chmod 700 "$barred"
}

@test "a checkout that the service's user cannot enter is reported before anything is installed or built" {
    make_barred_tree
    cp -n "$root"/cgi-bin/*.c "$barred/src/cgi-bin/" # which the Makefile checks
    # without the variables of a make that runs the tests, such as DATABASE
    run env -u MAKEFLAGS -u TESTS -u FILTER -u DATABASE -u POSTGRESQL \
        PATH="$BATS_TEST_TMPDIR/bin:$PATH" \
        RUN_DIR="$BATS_TEST_TMPDIR/r" make -s -C "$barred/src" run
    rm -rf "$barred"
    ((status != 0))
    [[ ${lines[0]} == "run: the service runs as www-data here, which may not enter $barred"*chmod* ]] || fail "$output"
    [[ $output != *'setup was reached'* ]] || fail "$output"
    assert_idle "$BATS_TEST_TMPDIR/r"
}

@test "a RUN_DIR that the service's user cannot enter is reported in one line, one that it can enter is accepted" {
    local open
    make_barred_tree
    open=$(mktemp -d "${TMPDIR:-/tmp}/open-XXXXXX")
    chmod 755 "$open"
    make_tree "$open/src"
    RUN_DIR=$barred/r run env PATH="$BATS_TEST_TMPDIR/bin:$PATH" "$open/src/tools/run" --check
    assert_equal "$status" 1
    assert_equal "${#lines[@]}" 1
    [[ $output == *"may not enter $barred: choose another RUN_DIR"* ]] || fail "$output"
    RUN_DIR=$open/r run env PATH="$BATS_TEST_TMPDIR/bin:$PATH" "$open/src/tools/run" --check
    assert_equal "$status" 0
    assert_equal "$output" ''
    rm -rf "$barred" "$open"
}

# bats test_tags=route,long
@test "a port in use is reported in one line, and nothing stays running" {
    run_demo
    RUN_DIR=$BATS_TEST_TMPDIR/second
    if demo; then
        fail "run succeeded with a port in use"
    fi
    [[ $output == *"port $PORT of 127.0.0.1 is in use"* ]] || fail "$output"
    assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/output")" 1
    assert_idle "$RUN_DIR"
}

# bats test_tags=long
@test "a platform that does not answer is reported with the reason" {
    if GRAPH_BASE_URL=http://127.0.0.1:1 demo; then
        fail "run succeeded without a platform"
    fi
    [[ $(tail -n 1 "$BATS_TEST_TMPDIR/output") == *'the message was not accepted: status 502'* ]] || fail "$output"
    assert_idle "$RUN_DIR"
}

@test "wrong settings are reported in one line" {
    local setting
    for setting in PORT=0 PORT=70000 PORT=web DEMO=no TRANSPORT=carrier-pigeon GRAPH_BASE_URL=example.org \
        "RUN_DIR=$BATS_TEST_TMPDIR/a\"b" RUN_DIR=/proc/nowhere; do
        run env "$setting" "$TREE/tools/run" --check
        assert_equal "$status" 1
        assert_equal "${#lines[@]}" 1
        run env "$setting" "$TREE/tools/run"
        assert_equal "$status" 1
        assert_equal "${#lines[@]}" 1
    done
}

# bats test_tags=route,long
@test "a long path, and one with a space, are accepted" {
    RUN_DIR="$BATS_TEST_TMPDIR/with space/$(printf 'deep%.0s' {1..25})"
    also=$RUN_DIR
    mkdir -p "$RUN_DIR"
    run_demo
    use_demo
    request GET /v2/health
    assert_success
    # the command that it prints ends it, without the variables of this shell
    local stop
    stop=$(sed -n 's/^Logs are in .*; \(make stop RUN_DIR=.*\) ends the demo\.$/\1/p' <<<"$output")
    (unset RUN_DIR; cd "$root" && eval "$stop")
    assert_idle "$RUN_DIR"
    [[ ! -e $RUN_DIR/apache/sockets ]]
    mkdir "$TREE/run"
    # shellcheck source=/dev/null
    assert_equal "$(. "$TREE/tools/run"; RUN_DIR=$TREE/run stop_command)" 'make stop'
}

# bats test_tags=long
@test "it runs as an ordinary user" {
    local home as_user=()
    home=$(mktemp -d "${TMPDIR:-/tmp}/user-XXXXXX")
    make_tree "$home/tree"
    if ((EUID == 0)); then
        chown -R 65534:65534 "$home"
        as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    fi
    RUN_DIR=$home/run
    "${as_user[@]}" "$home/tree/tools/run" >"$BATS_TEST_TMPDIR/output" 2>&1 3>&- ||
        fail "$(<"$BATS_TEST_TMPDIR/output")"
    use_demo
    api GET /v2/me
    assert_success
    "${as_user[@]}" "$home/tree/tools/stop"
    assert_idle "$RUN_DIR"
    rm -rf "$home"
}

# bats test_tags=route,long
@test "no secret is in the arguments of a process" {
    run_demo
    use_demo
    local file secret
    for file in "$RUN_DIR"/*.pid "$RUN_DIR"/apache/*.pid; do
        for secret in "$API_TOKEN" "$META_APP_SECRET" "$META_VERIFY_TOKEN" sandbox-token; do
            if grep -qF "$secret" "/proc/$(<"$file")/cmdline"; then
                fail "a secret is in the arguments of $(basename "$file")"
            fi
        done
    done
}

# bats test_tags=long
@test "the sandbox has the webhook URL, also after its reset" {
    run_demo
    use_demo
    curl -sf -o /dev/null -X POST "$SANDBOX_URL/_sandbox/reset"
    assert_equal "$(curl -s "$SANDBOX_URL/_sandbox/settings" | jq -r '.webhookUrl, .appSecret, .verifyToken')" \
        "$BASE_URL/platform/webhook"$'\n'"$META_APP_SECRET"$'\n'"$META_VERIFY_TOKEN"
    request GET "/platform/webhook?hub.mode=subscribe&hub.challenge=177&hub.verify_token=$META_VERIFY_TOKEN"
    assert_status 200
    assert_body_is 177
}
