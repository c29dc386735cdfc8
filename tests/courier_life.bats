#!/usr/bin/env bats
# tools/courier: its life cycle beside other processes, and its behaviour when the database fails.
# transports: direct
# starts first
load helpers/all
load helpers/courier
load helpers/sweep

setup_file() {
    start_courier_stack A B
}

teardown_file() {
    stop_courier_stack
}

setup() {
    forget_events
    set_webhook A "$A_URL"
}

teardown() {
    stop_couriers
}

is_done() { # COUNT
    [[ $(db "SELECT count(*) FROM outbox WHERE state = 'done'") == "$1" ]]
}

# --- start and stop ---

@test "--help, --version, and wrong command lines" {
    courier --help | grep -q '^usage: courier'
    assert_equal "$(courier --version)" 'switchboard 0.1.0'
    run courier --nonsense
    assert_equal "$status" 2
    run courier word
    assert_equal "$status" 2
    run courier --once --config /nonexistent
    assert_equal "$status" 1
    [[ $output == 'courier: cannot read the configuration file /nonexistent: '* ]]
    printf 'webhook_egress = anywhere\n' >"$BATS_TEST_TMPDIR/conf"
    run courier --once --config "$BATS_TEST_TMPDIR/conf"
    assert_equal "$status" 1
    [[ $output == *"line 1 must set \`webhook_egress\`"* ]]
}

@test "--once delivers what is due and leaves the rest" {
    local ids
    mapfile -t ids < <(add_events A 100)
    db "UPDATE outbox SET next_attempt_at = next_attempt_at + 600000 WHERE id = '${ids[99]}'"
    courier_once
    is_done 99
    assert_event "${ids[99]}" 'state || attempts' pending0
    courier_once
    assert_equal "$(received_count A)" 99
    assert_equal "$(switchboard doctor --json | gojq -r '.[] | select(.check == "courier").status')" ok
}

# Runs the courier for four seconds, adds an event meanwhile, and waits for the end of the courier. Sets took
# and courier_status. Fails when the event was not delivered, as on a machine that takes seconds to add it.
delivers_in_time() {
    local begun=$SECONDS job id
    courier --pid-file "$STACK/courier.pid" --for 4s >>"$STACK/courier.log" 2>&1 3>&- &
    job=$!
    while [[ ! -S $(wake_socket) && -e /proc/$job/exe ]]; do
        pause 20
    done
    id=$(add_events A)
    courier_status=0
    wait "$job" || courier_status=$?
    took=$((SECONDS - begun))
    event_is "$id" 'done'
}

# bats test_tags=long
@test "--for delivers events that come while it runs, and ends after its time" {
    local took
    run courier --for 0s
    assert_equal "$status $output" '2 courier: --for takes 1s to 86400s, not 0s'
    run courier --for 5m
    assert_equal "$status" 2
    run courier --for 5 --once
    assert_equal "$status $output" '2 courier: --once and --for exclude each other'
    eventually delivers_in_time
    assert_equal "$courier_status" 0
    ((took >= 4)) || fail "it ended after $took s"
    [[ ! -e $(wake_socket) && ! -e $STACK/courier.pid ]] || fail 'the courier left a file'
    grep -q ' ends' "$LOG"
}

@test "a resident courier delivers committed events, writes its pid file and its heartbeat" {
    start_courier
    assert_equal "$(cat "$STACK/courier.pid")" "$(cat "$STACK/courier.job")"
    add_events A 5 >/dev/null
    eventually is_done 5
    assert_equal "$(db 'SELECT name || pid FROM heartbeat')" "courier$(cat "$STACK/courier.pid")"
    [[ -S $(wake_socket) ]]
    stop_courier
    assert_equal "$courier_status" 0
    [[ ! -e $STACK/courier.pid && ! -e $(wake_socket) ]]
}

@test "a test event is delivered like any other" {
    local id
    start_courier
    id=$(switchboard event test a@example.org)
    eventually is_done 1
    gojq -e '.type == "ping" and (.timestamp | test("^20..-..-..T..:..:..\\....Z$")) and (.data.sequence | type) == "number"' "$A_DIR/1.body"
    assert_equal "$(received_header A 1 webhook-id)" "$id"
    run switchboard event test b@example.org
    assert_equal "$status" 1
}

# bats test_tags=long
@test "SIGTERM lets requests in progress end, starts no further ones, and exits 0" {
    set_webhook A "$A_URL/slow"
    start_courier
    warm_up A
    answers A slow 'wait 5000'
    add_events A 12 >/dev/null
    eventually has_received A 8
    stop_courier
    assert_equal "$courier_status" 0
    assert_equal "$(received_count A)" 8
    assert_equal "$(db "SELECT state, attempts, lease_until, count(*) FROM outbox GROUP BY 1, 2, 3 ORDER BY 1")" \
        "done|1|0|8"$'\n'"pending|0|0|4"
}

# A condition: the process has taken each signal that it got: eventually has_no_signal PID
has_no_signal() {
    ! grep -qE '^(SigPnd|ShdPnd):.*[1-9a-f]' "/proc/$1/status"
}

# bats test_tags=long
@test "a second SIGTERM does not wait: the leases of events in progress are released" {
    set_webhook A "$A_URL/hang"
    start_courier
    warm_up A
    answers A hang 'wait 30000'
    add_events A 3 >/dev/null
    eventually has_received A 3
    kill -TERM "$(cat "$STACK/courier.pid")"
    eventually has_no_signal "$(cat "$STACK/courier.pid")" # two that wait are one
    sleep 0.5
    [[ -e $STACK/courier.pid ]] # it waits for the answers
    stop_courier
    assert_equal "$courier_status" 0
    assert_equal "$(db "SELECT state, attempts, lease_until, lease_owner, count(*) FROM outbox GROUP BY 1, 2, 3, 4")" 'pending|0|0||3'
    answers A hang
    courier_once
    is_done 3
    assert_all_arrived A
}

@test "after a kill between the POST and its recording, the same event is delivered again" {
    local id
    set_webhook A "$A_URL/slow"
    answers A slow 'wait 10000'
    id=$(add_events A)
    start_courier
    eventually has_received A 1
    kill -KILL "$(cat "$STACK/courier.job")"
    wait "$(cat "$STACK/courier.job")" || true
    rm "$STACK/courier.job" "$STACK/courier.pid"
    answers A slow
    courier_once # the lease of the killed courier lasts a minute
    assert_equal "$(received_count A)" 1
    assert_between "$(event "$id" "lease_until - $db_now")" 30000 60000
    db 'UPDATE outbox SET lease_until = lease_until - 60000'
    start_courier # it replaces the remaining pid file
    eventually is_done 1
    [[ -S $(wake_socket) ]]
    stop_courier
    assert_equal "$(received_count A)" 2
    assert_all_arrived A
    assert_event "$id" attempts 2
}

# bats test_tags=long
@test "two couriers share the work: each event is delivered once" {
    set_webhook B "$B_URL/slow"
    answers B slow 'wait 30'
    start_courier one
    add_events A 5 >/dev/null
    eventually is_done 5
    start_courier two
    add_events A 150 >/dev/null
    add_events B 60 >/dev/null
    eventually is_done 215
    add_events A 40 >/dev/null
    eventually is_done 255
    stop_courier one
    add_events A 5 >/dev/null
    eventually is_done 260
    stop_courier two
    assert_equal "$(received_count A)" 200
    assert_equal "$(received_count B)" 60
    assert_equal "$(db 'SELECT count(*), max(attempt) FROM event_attempt')" '260|1'
    assert_equal "$(grep -c '"verdict":"delivered"' "$LOG")" 260
    assert_equal "$(gojq -r 'select(.verdict) | .courier' "$LOG" | sort -u | wc -l)" 2
}

@test "SIGHUP reads the configuration again; an invalid one changes nothing" {
    start_courier
    mv "$LOG" "$LOG.1"
    printf 'nonsense\n' >>"$SWITCHBOARD_CONFIG"
    kill -HUP "$(cat "$STACK/courier.pid")"
    eventually grep -q 'stays as it was' "$LOG.1"
    add_events A >/dev/null
    eventually is_done 1
    write_config
    kill -HUP "$(cat "$STACK/courier.pid")"
    eventually grep -q 'was read again' "$LOG"
    add_events A >/dev/null
    eventually is_done 2
    stop_courier
    rm "$LOG.1"
}

@test "SIGHUP with a configuration of other files changes nothing: the courier is confined to its own" {
    start_courier
    write_config "log_file = $STACK/elsewhere/log"
    kill -HUP "$(cat "$STACK/courier.pid")"
    eventually grep -q 'names other files.*stays as it was' "$LOG"
    write_config
    kill -HUP "$(cat "$STACK/courier.pid")"
    eventually grep -q 'was read again' "$LOG"
    add_events A >/dev/null
    eventually is_done 1
    stop_courier
    [[ ! -e $STACK/courier.pid ]]
}

# --- faults ---

@test "a lease from a clock that was set back does not delay an event for long" {
    local id
    id=$(add_events A)
    db "UPDATE outbox SET lease_until = $db_now + 3600000, lease_owner = 'cou_other'"
    courier_once
    assert_event "$id" state 'done'
    id=$(add_events A)
    db "UPDATE outbox SET next_attempt_at = $db_now + 20 * 86400000 WHERE id = '$id'"
    courier_once # detects it at the end of its work
    courier_once
    assert_event "$id" state 'done'
}

# Runs the courier with a shifted clock: courier_at +3650d --once
courier_at() {
    ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 faketime -f "$1" "$OUT/tools/courier" "${@:2}"
}

# bats test_tags=long
@test "after the clock was ten years ahead or behind for a while, no event is lost or delayed for long" {
    local id offset
    for offset in +3650d -3650d +1h -1h; do
        forget_events
        set_webhook A "$A_URL/there"
        answers A there 'status 500'
        id=$(add_events A)
        courier_once
        make_due
        courier_at "$offset" --once
        courier_at "$offset" --once
        assert_event "$id" state pending
        answers A there
        # events may wait for one hour after the correction, and no longer
        make_due 'next_attempt_at < '"$db_now"' + 4000000'
        courier_once
        db "UPDATE webhook SET next_probe_at = 0 WHERE next_probe_at < $db_now + 7500000"
        make_due 'next_attempt_at < '"$db_now"' + 4000000'
        courier_once
        courier_once
        [[ $(event "$id" state) == 'done' ]] || fail "$offset: $(db "SELECT state, attempts, (next_attempt_at - $db_now) / 1000,
            (lease_until - $db_now) / 1000, w.suspended_at, (w.next_probe_at - $db_now) / 1000 FROM outbox, webhook w WHERE outbox.id = '$id'")"
        assert_equal "$(db 'SELECT suspended_at IS NULL AND failing_since IS NULL FROM webhook')" 1
        id=$(add_events A)
        courier_once
        assert_event "$id" state 'done'
    done
}

@test "a webhook that was configured and suspended while the clock was ahead recovers" {
    local id
    db "UPDATE webhook SET updated_at = $db_now + 315360000000, failing_since = $db_now + 315360000000,
        suspended_at = $db_now + 315360000000, next_probe_at = $db_now + 315363600000"
    id=$(add_events A)
    courier_once # detects it at the end of its work
    courier_once
    assert_event "$id" state 'done'
    assert_equal "$(db 'SELECT suspended_at IS NULL AND failing_since IS NULL AND next_probe_at IS NULL FROM webhook')" 1
}

@test "after a kill during a delivery with the clock ahead, the event is delivered again" {
    local id
    answers A slow 'wait 10000'
    set_webhook A "$A_URL/slow"
    id=$(add_events A)
    courier_at +1d --once --pid-file "$BATS_TEST_TMPDIR/pid" 3>&- &
    eventually has_received A 1 slow
    kill -KILL "$(<"$BATS_TEST_TMPDIR/pid")" # faketime is its parent
    wait $! || true
    answers A slow
    # all hosts use the clock of a server: here that was ahead
    [[ -z ${SERVER-} ]] ||
        db "UPDATE outbox SET lease_until = lease_until + 86400000 WHERE id = '$id'"
    assert_equal "$(event "$id" "state, lease_until > $db_now + 80000000")" 'pending|1'
    courier_once
    courier_once
    assert_event "$id" state 'done'
}

# bats test_tags=long
@test "a database that is locked for 10 s delays events and loses none" {
    set_webhook A "$A_URL/slow"
    answers A slow 'wait 1000'
    add_events A 20 >/dev/null
    start_courier
    eventually has_received A 8
    hold_database
    sleep 10
    release_database
    eventually is_done 20
    stop_courier
    grep -qE 'database is locked|lock timeout' "$LOG"
    grep -q 'can be used again' "$LOG"
    assert_equal "$(received_count A)" 20
    assert_all_arrived A
}

# The same of a database that is in use: a file, with its write-ahead log.
take_open_database_away() {
    if [[ -n ${SERVER-} ]]; then
        take_database_away
    else
        mkdir "$STACK/elsewhere"
        mv "$DB" "$DB-wal" "$DB-shm" "$STACK/elsewhere"
    fi
}

bring_open_database_back() {
    if [[ -n ${SERVER-} ]]; then
        bring_database_back
    else
        mv "$STACK"/elsewhere/* "$STACK/data"
        rmdir "$STACK/elsewhere"
    fi
}

# bats test_tags=long
@test "the courier waits for a missing database" {
    set_webhook A "$A_URL/slow"
    answers A slow 'wait 1500'
    start_courier
    add_events A 3 >/dev/null
    eventually has_received A 3
    take_open_database_away # the deliveries end meanwhile
    eventually grep -q '"level":"error"' "$LOG"
    sleep 1
    bring_open_database_back
    eventually is_done 3
    add_events A 2 >/dev/null
    eventually is_done 5
    stop_courier
    assert_all_arrived A
    take_database_away
    run courier_once
    assert_equal "$status" 1
    [[ $output == 'courier: database or key file cannot be used'* ]]
    bring_database_back
}

# bats test_tags=long
@test "the courier waits while the disk is full, and loses no event" {
    only_on_sqlite 'the writes of a server are not those of the courier'
    set_webhook A "$A_URL/slow"
    answers A slow 'wait 1000'
    add_events A 12 >/dev/null
    # Seven writes fail, from the middle of its work on. strace injects errors by calls that the filter kills.
    env -u SWITCHBOARD_CONFINE_KILLS "${tracing[@]}" -o "$BATS_TEST_TMPDIR/trace" -e trace=pwrite64 \
        -e inject=pwrite64:error=ENOSPC:when=14..20 "$OUT/tools/courier" --once
    grep -q 'ENOSPC.*INJECTED' "$BATS_TEST_TMPDIR/trace"
    grep -q 'database or disk is full' "$LOG"
    is_done 12
    assert_all_arrived A
    assert_sound
}

@test "without its key file the courier waits; with another one events fail with the reason" {
    local id key=$STACK/secret.key
    id=$(add_events A)
    mv "$key" "$key.kept"
    run courier_once
    assert_equal "$status" 1
    assert_event "$id" 'state || attempts' pending0
    printf '1 %064d\n' 7 >"$key"
    courier_once
    assert_event "$id" 'state || attempts' pending1
    [[ $(event "$id" last_error) == 'the webhook code cannot be decrypted'* ]]
    assert_equal "$(received_count A)" 0
    mv "$key.kept" "$key"
    make_due
    courier_once
    assert_event "$id" state 'done'
}

# --- housekeeping ---

@test "events that ended long ago are removed together with their attempts" {
    local day=86400000 ids
    mapfile -t ids < <(add_events A 6)
    courier_once
    db "UPDATE outbox SET finished_at = $db_now - 7 * $day - 60000 WHERE id IN ('${ids[0]}', '${ids[1]}', '${ids[2]}');
        UPDATE outbox SET state = 'cancelled' WHERE id = '${ids[1]}';
        UPDATE outbox SET state = 'dead' WHERE id = '${ids[2]}';
        UPDATE outbox SET finished_at = $db_now - 7 * $day + 60000 WHERE id = '${ids[3]}';
        UPDATE outbox SET state = 'dead', finished_at = $db_now - $((30 * day + 60000)) WHERE id = '${ids[4]}';
        UPDATE outbox SET state = 'pending', finished_at = NULL, created_at = 1, next_attempt_at = $db_now + 600000 WHERE id = '${ids[5]}'"
    courier_once
    assert_equal "$(db 'SELECT id FROM outbox ORDER BY sequence')" "${ids[2]}"$'\n'"${ids[3]}"$'\n'"${ids[5]}"
    assert_equal "$(db 'SELECT count(*) FROM event_attempt')" 3
}

# Adds COUNT events of A, each with one attempt, that ended as STATE so many DAYS ago.
add_ended() {
    add_events A "$1" >/dev/null
    db "INSERT INTO event_attempt (user_id, event_id, webhook_id, attempt, started_at, duration_ms)
            SELECT user_id, id, webhook_id, 1, 1, 1 FROM outbox WHERE state = 'pending';
        UPDATE outbox SET state = '$2', finished_at = $db_now - $(($3 * 86400000)), next_attempt_at = 0
            WHERE state = 'pending'"
}

@test "5,000 events that ended long ago are removed at once, with their attempts" {
    add_ended 3000 'done' 8
    add_ended 1000 cancelled 8
    add_ended 1000 dead 31
    add_ended 10 dead 8
    courier_once
    assert_equal "$(db 'SELECT state, count(*) FROM outbox GROUP BY 1; SELECT count(*) FROM event_attempt')" $'dead|10\n10'
}

@test "idempotency keys of more than 24 hours are removed, newer ones are kept" {
    db "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1200)
        INSERT INTO idempotency (user_id, key, route, fingerprint, request_id, created_at)
        SELECT (SELECT id FROM user WHERE email = 'a@example.org'), 'k' || n, 'POST /a', zeroblob(32), 'req_' || n,
            $db_now - 86400000 + CASE n % 2 WHEN 1 THEN -60000 ELSE 60000 END FROM n"
    courier_once
    assert_equal "$(db 'SELECT count(*), sum(CAST(substr(key, 2) AS INTEGER) % 2) FROM idempotency')" '600|0'
    db 'DELETE FROM idempotency'
}

# bats test_tags=long
@test "a resident courier removes old events while it delivers" {
    add_ended 5000 'done' 8
    start_courier
    add_events A 3 >/dev/null
    eventually is_only 3
    stop_courier
    assert_equal "$(received_count A)" 3
}

is_only() { # COUNT
    [[ $(db "SELECT count(*) FROM outbox") == "$1" ]] && is_done "$1"
}

@test "waiting times longer than a courier sets are ended, however many, and others stay" {
    local far=$((10 * 86400000)) suspended
    request DELETE /v2/webhooks/config --as "$A_TOKEN"
    add_events A 1200 >/dev/null
    add_events B 2 >/dev/null
    db "UPDATE outbox SET next_attempt_at = $db_now + $far;
        UPDATE outbox SET next_attempt_at = $db_now + 86400000 WHERE id IN (SELECT id FROM outbox ORDER BY id DESC LIMIT 1)"
    courier_once
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE next_attempt_at > $db_now")" 1
    suspended=$(db "UPDATE webhook SET suspended_at = $db_now + $far, next_probe_at = $db_now + $far RETURNING 1")
    assert_equal "$suspended" $'1\n1'
    courier_once
    assert_equal "$(db "SELECT DISTINCT suspended_at <= $db_now, next_probe_at <= $db_now FROM webhook")" '1|1'
}

@test "the write-ahead log is truncated after writes of other processes, and stays small" {
    only_on_sqlite 'a server has its own log'
    start_courier
    db "CREATE TABLE filler (x); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO filler SELECT randomblob(400) FROM n; DROP TABLE filler"
    eventually wal_is_empty
    stop_courier
}

wal_is_empty() {
    [[ ! -s $DB-wal ]]
}

# --- commands of the operator ---

@test "events are listed and shown with the JSON keys that scripts use" {
    local ids
    set_webhook A "$A_URL/no"
    answers A no 'status 503' 'body come back later'
    mapfile -t ids < <(add_events A 2)
    db "UPDATE outbox SET next_attempt_at = $db_now + 60000 WHERE id = '${ids[1]}'"
    courier_once
    switchboard event list --json >"$BATS_TEST_TMPDIR/list"
    gojq -e --arg id "${ids[0]}" 'length == 2 and .[0].id == $id and (.[0] | .type == "message.received"
        and .state == "pending" and .attempts == 1 and (.nextAttemptAt | test("^20.*Z$")) and .lastStatus == 503
        and .lastError == "HTTP 503" and (.createdAt | test("^20.*Z$")) and .email == "a@example.org")
        and (.[1] | .attempts == 0 and .lastStatus == null and .lastError == null)' "$BATS_TEST_TMPDIR/list" ||
        fail "$(cat "$BATS_TEST_TMPDIR/list")"
    assert_equal "$(switchboard event list --failed --json | gojq -r '.[].id')" "${ids[0]}"
    assert_equal "$(switchboard event list | wc -l)" 3
    switchboard event list --failed | grep -F "${ids[0]}" | grep -q 'pending .* 503 .*HTTP 503'
    switchboard event show "${ids[0]}" --json >"$BATS_TEST_TMPDIR/event"
    gojq -e '.body.data.message.note == "größer ☃" and .attemptLog[0].response == "come back later"' "$BATS_TEST_TMPDIR/event"
    switchboard event show "${ids[0]}" | grep -q 'come back later'
    run switchboard event show evt_none
    assert_equal "$status" 1
}

# bats test_tags=long
@test "replay delivers the same event again: one event, or all of a time span" {
    local ids since
    add_events A 5 >/dev/null
    db "UPDATE outbox SET created_at = 1700000000000 + 60000 * (sequence - (SELECT min(sequence) FROM outbox));
        UPDATE outbox SET id = $(event_id_sql created_at sequence)"
    mapfile -t ids < <(db 'SELECT id FROM outbox ORDER BY sequence')
    courier_once
    assert_equal "$(received_count A)" 5
    switchboard event replay "${ids[1]}"
    assert_event "${ids[1]}" 'state, attempts, finished_at IS NULL' 'pending|0|1'
    courier_once
    assert_equal "$(received_count A)" 6
    assert_equal "$(received_header A 6 webhook-id)" "${ids[1]}"
    since=2023-11-14T22:14:20Z # the time of the second event
    assert_equal "$(switchboard event replay --since $since --until 2023-11-14T22:16:20Z --json)" '{"replayed":2}'
    courier_once
    assert_equal "$(for number in 7 8; do received_header A $number webhook-id; done | sort)" \
        "$(printf '%s\n' "${ids[1]}" "${ids[2]}" | sort)"
    assert_equal "$(switchboard event replay --since $since)" '4 events to be delivered again'
    courier_once
    assert_equal "$(received_count A)" 12
    assert_all_arrived A
    assert_equal "$(db "SELECT max(attempt) FROM event_attempt WHERE event_id = '${ids[1]}'")" 4
    # replays dead events too, but no event in progress, nor any of a user without a webhook
    db "UPDATE outbox SET state = 'dead', attempts = 10 WHERE id = '${ids[0]}';
        UPDATE outbox SET state = 'pending', lease_until = $db_now + 50000, lease_owner = 'cou_other', attempts = 3 WHERE id = '${ids[4]}'"
    switchboard event replay "${ids[0]}"
    switchboard event replay "${ids[4]}"
    assert_event "${ids[0]}" 'state || attempts' pending0
    assert_event "${ids[4]}" 'attempts || lease_owner' 3cou_other
    request DELETE /v2/webhooks/config --as "$A_TOKEN"
    run switchboard event replay "${ids[0]}"
    assert_equal "$status" 1
    run switchboard event replay evt_none
    assert_equal "$status" 1
    local wrong
    for wrong in '' "${ids[0]} --since $since" "--until $since" "--since yesterday"; do
        # shellcheck disable=SC2086  # several words
        run switchboard event replay $wrong
        assert_equal "$status" 2
    done
}

@test "a replayed event of a merged contact keeps the order of the remaining contact" {
    local ids
    mapfile -t ids < <(add_events A 1 con_gone; add_events A 1 con_kept)
    courier_once
    db "UPDATE outbox SET state = 'dead' WHERE id = '${ids[0]}';
        INSERT INTO contact (id, account_id, phone, created_at, updated_at)
            SELECT 'con_kept', id, '15550001', 1, 1 FROM account LIMIT 1;
        INSERT INTO contact_merge (id, account_id, contact_id, merged_id, reason, created_at)
            SELECT 'mrg_1', account_id, id, 'con_gone', 'same_payload', 1 FROM contact WHERE id = 'con_kept'"
    switchboard event replay "${ids[0]}"
    assert_event "${ids[0]}" 'contact_id || state' con_keptpending
    assert_event "${ids[1]}" 'contact_id || state' con_keptdone
    switchboard event replay --since 2020-01-01
    assert_equal "$(db "SELECT DISTINCT contact_id, state FROM outbox")" 'con_kept|pending'
    courier_once
    # the events of one contact are in the order of their sequence numbers
    assert_equal "$(for number in 3 4; do received_header A $number webhook-id; done)" "${ids[0]}"$'\n'"${ids[1]}"
    db "DELETE FROM contact_merge; DELETE FROM contact_term; DELETE FROM contact"
}

@test "a replay of many events uses short transactions and counts all events" {
    local id
    add_ended 1700 'done' 1
    assert_equal "$(switchboard event replay --since 2020-01-01 --json)" '{"replayed":1700}'
    assert_equal "$(db 'SELECT DISTINCT state, attempts FROM outbox')" 'pending|0'
    db "UPDATE outbox SET state = 'done', finished_at = 1"
    id=$(db 'SELECT id FROM outbox ORDER BY id LIMIT 1 OFFSET 1200')
    # the batch with this event fails: the batches before it stay replayed
    refuse_update event "$id"
    run switchboard event replay --since 2020-01-01
    accept_updates event
    assert_equal "$status" 1
    [[ $output == *'1000 events are to be delivered again; the rest is unchanged'* ]] || fail "$output"
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE state = 'pending'")" 1000
}

@test "event list continues after the last row of the previous page" {
    local ids
    mapfile -t ids < <(add_events A 7)
    db "UPDATE outbox SET last_error = 'HTTP 500' WHERE id IN ('${ids[1]}', '${ids[4]}', '${ids[6]}')"
    assert_equal "$(switchboard event list --json | gojq -r '.[].id')" "$(printf '%s\n' "${ids[@]}")"
    assert_equal "$(switchboard event list --limit 3 --json | gojq -r '.[].id')" "$(printf '%s\n' "${ids[@]:0:3}")"
    assert_equal "$(switchboard event list --after "${ids[2]}" --limit 3 --json | gojq -r '.[].id')" \
        "$(printf '%s\n' "${ids[@]:3:3}")"
    assert_equal "$(switchboard event list --after "${ids[6]}" --json)" '[]'
    assert_equal "$(switchboard event list --failed --after "${ids[1]}" --json | gojq -r '.[].id')" \
        "${ids[4]}"$'\n'"${ids[6]}"
    assert_equal "$(switchboard event list --limit 2 | wc -l)" 3
}

@test "message.status is enabled and disabled for each user" {
    local both='message.received lead.created message.status'
    assert_equal "$(db 'SELECT event_types FROM webhook')" ''
    switchboard event enable message.status a@example.org
    assert_equal "$(db 'SELECT event_types FROM webhook')" "$both"
    request GET /v2/webhooks/config --as "$A_TOKEN"
    assert_json .data.webhookUrl "$A_URL"
    switchboard event enable message.status b@example.org # works without a webhook
    set_webhook B "$B_URL"
    assert_equal "$(db 'SELECT event_types FROM webhook')" "$both"$'\n'"$both"
    switchboard event disable message.status a@example.org
    assert_equal "$(db 'SELECT count(*), count(event_types) FROM webhook')" '2|1'
    db "UPDATE webhook SET event_types = 'message.status' WHERE event_types IS NULL"
    switchboard event disable message.status a@example.org
    assert_equal "$(db "SELECT count(*) FROM webhook WHERE event_types = ''")" 1
    switchboard event enable message.status a@example.org
    assert_equal "$(db "SELECT count(*) FROM webhook WHERE event_types = 'message.status'")" 1
    run switchboard event enable message.status nobody@example.org
    assert_equal "$status" 1
    run switchboard event enable message.received a@example.org
    assert_equal "$status" 2
}
