#!/usr/bin/env bats
# tools/courier: the requests that it sends, and how it processes the answers.
# transports: direct
# needs: node
# starts first
load helpers/all
load helpers/courier

setup_file() {
    start_courier_stack A B C D E F
}

teardown_file() {
    stop_courier_stack
}

setup() {
    forget_events
}

# Prints the HMAC-SHA256 of its input in base64: hmac KEY_IN_HEX <text
hmac() {
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -binary | base64 -w 0
}

hex() {
    od -An -v -tx1 | tr -d ' \n'
}

# Prints the signed text of a request, `webhook-id.webhook-timestamp.body`: signed_text NAME NUMBER
signed_text() {
    printf '%s.%s.' "$(received_header "$1" "$2" webhook-id)" "$(received_header "$1" "$2" webhook-timestamp)"
    cat "$STACK/receivers/$1/$2.body"
}

# --- requests ---

@test "an event is one POST with the body as stored" {
    local id before after
    set_webhook A "$A_URL/hook?key=1"
    id=$(add_events A)
    before=$(date +%s)
    courier_once
    after=$(date +%s)
    assert_equal "$(received A | tr '\n' ' ')" '1 '
    assert_equal "$(head -n 1 "$A_DIR/1.head")" 'POST /hook?key=1 HTTP/1.1'
    assert_equal "$(hex <"$A_DIR/1.body")" "$(db 'SELECT lower(hex(body)) FROM outbox')"
    assert_equal "$(received_header A 1 Content-Type)" application/json
    assert_equal "$(received_header A 1 User-Agent)" switchboard/0.1.0
    assert_equal "$(received_header A 1 webhook-id)" "$id"
    assert_between "$(received_header A 1 webhook-timestamp)" "$before" "$after"
    assert_equal "$(tail -n +2 "$A_DIR/1.head" | sed '/^$/d; s/:.*//' | tr '[:upper:]' '[:lower:]' | sort | tr '\n' ' ')" \
        'accept content-length content-type host user-agent webhook-id webhook-signature webhook-timestamp x-hub-signature-256 '
    assert_event "$id" state 'done'
    assert_event "$id" last_status 200
    assert_event "$id" last_error ''
}

@test "signatures: a generated code gives two, and one in the platform's format" {
    local code key text
    code=$(printf 'ab%.0s' {1..32})
    set_webhook A "$A_URL" "$code"
    add_events A
    courier_once
    key=$(printf %s "$code" | hex)
    assert_equal "$(received_header A 1 webhook-signature)" \
        "v1,$(signed_text A 1 | hmac "$key") v1,$(signed_text A 1 | hmac "$(printf %s "$code" | base64 -d | hex)")"
    assert_equal "$(received_header A 1 X-Hub-Signature-256)" \
        "sha256=$(openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" "$A_DIR/1.body" | sed 's/.*= //')"
    ! grep -rqF "$code" "$A_DIR" "$LOG" || fail 'the code itself was sent or logged'
}

@test "signatures: a code that is not base64 gives one" {
    set_webhook A "$A_URL" 'päss wörd!'
    add_events A
    courier_once
    assert_equal "$(received_header A 1 webhook-signature)" \
        "v1,$(signed_text A 1 | hmac "$(printf %s 'päss wörd!' | hex)")"
}

# Verifies a request with the official library, with the code given in each of four ways: verifies NAME
# NUMBER CODE. Returns 0 when all four succeed, 1 when none does, 2 otherwise.
verifies() {
    node -e '
        const { Webhook } = require(process.env.NODE_MODULES + "/standardwebhooks");
        const fs = require("fs");
        const [, head, body, code] = process.argv;
        const headers = {};
        for (const line of fs.readFileSync(head, "utf8").split("\n").slice(1)) {
            const at = line.indexOf(":");
            if (at > 0) headers[line.slice(0, at).toLowerCase()] = line.slice(at + 1).trim();
        }
        const secrets = {
            plain: [code], prefixed: ["whsec_" + code], raw: [code, { format: "raw" }],
            encoded: ["whsec_" + Buffer.from(code).toString("base64")],
        };
        let verified = 0;
        for (const [way, secret] of Object.entries(secrets)) {
            try {
                const event = new Webhook(...secret).verify(fs.readFileSync(body), headers);
                if (event.type === "message.received") verified++;
            } catch (error) {
                console.error(way, error.message);
            }
        }
        process.exit(verified === 4 ? 0 : verified === 0 ? 1 : 2);
    ' "$STACK/receivers/$1/$2.head" "$STACK/receivers/$1/$2.body" "$3"
}

# bats test_tags=long
@test "the Standard Webhooks library verifies the signatures in every way of giving the code" {
    local old new
    request POST /v2/webhooks/config --as "$A_TOKEN" -d "{\"webhookUrl\":\"$A_URL\",\"webhookCode\":\"first\"}"
    request POST /v2/webhooks/generate-code --as "$A_TOKEN" -d '{}'
    old=$(gojq -r .data.webhookCode "$body")
    add_events A
    courier_once
    verifies A 1 "$old"
    request POST /v2/webhooks/generate-code --as "$A_TOKEN" -d '{}'
    new=$(gojq -r .data.webhookCode "$body")
    [[ $new != "$old" ]]
    add_events A
    courier_once
    verifies A 2 "$new"
    verifies A 2 "$old"
    ! verifies A 1 "$new" || fail 'an old delivery verifies with a new code'
    assert_equal "$(received_header A 2 webhook-signature | wc -w)" 4
    db "UPDATE webhook SET previous_until = previous_until - 86400000"
    add_events A
    courier_once
    verifies A 3 "$new"
    ! verifies A 3 "$old" || fail 'a code still signs 24 h after it was replaced'
}

# bats test_tags=long
@test "every attempt has the same id and body" {
    local id number
    set_webhook A "$A_URL/flaky"
    answers A flaky 'status 500' 'body broken'
    id=$(add_events A)
    courier_once
    assert_equal "$(received_count A)" 1
    db "UPDATE outbox SET next_attempt_at = 0"
    courier_once
    answers A flaky
    db "UPDATE outbox SET next_attempt_at = 0; UPDATE event_attempt SET started_at = started_at - 5000"
    sleep 1.1 # so that the timestamp differs
    courier_once
    assert_equal "$(received_count A)" 3
    for number in 1 2 3; do
        assert_equal "$(received_header A $number webhook-id)" "$id"
        cmp "$A_DIR/1.body" "$A_DIR/$number.body"
    done
    [[ $(received_header A 1 webhook-timestamp) != "$(received_header A 3 webhook-timestamp)" ]]
    [[ $(received_header A 1 webhook-signature) != "$(received_header A 3 webhook-signature)" ]]
    assert_event "$id" state 'done'
    assert_event "$id" attempts 3
    switchboard event show "$id" --json >"$BATS_TEST_TMPDIR/event"
    gojq -e '.state == "done" and .lastError == null and .lastStatus == 200
        and (.attemptLog | map([.attempt, .status, .error, .response, .address])) ==
            [[1, 500, "HTTP 500", "broken", "127.0.0.1"], [2, 500, "HTTP 500", "broken", "127.0.0.1"],
             [3, 200, null, "", "127.0.0.1"]]' "$BATS_TEST_TMPDIR/event" || fail "$(cat "$BATS_TEST_TMPDIR/event")"
}

# bats test_tags=long
@test "events about one contact arrive in order, concurrently with others" {
    local number sequence=0 found
    set_webhook A "$A_URL/slow"
    answers A slow 'wait 20'
    add_events A 12 con_1 >/dev/null
    for number in {2..20}; do
        add_events A 1 "con_$number" >/dev/null
    done
    courier_once
    assert_equal "$(received_count A)" 31
    for number in $(received A); do
        found=$(jq .data.sequence "$A_DIR/$number.body")
        if ((found <= 12)); then
            ((found > sequence)) || fail "sequence $found came after $sequence"
            sequence=$found
        fi
    done
    assert_equal "$sequence" 12
    assert_between "$(most_at_once A)" 4 8
}

# bats test_tags=long
@test "8 requests are in progress to one host and port, independently of other hosts" {
    local name
    for name in A B C D E; do
        set_webhook $name "$(url_of $name)/wait"
    done
    start_courier
    warm_up A B C D E
    for name in A B C D E; do
        answers $name wait 'wait 8000'
        add_events $name 10 >/dev/null
    done
    eventually all_done
    stop_courier
    for name in A B C D E; do
        assert_equal "$(received_count $name)" 10
        assert_between "$(most_at_once $name)" 6 8
    done
}

# bats test_tags=long
@test "a new host gets one attempt at a time until it answers" {
    set_webhook A "$A_URL/wait"
    answers A wait 'wait 3000'
    add_events A 3 >/dev/null
    start_courier
    eventually has_received A 1
    eventually all_done
    stop_courier
    assert_equal "$(cat "$A_DIR"/1.meta "$A_DIR"/2.meta | awk '{ print $2 }' | head -n 1)" 1
    # the second request came after the first was answered
    assert_between $(($(awk '{ print $1 }' "$A_DIR/2.meta") - $(awk '{ print $1 }' "$A_DIR/1.meta"))) 2900 600000
}

# bats test_tags=long
@test "8 of many requests are in progress to one host and port, 2 while it fails" {
    set_webhook A "$A_URL/wait"
    answers A wait 'wait 1000'
    add_events A 20 >/dev/null
    courier_once
    assert_equal "$(most_at_once A)" 8
    rm "$A_DIR"/*.meta
    db "UPDATE webhook SET failing_since = $db_now - 60000, updated_at = 1"
    answers A wait 'wait 300' 'status 500'
    add_events A 6 >/dev/null
    courier_once
    assert_equal "$(most_at_once A)" 2
}

# Prints the largest number of simultaneous requests at a receiver: most_at_once NAME
most_at_once() {
    awk '{ print $2 }' "$STACK/receivers/$1"/*.meta | sort -n | tail -n 1
}

all_done() {
    [[ $(db "SELECT count(*) FROM outbox WHERE state <> 'done'") == 0 ]]
}

# --- failures, and the time of the next attempt ---

@test "after ten attempts on the schedule the event is dead" {
    local id attempt steps=(0 5 300 1800 7200 18000 36000 50400 72000 86400)
    set_webhook A "$A_URL/no"
    answers A no 'status 500'
    id=$(add_events A)
    for attempt in {1..9}; do
        courier_once
        assert_event "$id" 'state || attempts' "pending$attempt"
        assert_between "$(delay_of "$id")" $((steps[attempt] * 800 - 1000)) $((steps[attempt] * 1200 + 5000))
        make_due
    done
    courier_once
    assert_event "$id" 'state || attempts' dead10
    assert_event "$id" last_error 'HTTP 500'
    [[ -n $(event "$id" finished_at) ]]
    make_due
    courier_once
    assert_equal "$(received_count A)" 10
    assert_equal "$(db 'SELECT count(*) FROM event_attempt')" 10
}

@test "after an overload answer the next attempt is at least a minute later" {
    local id status
    set_webhook A "$A_URL/busy"
    for status in 429 502 503 504; do
        answers A busy "status $status"
        id=$(add_events A)
        courier_once
        assert_event "$id" last_error "HTTP $status"
        assert_between "$(delay_of "$id")" 59000 65000
    done
}

@test "Retry-After replaces the delay of the schedule, within bounds" {
    local id seconds value date
    set_webhook A "$A_URL/later"
    while read -r seconds value; do
        answers A later 'status 503' "header Retry-After: $value"
        id=$(add_events A)
        courier_once
        assert_between "$(delay_of "$id")" $((seconds * 1000 - 1000)) $((seconds * 1000 + 5000))
    done <<END
        600 600
        60 1
        60 soon
        3600 315360000
        60 $(date -u -d '-20 minutes' '+%a, %d %b %Y %H:%M:%S GMT')
END
    date=$(($(date +%s) + 1200))
    answers A later 'status 503' "header Retry-After: $(date -u -d "@$date" '+%a, %d %b %Y %H:%M:%S GMT')"
    id=$(add_events A)
    courier_once
    assert_between "$(event "$id" next_attempt_at)" $((date * 1000 - 1000)) $((date * 1000 + 1000))
    db "UPDATE outbox SET attempts = 3, next_attempt_at = 0 WHERE id = '$id'"
    answers A later 'status 500' 'header retry-after:   14000  '
    courier_once
    assert_between "$(delay_of "$id")" 13999000 14005000
}

# bats test_tags=long
@test "any status but 2xx is a failure, 2xx with any body is a success" {
    local id status
    set_webhook A "$A_URL/status"
    for status in 200 201 202 204 299; do
        answers A status "status $status"
        id=$(add_events A)
        courier_once
        assert_event "$id" 'state || last_status' "done$status"
    done
    for status in 300 301 302 303 304 307 308 400 401 403 404 500 501 599; do
        answers A status "status $status" "header Location: $A_URL/elsewhere"
        id=$(add_events A)
        courier_once
        assert_event "$id" 'state || last_status' "pending$status"
        assert_between "$(delay_of "$id")" 3000 11000
        db "UPDATE outbox SET next_attempt_at = next_attempt_at + 3600000 WHERE id = '$id'"
    done
    assert_equal "$(received_count A elsewhere)" 0
    switchboard event list --failed --json | gojq -e 'length == 14
        and (.[0] | .state == "pending" and .lastStatus == 300 and .lastError == "HTTP 300: redirects are not followed")'
}

@test "a receiver that refuses further attempts gets none" {
    local id
    set_webhook A "$A_URL/abort"
    answers A abort 'status 400' 'header Webhook-Delivery: abort-message'
    id=$(add_events A)
    courier_once
    assert_event "$id" 'state || attempts || last_status' dead1400
    answers A abort 'header webhook-delivery: abort-message'
    id=$(add_events A)
    courier_once
    assert_event "$id" state 'done'
    answers A abort 'interim webhook-delivery: abort-message' 'status 400'
    id=$(add_events A)
    courier_once
    assert_event "$id" state pending
}

@test "a receiver that is down for a day gets all events afterwards" {
    local port=${A_URL##*:} ids step
    set_webhook A "$A_URL"
    ids=$(add_events A 20 | sort)
    stop_receiver A
    courier_once
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE last_status IS NULL AND last_error LIKE '%onnect%' AND attempts = 1")" 20
    for step in 2 3 4 5 6 7; do # 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h: 17.6 h
        make_due
        courier_once
    done
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE state = 'pending' AND attempts = 7")" 20
    start_receiver A "$port"
    make_due
    courier_once
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE state = 'done' AND attempts = 8 AND last_error IS NULL")" 20
    assert_equal "$(for number in $(received A); do received_header A "$number" webhook-id; done | sort)" "$ids"
}

# --- harmful answers ---

# bats test_tags=long
@test "receivers that hang, drip, flood or break off fail without delaying others" {
    local name since
    set_webhook A "$A_URL/hang"
    answers A hang 'wait 40000'
    set_webhook B "$B_URL/drip"
    answers B drip 'bytes 100000' 'drip 500'
    set_webhook C "$C_URL/huge"
    answers C huge 'bytes 1073741824'
    set_webhook D "$D_URL/headers"
    answers D headers 'padding 200000'
    set_webhook E "$E_URL/endless"
    answers E endless 'status 500' endless
    set_webhook F "$F_URL"
    for name in A B C D E; do
        add_events $name 12 >/dev/null
    done
    start_courier
    eventually has_received A 1
    for since in 1 2 3 4 5; do
        add_events F >/dev/null
        eventually has_received F $since
        assert_equal "$(untried A)" t # before the others' queues have ended
    done
    # one attempt at a time, as a new host
    assert_between $(($(received_count A) - $(attempts_of A))) 0 1
    # the status decided, or a limit was reached
    eventually outcomes_are C '12 done|200|'
    eventually outcomes_are D '12 pending|200|the answer has more than 32 KB of headers'
    eventually outcomes_are E '12 pending|500|HTTP 500'
    eventually first_failed A
    eventually first_failed B
    stop_courier
    assert_equal "$courier_status" 0
    outcomes A | grep -q 'pending||timed out: no whole answer within 15 s'
    outcomes B | grep -q 'pending|200|timed out: no whole answer within 15 s'
    (($(db "SELECT min(duration_ms) FROM event_attempt WHERE error LIKE 'timed out%'") >= 14900))
    assert_equal "$(db "SELECT max(length(response_head)) FROM event_attempt")" 1024
    # after a timeout, the delay is at least a minute
    (($(db "SELECT min(o.next_attempt_at - a.started_at - a.duration_ms) FROM outbox o
        JOIN event_attempt a ON a.event_id = o.id WHERE o.last_error LIKE 'timed out%'") >= 59000))
}

# bats test_tags=long
@test "a 2xx after 10 seconds is a success, one after 16 is a failure" {
    answers A soon 'wait 10000' 'status 204'
    answers B late 'wait 16000' 'status 204'
    set_webhook A "$A_URL/soon"
    set_webhook B "$B_URL/late"
    add_events A >/dev/null
    add_events B >/dev/null
    courier_once
    assert_equal "$(outcomes A)" '1 done|204|'
    assert_equal "$(outcomes B)" '1 pending||timed out: no whole answer within 15 s'
}

@test "a malformed or unusual answer is a failure or a success, and does no harm" {
    local id line
    set_webhook A "$A_URL/strange"
    for line in 'Content-Length: -1' 'Content-Length: 99999999999999999999' 'Transfer-Encoding: rot13' 'Content-Encoding: gzip' \
        'Location: file:///etc/passwd' 'Retry-After: 99999999999999999999' 'Set-Cookie: a=b' 'Connection: upgrade' \
        "X-Long: $(printf 'x%.0s' {1..3000})" 'Webhook-Delivery: abort'; do
        answers A strange 'status 200' "header $line" 'body {}'
        id=$(add_events A)
        courier_once
        [[ $(event "$id" "state || '/' || attempts") == @(done|pending)/1 ]] || fail "$line: $(event "$id" 'state, attempts, last_error')"
    done
    jq -e . "$LOG" >/dev/null
    # cookies are not stored
    answers A strange
    id=$(add_events A)
    courier_once
    assert_event "$id" state 'done'
    assert_equal "$(cat "$A_DIR"/*.head | grep -ic '^cookie:')" 0
}

# Prints how many events of a consumer have each outcome: `COUNT state|status|error`
outcomes() {
    db "SELECT count(*) || ' ' || state, last_status, last_error FROM outbox JOIN user u ON u.id = outbox.user_id
        WHERE email = '${1,,}@example.org' GROUP BY state, last_status, last_error ORDER BY state"
}

outcomes_are() { # NAME TEXT
    [[ $(outcomes "$1") == "$2" ]]
}

# Prints the number of attempts of a consumer's events that have ended: attempts_of NAME
attempts_of() {
    db "SELECT count(*) FROM event_attempt a JOIN user u ON u.id = a.user_id
        WHERE email = '${1,,}@example.org'"
}

# Prints `t` if some of a consumer's events had no attempt: untried NAME
untried() {
    (($(db "SELECT count(*) FROM outbox JOIN user u ON u.id = outbox.user_id
        WHERE email = '${1,,}@example.org' AND attempts = 0") == 0)) || echo t
}

first_failed() {
    [[ $(outcomes "$1") == *'timed out'* ]]
}

@test "connections that are closed, reset or truncated are failures" {
    local id directive
    set_webhook A "$A_URL/broken"
    for directive in close reset 'short 5'; do
        answers A broken "$directive" 'body 0123456789'
        id=$(add_events A)
        courier_once
        assert_event "$id" state pending
        [[ -n $(event "$id" last_error) ]]
        assert_between "$(delay_of "$id")" 3000 11000
    done
}

# --- webhooks that are gone, suspended or deleted ---

@test "410 ends the event and suspends the webhook; other events wait" {
    local ids
    set_webhook A "$A_URL/gone"
    answers A gone 'status 410'
    mapfile -t ids < <(add_events A 1 con_1; add_events A 3 con_1)
    courier_once
    assert_event "${ids[0]}" 'state || attempts || last_status' dead1410
    assert_equal "$(received_count A)" 1
    switchboard event list --json | gojq -e '[.[].state] == ["dead", "suspended", "suspended", "suspended"]'
    assert_between "$(delay_of_probe)" 3590000 3610000
    request GET /v2/webhooks/config --as "$A_TOKEN"
    assert_json .data.webhookUrl "$A_URL/gone"
    assert_json .data.webhookCode 'secret of A'
    make_due
    courier_once
    assert_equal "$(received_count A)" 1
    # one hour later the courier probes with one event
    db 'UPDATE webhook SET next_probe_at = 0'
    courier_once
    courier_once
    assert_equal "$(received_count A)" 2
    assert_between "$(delay_of_probe)" 3590000 3610000
    # after a successful probe it delivers all events
    answers A gone
    db 'UPDATE webhook SET next_probe_at = 0'
    courier_once
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE state = 'done'")" 3
    switchboard event list --json | gojq -e '[.[].state] == ["dead", "done", "done", "done"]'
    assert_equal "$(db 'SELECT suspended_at, next_probe_at, failing_since FROM webhook')" '||'
}

@test "setting the configuration again, or event resume, ends a suspension at once" {
    set_webhook A "$A_URL/gone"
    answers A gone 'status 410'
    add_events A >/dev/null
    courier_once
    add_events A 2 >/dev/null
    set_webhook A "$A_URL/there"
    courier_once
    assert_equal "$(received_count A there)" 2
    set_webhook A "$A_URL/gone"
    add_events A >/dev/null
    courier_once
    add_events A 2 >/dev/null
    courier_once
    assert_equal "$(received_count A gone)" 2
    answers A gone
    assert_equal "$(switchboard event resume)" 'resumed: a@example.org'
    assert_equal "$(switchboard event resume)" 'resumed: nothing was suspended'
    courier_once
    assert_equal "$(received_count A gone)" 4
}

@test "only five days of failures suspend a webhook, and its URL and code stay" {
    local ids days=86400000
    set_webhook A "$A_URL/no"
    answers A no 'status 500'
    mapfile -t ids < <(add_events A 2)
    courier_once
    assert_equal "$(db 'SELECT suspended_at IS NULL, failing_since IS NULL FROM webhook')" '1|0'
    # only the first event is tried again, on a slow machine too: the wait is 4 s to 6 s
    db "UPDATE outbox SET next_attempt_at = next_attempt_at + $days WHERE id = '${ids[1]}'"
    db "UPDATE webhook SET updated_at = updated_at - 6 * $days, failing_since = failing_since - 5 * $days + 60000"
    make_due "id = '${ids[0]}'"
    courier_once
    assert_equal "$(db 'SELECT suspended_at IS NULL FROM webhook')" 1
    db 'UPDATE webhook SET failing_since = failing_since - 60000'
    make_due "id = '${ids[0]}'"
    courier_once
    assert_equal "$(db 'SELECT suspended_at IS NULL FROM webhook')" 0
    assert_between "$(delay_of_probe)" 3590000 3610000
    request GET /v2/webhooks/config --as "$A_TOKEN"
    assert_json .data.webhookUrl "$A_URL/no"
    assert_json .data.webhookCode 'secret of A'
    switchboard event list --json | gojq -e '[.[].state] == ["suspended", "suspended"]'
    # new events queue; a failed probe does not count as an attempt, and the next probe is another event
    add_events A 2 >/dev/null
    make_due
    courier_once
    assert_equal "$(received_count A)" 4
    assert_equal "$(db 'SELECT attempts FROM outbox ORDER BY sequence' | tr '
' ' ')" '3 1 0 0 '
    local probe
    for probe in 1 2 3 4; do
        db 'UPDATE webhook SET next_probe_at = 0'
        courier_once
    done
    assert_equal "$(received_count A)" 8
    assert_equal "$(db 'SELECT attempts FROM outbox ORDER BY sequence' | tr '
' ' ')" '3 1 0 0 '
    assert_equal "$(db 'SELECT count(*) FROM event_attempt GROUP BY event_id ORDER BY 1' | tr '
' ' ')" '1 1 2 4 '
    answers A no
    db 'UPDATE webhook SET next_probe_at = 0'
    courier_once
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE state = 'done'")" 4
}

@test "a success restarts the five days" {
    local id
    set_webhook A "$A_URL/no"
    answers A no 'status 500'
    id=$(add_events A)
    courier_once
    db 'UPDATE webhook SET updated_at = 0, failing_since = failing_since - 864000000'
    db 'UPDATE outbox SET next_attempt_at = next_attempt_at + 3600000' # a slow machine: not yet
    answers A no
    add_events A >/dev/null
    courier_once
    assert_equal "$(db 'SELECT failing_since IS NULL FROM webhook')" 1
    answers A no 'status 500'
    make_due
    courier_once
    assert_equal "$(db 'SELECT suspended_at IS NULL, failing_since IS NULL FROM webhook')" '1|0'
    assert_event "$id" attempts 2
}

@test "after DELETE of the configuration nothing is posted, and pending events are cancelled" {
    local ids
    set_webhook A "$A_URL/wait"
    answers A wait 'until deleted' 'status 500'
    mapfile -t ids < <(add_events A 4 con_1)
    courier_once &
    eventually has_received A 1
    request DELETE /v2/webhooks/config --as "$A_TOKEN"
    assert_success
    touch "$A_DIR/deleted"
    wait $!
    courier_once
    assert_equal "$(received_count A)" 1
    assert_equal "$(db 'SELECT DISTINCT state FROM outbox')" cancelled
    assert_equal "$(db 'SELECT event_id FROM event_attempt')" "${ids[0]}"
    switchboard event list --json | gojq -e 'map(.nextAttemptAt) == [null, null, null, null]'
}

@test "URL and code are those at the time of the attempt, not of the event" {
    set_webhook A "$A_URL/old" 'code-before'
    add_events A >/dev/null
    set_webhook A "$A_URL/new" 'code-after'
    courier_once
    assert_equal "$(received_count A old)" 0
    assert_equal "$(received_header A "$(received A new)" X-Hub-Signature-256)" \
        "sha256=$(openssl dgst -sha256 -hmac 'code-after' "$A_DIR/1.body" | sed 's/.*= //')"
}

@test "a deleted user's webhook gets nothing" {
    make_consumer Z
    set_webhook Z "$A_URL/deleted"
    add_events Z >/dev/null
    switchboard user delete z@example.org
    courier_once
    assert_equal "$(received_count A)" 0
}
