#!/usr/bin/env bats
# A payload that /platform/webhook acknowledges is stored, even if a process dies or a call fails meanwhile.
# One that it does not acknowledge is stored whole or not at all, and after a retry it is stored once (spec 6).
# transports: direct
# needs: starved
# SQLite only: each round starts from a copy of the database file, and its content is read from there
# starts first
# shellcheck disable=SC2086  # the names of people ($P1, $B1, ...) are single words
load helpers/all
load helpers/sweep
load helpers/webhook

# Creates one payload with updates of all kinds, and the environment and the database with which each round
# begins.
setup_file() {
    start_stack
    make_user
    api POST /v2/webhooks/config \
        -d '{"webhookUrl":"http://127.0.0.1:9/hook","webhookCode":"test-code"}'
    add_forwards
    export BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
    make_account_line
    local payload=$STACK/payload
    mixed_payload >"$payload"
    capture_request payload POST /platform/webhook -d "@$payload" -H "X-Hub-Signature-256: $(sign "$payload")"
    keep_database
    send_captured payload
    answered 200
    export EMPTY COMPLETE
    COMPLETE=$(content "$DB")
    EMPTY=$(content "$STACK/fresh.db")
    [[ $EMPTY != "$COMPLETE" ]]
}

# Adds webhooks that get the payload whole, and one message at a time.
add_forwards() {
    db "INSERT INTO webhook (id, user_id, kind, url, code, fields, splits_messages, created_at, updated_at)
        SELECT 'whk_' || column1, user_id, 'forward', url || column1, code, column2, column3, 1, 1
        FROM webhook, (VALUES ('all', '*', 0), ('too', '*', 0), ('split', NULL, 1))"
}

mixed_payload() {
    payload "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 '' $B1)" \
        "$(inbound wamid.3 $P1 $B1 '"type":"text","referral":{"source_type":"ad"}')" \
        "$(status_of wamid.4 delivered "$(to_both $P1 $B1)")" \
        "$(system wamid.5 $P1 "\"wa_id\":\"$P2\",\"user_id\":\"$B2\",\"previous_user_id\":\"$B1\",\"type\":\"user_changed_number\"")" \
        "$(inbound wamid.6 $P2 $B2 '"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":"{}"}}')" \
        "$(account_change message_template_status_update '{"event":"APPROVED","message_template_id":1,"message_template_name":"t","message_template_language":"en"}')"
}

# Everything of the payload in a database, without ids and times, so that rounds can be compared.
content() {
    sqlite3 -batch -noheader -cmd '.timeout 5000' "$1" "
        SELECT wamid, direction, m.type, m.status, c.phone, c.bsuid FROM message m
            JOIN thread t ON t.id = thread_id JOIN contact c ON c.id = contact_id ORDER BY 1;
        SELECT 'status', wamid, s.status FROM message_status s JOIN message m ON m.id = message_id;
        SELECT 'contact', phone, bsuid FROM contact ORDER BY 2;
        SELECT 'event', sequence, type, state, json_extract(CAST(body AS TEXT), '\$.data.source'),
            json_extract(CAST(body AS TEXT), '\$.data.message.id') FROM event
            WHERE is_forward = 0 ORDER BY 2;
        SELECT 'forward', e.sequence, parts, e.state, d.webhook_id, order_key, hex(hash) FROM event e
            JOIN platform_post p ON p.id = post_id JOIN delivery d ON d.event_id = e.id ORDER BY e.sequence, d.webhook_id;
        SELECT 'post', count(*) FROM platform_post;
        SELECT 'user', event_sequence, forward_sequence FROM user;
        SELECT 'lead', source FROM lead ORDER BY 2;
        SELECT 'merge', reason, merged_id IS NULL FROM contact_merge ORDER BY 2, 3;
        SELECT 'alias', identity FROM contact_alias ORDER BY 2;
        SELECT 'thread', count(*) FROM thread;
        SELECT 'flow', count(*) FROM flow_response;
        SELECT 'template', name, status FROM template;
        SELECT 'update', field FROM platform_update ORDER BY 2;
        SELECT 'integrity', * FROM pragma_integrity_check;
        SELECT 'keys', count(*) FROM pragma_foreign_key_check"
}

# Checks a round: an acknowledged payload is stored, and a retry stores it once. WHAT names the round.
check_round() {
    local found
    found=$(content "$DB")
    if answered 200; then
        assert_equal "$found" "$COMPLETE" || fail "$1: acknowledged, but not stored"
        acknowledged=$((acknowledged + 1))
    else
        [[ $found == "$EMPTY" || $found == "$COMPLETE" ]] || fail "$1: partly stored: $found"
        [[ $found == "$EMPTY" ]] || stored_unsaid=$((stored_unsaid + 1))
    fi
    send_captured "${captured-payload}"
    answered 200 || fail "$1: the retry was refused: $(cat "$answer")"
    assert_equal "$(content "$DB")" "$COMPLETE" || fail "$1: not stored once after the retry"
}

# Sets `calls` to the system calls of an undisturbed run, lines `NAME N`, beginning with the first call of
# FIRST: trace_payload FIRST
trace_payload() {
    restore
    send_captured payload "${tracing[@]}" -o "$STACK/trace"
    answered 200
    mapfile -t calls < <(calls_of "$STACK/trace" "$1")
}

@test "killed at any system call: an acknowledged payload is stored, any other is stored once after a retry" {
    local calls name count number killed=0 acknowledged=0 stored_unsaid=0
    local points=0 step which
    trace_payload brk
    ((${#calls[@]} > 80)) || fail "only ${#calls[@]} system calls"
    choose_step ${#calls[@]} 600
    for ((number = 0; number < ${#calls[@]}; number += step)); do
        read -r name count <<<"${calls[number]}"
        restore
        injection "$name" "$count" signal=KILL
        send_captured payload "${tracing[@]}" "${inject[@]}"
        [[ $code == 137 || $code == 0 ]] || fail "$name $count: status $code: $(cat "$stderr")"
        points=$((points + 1)) killed=$((killed + (code == 137)))
        check_round "killed at $name $count"
    done
    say_sweep "platform killed at $which of ${#calls[@]} calls: $acknowledged had acknowledged, $stored_unsaid had stored without an answer, none lost or duplicated" \
        "$points" 0 "$killed"
    ((killed > points * 2 / 3)) || fail "only $killed kills"
    ((acknowledged > 0 && acknowledged < killed))
}

# The answer makes the platform retry, or there is none because the process ended.
assert_refusal() { # WHAT NAME
    local said
    said=$(head -n 1 "$answer" | tr -d '\r')
    case "$code $said" in
    '0 Status: 500 '* | '0 Status: 503 '* | '1 Status: 500 '* | '134 Status: 500 '*) ;;
    '0 Status: 400 '*) [[ $2 == read ]] || fail "$1: $said" ;; # the body could not be read
    '0 ') [[ $2 == writev ]] || fail "$1: no answer" ;;
    '244 ') [[ $2 == memory ]] || fail "$1: $(cat "$stderr")" ;; # libfcgi, when it starts
    '134 ') [[ $(<"$stderr") == 'switchboard: '* ]] || fail "$1: $(cat "$stderr")" ;;
    *) fail "$1: status $code, $said: $(cat "$stderr")" ;;
    esac
    [[ ! -s $answer ]] ||
        sed '1,/^\r*$/d' "$answer" | jq -e '.success == false' >/dev/null || fail "$1: $(cat "$answer")"
}

@test "an error at any system call: 200 and stored, or refused and stored once after a retry" {
    local calls tries name count error number failed=0 acknowledged=0 stored_unsaid=0
    local points=0 step which
    # earlier calls are of the C library's start, which cannot report an error
    trace_payload getpeername
    list_errors
    ((${#tries[@]} > 100)) || fail "only ${#tries[@]} points"
    choose_step ${#tries[@]} 400
    for ((number = 0; number < ${#tries[@]}; number += step)); do
        read -r name count error <<<"${tries[number]}"
        restore
        injection "$name" "$count" "error=$error"
        send_captured payload "${tracing[@]}" "${inject[@]}"
        points=$((points + 1))
        answered 200 || assert_refusal "$error at $name $count" "$name"
        answered 200 || failed=$((failed + 1))
        check_round "$error at $name $count"
    done
    say_sweep "platform met $which of ${#tries[@]} errors: $acknowledged times it acknowledged, $failed times it refused ($stored_unsaid of them stored), none lost or doubled" \
        "$points" "$points" 0
    ((failed > 10 && acknowledged > 10))
}

# Sends the payload with so many KB left, under any kind of limit: it is accepted or refused.
round_with_room() { # WHAT
    if ! answered 200; then
        [[ $(head -n 1 "$answer") == 'Status: 503 '* ]] || fail "$1: $(cat "$answer" "$stderr")"
        grep -q '^Retry-After: ' "$answer"
        refused=$((refused + 1))
    fi
    [[ -s $answer ]]
}

@test "after a failed allocation: 200 and stored, or refused and stored once after a retry" {
    local number total refused=0 acknowledged=0 stored_unsaid=0 points=0 faults=0 step which made failed
    restore
    starving 0
    OUT=$starved send_captured payload "${starve[@]}"
    answered 200 || fail "not starved at all: $(cat "$answer" "$stderr")"
    read_tally
    total=$made
    ((total > 1000)) || fail "only $total allocations"
    choose_step "$total" 100
    for ((number = 1; number <= total; number += step)); do
        restore
        starving "$number"
        OUT=$starved send_captured payload "${starve[@]}"
        read_tally
        points=$((points + 1)) faults=$((faults + failed))
        answered 200 || assert_refusal "allocation $number" memory
        answered 200 || refused=$((refused + 1))
        check_round "allocation $number"
    done
    say_sweep "platform starved at $which of $total allocations: $acknowledged times it acknowledged, $refused times it refused ($stored_unsaid of them stored), none lost or doubled" \
        "$points" "$faults" 0
}

@test "with any amount of memory: 200 and stored, or refused and stored once after a retry" {
    local kilobytes refused=0 acknowledged=0 stored_unsaid=0 is_begun=''
    for kilobytes in {1000..6000..100} 8000 16000; do
        restore
        send_captured payload env -u ASAN_OPTIONS -u UBSAN_OPTIONS bash -c "ulimit -v $kilobytes; exec \"\$@\"" limited
        # with less memory it ends during the C library's start, without an answer
        [[ ! -s $answer ]] && ! grep -q ^switchboard: "$stderr" || is_begun=1
        answered 200 || refused=$((refused + 1))
        answered 200 || [[ -z $is_begun ]] || assert_refusal "$kilobytes KB of memory" memory
        check_round "$kilobytes KB of memory"
    done
    say_sweep "platform short of memory: $refused times refused, $acknowledged times acknowledged" \
        $((refused + acknowledged)) "$refused" 0
    ((refused > 2))
}

@test "a disk with any space left: 200 and stored, or 503 and not stored, and accepted when there is space again" {
    local kilobytes refused=0 acknowledged=0 stored_unsaid=0 found
    declare -fx send_captured answered content restore fail assert_equal check_round round_with_room \
        disk_rounds
    export OUT STACK
    # a file system of its own where one can be mounted, else a limit on the size of files
    if unshare -Urm mount -t tmpfs none "$STACK" 2>/dev/null; then
        found=$(unshare -Urm bash -euo pipefail -c disk_rounds)
    elif unshare -m mount -t tmpfs none "$STACK" 2>/dev/null; then
        found=$(unshare -m bash -euo pipefail -c disk_rounds)
    else
        found='0 0'
    fi
    read -r refused acknowledged <<<"$found"
    for kilobytes in 0 32 64 128 256 300 320 340 360 400 500; do
        restore
        send_captured payload bash -c "trap '' XFSZ; ulimit -f $kilobytes; exec \"\$@\"" limited
        if [[ -s $answer ]]; then
            round_with_room "files of at most $kilobytes KB"
        fi
        check_round "files of at most $kilobytes KB"
    done
    say_sweep "platform on a full disk: $refused times refused, $acknowledged times acknowledged" \
        $((refused + acknowledged)) "$refused" 0
    ((refused > 1 && acknowledged > 1))
}

# In a mount namespace: fills a small disk except for some KB, sends, frees space, sends again.
disk_rounds() {
    local disk=$STACK/disk kilobytes refused=0 acknowledged=0 stored_unsaid=0
    mkdir -p "$disk"
    mount -t tmpfs -o size=2m none "$disk"
    DB=$disk/switchboard.db
    sed "s|^database = .*|database = $DB|" "$STACK/switchboard.conf" >"$STACK/disk.conf"
    sed -z "s|^SWITCHBOARD_CONFIG=.*|SWITCHBOARD_CONFIG=$STACK/disk.conf|" "$STACK/payload.variables" >"$STACK/disk.variables"
    ln "$STACK/payload.body" "$STACK/disk.body"
    ln "$STACK/payload.program" "$STACK/disk.program"
    captured=disk
    for kilobytes in 0 4 8 32 36 40 64 96 128 160 192 256 320 400; do
        restore
        head -c $(($(stat -f -c '%a * %S' "$disk") - kilobytes * 1024)) /dev/zero >"$disk/ballast"
        send_captured disk
        rm "$disk/ballast"
        round_with_room "$kilobytes KB left"
        check_round "$kilobytes KB left"
    done
    printf '%d %d\n' "$refused" "$acknowledged"
}
