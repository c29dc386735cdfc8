#!/usr/bin/env bats
# The sweeps of sweeps.bats over the other requests: reads, writes of the database, and payloads of
# the platform (spec 2.7, 6). An answer is complete, and what it says of the database is so.
# transports: direct
# needs: starved
# starts first
# shellcheck disable=SC2086,SC2153  # names of people are single words; helpers/media sets SPOOL and LINE
# bats file_tags=long
load helpers/all
load helpers/sweep_stack

# --- reads: the whole answer, or a failure of the gateway ---

capture_requests() {
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"generate\":{\"count\":30,\"prefix\":\"t_\"}}" >/dev/null
    capture_request me GET /v2/me --as "$TOKEN"
    capture_request templates GET /v2/templates --as "$TOKEN"
    capture_request template GET /v2/templates/t_7 --as "$TOKEN"
    capture_request forms GET /v2/forms/search --as "$TOKEN"
    capture_request threads GET /v2/threads --as "$TOKEN"
    capture_request lines GET /v2/lines --as "$TOKEN"
    capture_request download GET /v2/media/7001/download --as "$TOKEN"
}

begin_read() {
    restore
    [[ ${whole_of-} == "$subject" ]] || { # the answer that is expected unless the request fails
        send_captured "$subject"
        cp "$answer" "$STACK/whole"
        whole_of=$subject
    }
}

# An answer that was begun cannot be replaced: then the body of a file is shorter than its
# Content-Length.
check_read() { # WHAT CALL
    local size
    if cmp -s "$answer" "$STACK/whole"; then
        count whole
        return
    fi
    size=$(stat -c %s "$answer")
    if [[ $subject == download ]] && answered 200 && ((size < $(stat -c %s "$STACK/whole"))); then
        cmp -s -n "$size" "$answer" "$STACK/whole" || fail "$1: other bytes"
        return
    fi
    ! answered 200 || fail "$1: another answer: $(head -c 1000 "$answer")"
    [[ ! -s $answer ]] || answered '5??' || fail "$1: no failure of ours: $(head -c 1000 "$answer")"
    assert_outcome "$1"
}

end_read() {
    ((${outcome[whole]-0} < points))
}

@test "a request that reads gets a complete answer or a failure" {
    of_file
    sweep_rows read <<'END'
me memory 80
templates memory 80
template memory 80
forms memory 80
threads memory 40
lines memory 40
download memory 80
END
}

# --- writes of the database: made and answered, or not made; a repeated one makes it ---

# What a write changes, as a query; the tests of its route say what it should be.
declare -gA changes=(
    [settings]='SELECT url FROM webhook'
    [line]='SELECT name FROM line'
    [block]='SELECT contact_id FROM contact_block'
    [read]='SELECT unread FROM thread'
    [unread]='SELECT unread FROM thread'
    [done]='SELECT waiting_since, done_at > 0, (SELECT count(done_at) FROM message) FROM thread'
    [undone]='SELECT waiting_since, done_at > 0, (SELECT count(done_at) FROM message) FROM thread'
    [replay]='SELECT state, attempts FROM outbox'
    [login]='SELECT count(*) > 0 FROM session' # an attempt counts as failed until the password is read
    [logout]='SELECT count(*) FROM session'
    [retry]='SELECT count(*), count(retried_as) FROM outgoing'
)

# A queued send that failed: have_failed_send USER
have_failed_send() {
    local body='{"to":"15550100001","type":"text","text":{"body":"x"}}'
    db "INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, send_at, next_at,
            expires_at, created_at, finished_at)
        SELECT 'out_failed', '$1', account_id, id, '15550100001', CAST('$body' AS BLOB), 'failed', 1, 1, 2, 1, 1
        FROM line;
        INSERT INTO heartbeat (name, pid, beat_at) VALUES ('sender', 1, $(($(date +%s) + 86400))000)"
}

# Makes what the writes change, and captures them.
have_writes() {
    local user marked
    user=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    writes wamid.read 15550100001 1780000000
    writes wamid.marked 15550100002 1780000000
    marked=$(thread_of 15550100002)
    api POST "/v2/threads/$marked/read" -d '{}'
    api POST "/v2/threads/$marked/done" -d '{"change":1000}'
    db "INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at, created_at, finished_at)
        VALUES ('evt_00000000000000000000000001', '$user', 1, 'message.received', CAST('{}' AS BLOB), 'dead', 1, 1, 1);
        UPDATE user SET event_sequence = 1 WHERE id = '$user'"
    api POST /v2/webhooks/config -d '{"webhookUrl":"http://127.0.0.1:9/other","webhookCode":"other"}'
    have_failed_send "$user"
    make_session ''
    local as=(--as "$TOKEN")
    capture_request settings POST /v2/webhooks/config "${as[@]}" \
        -d '{"webhookUrl":"http://127.0.0.1:9/hook","webhookCode":"test-code"}'
    capture_request line PATCH "/v2/lines/$(db 'SELECT id FROM line')" "${as[@]}" -d '{"name":"x","isPrimary":true}'
    capture_request block PUT "/v2/contacts/$(contact_of 15550100001)/block" "${as[@]}" -d "{\"phoneNumberId\":\"$LINE\"}"
    capture_request read POST "/v2/threads/$(thread_of 15550100001)/read" "${as[@]}" -d '{}'
    capture_request done POST "/v2/threads/$(thread_of 15550100001)/done" "${as[@]}" -d '{"change":1000}'
    capture_request unread POST "/v2/threads/$marked/unread" "${as[@]}" -d '{}'
    capture_request undone DELETE "/v2/threads/$marked/done" "${as[@]}"
    capture_request replay POST /v2/events/evt_00000000000000000000000001/replay "${as[@]}" -d '{}'
    capture_request retry POST /v2/outgoing/out_failed/retry "${as[@]}" -d '{}'
    capture_request logout DELETE /v2/session --session "$SESSION"
    capture_request login POST /v2/session -d "{\"email\":\"$EMAIL\",\"password\":\"$PASSWORD\"}"
}

# Restores the database without what the write makes.
restore_without() {
    restore
    case $subject in
    login) db 'DELETE FROM session' ;;
    settings) db 'DELETE FROM webhook' ;;
    esac
}

begin_write() {
    restore_without
    [[ ${state_of-} == "$subject" ]] || { # the states before and after it
        state_of=$subject
        before=$(db "${changes[$subject]}")
        send_captured "$subject"
        after=$(db "${changes[$subject]}")
        [[ $before != "$after" ]] || fail "$subject changes nothing: $(cat "$answer")"
        restore_without
    }
}

check_write() { # WHAT CALL
    local found
    assert_outcome "$@"
    found=$(db "${changes[$subject]}")
    if answered 200; then
        assert_equal "$found" "$after" || fail "$1: answered, and not made"
        count made
    elif [[ $found == "$after" ]]; then
        count 'made without an answer'
    else
        assert_equal "$found" "$before" || fail "$1: half made"
        count refused
    fi
    [[ ! -s $answer ]] || answered 200 || answered '5??' || answered 400 || fail "$1: no failure of ours: $(cat "$answer")"
    send_captured "$subject"
    # a session that has ended cannot end again
    answered 200 || { [[ $subject == logout && $found == "$after" ]] && answered 401; } ||
        fail "$1: the repeated request: $(cat "$answer")"
    assert_equal "$(db "${changes[$subject]}")" "$after" || fail "$1: not made by the repeated request"
    assert_sound
}

@test "a write of the database is made and answered, or not made; a repeated one makes it" {
    local subject
    of_file
    have_writes
    keep_database writes
    for subject in settings line block read unread done undone replay login logout retry; do
        sweep write "$subject" KILL 40 "$(first_change)"
        expect made
        sweep write "$subject" errors 40
        sweep write "$subject" memory 40
    done
}

# --- payloads of the platform: one that is acknowledged is stored, any other is stored once when it is repeated ---

# One payload with updates of all kinds, and the database with which each point begins.
have_payload() {
    local payload=$STACK/payload
    of_file
    make_webhook
    add_forwards
    make_account_line
    mixed_payload >"$payload"
    capture_request payload POST /platform/webhook -d "@$payload" -H "X-Hub-Signature-256: $(sign "$payload")"
    keep_database payload
    send_captured payload
    answered 200
    COMPLETE=$(content "$DB")
    EMPTY=$(content "$STACK/payload.db")
    [[ $EMPTY != "$COMPLETE" ]]
    export EMPTY COMPLETE
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


begin_payload() {
    restore
}

check_payload() { # WHAT CALL
    answered 200 || [[ $code == 137 ]] || assert_refusal "$@"
    check_stored "$1"
}

# An acknowledged payload is stored, and a retry stores it once.
check_stored() { # WHAT
    local found
    found=$(content "$DB")
    if answered 200; then
        assert_equal "$found" "$COMPLETE" || fail "$1: acknowledged, but not stored"
        count acknowledged
    else
        [[ $found == "$EMPTY" || $found == "$COMPLETE" ]] || fail "$1: partly stored: $found"
        count "$([[ $found == "$EMPTY" ]] && echo refused || echo 'stored without an answer')"
    fi
    send_captured "${captured-payload}"
    answered 200 || fail "$1: the retry was refused: $(cat "$answer")"
    assert_equal "$(content "$DB")" "$COMPLETE" || fail "$1: not stored once after the retry"
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
        sed '1,/^\r*$/d' "$answer" | gojq -e '.success == false' >/dev/null || fail "$1: $(cat "$answer")"
}

@test "a payload that is acknowledged is stored, any other is stored once after a retry" {
    have_payload
    sweep payload payload KILL 600 brk
    expect acknowledged refused
    sweep payload payload errors 400
    expect acknowledged refused
    sweep payload payload memory 100
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

@test "with any amount of memory: 200 and stored, or refused and stored once after a retry" {
    local kilobytes refused=0 is_begun=''
    declare -A outcome=()
    have_payload
    for kilobytes in {1000..6000..100} 8000 16000; do
        restore
        send_captured payload env -u ASAN_OPTIONS -u UBSAN_OPTIONS bash -c "ulimit -v $kilobytes; exec \"\$@\"" limited
        # with less memory it ends during the C library's start, without an answer
        [[ ! -s $answer ]] && ! grep -q ^switchboard: "$stderr" || is_begun=1
        answered 200 || refused=$((refused + 1))
        answered 200 || [[ -z $is_begun ]] || assert_refusal "$kilobytes KB of memory" memory
        check_stored "$kilobytes KB of memory"
    done
    say_sweep "payload, short of memory: refused $refused times, acknowledged ${outcome[acknowledged]}" \
        $((refused + outcome[acknowledged])) "$refused" 0
    ((refused > 2))
}

@test "a disk with any space left: 200 and stored, or 503 and not stored, and accepted when there is space again" {
    local kilobytes refused=0 acknowledged=0 found
    declare -A outcome=()
    have_payload
    declare -fx send_captured answered content restore fail assert_equal check_stored round_with_room \
        disk_rounds count
    export OUT STACK kept
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
        check_stored "files of at most $kilobytes KB"
    done
    acknowledged=$((acknowledged + outcome[acknowledged]))
    say_sweep "payload on a full disk: refused $refused times, acknowledged $acknowledged" \
        $((refused + acknowledged)) "$refused" 0
    ((refused > 1 && acknowledged > 1))
}

# In a mount namespace: fills a small disk except for some KB, sends, frees space, sends again.
disk_rounds() {
    local disk=$STACK/disk kilobytes refused=0
    declare -A outcome=()
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
        check_stored "$kilobytes KB left"
    done
    printf '%d %d\n' "$refused" "${outcome[acknowledged]-0}"
}
