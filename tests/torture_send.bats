#!/usr/bin/env bats
# A send that is killed, terminated or failed at every point, or lacks memory (spec 2.4, 4.3, 7): the platform,
# the database and the answer agree, and nothing goes out twice.
# SQLite only: each point is a system call of SQLite; idempotency_killed.bats has a server's
# transports: direct
# starts first
load helpers/all
load helpers/sweep
load helpers/sending

setup_file() {
    start_stack
    make_user
    capture_sends
    keep_database
}

# --- system calls ---

# Sets `calls` to lines `NAME N` of an undisturbed run, beginning with FIRST: trace_send SEND FIRST
trace_send() {
    next_round "$1"
    send_captured "$1" "${tracing[@]}" -o "$STACK/trace"
    answered 200 || fail "$1: $(cat "$answer" "$stderr")"
    mapfile -t calls < <(calls_of "$STACK/trace" "$2")
}

# Repeats the send with INJECTION (such as signal=KILL) at each CALL: sweep_calls SEND INJECTION CALL...
sweep_calls() {
    local send=$1 what=$2 call name count
    shift 2
    for call; do
        read -r name count <<<"$call"
        injection "$name" "$count" "$what"
        next_round "$send"
        send_captured "$send" "${tracing[@]}" "${inject[@]}"
        points=$((points + 1))
        check_round "$what at $name $count" "$name"
    done
}

# Sets `chosen` to every `step`-th of the `calls`: every_step [FIRST]
every_step() {
    local number
    chosen=()
    for ((number = ${1-0}; number < ${#calls[@]}; number += step)); do
        chosen+=("${calls[number]}")
    done
}

# Sets `chosen` to some of the `calls`: all from the first one for the platform on, and MOST of those before,
# in which the program starts and checks the request.
choose_calls() {
    local first=0 later
    while ((first < ${#calls[@]})) && [[ ${calls[first]} != socket\ * ]]; do
        first=$((first + 1))
    done
    ((first > 80 && ${#calls[@]} - first > 60)) || fail "seen: ${#calls[@]} calls, $first before socket"
    choose_step $((${#calls[@]} - first)) ${#calls[@]} # all of them by default
    every_step "$first"
    later=("${chosen[@]}")
    choose_step "$first" "$1"
    calls=("${calls[@]:0:first}")
    every_step
    chosen+=("${later[@]}")
}

@test "killed at any system call: a complete record or none, and with a key nothing goes out twice" {
    local calls chosen step which first=getpeername
    ! is_thorough || first=brk
    begin_sweep
    trace_send keyed "$first"
    choose_calls 40
    sweep_calls keyed signal=KILL "${chosen[@]}"
    end_sweep "keyed send killed at $which of the calls before the platform's and each from there on" 0 "$killed"
    ((killed > points / 2 && recorded > 0 && unsent > 0)) || fail "$killed killed, $recorded recorded, $unsent unsent"
    begin_sweep
    trace_send plain "$first"
    choose_step ${#calls[@]} 80
    every_step
    sweep_calls plain signal=KILL "${chosen[@]}"
    end_sweep "plain send killed at $which of ${#calls[@]} calls" 0 "$killed"
    ((killed > points / 2 && recorded > 0 && unsent > 0)) || fail "$killed killed, $recorded recorded, $unsent unsent"
}

@test "SIGTERM at any system call: what the platform accepted is stored and answered" {
    local calls chosen step which
    begin_sweep
    trace_send plain socket
    choose_step ${#calls[@]} 70
    every_step
    sweep_calls plain signal=TERM "${chosen[@]}"
    end_sweep "plain send terminated at $which of the calls from the platform's on" "$points" 0
    ((recorded == points)) || fail "$points times terminated, $recorded sends recorded"
}

@test "SIGTERM while a slow platform answers: its answer is stored and passed on" {
    local arrived=$STACK/arrived
    begin_sweep
    next_round plain
    fault '{"kind":"delay","ms":2000}'
    # shellcheck disable=SC2016  # expanded by the inner shell
    send_captured plain bash -c '"$@" <&0 & while [[ ! -e $0 ]]; do sleep 0.01; done; kill -TERM $!; wait $!' \
        "$arrived" 3>&- &
    eventually something_sent
    touch "$arrived"
    wait $!
    answer=$STACK/answer stderr=$STACK/stderr code=0
    check_round 'terminated'
    [[ -n $answered_wamid ]] || fail "no answer: $(cat "$answer")"
}

@test "an error at any system call: an envelope that agrees with the state" {
    local send calls tries name count error number step which
    begin_sweep
    trace_send keyed getpeername # before it the C library starts, which cannot report an error
    list_errors
    ((${#tries[@]} > 300)) || fail "only ${#tries[@]} points"
    choose_step ${#tries[@]} 200
    for ((number = 0; number < ${#tries[@]}; number += step)); do
        read -r name count error <<<"${tries[number]}"
        sweep_calls keyed "error=$error" "$name $count"
    done
    end_sweep "keyed send with $which of ${#tries[@]} errors of system calls" "$points" 0
    ((points < 100 || unsent > 0 && recorded > 0))
}

@test "killed after the platform has it, then repeated 64 times concurrently: it went out once, all are answered" {
    begin_sweep
    next_round keyed
    injection recvfrom 1 signal=KILL
    send_captured keyed "${tracing[@]}" "${inject[@]}"
    assert_equal "$code" 137
    assert_equal "$(sent_count)" 1
    request_many 64 POST /v2/messages/send/text -d "$(our_body)" --as "$TOKEN" -H 'Idempotency-Key: once'
    assert_equal "$(statuses)" '64 409'
    db 'UPDATE idempotency SET created_at = created_at - 61000'
    request_many 64 POST /v2/messages/send/text -d "$(our_body)" --as "$TOKEN" -H 'Idempotency-Key: once'
    assert_equal "$(cat "$many"/*/body | jq -r .details.outcome | sort | uniq -c | tr -s ' ')" ' 64 unknown'
    assert_equal "$(sent_count)" 1
}
