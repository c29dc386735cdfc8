#!/usr/bin/env bats
# Every allocation of a request can fail: the result is the answer or an envelope with the error, and the
# state of database, disk and platform agrees with it (spec 7).
# SQLite only: the programs that lack memory are the default ones
# transports: direct
# needs: starved
# starts first
load helpers/all
load helpers/sweep
load helpers/sending

setup_file() {
    start_stack
    make_user
    sandbox POST media "{\"wabaId\":\"$WABA\",\"id\":\"7001\",\"mimeType\":\"image/png\",\"size\":200000}" >/dev/null
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"generate\":{\"count\":30,\"prefix\":\"t_\"}}" >/dev/null
    capture_sends
    capture_request me GET /v2/me --as "$TOKEN"
    capture_request templates GET /v2/templates --as "$TOKEN"
    capture_request template GET /v2/templates/t_7 --as "$TOKEN"
    capture_request forms GET /v2/forms/search --as "$TOKEN"
    capture_request download GET /v2/media/7001/download --as "$TOKEN"
    capture_request webhook POST /v2/webhooks/config --as "$TOKEN" \
        -d '{"webhookUrl":"http://127.0.0.1:9/hook","webhookCode":"test-code"}'
    keep_database
}

# Sets `made` to the number of allocations of an undisturbed run of a captured request.
count_allocations() { # NAME
    starving 0
    OUT=$starved send_captured "$1" "${starve[@]}"
    answered 200 || fail "$1: $(cat "$answer" "$stderr")"
    read_tally
}

# --- a send: every allocation after the request may have reached the platform ---

# Whether a send goes out when every allocation from the N-th on fails.
goes_out_before() { # SEND N
    local before
    before=$(sent_count)
    next_round "$1"
    starving "$2" 0
    OUT=$starved send_captured "$1" "${starve[@]}"
    (($(sent_count) > before))
}

# Sets `first` to the number of the first of the `made` allocations after a send went out.
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

# For each NUMBER, fails HOW-MANY allocations from that one on (0: all): starve_send SEND HOW-MANY NUMBER...
starve_send() {
    local number send=$1 many=$2
    shift 2
    for number; do
        next_round "$send"
        starving "$number" "$many"
        OUT=$starved send_captured "$send" "${starve[@]}"
        read_tally
        points=$((points + 1)) faults=$((faults + (failed > 0)))
        check_round "allocation $number of $send"
    done
}

@test "a send for which an allocation fails after it went out is answered and stored, or its outcome is unknown" {
    local first total points step which
    for send in keyed plain; do
        begin_sweep
        find_departure "$send"
        ((made - first > 300)) || fail "only from $first of $made"
        total=$((made - first))
        choose_step "$total" 180
        starve_send "$send" 1 $(seq "$first" "$step" "$made")
        end_sweep "$send send starved at $which of $total allocations after it went out" "$faults" 0
        ((unsent == 0)) || fail "$unsent were not sent"
        ((unrecorded * 10 < points + 20)) || fail "$unrecorded of $points are not recorded"
    done
}

@test "a send of any length for which memory runs out after it went out is answered" {
    local length number
    begin_sweep
    for length in {0..16000..2000}; do
        capture_sends "$(printf "%${length}s")"
        next_round plain
        starving 0 1 8000
        OUT=$starved send_captured plain "${starve[@]}"
        read_tally
        for ((number = 1; number <= made; number++)); do
            next_round plain
            starving "$number" 1 8000
            OUT=$starved send_captured plain "${starve[@]}"
            points=$((points + 1)) faults=$((faults + 1))
            check_round "large allocation $number, $length bytes of padding"
        done
    done
    capture_sends
    end_sweep "plain sends of many lengths starved at each large allocation" "$faults" 0
    ((unrecorded == 0)) || fail "$unrecorded were sent and neither recorded nor answered"
}

@test "a send for which an allocation fails before it goes out is refused, or sent and answered completely" {
    local first total points step which many
    for many in 1 0; do # one allocation, and all from there on
        begin_sweep
        find_departure keyed
        total=$made
        choose_step "$total" 60
        starve_send keyed "$many" $(seq 1 "$step" "$total")
        end_sweep "keyed send starved at $which of $total allocations$( ((many)) || echo ' and all later ones')" "$faults" 0
    done
}

# --- other requests ---

# Fails up to MOST allocations of a captured request, one by one, and calls CHECK after each. $STACK/whole has
# the answer that is expected unless the request fails: starve_request NAME MOST CHECK
starve_request() {
    local number total step which points=0 faults=0 whole=0
    restore
    count_allocations "$1"
    total=$made
    cp "$answer" "$STACK/whole"
    choose_step "$total" "$2"
    for ((number = 1; number <= total; number += step)); do
        restore
        starving "$number"
        OUT=$starved send_captured "$1" "${starve[@]}"
        read_tally
        points=$((points + 1)) faults=$((faults + (failed > 0)))
        "$3" "allocation $number of $1"
    done
    say_sweep "$1 starved at $which of $total allocations: $whole times it answered completely" "$points" "$faults" 0
    ((whole < points))
}

# The answer is complete, or it is a failure of the gateway.
is_same_or_failure() { # WHAT
    if cmp -s "$answer" "$STACK/whole"; then
        whole=$((whole + 1))
        return
    fi
    ! answered 200 || fail "$1: another answer: $(head -c 1000 "$answer")"
    [[ ! -s $answer ]] || answered '5??' || fail "$1: no failure of ours: $(head -c 1000 "$answer")"
    assert_outcome "$1"
}

@test "a request that reads gets a complete answer or a failure" {
    local name
    for name in me templates template forms; do
        starve_request "$name" 40 is_same_or_failure
    done
}

# An answer that was begun cannot be replaced: then the body is shorter than its Content-Length.
is_part_or_failure() { # WHAT
    local size
    size=$(stat -c %s "$answer")
    if answered 200 && ((size < $(stat -c %s "$STACK/whole"))); then
        cmp -s -n "$size" "$answer" "$STACK/whole" || fail "$1: other bytes"
    else
        is_same_or_failure "$1"
    fi
}

@test "a download returns the whole file, fewer bytes than announced, or a failure" {
    starve_request download 60 is_part_or_failure
}

is_set_or_failure() { # WHAT
    local url
    is_same_or_failure "$1"
    url=$(db "SELECT coalesce((SELECT url FROM webhook), 'none'); SELECT integrity_check FROM pragma_integrity_check")
    case $url in
    $'http://127.0.0.1:9/hook\nok') ;;
    $'none\nok') ! answered 200 || fail "$1: answered, and not set" ;;
    *) fail "$1: $url" ;;
    esac
}

@test "the webhook configuration is set, or the request fails and it is unchanged" {
    starve_request webhook 60 is_set_or_failure
}
