#!/usr/bin/env bats
# /v2/events, /v2/events/.../replay and POST /v2/webhooks/test: the events of the webhook, what
# became of them, and their repetition (spec 6).
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/pages
load helpers/webhook

setup_file() {
    start_stack
    make_user OTHER_
    make_user
    start_receiver A
}

teardown_file() {
    stop_receivers
    stop_stack
}

setup() {
    db 'DELETE FROM event_attempt; DELETE FROM outbox'
    user=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    other=$(db "SELECT id FROM user WHERE email = '$OTHER_EMAIL'")
    rm -f "$A_DIR"/*.head "$A_DIR"/*.body
    answers A hook
    api POST /v2/webhooks/config -d "{\"webhookUrl\":\"$A_URL/hook\",\"webhookCode\":\"s3cret\"}"
    assert_success
    webhook=$(db "SELECT id FROM webhook WHERE user_id = '$user'")
}

# The id of the event with this number: event_id NUMBER
event_id() {
    printf 'evt_0%s%016d' "${2-1abcdefgh}" "$1"
}

# Inserts an event: add_event NUMBER STATE [TYPE [ERROR [USER]]]
add_event() {
    local finished=NULL error=NULL
    [[ $2 == pending ]] || finished=$((1000 + $1))
    [[ -z ${4-} ]] || error="'$4'"
    db "INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at, created_at,
            finished_at, last_error) VALUES ('$(event_id "$1")', '${5-$user}', 100 + $1,
            '${3-message.received}', CAST('{\"n\": $1}' AS BLOB), '$2', 9000000000000,
            1700000000000 + $1, $finished, $error)"
}

# Expects the events with these numbers, in this order: assert_listed NUMBER...
assert_listed() {
    local number wanted=()
    assert_success
    for number; do
        wanted+=("\"$(event_id "$number")\"")
    done
    assert_json '[.data.items[].id]' "[$(comma_list "${wanted[@]}")]"
}

row() { # COLUMNS NUMBER
    db "SELECT $1 FROM outbox WHERE id = '$(event_id "$2")'"
}

# Delivers the due events.
deliver_all() {
    "$OUT/tools/courier" --config "$SWITCHBOARD_CONFIG" --for 1s >>"$STACK/courier.log" 2>&1
}

# --- GET /v2/events ---

@test "the list has the user's own events, the newest first, each with its state and no body" {
    add_event 1 'done'
    add_event 2 dead message.status 'HTTP 500'
    add_event 3 pending lead.created 'no answer'
    add_event 4 'done' message.received '' "$other"
    api GET /v2/events
    assert_conventions
    assert_listed 3 2 1
    assert_json '.data.items[1]' "{\"id\":\"$(event_id 2)\",\"sequence\":102,
        \"type\":\"message.status\",
        \"state\":\"dead\",\"attempts\":0,\"lastStatus\":null,\"lastError\":\"HTTP 500\",
        \"createdAt\":\"2023-11-14T22:13:20.002Z\",\"nextAttemptAt\":null,
        \"finishedAt\":\"1970-01-01T00:00:01.002Z\",\"messageId\":null,\"contact\":null,
        \"webhooks\":[{\"webhookId\":\"$webhook\",\"state\":\"dead\",
        \"attempts\":0,\"nextAttemptAt\":null,
        \"lastStatus\":null,\"lastError\":\"HTTP 500\",
        \"finishedAt\":\"1970-01-01T00:00:01.002Z\"}]}"
    assert_that '.data.items[0].nextAttemptAt == "2255-03-14T16:00:00.000Z"
        and .data.paging == {cursors: {after: null}}'
}

@test "an event says whom it is about, and is found by the id of its message, of its contact and its own" {
    local own contact one
    take "$(payload "$(inbound wamid.Q1 "$P1" '')")"
    take "$(payload "$(inbound wamid.Q2 "$P2" '')")"
    contact=$(db "SELECT id FROM contact WHERE phone = '$P1' AND account_id = '$ACCOUNT'")
    api GET '/v2/events?q=wamid.Q1&type=message.received'
    assert_conventions
    assert_that ".data.items | length == 1 and .[0].messageId == \"wamid.Q1\"
        and .[0].contact.id == \"$contact\"
        and .[0].contact.phone == \"$P1\" and (.[0].webhooks | map(.webhookId)) == [\"$webhook\"]"
    own=$(filter -r '.data.items[0].id' "$body")
    for one in "$own" "$contact" wamid.Q1; do
        api GET "/v2/events?q=$one&type=message.received&webhookId=$webhook&state=pending"
        assert_json '[.data.items[].id]' "[\"$own\"]"
        api GET "/v2/events?q=$one&state=dead"
        assert_json .data.items '[]'
        api GET "/v2/events?q=$one&webhookId=whk_none"
        assert_json .data.items '[]'
        request GET "/v2/events?q=$one" --as "$OTHER_TOKEN"
        assert_json .data.items '[]'
    done
    take "$(payload "$(change messages "\"messages\":[$(message wamid.Q3 '' "$B1")]")")"
    take "$(payload "$(inbound wamid.Q4 "$P1" "$B1")")"
    api GET '/v2/events?q=wamid.Q3'
    assert_that '.data.items[0].contact.phone == "'"$P1"'"'
}

@test "the conditions of the list hold alone and together" {
    add_event 1 'done' message.received
    add_event 2 dead message.status 'HTTP 500'
    add_event 3 pending message.received 'HTTP 503'
    add_event 4 pending message.status
    add_event 5 cancelled message.received
    add_event 6 'done' message.status
    local query numbers
    while read -r query numbers; do
        printf 'case: %s\n' "$query"
        api GET "/v2/events?$query"
        # shellcheck disable=SC2086  # words
        assert_listed $numbers
    done <<'END'
state=pending 4 3
state=done 6 1
state=dead 2
state=cancelled 5
type=message.status 6 4 2
type=none
failed=true 3 2
failed=false 6 5 4 3 2 1
state=pending&failed=true 3
state=done&type=message.status 6
state=pending&type=message.status 4
type=message.status&failed=true 2
state=done&failed=true
state=dead&type=message.status&failed=true 2
END
    db "UPDATE webhook SET suspended_at = 1 WHERE user_id = '$user'"
    api GET '/v2/events?state=pending'
    assert_listed 4 3
    assert_that '[.data.items[].state] == ["pending", "pending"]'
}

@test "since and until are a period of the creation: from since on, and before until" {
    local at
    for at in 1000 2000 3000; do
        db "INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at,
            created_at)
            SELECT 'evt_' || s, '$user', $at, 't', x'7b7d', 'pending', 1, $at FROM (SELECT
            '$(ulid_at "$at")' AS s) given"
    done
    api GET '/v2/events?since=1970-01-01T00:00:02Z'
    assert_json '[.data.items[].sequence]' '[3000,2000]'
    api GET '/v2/events?until=1970-01-01T00:00:02Z'
    assert_json '[.data.items[].sequence]' '[1000]'
    api GET '/v2/events?since=1970-01-01T00:00:02Z&until=1970-01-01T00:00:02.001Z&state=pending'
    assert_json '[.data.items[].sequence]' '[2000]'
}

# The least ULID of a time in ms: 48 bits of the time and zeros, in Crockford's base 32, lower case.
ulid_at() {
    local digits=0123456789abcdefghjkmnpqrstvwxyz text='' i
    for ((i = 9; i >= 0; i--)); do
        text+=${digits:$((($1 >> (5 * i)) & 31)):1}
    done
    printf '%s0000000000000000' "$text"
}

@test "limit and after lead through all events, once each" {
    local number
    for number in 1 2 3 4 5 6 7; do
        add_event "$number" 'done'
    done
    all_rows '/v2/events?limit=3' .sequence >"$BATS_TEST_TMPDIR/ids"
    assert_equal "$pages" 3
    assert_equal "$(xargs <"$BATS_TEST_TMPDIR/ids")" '107 106 105 104 103 102 101'
}

# bats test_tags=direct,long
@test "a cursor that is none, a time that is none and an unknown state are 400 on their field" {
    local query
    for query in after=evt_1 after=%21 "after=$(printf 'msg_1' | base64)" \
        after=ZXZ0Xw== after=ZXZ0XyYm \
        "after=$(printf 'evt_%0200d' 1 | base64 -w 0)" \
        since=yesterday until=2026-13-01 state=suspended \
        failed=yes limit=0 limit=101; do
        printf 'case: %s\n' "$query"
        api GET "/v2/events?$query"
        assert_error 400 VALIDATION_ERROR
        assert_issue "${query%%=*}"
    done
}

# --- GET /v2/events/:eventId ---

@test "one event has its body byte for byte and every attempt, without code and signature" {
    add_event 1 dead message.received 'HTTP 500'
    local webhook
    webhook=$(db "SELECT webhook_id FROM delivery")
    db "UPDATE outbox SET body = CAST('{\"a\":  9007199254740993}' AS BLOB);
        INSERT INTO event_attempt VALUES
            ('$user', '$(event_id 1)', '$webhook', 1, 1700000000123, 12, NULL,
            'no answer within 15 s', NULL, NULL), ('$user', '$(event_id 1)', '$webhook', 2,
            1700000010999, 7, 500,
            'HTTP 500', '127.0.0.1', x'6f682000ff3c')"
    api GET "/v2/events/$(event_id 1)"
    assert_success
    assert_conventions
    grep -qF '"body":{"a":  9007199254740993}' "$body"
    assert_json .data.deliveries "[{\"webhookId\":\"$webhook\",\"attempt\":1,
        \"startedAt\":\"2023-11-14T22:13:20.123Z\",
        \"durationMs\":12,
        \"status\":null,\"error\":\"no answer within 15 s\",\"address\":null,\"responseHead\":null,
        \"headers\":{\"webhook-id\":\"$(event_id 1)\",\"webhook-timestamp\":\"1700000000\"}},
        {\"webhookId\":\"$webhook\",\"attempt\":2,
        \"startedAt\":\"2023-11-14T22:13:30.999Z\",\"durationMs\":7,\"status\":500,
        \"error\":\"HTTP 500\",\"address\":\"127.0.0.1\",\"responseHead\":\"oh \\u0000\\ufffd<\",
        \"headers\":{\"webhook-id\":\"$(event_id 1)\",\"webhook-timestamp\":\"1700000010\"}}]"
    refute grep -q 's3cret\|signature' "$body"
}

# --- POST /v2/events/:eventId/replay ---

# bats test_tags=long
@test "a replayed event is sent again under the same id, with the same body and a new signature" {
    local state
    for state in 'done' dead cancelled; do
        db 'DELETE FROM event_attempt; DELETE FROM outbox'
        rm -f "$A_DIR"/*.head "$A_DIR"/*.body
        add_event 1 "$state"
        api POST "/v2/events/$(event_id 1)/replay" -d '{}'
        assert_success
        assert_that '.data | .state == "pending" and .attempts == 0
            and .deliveries == [] and .body == {n: 1}'
        deliver_all
        assert_equal "$(received_count A hook)" 1
        assert_equal "$(received_header A "$(received A hook)" webhook-id)" "$(event_id 1)"
        assert_equal "$(cat "$A_DIR/$(received A hook).body")" '{"n": 1}'
        assert_equal "$(db 'SELECT count(*), count(DISTINCT id) FROM outbox')" '1|1'
        assert_equal "$(row state 1)" 'done'
    done
}

@test "the replay of an event that waits for its next attempt makes it now, and keeps its attempts" {
    add_event 1 pending message.received 'HTTP 500'
    local due
    db "UPDATE outbox SET attempts = 3, next_attempt_at = $db_now + 3600000"
    api POST "/v2/events/$(event_id 1)/replay"
    assert_success
    assert_that '.data | .state == "pending" and .attempts == 3'
    due=$(jq -r .data.nextAttemptAt "$body")
    [[ ! $due > $(date -u +%FT%T.999Z) ]]
    deliver_all
    assert_equal "$(received_count A hook)" 1
    assert_equal "$(received_header A "$(received A hook)" webhook-id)" "$(event_id 1)"
    assert_equal "$(db 'SELECT state, last_status FROM outbox')" 'done|200'
}

@test "the replay of an event whose attempt is being made changes nothing" {
    add_event 1 pending message.received 'HTTP 500'
    local before
    db "UPDATE outbox SET attempts = 3, next_attempt_at = $db_now + 20000,
        lease_until = $db_now + 20000, lease_owner = 'cou_1'"
    before=$(db 'SELECT * FROM outbox')
    api POST "/v2/events/$(event_id 1)/replay"
    assert_success
    assert_equal "$(db 'SELECT * FROM outbox')" "$before"
}

# bats test_tags=long
@test "64 replays of one event at once are one delivery" {
    add_event 1 dead
    request_many 64 POST "/v2/events/$(event_id 1)/replay" --as "$TOKEN"
    assert_equal "$(statuses)" '64 200'
    deliver_all
    assert_equal "$(received_count A hook)" 1
}

@test "without a webhook a replay and a test are 409, and nothing changes" {
    add_event 1 dead
    api DELETE /v2/webhooks/config
    local path
    for path in "/v2/events/$(event_id 1)/replay" /v2/events/replay /v2/webhooks/test; do
        api POST "$path" -d '{"since":"2020-01-01"}'
        assert_error 409 VALIDATION_ERROR 'POST /v2/webhooks/config'
        assert_conventions
    done
    assert_equal "$(db 'SELECT state, count(*) FROM outbox GROUP BY state')" 'dead|1'
}

# --- POST /v2/events/replay ---

@test "the replay of a period delivers the dead events since then, and no others" {
    local at
    for at in 1000 2000 3000 4000 5000; do
        db "INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at,
            created_at, finished_at)
            VALUES ('evt_$(ulid_at "$at")', '$user', $at, 't', x'7b7d',
            CASE $at WHEN 3000 THEN 'done'
            WHEN 4000 THEN 'cancelled' ELSE 'dead' END, 1, $at, 1)"
    done
    add_event 9 dead t e "$other"
    api POST /v2/events/replay -d '{"since":"1970-01-01T00:00:02Z"}'
    assert_success
    assert_body_is '{"success":true,"data":{"replayed":2,"more":false}}'
    assert_equal "$(db "SELECT sequence FROM outbox WHERE state = 'pending' ORDER BY 1" | xargs)" \
        '2000 5000'
    deliver_all
    assert_equal "$(received_count A hook)" 2
    api POST /v2/events/replay -d '{"since":"1970-01-01T00:00:02Z"}'
    assert_body_is '{"success":true,"data":{"replayed":0,"more":false}}'
}

@test "one request replays 500 events, the oldest ones, and says that there are more" {
    db "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1100)
        INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at,
        created_at, finished_at)
        SELECT printf('evt_%026d', n), '$user', n, 't', x'7b7d', 'dead', 1, 1, 1 FROM n"
    local wanted last=0
    for wanted in '500,"more":true' '500,"more":true' '100,"more":false'; do
        api POST /v2/events/replay -d '{"since":"1970-01-01"}'
        assert_body_is "{\"success\":true,\"data\":{\"replayed\":$wanted}}"
        last=$((last + ${wanted%%,*}))
        assert_equal "$(db "SELECT max(sequence), count(*) FROM outbox WHERE state = 'pending'")" \
            "$last|$last"
    done
}

@test "with retrying the replay of a period also makes those due that wait for their next attempt" {
    local at
    for at in 1000 2000 3000 4000 5000; do
        db "INSERT INTO outbox (id, user_id, sequence, type, body, state, attempts,
            next_attempt_at, lease_until, created_at, finished_at)
            VALUES ('evt_$(ulid_at "$at")', '$user', $at, 't', x'7b7d',
            CASE $at WHEN 2000 THEN 'dead' ELSE 'pending' END, 3, $db_now + 3600000,
            CASE $at WHEN 3000 THEN $db_now + 20000 ELSE 0 END, $at,
            CASE $at WHEN 2000 THEN 1 END)"
    done
    add_event 9 pending t e "$other"
    api POST /v2/events/replay -d '{"since":"1970-01-01T00:00:02Z"}'
    assert_body_is '{"success":true,"data":{"replayed":1,"more":false}}'
    api POST /v2/events/replay -d '{"since":"1970-01-01T00:00:02Z","retrying":true}'
    assert_body_is '{"success":true,"data":{"replayed":2,"more":false}}'
    assert_equal "$(db "SELECT sequence, attempts FROM outbox WHERE user_id = '$user' AND
        next_attempt_at <= $db_now AND state = 'pending' ORDER BY 1" | xargs)" \
        '2000|0 4000|3 5000|3'
    deliver_all
    assert_equal "$(received_count A hook)" 3
    api POST /v2/events/replay -d '{"since":"1970-01-01T00:00:02Z","retrying":true}'
    assert_body_is '{"success":true,"data":{"replayed":0,"more":false}}'
}

@test "one request with retrying replays 500 events, and says that there are more" {
    db "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 700)
        INSERT INTO outbox (id, user_id, sequence, type, body, state, attempts, next_attempt_at,
        created_at, finished_at)
        SELECT printf('evt_%026d', n), '$user', n, 't', x'7b7d',
        CASE WHEN n <= 300 THEN 'dead' ELSE 'pending' END, 1, 9999999999999 + n, 1,
        CASE WHEN n <= 300 THEN 1 END FROM n"
    local wanted
    for wanted in '500,"more":true' '200,"more":false'; do
        api POST /v2/events/replay -d '{"since":"1970-01-01","retrying":true}'
        assert_body_is "{\"success\":true,\"data\":{\"replayed\":$wanted}}"
    done
    assert_equal "$(db "SELECT count(*), max(sequence) FROM outbox WHERE state = 'pending' AND
        next_attempt_at <= $db_now")" '700|700'
}

# bats test_tags=direct
@test "since is required and must be a time" {
    local text code
    while read -r code text; do
        api POST /v2/events/replay -d "$text"
        assert_error 400 VALIDATION_ERROR since
        assert_that "[.details[] | [.path, .code]] == [[\"since\", \"$code\"]]"
    done <<'END'
required {}
invalid_type {"since":5}
invalid_value {"since":"soon"}
empty {"since":""}
invalid_value {"since":"2026-01-01T00:00:00.000000000000000000000000000000Z"}
END
}

# --- POST /v2/webhooks/test ---

@test "a test event is signed and delivered like any other, has the next sequence, and is no lead" {
    local id number sequence leads
    sequence=$(db "SELECT event_sequence FROM user WHERE id = '$user'")
    leads=$(db 'SELECT count(*) FROM lead')
    api POST /v2/webhooks/test
    assert_success
    id=$(jq -r .data.eventId "$body")
    [[ $id == evt_?????????????????????????? ]]
    assert_body_is "{\"success\":true,\"data\":{\"eventId\":\"$id\"}}"
    deliver_all
    number=$(received A hook)
    assert_equal "$(received_header A "$number" webhook-id)" "$id"
    assert_equal "$(jq -c '[.type, .data]' "$A_DIR/$number.body")" \
        "[\"ping\",{\"sequence\":$((sequence + 1))}]"
    assert_equal "$(received_header A "$number" X-Hub-Signature-256)" \
        "sha256=$(openssl dgst -sha256 -mac HMAC -macopt key:s3cret -r \
        "$A_DIR/$number.body" | cut -d ' ' -f 1)"
    assert_equal "$(db 'SELECT count(*) FROM lead')" "$leads"
    api GET "/v2/events/$id"
    assert_success
    assert_that '.data | .state == "done" and .type == "ping"
        and .deliveries[0].status == 200'
}

@test "the failure of a test event is in the log of events: status, error and answer" {
    answers A hook 'status 410' 'body gone for good'
    api POST /v2/webhooks/test -d '{}'
    assert_success
    deliver_all
    api GET "/v2/events/$(jq -r .data.eventId "$body")"
    assert_that '.data | .state == "dead" and .lastStatus == 410 and (.deliveries | length) == 1'
    assert_that '.data.deliveries[0] | .status == 410 and (.error | length > 0)
        and .address == "127.0.0.1"'
    api GET '/v2/events?failed=true'
    assert_that '.data.items | length == 1'
}
