#!/usr/bin/env bats
# Several webhooks of one user: which of them an event goes to, and that none waits for another.
# shellcheck disable=SC2086  # the names of people ($P1, $B1, ...) are single words
# transports: direct
load helpers/all
load helpers/courier
load helpers/webhook

setup_file() {
    start_stack
    make_user
    make_account_line
    start_receiver HOOK
    put ACCOUNT "$ACCOUNT"
    put WABA "$WABA"
    put LINE "$LINE"
    put USER_ID "$(db "SELECT id FROM user WHERE email = '$EMAIL'")"
}

teardown_file() {
    stop_couriers
    stop_receivers
    stop_stack
}

# Sets the first webhook by the routes of the configuration.
set_first() {
    api POST /v2/webhooks/config \
        -d "{\"webhookUrl\":\"$HOOK_URL/first\",\"webhookCode\":\"f1rst-s3cret\"}"
    assert_success
}

# One webhook, `first`, at /first of the receiver. The messages of each test are from a new line.
setup() {
    forget_events
    write_config
    LINE=8800$(next_number)
    switchboard line add "$ACCOUNT" --phone-number-id "$LINE" --number +15550100001 >/dev/null
    line_id=$(db "SELECT id FROM line WHERE phone_number_id = '$LINE'")
    set_first
    db "UPDATE webhook SET id = 'whk_first'"
    added=0
}

teardown() {
    stop_couriers
}

# Adds a webhook of the kind event with the code of the first one: add_hook NAME [COLUMN VALUE]...
add_hook() {
    local columns='' values=''
    local name=$1
    shift
    while (($#)); do
        columns+=", $1" values+=", '$2'"
        shift 2
    done
    db "INSERT INTO webhook (id, user_id, kind, url, code, created_at, updated_at$columns)
        SELECT 'whk_$name', user_id, 'event', '$HOOK_URL/$name', code,
            created_at + $((++added)), updated_at$values FROM webhook WHERE id = 'whk_first'"
}

# Takes a message of a new person, which causes message.received and lead.created: arrive NUMBER
arrive() {
    take "$(payload "$(inbound "wamid.$LINE.$1" "1650666$((LINE % 10000))$1" '')")"
}

# Prints the ids of the events that arrived at /NAME, in the order of their ids: ids_at NAME
ids_at() {
    local number
    for number in $(received HOOK "$1"); do
        received_header HOOK "$number" webhook-id
    done | sort
}

# Prints the ids of the events: ids [WHERE]
ids() {
    db "SELECT id FROM event WHERE ${1-1 = 1} ORDER BY id"
}

# Prints the column of the delivery of an event to the webhook NAME: delivery ID NAME COLUMN
delivery() {
    db "SELECT $3 FROM delivery WHERE event_id = '$1' AND webhook_id = 'whk_$2'"
}

suspended() {
    db 'SELECT id FROM webhook WHERE suspended_at IS NOT NULL ORDER BY id'
}

# --- which webhooks get an event ---

@test "each webhook gets an event once, with the same id, body and signature" {
    local number
    add_hook second
    add_hook third
    arrive 1
    assert_equal "$(db 'SELECT count(*) FROM event; SELECT count(*) FROM delivery')" $'2\n6'
    courier_once
    for number in first second third; do
        assert_equal "$(ids_at $number)" "$(ids)"
    done
    assert_equal "$(sha256sum "$HOOK_DIR"/*.body | cut -c 1-64 | sort | uniq -c |
        awk '{ print $1 }')" $'3\n3'
    assert_equal "$(db 'SELECT DISTINCT state, attempts FROM delivery;
        SELECT DISTINCT state FROM event')" $'done|1\ndone'
    courier_once
    assert_equal "$(db 'SELECT count(*) FROM event_attempt')" 6
}

@test "a repeated payload adds no event and no delivery" {
    add_hook second
    arrive 1
    arrive 1
    assert_equal "$(db 'SELECT count(*) FROM event; SELECT count(*) FROM delivery')" $'2\n4'
}

@test "a webhook gets the types of events that it names; without names all but message.status" {
    add_hook status event_types message.status
    add_hook both event_types 'lead.created message.status'
    add_hook leads event_types lead.created
    add_hook none event_types ''
    arrive 1
    take "$(payload "$(status_of "wamid.$LINE.out" delivered "\"recipient_id\":\"16506660001\"")")"
    courier_once
    assert_equal "$(ids_at first)" "$(ids "type <> 'message.status'")"
    assert_equal "$(ids_at status)" "$(ids "type = 'message.status'")"
    assert_equal "$(ids_at both)" "$(ids "type <> 'message.received'")"
    assert_equal "$(ids_at leads)" "$(ids "type = 'lead.created'")"
    assert_equal "$(ids_at none)" ''
    assert_equal "$(ids | wc -l)" 3
}

@test "an event that no webhook wants is not inserted, and takes no sequence" {
    local before
    before=$(db "SELECT event_sequence FROM user WHERE id = '$USER_ID'")
    db "UPDATE webhook SET event_types = 'message.status'"
    arrive 1
    assert_equal "$(ids)" ''
    db "UPDATE webhook SET event_types = NULL"
    arrive 2
    assert_equal "$(db 'SELECT min(sequence), count(*) FROM event')" "$((before + 1))|2"
}

@test "a webhook of some lines gets the events of those lines only" {
    local other_line=${LINE}1 other_id
    switchboard line add "$ACCOUNT" --phone-number-id "$other_line" --number +15550100009 >/dev/null
    other_id=$(db "SELECT id FROM line WHERE phone_number_id = '$other_line'")
    add_hook here line_ids "$line_id"
    add_hook there line_ids "$other_id"
    add_hook any line_ids "$other_id $line_id"
    arrive 1
    LINE=$other_line arrive 2
    courier_once
    assert_equal "$(ids_at first)" "$(ids)"
    assert_equal "$(ids_at any)" "$(ids)"
    assert_equal "$(ids_at here)" "$(ids "line_id = '$line_id'")"
    assert_equal "$(ids_at there)" "$(ids "line_id = '$other_id'")"
    assert_equal "$(ids "line_id = '$other_id'" | wc -l)" 2
}

@test "a webhook that is deleted, or has no URL, gets no events" {
    add_hook gone deleted_at 1
    add_hook unset
    db "UPDATE webhook SET url = '' WHERE id = 'whk_unset'"
    arrive 1
    assert_equal "$(db 'SELECT DISTINCT webhook_id FROM delivery')" whk_first
}

@test "POST /v2/webhooks/test tries the first webhook only" {
    add_hook second
    api POST /v2/webhooks/test -d '{}'
    assert_success
    courier_once
    assert_equal "$(ids_at first)" "$(gojq -r .data.eventId "$body")"
    assert_equal "$(ids_at second)" ''
}

# --- webhooks do not wait for each other ---

# bats test_tags=long
@test "a webhook that is down for a day does not delay the others, and gets all events afterwards" {
    local hour
    add_hook second
    answers HOOK second 'status 503'
    arrive 1
    arrive 2
    courier_once
    for hour in {1..24}; do # each hour one message; the waiting times pass
        db "UPDATE delivery SET next_attempt_at = next_attempt_at - 3600000,
                created_at = created_at - 3600000;
            UPDATE webhook SET failing_since = failing_since - 3600000,
                updated_at = updated_at - 3600000"
        ((hour % 6)) || arrive "$hour"
        courier_once
    done
    assert_equal "$(ids_at first)" "$(ids)"
    assert_equal "$(db "SELECT DISTINCT state, attempts FROM delivery
        WHERE webhook_id = 'whk_first'")" 'done|1'
    assert_equal "$(db "SELECT DISTINCT state FROM event")" pending
    assert_equal "$(db "SELECT count(*) FROM delivery
        WHERE webhook_id = 'whk_second' AND state = 'pending'")" "$(ids | wc -l)"
    assert_equal "$(suspended)" ''
    answers HOOK second
    rm -f "$HOOK_DIR"/*.{head,body,meta}
    make_due "webhook_id = 'whk_second'"
    courier_once
    assert_equal "$(ids_at second)" "$(ids)"
    assert_equal "$(ids_at first)" ''
    assert_equal "$(db "SELECT DISTINCT state, has_error FROM event")" 'done|0'
}

# bats test_tags=long
@test "a webhook that hangs does not delay the other" {
    add_hook second
    answers HOOK second 'wait 40000'
    arrive 1
    start_courier
    eventually has_received HOOK 2 first
    arrive 2
    eventually has_received HOOK 4 first
    assert_equal "$(ids_at first)" "$(ids)"
    assert_equal "$(db "SELECT count(*) FROM delivery
        WHERE webhook_id = 'whk_second' AND state = 'done'")" 0
    # none began late, after its event and after the first attempt at `second`, which takes 15 s
    assert_equal "$(db "SELECT count(*) FROM delivery WHERE last_attempt_at - created_at > 10000
        AND webhook_id <> 'whk_second' AND last_attempt_at - 10000 >
            (SELECT min(last_attempt_at) FROM delivery WHERE webhook_id = 'whk_second')")" 0
}

@test "410 suspends only the webhook that answered it" {
    local id
    add_hook second
    answers HOOK second 'status 410'
    arrive 1
    courier_once
    assert_equal "$(suspended)" whk_second
    arrive 2
    courier_once
    assert_equal "$(ids_at first)" "$(ids)"
    assert_equal "$(ids_at second | wc -l)" 1
    id=$(ids_at second)
    assert_equal "$(db "SELECT state, has_error FROM event WHERE id = '$id'")" 'dead|1'
    assert_equal "$(delivery "$id" first state) $(delivery "$id" second state)" 'done dead'
    # the others are pending, and all they wait for is suspended
    switchboard event list --json |
        gojq -e '[.[].state] | sort == ["dead", "suspended", "suspended", "suspended"]'
    switchboard event show "$(ids "id <> '$id'" | head -n 1)" --json |
        gojq -e '[.webhooks[] | [.webhookId, .state]] ==
            [["whk_first", "done"], ["whk_second", "suspended"]]'
    answers HOOK second
    assert_equal "$(switchboard event resume --json | gojq -c .resumed)" "[\"$EMAIL\"]"
    courier_once
    assert_equal "$(db "SELECT state, count(*) FROM event GROUP BY 1 ORDER BY 1")" $'dead|1\ndone|3'
}

@test "a probe is of the suspended webhook alone" {
    add_hook second
    answers HOOK second 'status 410'
    arrive 1
    courier_once
    answers HOOK second
    db "UPDATE webhook SET next_probe_at = 0 WHERE suspended_at IS NOT NULL"
    courier_once
    assert_equal "$(suspended)" ''
    assert_equal "$(ids_at first)" "$(ids)"
    assert_equal "$(ids_at second | sort -u)" "$(ids)"
}

@test "a paused webhook gets nothing, and afterwards what waited" {
    add_hook second paused_at 1
    arrive 1
    courier_once
    arrive 2
    courier_once
    assert_equal "$(ids_at first)" "$(ids)"
    assert_equal "$(ids_at second)" ''
    switchboard event show "$(ids | head -n 1)" --json | gojq -e '.state == "pending" and
        ([.webhooks[] | .state] == ["done", "paused"])'
    db "UPDATE webhook SET paused_at = NULL"
    courier_once
    assert_equal "$(ids_at second)" "$(ids)"
}

@test "after DELETE of the configuration only the deliveries to the first webhook are cancelled" {
    add_hook second
    arrive 1
    api DELETE /v2/webhooks/config
    assert_success
    assert_equal "$(db 'SELECT webhook_id, state, count(*) FROM delivery
            GROUP BY 1, 2 ORDER BY 1, 2')" \
        $'whk_first|cancelled|2\nwhk_second|pending|2'
    assert_equal "$(db 'SELECT DISTINCT state FROM event')" pending
    courier_once
    assert_equal "$(ids_at first)" ''
    assert_equal "$(ids_at second)" "$(ids)"
    assert_equal "$(db 'SELECT DISTINCT state FROM event')" 'done'
    # a new configuration does not deliver them
    set_first
    courier_once
    assert_equal "$(ids_at first)" ''
}

@test "a URL that is set again ends the suspension of the first webhook only" {
    add_hook second suspended_at 5 next_probe_at 9999999999999
    db "UPDATE webhook SET suspended_at = 5, next_probe_at = 9999999999999"
    set_first
    assert_equal "$(suspended)" whk_second
}

# --- replay ---

@test "a replay delivers an event again to every webhook that it had" {
    local id
    add_hook second
    arrive 1
    courier_once
    id=$(ids "type = 'message.received'")
    rm -f "$HOOK_DIR"/*.{head,body,meta}
    add_hook third # it did not have the event
    api POST "/v2/events/$id/replay" -d '{}'
    assert_success
    assert_that '.data.state == "pending" and ([.data.webhooks[].state] == ["pending", "pending"])'
    courier_once
    assert_equal "$(ids_at first) $(ids_at second) $(ids_at third)" "$id $id "
    assert_equal "$(db "SELECT attempt FROM event_attempt WHERE event_id = '$id'
        ORDER BY webhook_id, attempt" | xargs)" '1 2 1 2'
}

@test "a replay leaves a delivery that is pending, and one to a deleted webhook" {
    local id
    add_hook second
    add_hook third
    arrive 1
    courier_once
    id=$(ids "type = 'message.received'")
    db "UPDATE delivery SET state = 'pending', attempts = 3, next_attempt_at = 9999999999999,
            finished_at = NULL WHERE event_id = '$id' AND webhook_id = 'whk_second';
        UPDATE webhook SET deleted_at = 1, url = '', code = NULL WHERE id = 'whk_third'"
    api POST "/v2/events/$id/replay" -d '{}'
    assert_success
    assert_equal "$(db "SELECT webhook_id, state, attempts FROM delivery
        WHERE event_id = '$id' ORDER BY 1")" \
        $'whk_first|pending|0\nwhk_second|pending|3\nwhk_third|done|1'
}

@test "an event whose webhooks are all deleted is replayed to those that want it now" {
    local id
    arrive 1
    courier_once
    id=$(ids "type = 'message.received'")
    add_hook second
    add_hook leads event_types lead.created
    db "UPDATE webhook SET deleted_at = 1, url = '', code = NULL WHERE id = 'whk_first'"
    api POST "/v2/events/$id/replay" -d '{}'
    assert_success
    courier_once
    assert_equal "$(ids_at second)" "$id"
    assert_equal "$(ids_at leads)" ''
    db "UPDATE webhook SET deleted_at = 1, url = '', code = NULL"
    api POST "/v2/events/$id/replay" -d '{}'
    assert_error 409 VALIDATION_ERROR
    run switchboard event replay "$id"
    assert_equal "$status" 1
}

@test "POST /v2/events/replay repeats the dead deliveries and no others" {
    add_hook second
    answers HOOK second 'status 500' 'header webhook-delivery: abort-message'
    arrive 1
    courier_once
    db "UPDATE delivery SET state = 'dead', finished_at = 1 WHERE webhook_id = 'whk_second';
        UPDATE event SET state = 'dead', has_error = 1, finished_at = 1"
    answers HOOK second
    rm -f "$HOOK_DIR"/*.{head,body,meta}
    api POST /v2/events/replay -d '{"since":"2020-01-01T00:00:00Z"}'
    assert_json .data '{"replayed":2,"more":false}'
    courier_once
    assert_equal "$(ids_at first)" ''
    assert_equal "$(ids_at second)" "$(ids)"
    assert_equal "$(db 'SELECT DISTINCT state, has_error FROM event')" 'done|0'
}

# --- lists ---

@test "webhookId lists the events of a webhook as that webhook has them" {
    local dead after
    add_hook second
    arrive 1
    arrive 2
    courier_once
    dead=$(ids | sed -n 2p)
    db "UPDATE delivery SET state = 'dead', last_error = 'HTTP 500', last_status = 500,
            attempts = 10 WHERE event_id = '$dead' AND webhook_id = 'whk_second';
        UPDATE event SET state = 'dead', has_error = 1 WHERE id = '$dead'"
    api GET "/v2/events?webhookId=whk_second&state=dead"
    assert_that ".data.items | map([.id, .attempts, .lastStatus]) == [[\"$dead\", 10, 500]]"
    api GET "/v2/events?webhookId=whk_second&failed=true"
    assert_that ".data.items | map(.id) == [\"$dead\"]"
    api GET "/v2/events?webhookId=whk_first&state=dead"
    assert_that '.data.items == []'
    api GET '/v2/events?webhookId=whk_first&type=message.received'
    assert_that '.data.items | map(.state) == ["done", "done"]'
    api GET '/v2/events?webhookId=whk_first&limit=3'
    assert_that '.data.items | length == 3'
    after=$(gojq -r .data.paging.cursors.after "$body")
    api GET "/v2/events?webhookId=whk_first&limit=3&after=$after"
    assert_that '.data.items | length == 1'
    api GET /v2/events?webhookId=whk_none
    assert_that '.data.items == []'
    api GET "/v2/events?state=dead"
    assert_that ".data.items | map([.id, .attempts, .lastError]) == [[\"$dead\", 10, \"HTTP 500\"]]"
    make_user STRANGER_
    request GET '/v2/events?webhookId=whk_first' --as "$STRANGER_TOKEN"
    assert_that '.data.items == []'
}

@test "the overview lists the webhooks and their states" {
    add_hook second suspended_at 5 next_probe_at 9999999999999 failing_since 4
    add_hook third paused_at 1
    add_hook fourth
    db "UPDATE webhook SET url = '' WHERE id = 'whk_fourth'"
    arrive 1
    api GET /v2/overview
    assert_that '.data.webhooks | map([.id, .state, .pending, .dead]) ==
        [["whk_first", "active", 2, 0], ["whk_second", "suspended", 2, 0],
         ["whk_third", "paused", 2, 0], ["whk_fourth", "unset", 0, 0]]'
    assert_that ".data.webhook |
        .url == \"$HOOK_URL/first\" and .pending == 2 and .suspendedAt == null"
    assert_that '[.data.warnings[].code] | contains(["WEBHOOK_SUSPENDED"])'
}

# --- crashes and old rows ---

# bats test_tags=long
@test "after a kill of the courier every webhook gets every event" {
    local name number
    for name in b c d e; do
        add_hook $name
    done
    for number in {1..5}; do
        arrive $number
    done
    answers HOOK c 'wait 300'
    start_courier
    eventually has_received HOOK 3
    kill -9 "$(cat "$STACK/courier.job")"
    wait "$(cat "$STACK/courier.job")" || true
    rm -f "$STACK/courier.job"
    db 'UPDATE delivery SET lease_until = 0, next_attempt_at = 0 WHERE state = '\''pending'\'
    courier_once
    for name in first b c d e; do
        assert_equal "$(ids_at $name | sort -u)" "$(ids)"
    done
    assert_equal "$(db 'SELECT DISTINCT state FROM event;
        SELECT DISTINCT state FROM delivery')" $'done\ndone'
}

@test "old events are removed with their deliveries, and then the webhooks that were deleted" {
    add_hook second
    arrive 1
    courier_once
    db "UPDATE webhook SET deleted_at = 1, url = '', code = NULL WHERE id = 'whk_second'"
    courier_once
    assert_equal "$(db 'SELECT count(*) FROM webhook; SELECT count(*) FROM delivery')" $'2\n4'
    db "UPDATE event SET finished_at = $db_now - 8 * 86400000"
    courier_once
    assert_equal "$(db 'SELECT count(*) FROM event_attempt; SELECT count(*) FROM delivery;
        SELECT count(*) FROM event; SELECT group_concat(id) FROM webhook')" $'0\n0\n0\nwhk_first'
}

@test "a POST is removed with the last event that is made of it" {
    db "INSERT INTO platform_post VALUES ('pst_1', zeroblob(32), x'7b7d', 1),
            ('pst_2', randomblob(32), x'7b7d', 1);
        INSERT INTO event (id, user_id, is_forward, sequence, type, post_id, state, created_at,
            finished_at) VALUES
            ('evt_1', '$USER_ID', 1, 1, 'platform.webhook', 'pst_1', 'done', 1, 1),
            ('evt_2', '$USER_ID', 1, 2, 'platform.webhook', 'pst_2', 'done', 1, 1),
            ('evt_3', '$USER_ID', 1, 3, 'platform.webhook', 'pst_2', 'done', 1, $db_now)"
    courier_once
    assert_equal "$(db 'SELECT id FROM platform_post; SELECT id FROM event')" $'pst_2\nevt_3'
}
