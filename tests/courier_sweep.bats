#!/usr/bin/env bats
# tools/courier, killed or given an error at every system call that it makes while it delivers.
# transports: direct
# needs: starved
# SQLite only: each round starts from a copy of the database file
# starts first
load helpers/all
load helpers/courier
load helpers/sweep

setup_file() {
    unset SWITCHBOARD_CONFINE_KILLS # strace injects an error by an invalid call, which the filter kills
    start_courier_stack A
}

teardown_file() {
    stop_courier_stack
}

setup() {
    forget_events
    set_webhook A "$A_URL"
}

# Sets `calls` to the system calls of a run: lines `NAME N`, the N-th call of that name. Leaves out the
# calls of the dynamic linker, and those that have no effect outside the process.
trace_courier() {
    add_events A 2 >/dev/null
    "${tracing[@]}" -o "$STACK/trace" "$OUT/tools/courier" --once
    mapfile -t calls < <(calls_of "$STACK/trace" signalfd4 | grep -Ev '^(brk|futex|rt_sigaction) ')
    ((${#calls[@]} > 100)) || fail "only ${#calls[@]} calls were seen"
}

# Adds two events and runs a courier with an injected fault: disturb NAME N INJECTION
disturb() {
    add_events A 2 >/dev/null
    injection "$@"
    points=$((points + 1))
    run "${tracing[@]}" "${inject[@]}" "$OUT/tools/courier" --once
}

# Makes the remaining events due and their leases expired, and expects that the next courier delivers
# all: recover WHAT
recover() {
    local not_done
    db 'UPDATE outbox SET lease_until = 0, next_attempt_at = 0 WHERE state = '\''pending'\'
    courier_once
    not_done=$(db "SELECT count(*) FROM outbox WHERE state <> 'done'")
    [[ $not_done == 0 ]] || fail "$1: $not_done events were lost: $(db "SELECT * FROM outbox WHERE state <> 'done'")"
}

# Expects that every event arrived, and prints the summary: finish TEXT POINTS FAULTS KILLS
finish() {
    assert_equal "$(db 'PRAGMA integrity_check')" ok
    assert_all_arrived A
    say_sweep "$1: $(db 'SELECT count(*) FROM outbox') events, $(received_count A) deliveries, none lost" "${@:2}"
}

@test "killed at any system call: every event arrives, always with its id and body" {
    local calls name count points=0 killed=0 number step which
    trace_courier
    choose_step ${#calls[@]} 1000
    for ((number = 0; number < ${#calls[@]}; number += step)); do
        read -r name count <<<"${calls[number]}"
        disturb "$name" "$count" signal=KILL
        # this run had fewer such calls, so the point does not exist
        [[ $status == 137 ]] || [[ $status == 0 ]] || fail "$name $count: status $status: $output"
        killed=$((killed + (status == 137)))
        recover "killed at $name $count"
    done
    finish "courier killed at $which of ${#calls[@]} calls" "$points" 0 "$killed"
    ((killed > points * 2 / 3)) || fail "only $killed kills"
}

@test "an error at any system call: every event arrives, always with its id and body" {
    local calls tries name count error points=0 failed=0 number step which
    trace_courier
    list_errors
    # an error on releasing a lock makes SQLite wait 10 s, so only the thorough run tries it
    is_thorough || mapfile -t tries < <(printf '%s\n' "${tries[@]}" | grep -v ^fcntl)
    choose_step ${#tries[@]} 60
    for ((number = 0; number < ${#tries[@]}; number += step)); do
        read -r name count error <<<"${tries[number]}"
        disturb "$name" "$count" "error=$error"
        [[ $status == [01] || $status == 134 ]] || fail "$error at $name $count: status $status: $output"
        failed=$((failed + (status != 0)))
        recover "$error at $name $count"
    done
    finish "courier met $which of ${#tries[@]} errors and gave up $failed times" "$points" "$points" 0
}

@test "a failed allocation: every event arrives, always with its id and body" {
    local number total points=0 faults=0 step which made failed
    add_events A 2 >/dev/null
    starving 0
    "${starve[@]}" "$starved/tools/courier" --once
    read_tally
    total=$made
    ((total > 1000)) || fail "only $total allocations"
    choose_step "$total" 60
    for ((number = 1; number <= total; number += step)); do
        add_events A 2 >/dev/null
        starving "$number"
        run "${starve[@]}" "$starved/tools/courier" --once
        read_tally
        points=$((points + 1)) faults=$((faults + failed))
        [[ $status == [01] || $status == 134 ]] || fail "allocation $number: status $status: $output"
        recover "allocation $number"
    done
    finish "courier starved at $which of $total allocations" "$points" "$faults" 0
}
