#!/usr/bin/env bats
# What is asked for under an Idempotency-Key reaches the platform once at most, wherever the program
# is killed, and what reached it is answered once the platform tells of it. Told to end, as by a web
# server whose client left, it leaves no key in doubt.
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

# Sends NAME with the key $key, under strace with the options that follow: traced NAME OPTION...
traced() {
    send_noted "$1" env "HTTP_IDEMPOTENCY_KEY=$key" "${tracing[@]}" "${@:2}"
}

# Sets `calls`, lines `NAME N` of an undisturbed run of NAME from the first write to the database on.
trace_calls() {
    key=undisturbed$RANDOM
    traced "$1" -o "$STACK/trace"
    answered 200 || fail "$(cat "$answer" "$stderr")"
    mapfile -t calls < <(calls_of "$STACK/trace" pwrite64)
    ((${#calls[@]} > 60)) || fail "only ${#calls[@]} calls"
}

# The request of these arguments, with the key: keyed METHOD PATH [option of request...]
keyed() {
    api "$@" -H "Idempotency-Key: $key"
}

# Kills by signal $with at every such call, tries again as any client would, and calls $check:
# kill_everywhere NAME METHOD PATH [option of request...]
kill_everywhere() {
    local noted=$1 calls number call count step
    shift
    note_request "$noted" "$@" -H 'Idempotency-Key: KEY' --as "$TOKEN"
    trace_calls "$noted"
    choose_step ${#calls[@]} 50
    for ((number = 0; number < ${#calls[@]}; number += step)); do
        read -r call count <<<"${calls[number]}"
        key=key$RANDOM$RANDOM
        forget_sent
        injection "$call" "$count" "signal=$with"
        traced "$noted" "${inject[@]}"
        rounds=$((rounds + 1))
        count_kill "$call $count"
        keyed "$@"
        "$check" "$call $count" keyed "$@"
    done
}

# The program ended by itself, or by the signal that it was sent and no other.
count_kill() { # WHAT
    ((code < 128 || code == 128 + $(kill -l "$with"))) ||
        fail "sent SIG$with at $1, it ended with $code: $(cat "$stderr")"
    killed=$((killed + (code > 128)))
}

# Whole requests that the platform has got.
arrived() {
    sandbox GET requests | jq '[.[] | select(.complete and (.method == "POST"))] | length'
}

# $settle is called where the platform was asked and nobody knows how it ended.
check_retry() { # WHAT COMMAND...
    local what=$1 arrived
    shift
    arrived=$(arrived)
    ((arrived <= 1)) || fail "killed at $what: the platform was asked $arrived times"
    case $status in
    200)
        ((arrived == 1)) || fail "killed at $what: 200 out of nothing"
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

# It was done at once or is done now.
check_settled() { # WHAT
    [[ $status == 200 && $(arrived) == 1 ]] || fail_answer "told to end at $1: the platform was asked $(arrived) times"
    sent=$((sent + 1))
}

@test "a send that is killed at any system call is sent once at most, and found again by its status" {
    local key which wamid told=0 settle=check_told
    local send=(POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001234\",\"text\":\"x\"}")
    check_told() { # WHAT COMMAND...
        local tracking what=$1
        tracking=$(sent path=messages | jq -r .biz_opaque_callback_data)
        wamid=wamid.killed$RANDOM$RANDOM # the sandbox tells its own only in webhooks
        take "$(payload "$(status_of "$wamid" sent "\"recipient_id\":\"15550001234\",\"biz_opaque_callback_data\":\"$tracking\"")")"
        "${@:2}"
        assert_success
        assert_header Idempotent-Replayed true
        assert_text '.data.messages[0].id' "$wamid"
        assert_equal "$(db "SELECT count(*), source, type FROM message WHERE wamid = '$wamid'")" '1|api|text' ||
            fail "killed at $what"
        told=$((told + 1))
    }
    kill_everywhere send "${send[@]}"
    say_sweep "keyed send killed at $which of its calls: $sent answered again, $untouched of nobody knew what, $told of these settled by a status" \
        "$rounds" 0 "$killed"
    ((killed > rounds / 2 && untouched > 0 && told > 0)) || fail 'too few were killed'
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '15550001234'")" 1
    assert_equal "$(db 'PRAGMA integrity_check')" ok
}

@test "an upload that is killed at any system call is uploaded once at most" {
    local key which
    kill_everywhere upload POST /v2/media/upload -H 'Content-Type: image/webp' \
        -H "X-Phone-Number-Id: $LINE" -d "@$STACK/photo"
    say_sweep "keyed upload killed at $which of its calls: $sent answered again, $untouched of nobody knew what" \
        "$rounds" 0 "$killed"
    ((killed > rounds / 2 && untouched > 0 && sent > 0)) || fail 'too few were killed'
    assert_equal "$(db 'PRAGMA integrity_check')" ok
}

@test "a send or an upload that is told to end at any system call leaves no key in doubt" {
    local key which with=TERM check=check_settled
    kill_everywhere send POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001234\",\"text\":\"x\"}"
    say_sweep "keyed send told to end at $which of its calls: $sent answered again" "$rounds" "$rounds" 0
    kill_everywhere upload POST /v2/media/upload -H 'Content-Type: image/webp' \
        -H "X-Phone-Number-Id: $LINE" -d "@$STACK/photo"
    say_sweep "keyed upload told to end at $which of its calls: $sent answered again" "$rounds" "$rounds" 0
    ((sent == rounds))
}
