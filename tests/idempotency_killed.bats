#!/usr/bin/env bats
# A request with an Idempotency-Key reaches the platform at most once, at whatever system call the program
# is killed; if it has reached the platform, a later webhook payload settles the key. A program that
# receives SIGTERM, as from a web server whose client has left, leaves no key in doubt.
# transports: direct
# starts first
load helpers/all
load helpers/sweep
load helpers/webhook

setup_file() {
    start_stack
    make_user
    printf 'RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0' >"$STACK/photo"
}

setup() {
    forget_sent
    rounds=0 killed=0 sent=0 untouched=0
    with=KILL check=check_retry
}

# Sends the captured request NAME with the key $key under strace: traced NAME STRACE-OPTION...
traced() {
    send_captured "$1" env "HTTP_IDEMPOTENCY_KEY=$key" "${tracing[@]}" "${@:2}"
}

# Sets `calls` to lines `NAME N`, the calls of an undisturbed run from the first write to the database on:
# trace_calls NAME
trace_calls() {
    key=undisturbed$RANDOM
    traced "$1" -o "$STACK/trace"
    answered 200 || fail "$(cat "$answer" "$stderr")"
    mapfile -t calls < <(calls_of "$STACK/trace" "$(first_change)")
    ((${#calls[@]} > 60)) || fail "only ${#calls[@]} calls"
}

# Sends a request with the key $key: keyed METHOD PATH [option of request...]
keyed() {
    api "$@" -H "Idempotency-Key: $key"
}

# Ends the program by signal $with at each such call, repeats the request as a client would, and calls
# $check: kill_everywhere NAME METHOD PATH [option of request...]
kill_everywhere() {
    local captured=$1 calls number call count step
    shift
    capture_request "$captured" "$@" -H 'Idempotency-Key: KEY' --as "$TOKEN"
    trace_calls "$captured"
    choose_step ${#calls[@]} 50
    for ((number = 0; number < ${#calls[@]}; number += step)); do
        read -r call count <<<"${calls[number]}"
        key=key$RANDOM$RANDOM
        forget_sent
        injection "$call" "$count" "signal=$with"
        traced "$captured" "${inject[@]}"
        rounds=$((rounds + 1))
        count_kill "$call $count"
        keyed "$@"
        "$check" "$call $count" keyed "$@"
    done
}

# Expects that the program ended by itself or by the signal that it was sent.
count_kill() { # WHAT
    ((code < 128 || code == 128 + $(kill -l "$with"))) ||
        fail "sent SIG$with at $1, it ended with $code: $(cat "$stderr")"
    killed=$((killed + (code > 128)))
}

# Prints the number of complete requests that the platform received.
arrived() {
    sandbox GET requests | jq '[.[] | select(.complete and (.method == "POST"))] | length'
}

# Checks the repeated request. Calls $settle if the platform received the first request and its result is
# unknown.
check_retry() { # WHAT COMMAND...
    local what=$1 arrived
    shift
    arrived=$(arrived)
    ((arrived <= 1)) || fail "killed at $what: the platform received $arrived requests"
    case $status in
    200)
        ((arrived == 1)) || fail "killed at $what: 200, but the platform received nothing"
        sent=$((sent + 1))
        ;;
    409)
        assert_json .details.outcome running
        db "UPDATE idempotency SET created_at = created_at - 3600000 WHERE key = '$key'"
        "$@"
        assert_error 409 VALIDATION_ERROR
        assert_json .details.outcome unknown
        untouched=$((untouched + 1))
        ((arrived == 0)) || ${settle:-true} "$what" "$@"
        ;;
    *) fail_answer "killed at $what" ;;
    esac
    assert_equal "$(arrived)" "$arrived"
}

# Expects that the first or the repeated request was successful, and that the platform received one.
check_settled() { # WHAT
    [[ $status == 200 && $(arrived) == 1 ]] || fail_answer "sent SIGTERM at $1: the platform received $(arrived) requests"
    sent=$((sent + 1))
}

@test "a send that is killed at any system call is sent at most once, and identified later by its status" {
    local key which wamid settled=0 settle=settle_by_status
    local send=(POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001234\",\"text\":\"x\"}")
    settle_by_status() { # WHAT COMMAND...
        local tracking what=$1
        tracking=$(sent path=messages | jq -r .biz_opaque_callback_data)
        wamid=wamid.killed$RANDOM$RANDOM # the sandbox would send its own wamid only in webhooks
        take "$(payload "$(status_of "$wamid" sent "\"recipient_id\":\"15550001234\",\"biz_opaque_callback_data\":\"$tracking\"")")"
        "${@:2}"
        assert_success
        assert_header Idempotent-Replayed true
        assert_text '.data.messages[0].id' "$wamid"
        assert_equal "$(db "SELECT count(*), min(source), min(type) FROM message WHERE wamid = '$wamid'")" '1|api|text' ||
            fail "killed at $what"
        settled=$((settled + 1))
    }
    kill_everywhere send "${send[@]}"
    say_sweep "keyed send killed at $which of its calls: $sent answered again, $untouched with an unknown result, $settled of these settled by a status" \
        "$rounds" 0 "$killed"
    ((killed > rounds / 2 && untouched > 0 && settled > 0)) || fail 'too few runs were killed'
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '15550001234'")" 1
    assert_sound
}

@test "an upload that is killed at any system call is uploaded at most once" {
    local key which
    kill_everywhere upload POST /v2/media/upload -H 'Content-Type: image/webp' \
        -H "X-Phone-Number-Id: $LINE" -d "@$STACK/photo"
    say_sweep "keyed upload killed at $which of its calls: $sent answered again, $untouched with an unknown result" \
        "$rounds" 0 "$killed"
    ((killed > rounds / 2 && untouched > 0 && sent > 0)) || fail 'too few runs were killed'
    assert_sound
}

@test "a send or an upload that gets SIGTERM at any system call leaves no key in doubt" {
    local key which with=TERM check=check_settled
    kill_everywhere send POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001234\",\"text\":\"x\"}"
    say_sweep "keyed send sent SIGTERM at $which of its calls: $sent answered again" "$rounds" "$rounds" 0
    kill_everywhere upload POST /v2/media/upload -H 'Content-Type: image/webp' \
        -H "X-Phone-Number-Id: $LINE" -d "@$STACK/photo"
    say_sweep "keyed upload sent SIGTERM at $which of its calls: $sent answered again" "$rounds" "$rounds" 0
    ((sent == rounds))
}
