# shellcheck shell=bash
# What bats does around each command and test, in less CPU time. helpers/all loads it; a file that
# does not load that one has `load helpers/tracing` before the others.

# Replaces the DEBUG trap of bats, which runs before every command to record where a test fails, and
# took most of the CPU time of the shells. From bash 5.0 on the ERR trap has the right lines, so it
# records them when a command fails.
bats_setup_tracing() {
    BATS_DEBUG_LAST_LINENO=() BATS_DEBUG_LAST_SOURCE=() BATS_DEBUG_EXCLUDE_PATHS=()
    BATS_DEBUG_LAST_STACK_TRACE=() BATS_DEBUG_LASTLAST_STACK_TRACE=()
    BATS_DEBUG_LAST_STACK_TRACE_IS_VALID='' BATS_ERROR_SUFFIX=''
    exec 4<&1
    trap - DEBUG
    trap bats_error_trap ERR
}

bats_error_trap() {
    bats_check_status_from_trap
    [[ -z $BATS_DEBUG_LAST_STACK_TRACE_IS_VALID ]] || return 0
    bats_capture_stack_trace
    BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

# setup_file runs in a shell whose traps are set before this file is read.
[[ -z $(trap -p DEBUG) ]] || bats_setup_tracing

# bats starts date for the time of each test.
get_mills_since_epoch() {
    local now=${EPOCHREALTIME/[.,]/}
    printf '%s\n' "${now::-3}"
}
