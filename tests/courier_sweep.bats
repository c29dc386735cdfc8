#!/usr/bin/env bats
# tools/courier: killed at every system call it makes while it delivers.
# transports: direct
# starts first
load helpers/all
load helpers/courier

setup_file() {
    start_courier_stack A
}

teardown_file() {
    stop_courier_stack
}

# The calls of a run from its first of its own on, after the dynamic linker's, without those that
# touch nothing outside the process: lines `NAME N`, the N-th call of that name since the beginning.
list_calls() {
    traced -o "$BATS_TEST_TMPDIR/trace" "$OUT/tools/courier" --once
    awk '{ sub(/\(.*/, ""); count[$0]++ } /^signalfd4$/ { begun = 1 } begun && !/^(exit_group|brk|futex|rt_sigaction)$/ { print $0, count[$0] }' \
        "$BATS_TEST_TMPDIR/trace"
}

# What a courier's death leaves is taken up by the next one, once the lease has run out.
recover() {
    db 'UPDATE event SET lease_until = 0 WHERE lease_until > 0'
    courier_once
}

@test "killed at any system call: every event arrives, always with its id and body" {
    local calls name count points=0 not_done number most=${SWEEP_POINTS:-1000}
    set_webhook A "$A_URL"
    add_events A 2 >/dev/null
    mapfile -t calls < <(list_calls)
    ((${#calls[@]} > 100)) || fail "only ${#calls[@]} calls were seen"
    for ((number = 0; number < ${#calls[@]}; number += 1 + ${#calls[@]} / most)); do
        read -r name count <<<"${calls[number]}"
        add_events A 2 >/dev/null
        run traced -o /dev/null -e "trace=$name" -e "inject=$name:signal=KILL:when=$count" \
            "$OUT/tools/courier" --once
        # a call that came less often this time is no point
        [[ $status == 137 ]] || [[ $status == 0 ]] || fail "$name $count: status $status: $output"
        points=$((points + (status == 137)))
        recover
        not_done=$(db "SELECT count(*) FROM event WHERE state <> 'done'")
        [[ $not_done == 0 ]] || fail "$name $count: $not_done events were lost: $(db "SELECT * FROM event WHERE state <> 'done'")"
    done
    ((points > ${#calls[@]} * 2 / 3 || points > most * 2 / 3)) || fail "only $points kills"
    assert_equal "$(db 'PRAGMA integrity_check')" ok
    # what arrived, without repetition, is what there was
    for number in $(received A); do
        printf '%s %s\n' "$(received_header A "$number" webhook-id)" "$(od -An -v -tx1 "$A_DIR/$number.body" | tr -d ' \n')"
    done >"$BATS_TEST_TMPDIR/arrived"
    diff <(db "SELECT id || ' ' || lower(hex(body)) FROM event ORDER BY 1") <(sort -u "$BATS_TEST_TMPDIR/arrived")
    count=$(db 'SELECT count(*) FROM event')
    printf '# sweep: courier killed at %d of %d system calls; %d events, %d deliveries, none lost\n' \
        "$points" "${#calls[@]}" "$count" "$(wc -l <"$BATS_TEST_TMPDIR/arrived")" >&3
}
