#!/usr/bin/env bats
# tools/courier, killed or given an error at every system call that it makes while it delivers.
# transports: direct
# needs: starved
# SQLite only: each round starts from a copy of the database file
# starts first
# bats file_tags=long
load helpers/all
load helpers/courier
load helpers/sweep

setup_file() {
    # strace injects an error by an invalid call, which the filter kills
    unset SWITCHBOARD_CONFINE_KILLS
    start_courier_stack A
}

teardown_file() {
    stop_courier_stack
}

setup() {
    forget_events
    set_webhook A "$A_URL"
}

# Adds two events.
begin_courier() {
    add_events A 2 >/dev/null
}

run_courier() { # [COMMAND...]
    stderr=$STACK/stderr code=0
    { # suppresses the shell's message about a killed process
        "$@" "$OUT/tools/courier" --once >"$stderr" 2>&1 || code=$?
    } 2>/dev/null
}

# Calls that have no effect outside the process are left out. An error on releasing a lock makes
# SQLite wait 10 s, so only the thorough run tries it.
choose_courier() {
    if [[ $fault == errors ]] && ! is_thorough; then
        grep -Ev '^(brk|futex|rt_sigaction|fcntl) '
    else
        grep -Ev '^(brk|futex|rt_sigaction) '
    fi
}

# Makes the remaining events due and their leases expired: the next courier delivers all.
check_courier() { # WHAT
    local not_done
    case $fault in
    KILL) [[ $code == 137 || $code == 0 ]] ;; # 0: this run had fewer such calls
    *) [[ $code == [01] || $code == 134 ]] ;;
    esac || fail "$1: status $code: $(cat "$stderr")"
    count "ended with $code"
    db 'UPDATE outbox SET lease_until = 0, next_attempt_at = 0 WHERE state = '\''pending'\'
    courier_once
    not_done=$(db "SELECT count(*) FROM outbox WHERE state <> 'done'")
    [[ $not_done == 0 ]] ||
        fail "$1: $not_done events were lost: $(db "SELECT * FROM outbox WHERE state <> 'done'")"
}

# Every event arrived.
end_courier() {
    assert_equal "$(db 'PRAGMA integrity_check')" ok
    assert_all_arrived A
}

@test "killed, given an error or short of memory at any point: every event arrives, always with its id and body" {
    sweep_rows courier <<'END'
courier KILL 1000 signalfd4
courier errors 60 signalfd4
courier memory 60
END
}
