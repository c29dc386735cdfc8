#!/usr/bin/env bats
# Connections that Apache keeps to the pools (apache.conf): any number of them on few processes, and
# no request that fails while processes and whole pools are replaced.
# transports: fcgi
# starts first
# bats file_tags=long
load helpers/all
load helpers/background

# One process of Apache.
setup_file() {
    start_stack --threads 64
    make_user
}

setup() {
    forget_sent
    start_apache --threads 64
}

# Restarts the pools and Apache for the next test.
teardown() {
    "$root/tools/private-apache" stop --dir "$STACK/apache"
}

# Prints the number of connections to the socket of a pool: connections_of POOL
connections_of() {
    awk -v path="$(cat "$STACK/apache/sockets")/$1.sock" '$6 == "03" && $8 == path { n++ }
        END { print n + 0 }' /proc/net/unix
}

send_text() { # NUMBER
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$1\",\"text\":\"a\"}"
}

# Sends a text and prints the status.
print_status_of_send() {
    print_status /v2/messages/send/text -H "Authorization: Bearer $TOKEN" \
        -H 'Content-Type: application/json' \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"a\"}"
}

# Requests `me` and sends texts until end_background, several at a time: keep_busy CLIENTS
keep_busy() {
    local number
    for ((number = 0; number < $1; number++)); do
        in_background "me$number" print_status /v2/me -H "Authorization: Bearer $TOKEN"
        in_background "send$number" print_status_of_send
    done
}

# Sends 24 texts at once, so that Apache has as many connections, more than the pool has processes.
open_many_connections() {
    fault '{"match":{"path":"/messages"},"times":24,"latencyMs":100}'
    request_many 24 POST /v2/messages/send/text --as "$TOKEN" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230002\",\"text\":\"a\"}"
    assert_equal "$(statuses)" '24 200'
}

@test "Apache keeps its connections to every pool, and one request after another uses one" {
    local turn
    for turn in 1 2 3 4 5; do
        api GET /v2/me
        assert_success
        send_text 15551230001
        assert_success
        request GET /v2/health
        assert_success
        api GET /v2/threads
        assert_success
    done
    assert_equal "$(connections_of me) $(connections_of messages)" '1 1'
    assert_equal "$(connections_of health) $(connections_of threads)" '1 1'
}

@test "apache.conf has Apache keep its connections to each pool that it names" {
    # shellcheck disable=SC2016  # the text of apache.conf, not of a variable
    assert_equal "$(grep -A 1 '^    <Proxy "unix:' "$root/apache.conf" | paste - - - |
        sed -n 's#.*RUN}/\([a-z_]*\)\.sock|fcgi://\1/">.*enablereuse=on.*#\1#p')" \
        "$(pooled_in "$root/apache.conf")"
}

@test "the requests of a kept connection need no accept and no descriptor of the pool" {
    local process asked tracers=()
    api GET /v2/me
    for process in $(children "$(pool_of me)"); do
        strace -q -f -e trace=accept4,sendmsg,recvmsg -o "$BATS_TEST_TMPDIR/calls.$process" \
            -p "$process" 3>&- &
        tracers+=($!)
    done
    sleep 0.5
    for asked in 1 2 3 4 5 6; do
        api GET /v2/me
        assert_success
    done
    kill "${tracers[@]}" # strace detaches: LeakSanitizer does not work in a process that is traced
    wait "${tracers[@]}" || true
    # at most: one process gave the connection back, and another one took it
    (($(cat "$BATS_TEST_TMPDIR"/calls.* | grep -cE '(accept4|sendmsg|recvmsg)\(.*= [0-9]') <= 3))
}

@test "a pool of two processes serves more connections than processes, and other clients too" {
    # Apache closes the connections of a process that it ends: then it opens them once more
    local open=0 try
    for ((try = 0; try < 5 && open <= 2; try++)); do
        open_many_connections
        open=$(connections_of messages)
    done
    ((open > 2))
    has_children "$(pool_of messages)" 2
    send_text 15551230003
    assert_success
    # a client that keeps no connection (FCGI_KEEP_CONN is 0)
    local turn
    for turn in 1 2 3 4; do
        "$HELPERS/fcgi" "$(cat "$STACK/apache/sockets")/messages.sock" REQUEST_METHOD=GET \
            SCRIPT_NAME=/v2/messages/send/text >"$BATS_TEST_TMPDIR/answer"
        grep -q '^Status: 404' "$BATS_TEST_TMPDIR/answer"
    done
}

@test "connections without a request hold no process" {
    local turn silent=()
    : >"$BATS_TEST_TMPDIR/empty"
    for turn in {1..40}; do
        "$HELPERS/fcgi" "$(cat "$STACK/apache/sockets")/me.sock" \
            --raw "$BATS_TEST_TMPDIR/empty" >/dev/null 3>&- &
        silent+=($!)
    done
    has_forty() {
        (($(connections_of me) >= 40))
    }
    eventually has_forty
    for turn in 1 2 3 4 5 6 7 8; do # request_many would wait for the silent clients
        api GET /v2/me
        assert_success
    done
    kill "${silent[@]}"
    wait "${silent[@]}" || true
    has_few() {
        (($(connections_of me) <= 4))
    }
    eventually has_few # the pool closes those that their clients have closed
}

@test "of hundreds of requests at once, and after pauses, none fails" {
    local round sends=0
    for round in 1 2; do
        rm -f "$BATS_TEST_TMPDIR/enough"
        background=()
        keep_busy 8
        eventually each_ran_more_than 15
        end_background 200
        sends=$((sends + $(cat "$BATS_TEST_TMPDIR"/background.send* | wc -l)))
        rm "$BATS_TEST_TMPDIR"/background.*
        sleep 1.5
    done
    ((sends > 200))
    assert_equal "$(sent_count path=/messages)" "$sends"
}

@test "a process that is killed while it waits costs no request, and another takes its place" {
    local turn before some
    for turn in 1 2 3; do
        request_many 8 GET /v2/me --as "$TOKEN"
        assert_equal "$(statuses)" '8 200'
        before=$(children "$(pool_of me)")
        read -ra some <<<"$before"
        kill -9 "${some[@]}"
        eventually has_other_children "$(pool_of me)" 2 "$before"
    done
    request_many 8 GET /v2/me --as "$TOKEN"
    assert_equal "$(statuses)" '8 200'
}

@test "a process that is killed during a request costs that request alone" {
    fault '{"match":{"path":"/messages"},"times":1,"kind":"hang"}'
    (
        answer_dir=$BATS_TEST_TMPDIR/slow
        mkdir "$answer_dir"
        send_text 15551230003
        [[ $status == 50[023] ]] || fail_answer 'expected 500, 502 or 503'
        assert_error "$status" INTERNAL_ERROR 'is not known'
        refute_header Retry-After
    ) &
    local asking=$!
    asked() {
        (($(sent_count path=/messages) == 1))
    }
    eventually asked
    local some
    read -ra some < <(children "$(pool_of messages)") || true # no newline
    kill -9 "${some[@]}"
    wait "$asking"
    send_text 15551230004
    assert_success
}

@test "processes that are replaced three times under load cost no request" {
    local turn before
    keep_busy 4
    for turn in 1 2 3; do
        eventually each_ran_more_than $((turn * 5))
        for name in me messages; do
            before=$(children "$(pool_of "$name")")
            kill -HUP "$(pool_of "$name")"
            eventually has_other_children "$(pool_of "$name")" 2 "$before"
        done
    done
    eventually each_ran_more_than 25
    end_background 200
}

@test "a process that ends after its number of requests gives its connection back" {
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    start_apache --threads 64 --recycle 3
    local before turn
    before=$(children "$(pool_of me)")
    for turn in 1 2 3 4 5 6 7 8; do
        api GET /v2/me
        assert_success
    done
    [[ $(children "$(pool_of me)") != "$before" ]]
    assert_equal "$(connections_of me)" 1
}

@test "a process that ends when idle gives its connection back, and a request on it starts one" {
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    start_apache --threads 64 --fcgi-idle 1
    local turn
    for turn in 1 2; do
        api GET /v2/me
        assert_success
        eventually has_children "$(pool_of me)" 0
        assert_equal "$(connections_of me)" 1
    done
    api GET /v2/me
    assert_success
    assert_equal "$(connections_of me)" 1
}

@test "graceful restarts of Apache fail no request" {
    keep_busy 4
    local turn
    for turn in 1 2 3; do
        eventually each_ran_more_than $((turn * 5))
        kill -USR1 "$(cat "$STACK/apache/httpd.pid")"
        sleep 1
    done
    eventually each_ran_more_than 30
    end_background 200
}

# Starts the pool of NAME as systemd does, instead of the one of the stack: manage_pool NAME
manage_pool() {
    local socket pid
    socket=$(cat "$STACK/apache/sockets")/$1.sock
    pid=$(pool_of "$1")
    kill "$pid"
    eventually is_gone "$pid"
    "$HELPERS/service_manager" "$socket" "$BATS_TEST_TMPDIR/$1.kept" "$OUT/tools/pool" \
        --processes 2 --fork --pid-file "$STACK/apache/$1.pid" -- "$OUT/cgi-bin/$1" \
        >>"$STACK/apache/pool.log" 2>&1 3>&- &
    managers+=($!)
    eventually test -s "$STACK/apache/$1.pid"
}

# Restarts the pool of NAME, and waits until the next one runs: restart_pool NAME MANAGER
restart_pool() {
    local pid
    pid=$(pool_of "$1")
    kill -HUP "$2"
    eventually is_gone "$pid"
    eventually test -s "$STACK/apache/$1.pid"
}

@test "pools that systemd restarts three times under load keep connections, no request fails" {
    local managers=() turn kept=0 manager
    manage_pool me
    manage_pool messages
    keep_busy 4
    for turn in 1 2 3; do
        eventually each_ran_more_than $((turn * 5))
        restart_pool me "${managers[0]}"
        restart_pool messages "${managers[1]}"
        kept=$((kept + $(cat "$BATS_TEST_TMPDIR/me.kept")))
        kept=$((kept + $(cat "$BATS_TEST_TMPDIR/messages.kept")))
    done
    eventually each_ran_more_than 25
    end_background 200
    ((kept > 0))
    for manager in "${managers[@]}"; do
        kill "$manager"
        eventually is_gone "$manager"
    done
}

@test "after a restart the manager holds no connection, so that the end of one is noticed" {
    local managers=() process
    manage_pool me
    api GET /v2/me
    assert_success
    restart_pool me "${managers[0]}"
    assert_equal "$(cat "$BATS_TEST_TMPDIR/me.kept")" 1
    api GET /v2/me
    assert_success
    for process in $(children "$(pool_of me)"); do
        kill -9 "$process"
    done
    gone_from() {
        (($(connections_of me) == 0))
    }
    eventually gone_from
    api GET /v2/me
    assert_success
    kill "${managers[@]}"
    eventually is_gone "${managers[0]}"
}

@test "at its limit of open files a pool lets further connections wait, and serves them later" {
    local turn silent=() path=$BATS_TEST_TMPDIR/s waiting
    : >"$BATS_TEST_TMPDIR/empty"
    prlimit --nofile=96:96 "$OUT/tools/pool" --socket "$path" --processes 2 \
        --pid-file "$BATS_TEST_TMPDIR/pid" -- "$OUT/cgi-bin/version" \
        >"$BATS_TEST_TMPDIR/pool.log" 2>&1 3>&- &
    eventually test -s "$BATS_TEST_TMPDIR/pid"
    for turn in {1..60}; do
        "$HELPERS/fcgi" "$path" --raw "$BATS_TEST_TMPDIR/empty" >/dev/null 3>&- &
        silent+=($!)
    done
    # accepted or not
    have_connected() { # COUNT
        (($(awk -v path="$path" '$8 == path && $6 != "01" { n++ } END { print n + 0 }' \
            /proc/net/unix) >= $1))
    }
    eventually have_connected 60
    "$HELPERS/fcgi" "$path" REQUEST_METHOD=GET SCRIPT_NAME=/v2/version \
        >"$BATS_TEST_TMPDIR/answer" 3>&- &
    waiting=$!
    eventually have_connected 61
    [[ ! -s $BATS_TEST_TMPDIR/answer ]]
    kill "${silent[@]}"
    wait "$waiting"
    grep -q '^Status: 200' "$BATS_TEST_TMPDIR/answer"
    kill "$(cat "$BATS_TEST_TMPDIR/pid")"
    eventually test ! -e "$BATS_TEST_TMPDIR/pid"
}
