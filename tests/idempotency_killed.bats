#!/usr/bin/env bats
# What is asked for under an Idempotency-Key reaches the platform once at most, wherever the program
# is killed, and what reached it is answered once the platform tells of it.
# transports: direct
# starts first
load helpers/all
load helpers/webhook

setup_file() {
    start_stack
    make_user
    unset SWITCHBOARD_CONFINE_KILLS # a call that strace looks at is not the program's alone
    printf 'RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0' >"$STACK/photo"
}

setup() {
    forget_sent
    rounds=0 killed=0 sent=0 untouched=0
}

# The environment of the CGI that a request would start, with a key of KEY; the body goes to
# $STACK/NAME.body: note NAME PROGRAM COMMAND...
note() {
    local name=$1 program=$2 stand_in=$STACK/stand-in
    shift 2
    mkdir -p "$stand_in/cgi-bin"
    printf '#!/bin/bash\nenv -0 >%q\nexec cat >%q\n' "$STACK/$name" "$STACK/$name.body" \
        >"$stand_in/cgi-bin/$program"
    chmod +x "$stand_in/cgi-bin/$program"
    OUT=$stand_in "$@"
}

# Runs PROGRAM as NAME was noted, with the key $key, under strace with the options that follow. $code
# is what it ended with.
traced() {
    local name=$1 program=$2 variables
    shift 2
    mapfile -d '' variables < <(sed -z "s/^HTTP_IDEMPOTENCY_KEY=.*/HTTP_IDEMPOTENCY_KEY=$key/" "$STACK/$name")
    code=0
    env -i "${variables[@]}" ${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0"} \
        strace -qq -f "$@" "$OUT/cgi-bin/$program" <"$STACK/$name.body" >"$STACK/answer" 2>"$STACK/error" ||
        code=$?
}

# Calls of an undisturbed run from the first write to the database on, as `NAME N`: the N-th call of
# that name. At most 50 of them, spread over all.
list_calls() {
    local calls
    key=undisturbed$RANDOM
    traced "$@" -o "$STACK/trace"
    [[ $(head -n 1 "$STACK/answer") == 'Status: 200 '* ]] || fail "$(cat "$STACK/answer" "$STACK/error")"
    mapfile -t calls < <(sed -n 's/^[0-9]* *\([a-z][a-z0-9_]*\)(.*/\1/p' "$STACK/trace" |
        awk '{ count[$0]++ } /^pwrite64$/ { begun = 1 } begun { print $0, count[$0] }')
    ((${#calls[@]} > 60)) || fail "only ${#calls[@]} calls"
    printf '%s\n' "${calls[@]}" | awk -v n=${#calls[@]} -v most="${SWEEP_POINTS:-50}" \
        'int(NR * most / n) != int((NR - 1) * most / n) || n <= most'
}

# Kills at every such call and tries again as any client would: kill_everywhere NAME PROGRAM COMMAND...
# COMMAND makes the same request.
kill_everywhere() {
    local name=$1 program=$2 calls call count
    shift 2
    mapfile -t calls < <(list_calls "$name" "$program")
    ((${#calls[@]} >= 10)) || fail "only ${#calls[@]} points"
    for call in "${calls[@]}"; do
        read -r call count <<<"$call"
        key=key$RANDOM$RANDOM
        forget_sent
        traced "$name" "$program" -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$count"
        rounds=$((rounds + 1))
        killed=$((killed + (code == 137)))
        "$@"
        check_retry "$call $count" "$@"
    done
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

@test "a send that is killed at any system call is sent once at most, and found again by its status" {
    local key wamid told=0 settle=check_told
    api_send() {
        api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001234\",\"text\":\"x\"}" \
            -H "Idempotency-Key: ${key-KEY}"
    }
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
    note send messages api_send
    kill_everywhere send messages api_send
    printf '# sweep: keyed send killed at %d of %d system calls: %d answered again, %d of nobody knew what, %d of these settled by a status\n' \
        "$killed" "$rounds" "$sent" "$untouched" "$told" >&3
    ((killed > rounds / 2 && untouched > 0 && told > 0)) || fail 'too few were killed'
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '15550001234'")" 1
    assert_equal "$(db 'PRAGMA integrity_check')" ok
}

@test "an upload that is killed at any system call is uploaded once at most" {
    local key
    upload() {
        api POST /v2/media/upload -H 'Content-Type: image/webp' -H "X-Phone-Number-Id: $LINE" \
            -H "Idempotency-Key: ${key-KEY}" -d "@$STACK/photo"
    }
    note upload media upload
    kill_everywhere upload media upload
    printf '# sweep: keyed upload killed at %d of %d system calls: %d answered again, %d of nobody knew what\n' \
        "$killed" "$rounds" "$sent" "$untouched" >&3
    ((killed > rounds / 2 && untouched > 0 && sent > 0)) || fail 'too few were killed'
    assert_equal "$(db 'PRAGMA integrity_check')" ok
}
