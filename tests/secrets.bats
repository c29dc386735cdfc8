#!/usr/bin/env bats
# Secrets: the search of tests/leaks at the end of every run of the suite, and what other processes can see
# of a process that holds secrets.
# transports: cgi fcgi
load helpers/all
load helpers/courier

# Creates a directory as after a run, with a secret of each kind where it is allowed.
make_harmless() { # DIRECTORY
    mkdir -p "$1"
    printf 'app_secret = the-app-secret\nverify_token = the-verify-token\n' >"$1/switchboard.conf"
    printf '1 %064d\n' 12345 >"$1/secret.key"
    printf 'webhook code\tthe-webhook-code\n' >"$1/secrets"
    printf 'Bearer sb_%064d\n' 1 >"$1/sent"
    printf '{"level":"info","message":"sb_0 platform-token the-app-secre"}\n' >"$1/switchboard.log"
}

# tests/leaks finds TEXT in a log and reports its kind: assert_leak KIND TEXT
assert_leak() {
    local dir=$BATS_TEST_TMPDIR/leak-$RANDOM
    make_harmless "$dir"
    printf '{"message":"%s"}\n' "$2" >"$dir/switchboard.log"
    run "$root/tests/leaks" "$dir"
    assert_equal "$status" 1
    assert_equal "$output" "$1: switchboard.log"
    rm -r "$dir" # tests/leaks also searches the run that this test is part of
}

# bats test_tags=long
@test "all files that the suite has written are searched for every secret of the run" {
    make_harmless "$BATS_TEST_TMPDIR/harmless"
    run "$root/tests/leaks" "$BATS_TEST_TMPDIR/harmless"
    assert_equal "$status$output" 0
    assert_leak 'app secret' "x the-app-secret x"
    assert_leak 'verify token' "?hub.verify_token=the-verify-token&x=1"
    assert_leak key "$(printf %064d 12345)"
    assert_leak 'webhook code' 'the-webhook-code'
    assert_leak 'API token' "Bearer sb_$(printf %064d 7)"
    assert_leak 'platform token' 'https://x/?access_token=platform-token-12'
}

@test "a core dump is a leak, whatever it contains" {
    make_harmless "$BATS_TEST_TMPDIR/core"
    head -c 4096 /bin/true >"$BATS_TEST_TMPDIR/core/core.17"
    run "$root/tests/leaks" "$BATS_TEST_TMPDIR/core"
    assert_equal "$status$output" "1core: core.17"
    rm -r "$BATS_TEST_TMPDIR/core"
}

# bats test_tags=long
@test "a leak fails the suite even if all tests pass" {
    local leaky=$BATS_TEST_TMPDIR/leaky.bats
    printf '#!/usr/bin/env bats\n@test "leaky" {\n%s\n}\n' \
        "printf 'sb_%064d' 1 >\"\$BATS_TEST_TMPDIR/error.log\"" >"$leaky"
    run env -u BATS_RUN_TMPDIR -u KEEP TRANSPORTS=direct JOBS=1 UNIT='' "$root/tests/run" "$leaky"
    assert_equal "$status" 1
    grep -q '^leaked API token: .*/error.log ' <<<"$output"
    [[ $output == *$'\n1 passed, 1 failed' ]] || fail "$output"
}

# --- processes ---

pids=() # that start_waiting has stopped

# The processes of messages that serve this file's requests.
processes_of_messages() {
    local pid
    if [[ $TRANSPORT == fcgi ]]; then
        children "$(pool_of messages)" | tr ' ' '\n'
        return
    fi
    stat -c %N /proc/[0-9]*/exe 2>/dev/null | sed -n "s|^'/proc/\([0-9]*\)/exe' -> '.*/cgi-bin/messages'$|\1|p" |
        while read -r pid; do
            ! grep -qszxF "SWITCHBOARD_CONFIG=$SWITCHBOARD_CONFIG" "/proc/$pid/environ" || printf '%s\n' "$pid"
        done
}

# Starts a request that waits for the platform, sets pids to its processes and stops them, so that they do not
# end while they are examined. Repeats the request if it has ended before they were found.
start_waiting() {
    eventually stops_waiting
}

stops_waiting() {
    local request
    forget_sent
    hold_answer
    (
        answer_dir=$BATS_TEST_TMPDIR/waiting
        mkdir -p "$answer_dir"
        api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"x\"}"
    ) 3>&- &
    request=$!
    until something_sent || is_gone "$request"; do
        pause 20
    done
    mapfile -t pids < <(processes_of_messages)
    ((${#pids[@]} == 0)) || kill -STOP "${pids[@]}" 2>/dev/null || true
    are_stopped && return
    continue_stopped
    answer_now
    wait "$request" || true
    return 1
}

are_stopped() {
    local pid
    for pid in "${pids[@]}"; do
        grep -qs '^State:[[:space:]]*T' "/proc/$pid/status" || return 1
    done
    ((${#pids[@]} > 0))
}

continue_stopped() {
    ((${#pids[@]} == 0)) || kill -CONT "${pids[@]}" 2>/dev/null || true
    pids=()
}

teardown() {
    continue_stopped
}

every_secret() {
    printf '%s\n' "$TOKEN" "$PLATFORM_TOKEN" test-app-secret test-verify-token \
        "$(cut -d ' ' -f 2 "$STACK/secret.key")"
}

# The arguments or the environment with which a process was started: given PID arguments|environment
given() {
    local file=cmdline
    [[ $2 == arguments ]] || file=environ
    tr '\0' '\n' <"/proc/$1/$file"
}

# bats test_tags=long
@test "a process has no secret in its arguments or environment, except a CGI the caller's token (RFC 3875 4.1.18)" {
    local pid servers
    start_waiting
    for pid in "${pids[@]}" $(cat "$STACK"/apache/*.pid "$STACK/sandbox.pid"); do
        ! given "$pid" arguments | grep -F -f <(every_secret) || fail "process $pid was started with a secret"
    done
    for pid in "${pids[@]}"; do
        grep -qE '^Max core file size +0 +0 ' "/proc/$pid/limits" || fail "process $pid may dump core"
    done
    ((EUID == 0)) || return 0 # only root may read their environment
    servers=$(cat "$STACK"/apache/*.pid)
    for pid in "${pids[@]}" $servers; do
        ! given "$pid" environment | grep -v '^HTTP_AUTHORIZATION=' | grep -F -f <(every_secret) ||
            fail "process $pid has a secret in its environment"
        [[ $TRANSPORT == cgi ]] || ! given "$pid" environment | grep -F "$TOKEN" || fail "process $pid has the token"
    done
}

@test "the courier cannot dump core, and has no secret in its arguments or environment" {
    start_courier
    local pid
    pid=$(cat "$STACK/courier.pid")
    ! given "$pid" arguments | grep -F -f <(every_secret) || fail 'the courier was started with a secret'
    grep -qE '^Max core file size +0 +0 ' "/proc/$pid/limits"
    stop_courier
}

@test "another process of the same user cannot inspect one that holds secrets" {
    local home other as_user=() holder
    home=$(mktemp -d "$TMPDIR/user-XXXXXX")
    cp "$OUT/cgi-bin/health" "$(command -v sleep)" "$home"
    printf 'database = %s\n' "$home/none.db" >"$home/switchboard.conf"
    mkfifo "$home/body"
    chmod -R a+rX "$home"
    ((EUID != 0)) || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    env -i "${as_user[@]}" "$home/sleep" 60 3>&- &
    other=$!
    exec {holder}<>"$home/body"
    env -i GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD=POST SCRIPT_NAME=/v2/health CONTENT_LENGTH=9 \
        SWITCHBOARD_CONFIG="$home/switchboard.conf" "${as_user[@]}" "$home/health" <"$home/body" \
        >"$home/answer" 3>&- {holder}>&- &
    eventually grep -qE '^Max core file size +0 +0 ' "/proc/$!/limits"
    # before it is sleep, the process is setpriv, which may not be inspected either
    eventually "${as_user[@]}" cat "/proc/$other/environ"
    run "${as_user[@]}" cat "/proc/$!/environ"
    [[ $output == *"Permission denied" ]] || fail "the other process read: $output"
    printf '{"a":"b"}' >&"$holder"
    exec {holder}>&-
    wait $!
    kill "$other"
    rm -rf "$home"
}
