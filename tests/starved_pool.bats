#!/usr/bin/env bats
# A FastCGI process serves many requests: after one for which memory was short it serves the next correctly.
# Each allocation of its first request, and of its start, fails in turn.
# transports: fcgi
# needs: starved
# bats file_tags=long
load helpers/all
load helpers/sweep

# Restarts PROGRAM's pool with one process whose N-th allocation fails: starve_pool PROGRAM N
starve_pool() {
    local pid_file=$STACK/apache/$1.pid socket pid
    pid=$(pool_of "$1")
    socket=$(tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n '/^--socket$/{n;p}')
    kill "$pid"
    eventually is_gone "$pid"
    starving "$2"
    printf '#!/bin/sh\nmkdir "%s.begun" 2>/dev/null || exec "%s"\nexec %s "%s"\n' "$STACK/$1" "$OUT/cgi-bin/$1" \
        "$(printf '"%s" ' "${starve[@]}")" "$starved/cgi-bin/$1" >"$STACK/$1"
    chmod +x "$STACK/$1"
    rm -rf "$STACK/$1.begun" "$STACK/starve"
    "$OUT/tools/pool" --socket "$socket" --processes 1 --pid-file "$pid_file" -- "$STACK/$1" \
        >>"$STACK/starved_pool.log" 2>&1 3>&- &
    eventually test -s "$STACK/starve"
}

# Fails up to MOST of the allocations of REQUEST in PROGRAM, one by one, and repeats the request each time:
# starve_first PROGRAM MOST REQUEST...
starve_first() {
    local program=$1 most=$2 number total step which tried=0 points=0 faults=0 refused=0 lived=0 server least=500
    [[ -z ${SERVER-} ]] || least=100 # without those of SQLite
    shift 2
    starve_pool "$program" 0
    "$@"
    assert_success
    read_tally
    total=$made
    choose_step "$total" "$most"
    for ((number = 1; number <= total; number += step)); do
        starve_pool "$program" "$number"
        tried=$((tried + 1))
        server=$(children "$(pool_of "$program")")
        "$@"
        read_tally
        ((failed)) || continue # the request made fewer allocations than before
        points=$((points + 1)) faults=$((faults + 1))
        if [[ $status != 200 ]]; then
            [[ $status == 50[023] ]] || fail_answer "allocation $number of $program"
            assert_error "$status" INTERNAL_ERROR
            refused=$((refused + 1))
        fi
        [[ $(children "$(pool_of "$program")") != "$server" ]] || lived=$((lived + 1))
        "$@"
        [[ $status == 200 ]] || fail_answer "after allocation $number of $program"
        assert_success
    done
    say_sweep "pool of $program starved at $which of $total allocations: $refused requests refused, $lived processes survived, the next request succeeded" \
        "$points" "$faults" 0
    # the number of allocations differs slightly between processes
    ((total > least && points * 10 >= tried * 9)) ||
        fail "of $total allocations only $points of $tried points failed"
    # a connection to a server that lacked memory is made again
    ((lived > 0)) && [[ -n ${SERVER-} || $refused -gt 0 ]]
}

ask_me() {
    api GET /v2/me
}

ask_templates() {
    api GET /v2/templates
}

send_text() {
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    [[ $status != 200 ]] || sent=$((sent + 1))
}

@test "me, once short of memory, serves the next request" {
    starve_first me 30 ask_me
    assert_text .data.user.email "$EMAIL"
}

@test "templates, once short of memory, serves the next request" {
    starve_first templates 30 ask_templates
}

@test "messages, once short of memory, serves the next request, and records it" {
    local sent=0
    starve_first messages 50 send_text
    (($(db "SELECT count(*) FROM message WHERE direction = 'out'") >= sent))
    assert_sound
}
