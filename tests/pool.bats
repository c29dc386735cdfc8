#!/usr/bin/env bats
# The pools of FastCGI processes: start, end and replacement of processes while requests are answered.
# transports: fcgi
# starts first
load helpers/all
load helpers/background

# Starts a pool for one test, beside those of the stack: start_pool PROCESSES [option...]
start_pool() {
    local processes=$1
    shift
    "$OUT/tools/pool" --socket "$BATS_TEST_TMPDIR/s" --processes "$processes" \
        --pid-file "$BATS_TEST_TMPDIR/pid" "$@" >"$BATS_TEST_TMPDIR/pool.log" 2>&1 3>&- &
    pool=$!
    eventually test -s "$BATS_TEST_TMPDIR/pid"
}

setup() {
    start_apache
    forget_sent
}

# The pool of start_pool has logged only JSON lines, and one of this level with this message:
# assert_logged LEVEL MESSAGE
assert_logged() {
    gojq -se --arg level "$1" --arg message "$2" 'any(.level == $level and .message == $message)' \
        "$BATS_TEST_TMPDIR/pool.log" >/dev/null || fail "$(cat "$BATS_TEST_TMPDIR/pool.log")"
}

# Restarts the pools of the stack for the next test.
teardown() {
    [[ -z ${pool-} ]] || kill "$pool" 2>/dev/null || true
    "$root/tools/private-apache" stop --dir "$STACK/apache"
}

# Requests the version repeatedly, so many requests at a time: ask_for_version COUNT
ask_for_version() {
    local number
    for ((number = 0; number < $1; number++)); do
        in_background "version$number" print_status /v2/version
    done
}

# There were enough of these requests, and all got 200.
assert_all_served() {
    eventually each_ran_more_than 8
    end_background 200
}

@test "a pool keeps its number of processes when they are killed" {
    start_pool 3 -- "$OUT/cgi-bin/health"
    eventually has_children "$pool" 3
    local before
    before=$(children "$pool")
    kill -9 "${before%% *}"
    eventually has_other_children "$pool" 3 "${before%% *}" # the pool may notice the end late
    kill -9 ${before#* }
    eventually has_other_children "$pool" 3 "$before"
}

# bats test_tags=long
@test "the socket is accessible to its owner and group alone" {
    start_pool 1 -- "$OUT/cgi-bin/health"
    assert_equal "$(stat -c %a "$BATS_TEST_TMPDIR/s")" 660
}

@test "SIGTERM ends the pool and its processes, and removes socket and pid file" {
    start_pool 3 -- "$OUT/cgi-bin/health"
    eventually has_children "$pool" 3
    local child processes
    processes=$(children "$pool")
    kill -TERM "$pool"
    wait "$pool"
    for child in $processes; do
        is_gone "$child" || fail "process $child still runs"
    done
    [[ ! -e $BATS_TEST_TMPDIR/s && ! -e $BATS_TEST_TMPDIR/pid ]]
    pool=''
}

# bats test_tags=long
@test "the processes of a killed pool end, and its socket does not stop the next pool from starting" {
    start_pool 2 -- "$OUT/cgi-bin/health"
    eventually has_children "$pool" 2
    local child processes
    processes=$(children "$pool")
    kill -9 "$pool"
    for child in $processes; do
        eventually is_gone "$child"
    done
    rm "$BATS_TEST_TMPDIR/pid"
    start_pool 2 -- "$OUT/cgi-bin/health"
    eventually has_children "$pool" 2
}

# bats test_tags=long
@test "two pools cannot share a socket" {
    start_pool 1 -- "$OUT/cgi-bin/health"
    run "$OUT/tools/pool" --socket "$BATS_TEST_TMPDIR/s" --processes 1 -- "$OUT/cgi-bin/health"
    assert_equal "$status" 1
    [[ $output == *'Address already in use'* ]]
    kill -0 "$pool"
}

# bats test_tags=long
@test "a program that ends at once is restarted with growing delays" {
    local starts=$BATS_TEST_TMPDIR/starts number at
    printf '#!/bin/sh\ndate +%%s%%3N >>%s\nexit 3\n' "$starts" >"$BATS_TEST_TMPDIR/dies"
    chmod +x "$BATS_TEST_TMPDIR/dies"
    start_pool 1 -- "$BATS_TEST_TMPDIR/dies"
    has_started() { # TIMES
        (($(wc -l <"$starts") >= $1))
    }
    eventually test -e "$starts"
    eventually has_started 5
    mapfile -t at <"$starts"
    for number in 1 2 3 4; do
        ((at[number] - at[number - 1] >= 50 << number)) || fail "started at: ${at[*]}"
    done
    assert_logged warn "$BATS_TEST_TMPDIR/dies: process ended with status 3"
}

# bats test_tags=long
@test "a program that cannot be run is logged with the reason" {
    printf 'x' >"$BATS_TEST_TMPDIR/unfit"
    start_pool 1 -- "$BATS_TEST_TMPDIR/unfit"
    eventually grep -q 'ended with' "$BATS_TEST_TMPDIR/pool.log"
    assert_logged error "cannot run $BATS_TEST_TMPDIR/unfit: Permission denied"
    assert_logged warn "$BATS_TEST_TMPDIR/unfit: process ended with status 127"
}

@test "wrong options are reported with exit status 2" {
    local options
    for options in '' '--socket x' '--socket x --processes 0 -- /bin/true' '--processes 2 -- /bin/true' \
        '--socket x --processes many -- /bin/true' '--socket x --processes 2'; do
        # shellcheck disable=SC2086  # several arguments
        run "$OUT/tools/pool" $options
        assert_equal "$status" 2
        [[ -n $output ]]
    done
}

@test "--help describes every option, and without arguments the usage is printed" {
    local option
    run "$OUT/tools/pool" --help
    assert_equal "$status" 0
    for option in socket processes max-processes calm max-requests grace pid-file watch help version; do
        grep -qE -- "^  --$option( |\$)" <<<"$output" || fail "--$option is not described: $output"
    done
    run "$OUT/tools/pool"
    assert_equal "$status" 2
    [[ $output == *'usage: pool --socket PATH --processes N '* ]] || fail "$output"
    run "$OUT/tools/pool" --version
    assert_equal "$status $output" "0 $("$OUT/tools/switchboard" --version | head -n 1)"
}

# bats test_tags=long
@test "SIGTERM to every process under load fails no request" {
    ask_for_version 3
    local round child
    for round in 1 2 3 4 5; do
        sleep 0.2
        for child in $(children "$(pool_of version)"); do
            kill -TERM "$child" || true
        done
    done
    assert_all_served
}

@test "SIGHUP replaces every process and fails no request" {
    local before pool_pid
    pool_pid=$(pool_of version)
    eventually has_children "$pool_pid" 2
    before=$(children "$pool_pid")
    ask_for_version 2
    sleep 0.2
    kill -HUP "$pool_pid"
    eventually has_other_children "$pool_pid" 2 "$before"
    assert_all_served
}

# bats test_tags=long
@test "a new file of the program replaces every process and fails no request" {
    local home=$BATS_TEST_TMPDIR/home before pool_pid
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    mkdir -p "$home/tools" "$home/cgi-bin"
    cp "$OUT/tools/pool" "$home/tools/"
    cp "$OUT/cgi-bin/health" "$OUT/cgi-bin/version" "$home/cgi-bin/"
    OUT=$home start_apache
    pool_pid=$(pool_of version)
    eventually has_children "$pool_pid" 2
    before=$(children "$pool_pid")
    ask_for_version 2
    cp "$home/cgi-bin/version" "$home/cgi-bin/new"
    mv "$home/cgi-bin/new" "$home/cgi-bin/version"
    eventually has_other_children "$pool_pid" 2 "$before"
    assert_all_served
}

# bats test_tags=long
@test "processes that end after every 5 requests fail no request" {
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    start_apache --recycle 5
    ask_for_version 2
    sleep 2
    assert_all_served
    if grep "ended with" "$STACK/apache/pool.log"; then
        fail "a process that reached its limit of requests counts as failed"
    fi
}

# bats test_tags=long
@test "a pool whose processes are all busy grows to its limit while connections wait" {
    start_pool 1 --max-processes 4 -- /bin/sleep 600
    eventually has_children "$pool" 1
    sleep 0.5
    has_children "$pool" 1
    local client
    curl -s --max-time 60 --unix-socket "$BATS_TEST_TMPDIR/s" http://pool/ >/dev/null 3>&- &
    client=$!
    eventually has_children "$pool" 4
    sleep 0.5
    has_children "$pool" 4
    kill "$client"
}

# bats test_tags=long
@test "a pool that grew shrinks to its size when no connection waits" {
    start_pool 2 --max-processes 4 --calm 10 -- "$OUT/cgi-bin/health" # long enough to see 4
    eventually has_children "$pool" 2
    local first
    first=$(children "$pool")
    # shellcheck disable=SC2086  # two process ids
    kill -STOP $first
    curl -s --max-time 60 --unix-socket "$BATS_TEST_TMPDIR/s" http://pool/ >/dev/null || true
    eventually has_children "$pool" 4
    # shellcheck disable=SC2086
    kill -CONT $first
    eventually has_children "$pool" 2
    sleep 1.5
    has_children "$pool" 2
    assert_equal "$(children "$pool")" "$first"
    ! grep 'ended with' "$BATS_TEST_TMPDIR/pool.log"
}

# bats test_tags=long
@test "without its pool a route is 503 with Retry-After, and requests succeed when the pool is back" {
    local pid
    pid=$(pool_of version)
    kill "$pid"
    eventually is_gone "$pid"
    request GET /v2/version
    assert_error 503 INTERNAL_ERROR Retry-After
    assert_header Retry-After 1
    request GET /v2/health
    assert_success
    "$OUT/tools/pool" --socket "$(cat "$STACK/apache/sockets")/version.sock" --processes 1 \
        --pid-file "$STACK/apache/version.pid" -- "$OUT/cgi-bin/version" 3>&- &
    eventually test -S "$(cat "$STACK/apache/sockets")/version.sock"
    request GET /v2/version
    assert_success
}

# bats test_tags=long
@test "a process killed during a request causes a 5xx in the envelope, and no other request fails" {
    fault '{"match":{"path":"/messages"},"times":0,"kind":"hang"}'
    (
        answer_dir=$BATS_TEST_TMPDIR/slow
        mkdir "$answer_dir"
        api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"a\"}"
        [[ $status == 50[023] ]] || fail_answer 'expected 500, 502 or 503'
        assert_error "$status" INTERNAL_ERROR 'is not known'
        refute_header Retry-After
    ) &
    local asking=$! child
    asked() {
        (($(sent_count path=/messages) == 1))
    }
    eventually asked
    for child in $(children "$(pool_of messages)"); do
        kill -9 "$child"
    done
    wait "$asking"
    request GET /v2/health
    assert_success
}

# The N-th request of the user of PREFIX, as a configuration of curl. In turn: GET /v2/me, a send, a refused
# send, an unknown token.
ask_in_turn() { # PREFIX N
    local token=${1}TOKEN line=${1}LINE email=${1}EMAIL
    local file=$turns/${1:-FIRST_}$2 json
    case $(($2 % 4)) in
    0) printf 'url = "%s/v2/me"\nheader = "X-API-Token: %s"\n' "$BASE" "${!token}" ;;
    3) printf 'url = "%s/v2/me"\nheader = "X-API-Token: sb_of_nobody"\n' "$BASE" ;;
    *)
        printf 'url = "%s/v2/messages/send/text"\nheader = "Authorization: Bearer %s"\n' "$BASE" "${!token}"
        json="{\"phoneNumberId\":\"${!line}\",\"to\":\"1555100$((1000 + $2))\","
        (($2 % 4 == 1)) && json+="\"text\":\"of ${!email}\"}" || json+="\"text\":7,\"name\":\"${!email}\"}"
        printf 'header = "Content-Type: application/json"\ndata = "%s"\n' "${json//\"/\\\"}"
        ;;
    esac
    printf 'output = "%s"\nsilent\nshow-error\nmax-time = 600\n' "$file"
}

# bats test_tags=long
@test "requests with two tokens in the same processes do not get each other's data" {
    local turns=$BATS_TEST_TMPDIR/turns prefix n count=200 email other token line me
    make_user OTHER_
    mkdir "$turns"
    for prefix in '' OTHER_; do
        token=${prefix}TOKEN
        request GET /v2/me -H "X-API-Token: ${!token}"
        cp "$body" "$BATS_TEST_TMPDIR/${prefix:-FIRST_}me"
    done
    for ((n = 0; n < count; n++)); do
        for prefix in '' OTHER_; do
            ask_in_turn "$prefix" "$n"
            printf 'next\n'
        done
    done | sed '$d' >"$BATS_TEST_TMPDIR/curl"
    curl --no-progress-meter --parallel --parallel-max 8 --config "$BATS_TEST_TMPDIR/curl"
    for prefix in '' OTHER_; do
        email=${prefix}EMAIL line=${prefix}LINE token=${prefix}PLATFORM_TOKEN me=${prefix:-FIRST_}me
        other=$([[ -n $prefix ]] && printf %s "$EMAIL" || printf %s "$OTHER_EMAIL")
        if grep -lF -e "$other" "$turns/${prefix:-FIRST_}"*; then
            fail "${!email} got data of $other"
        fi
        for ((n = 0; n < count; n++)); do
            case $((n % 4)) in
            0) cmp "$BATS_TEST_TMPDIR/$me" "$turns/${prefix:-FIRST_}$n" ;;
            1) gojq -e ".success and .data.contacts[0].input == \"1555100$((1000 + n))\"" "$turns/${prefix:-FIRST_}$n" ;;
            2) gojq -e '.error == "VALIDATION_ERROR" and [.details[].path] == ["text"]' "$turns/${prefix:-FIRST_}$n" ;;
            3) gojq -e '.error == "UNAUTHORIZED"' "$turns/${prefix:-FIRST_}$n" ;;
            esac >/dev/null || fail "${!email}, request $n: $(cat "$turns/${prefix:-FIRST_}$n")"
        done
        # on the user's own line, with the account's own token
        assert_equal "$(sandbox GET requests | jq --arg line "${!line}" --arg token "Bearer ${!token}" \
            --arg text "of ${!email}" 'map(select((.body | fromjson).text.body == $text)) |
            [length, map(select((.path | contains("/\($line)/")) and .headers.authorization == $token)) | length] |
            unique')" "$(jq -n "[$((count / 4))]")"
    done
}

# bats test_tags=long
@test "bodies of a million bytes and bodies without a length are limited as under CGI" {
    head -c 1500000 /dev/zero | tr '\0' ' ' >"$BATS_TEST_TMPDIR/wide"
    printf '{"phoneNumberId":"%s","to":"15551230000","text":"wide"}' "$LINE" >>"$BATS_TEST_TMPDIR/wide"
    api POST /v2/messages/send/text -d "@$BATS_TEST_TMPDIR/wide"
    assert_success
    api POST /v2/messages/send/text -d "@$BATS_TEST_TMPDIR/wide" -H 'Transfer-Encoding: chunked'
    assert_success
    assert_equal "$(sent_count path=/messages)" 2
}

# A condition: the pool has a parent, which is not this one. eventually has_other_parent PID
has_other_parent() {
    local parent
    parent=$(pgrep -P "$pool" -x parent) && [[ $parent != "$1" ]]
}

# bats test_tags=long
@test "with --fork one parent forks all processes, and a killed parent is replaced" {
    start_pool 3 --fork -- "$OUT/cgi-bin/health"
    eventually has_children "$pool" 3
    local first before parent process
    first=$(children "$pool")
    parent=$(pgrep -P "$pool" -x parent)
    kill -9 "$parent"
    kill -9 ${first%% *}
    eventually has_other_parent "$parent"
    eventually has_children "$pool" 3
    before=$(pgrep -P "$pool" -x parent)
    # of the sockets a process has the listener and the one of the connections, not that of the
    # parent's orders
    process=$(children "$pool")
    process=${process%% *}
    assert_equal "$(find "/proc/$process/fd" -lname 'socket:*' -printf 'x\n' | wc -l)" 2
    kill -HUP "$pool"
    eventually has_other_children "$pool" 3 "$first"
    [[ $(pgrep -P "$pool" -x parent) != "$before" ]] || fail 'SIGHUP did not replace the parent'
}

@test "with --fork the processes end with their pool, and with the pool that is killed" {
    start_pool 2 --fork -- "$OUT/cgi-bin/health"
    eventually has_children "$pool" 2
    local process all
    all="$(children "$pool") $(pgrep -P "$pool" -x parent)"
    kill -9 "$pool"
    for process in $all; do
        eventually is_gone "$process"
    done
}

@test "with --fork a program that cannot be run is logged with the reason" {
    printf 'no program\n' >"$BATS_TEST_TMPDIR/program"
    chmod 755 "$BATS_TEST_TMPDIR/program"
    start_pool 1 --fork -- "$BATS_TEST_TMPDIR/program"
    eventually grep -q 'cannot run' "$BATS_TEST_TMPDIR/pool.log"
    assert_logged error "cannot run $BATS_TEST_TMPDIR/program: Exec format error"
}

# bats test_tags=long
@test "with --idle no process runs before the first connection, and after a time without one" {
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    : >"$STACK/apache/pool.log"
    start_apache --fcgi-idle 1
    local pool_pid
    pool_pid=$(pool_of version)
    has_children "$pool_pid" 0
    assert_equal "$(print_status /v2/version)" 200
    eventually has_children "$pool_pid" 0
    eventually test -z "$(pgrep -P "$pool_pid" || true)"
    assert_equal "$(print_status /v2/version)" 200
    ask_for_version 3
    assert_all_served
    ! grep 'ended with' "$STACK/apache/pool.log"
}

# bats test_tags=long
@test "a process that must end has more time for its request than Apache waits for the answer" {
    local grace answer unit
    grace=$("$OUT/tools/pool" --help | sed -n '/^  --grace /,/default/s/.*default: \([0-9]*\)$/\1/p')
    answer=$(sed -n 's/^ *ProxyTimeout //p' "$root/apache.conf")
    unit=$(sed -n 's/^TimeoutStopSec=//p' "$root/tools/systemd/switchboard-fcgi@.service")
    ((answer < grace && grace < unit)) || fail "Apache $answer, pool $grace, systemd $unit"
}
