#!/usr/bin/env bats
# Every allocation of a request can fail: what comes of it is the answer or an envelope that says
# what happened, and what the database, the disk and the platform hold agrees with it (spec 7).
# transports: direct
# starts first
load helpers/all
load helpers/sweep
load helpers/sending

setup_file() {
    start_stack
    make_user
    note_sends
    keep_database
}

# Sets `made`, the allocations of an undisturbed run of a noted request.
count_allocations() { # NAME
    starving 0
    OUT=$starved send_noted "$1" "${starve[@]}"
    answered 200 || fail "$1: $(cat "$answer" "$stderr")"
    read_tally
}

# --- a send: every allocation from the moment on that the platform may have it ---

# Whether a send goes out when from the N-th on every allocation fails.
goes_out_before() { # SEND N
    local before
    before=$(sent_count)
    next_round "$1"
    starving "$2" 0
    OUT=$starved send_noted "$1" "${starve[@]}"
    (($(sent_count) > before))
}

# Sets `first`, the first allocation after a send went out, of `made`.
find_departure() { # SEND
    local least=0 most
    next_round "$1"
    count_allocations "$1"
    most=$made
    while ((most - least > 1)); do
        first=$(((least + most) / 2))
        if goes_out_before "$1" "$first"; then most=$first; else least=$first; fi
    done
    first=$most
    next_round "$1"
    count_allocations "$1"
}

# Fails the allocations named one by one, or all from there on: starve_send SEND HOW-MANY NUMBER...
starve_send() {
    local number send=$1 many=$2
    shift 2
    for number; do
        next_round "$send"
        starving "$number" "$many"
        OUT=$starved send_noted "$send" "${starve[@]}"
        read_tally
        points=$((points + 1)) faults=$((faults + failed))
        check_round "allocation $number of $send"
    done
}

@test "a send whose allocation fails once it went out is answered and recorded, or told unknown" {
    local first points step which
    for send in keyed plain; do
        begin_sweep
        find_departure "$send"
        ((made - first > 300)) || fail "only from $first of $made"
        choose_step $((made - first)) 180
        starve_send "$send" 1 $(seq "$first" "$step" "$made")
        end_sweep "$send send starved at $which of $((made - first)) allocations after it went out" "$faults" 0
        ((unsent == 0)) || fail "$unsent were not sent"
        ((unrecorded * 10 < points)) || fail "$unrecorded of $points are recorded nowhere"
    done
}

@test "a send of any length whose request lacks memory once it went out is answered" {
    local length number
    begin_sweep
    for length in {0..16000..2000}; do
        note_sends "$(printf "%${length}s")"
        next_round plain
        starving 0 1 8000
        OUT=$starved send_noted plain "${starve[@]}"
        read_tally
        for ((number = 1; number <= made; number++)); do
            next_round plain
            starving "$number" 1 8000
            OUT=$starved send_noted plain "${starve[@]}"
            points=$((points + 1)) faults=$((faults + 1))
            check_round "large allocation $number, $length bytes of padding" 
        done
    done
    end_sweep "plain sends of many lengths starved at each large allocation" "$faults" 0
    ((unrecorded == 0)) || fail "$unrecorded went out, and were neither recorded nor answered"
}
