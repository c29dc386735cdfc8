#!/usr/bin/env bats
# Webhooks that get the POSTs of the platform as they are (lib/store/forward.h, lib/payload/forward_body.h).
# shellcheck disable=SC2086  # the names of people ($P1, $B1, ...) are single words
# transports: direct
# starts first
load helpers/all
load helpers/webhook
load helpers/courier
load helpers/forward

# Three tenants, each with a receiver.
setup_file() {
    local name
    start_stack
    for name in A B C; do
        make_tenant $name
        start_receiver $name
    done
}

teardown_file() {
    stop_courier_stack
}

setup() {
    forget_forwards
    write_config
    as_tenant A
}

# Prints the hash of the body of each request of a receiver, sorted: received_hashes NAME
received_hashes() {
    local number
    for number in $(received "$1"); do
        sha256sum <"$STACK/receivers/$1/$number.body"
    done | sort
}

hex() {
    od -An -v -tx1 | tr -d ' \n'
}

# The signature of a file under the code of a tenant, by openssl: hub_signature NAME FILE
hub_signature() {
    printf 'sha256=%s' "$(openssl dgst -sha256 -mac HMAC \
        -macopt "hexkey:$(printf 'secret of %s' "$1" | hex)" "$2" | sed 's/.*= //')"
}

# Expects that all requests of a receiver are signed, by openssl and by node: assert_signed NAME
assert_signed() {
    local number dir=$STACK/receivers/$1
    for number in $(received "$1"); do
        assert_equal "$(received_header "$1" "$number" X-Hub-Signature-256)" \
            "$(hub_signature "$1" "$dir/$number.body")"
        assert_equal "$(received_header "$1" "$number" X-Hub-Signature-256)" "$(node -e '
            const body = require("fs").readFileSync(process.argv[1]);
            const mac = require("crypto").createHmac("sha256", process.argv[2]).update(body);
            process.stdout.write("sha256=" + mac.digest("hex"));' \
            "$dir/$number.body" "secret of $1")"
    done
}

count() { # TABLE [WHERE]
    db "SELECT count(*) FROM $1 WHERE ${2-1 = 1}"
}

# --- the request ---

@test "a forward is one POST with the bytes of the platform's, its length and a signature" {
    local text before
    forward A "/hook?key=1"
    text=$(payload "$(inbound wamid.1 $P1 $B1)")
    before=$(date +%s)
    take "$text"
    courier_once
    assert_equal "$(received A | tr '\n' ' ')" '1 '
    assert_equal "$(head -n 1 "$A_DIR/1.head")" 'POST /hook?key=1 HTTP/1.1'
    assert_forwarded A 1 "$text"
    assert_signed A
    assert_equal "$(received_header A 1 Content-Type)" application/json
    assert_equal "$(received_header A 1 Content-Length)" "${#text}"
    assert_equal "$(received_header A 1 User-Agent)" switchboard/0.1.0
    assert_equal "$(received_header A 1 webhook-id)" "$(db 'SELECT id FROM event')"
    assert_between "$(received_header A 1 webhook-timestamp)" "$before" "$(date +%s)"
    assert_equal "$(tail -n +2 "$A_DIR/1.head" | sed '/^$/d; s/:.*//' | tr '[:upper:]' '[:lower:]' | sort | tr '\n' ' ')" \
        'accept content-length content-type host user-agent webhook-id webhook-timestamp x-hub-signature-256 '
    assert_equal "$(db 'SELECT type, state, is_forward, body IS NULL, parts IS NULL FROM event')" \
        'platform.webhook|done|1|1|1'
}

# bats test_tags=long
@test "every POST arrives with the same bytes: escapes, numbers, white space, order and unknown members" {
    local text number=0
    forward A / '"fields":["*"]'
    while read -r text; do
        text=${text//WABA/$WABA}
        printf "${text//LINE/$LINE}" >"$BATS_TEST_TMPDIR/post.$((++number))"
        take "@$BATS_TEST_TMPDIR/post.$number"
    done <<'END'
{"object":"whatsapp_business_account","entry":[{"id":"WABA","changes":[{"value":{"metadata":{"phone_number_id":"LINE"},"messages":[{"id":"wamid.e1","from":"16505550001","timestamp":"1780000000","type":"text","text":{"body":"M\\u00fcller \\/ caf\\u00e9 \\ud83d\\ude00 \\u0000 \\ud83d"}}]},"field":"messages"}]}]}
{"object":"whatsapp_business_account","entry":[{"id":"WABA","changes":[{"value":{"metadata":{"phone_number_id":"LINE"},"messages":[{"id":"wamid.e2","from":"16505550001","timestamp":"1780000000","type":"text","text":{"body":"Müller / café 😀 ☃"}}]},"field":"messages"}]}]}
 {\n\t"entry" : [ { "x" : 1e400, "changes" : [ { "field" : "messages" , "value" : { "n": 9007199254740993, "messages" : [ ] } } ] , "id" : "WABA" } ] , "object" : "whatsapp_business_account" , "unknown" : [ null, 1.50, -0 ]\n}\r\n
{"entry":[{"id":"WABA","changes":[{"field":"messages","value":{"a":1,"a":2,"messages":[]}}]}]}
{"object":"x","entry":[{"id":"WABA","time":1,"changes":[{"field":"messages","value":5},{"field":"flows","value":{"event":"FLOW_STATUS_CHANGE"}},7]}]}
{"entry":[{"id":"WABA"}]}
{"entry":[{"id":"WABA","changes":[]}]}
END
    courier_once
    assert_equal "$number" 7
    assert_equal "$(received_count A)" 7
    assert_equal "$(received_hashes A)" "$(for text in "$BATS_TEST_TMPDIR"/post.*; do sha256sum <"$text"; done | sort)"
    assert_signed A
    cmp "$BATS_TEST_TMPDIR/post.1" "$A_DIR/$(grep -l wamid.e1 "$A_DIR"/*.body | sed 's/.*[^0-9]\([0-9]*\).body/\1/').body"
}

# bats test_tags=long
@test "a POST of 4 MB arrives whole" {
    local size
    forward A /
    { printf '{"object":"whatsapp_business_account","pad":"%s","entry":[%s]}' \
        "$(head -c 4100000 /dev/zero | tr '\0' x)" "$(entry "$(inbound wamid.big $P1 $B1)")"; } >"$BATS_TEST_TMPDIR/big"
    size=$(stat -c %s "$BATS_TEST_TMPDIR/big")
    take "@$BATS_TEST_TMPDIR/big"
    courier_once
    assert_equal "$(received_header A 1 Content-Length)" "$size"
    assert_forwarded A 1 "@$BATS_TEST_TMPDIR/big"
    assert_signed A
}

@test "during the overlap of two codes a forward is signed with the present one alone" {
    forward A /
    request PATCH "/v2/webhooks/$webhook" --as "$A_TOKEN" -d '{"code":"an0ther s3cret"}'
    request PATCH "/v2/webhooks/$webhook" --as "$A_TOKEN" -d '{"code":"secret of A"}'
    assert_success
    assert_equal "$(db 'SELECT previous_until > 0 FROM webhook')" 1
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    courier_once
    assert_signed A
}

@test "the test of a webhook is a POST without entries, with the same headers" {
    forward A /
    request POST "/v2/webhooks/$webhook/test" --as "$A_TOKEN" -d '{}'
    assert_success
    courier_once
    assert_equal "$(received_count A)" 1
    assert_forwarded A 1 '{"object":"whatsapp_business_account","entry":[]}'
    assert_signed A
    assert_equal "$(received_header A 1 webhook-signature)" ''
}

@test "a paused webhook gets its POSTs when it is resumed" {
    local text
    forward A /
    request PATCH "/v2/webhooks/$webhook" --as "$A_TOKEN" -d '{"paused":true}'
    text=$(payload "$(inbound wamid.paused $P1 $B1)")
    take "$text"
    courier_once
    assert_equal "$(received_count A)" 0
    request PATCH "/v2/webhooks/$webhook" --as "$A_TOKEN" -d '{"paused":false}'
    courier_once
    assert_forwarded A 1 "$text"
}

# --- several owners ---

# Sets `three` to a POST with entries of the three tenants, and ENTRY_A, ENTRY_B, ENTRY_C.
post_of_three() {
    local name
    for name in A B C; do
        as_tenant $name
        put ENTRY_$name "$(entry "$(inbound "wamid.$1.$name" $P1 $B1)")"
    done
    three=$(post "$ENTRY_A" "$ENTRY_B" "$ENTRY_C")
}

# bats test_tags=long
@test "of a POST with entries of three users each gets its own entries alone" {
    local name text
    for name in A B C; do
        forward $name /
    done
    post_of_three 1
    take "$three"
    courier_once
    for name in A B C; do
        assert_equal "$(received_count $name)" 1
        text=ENTRY_$name
        assert_forwarded $name 1 "{\"object\":\"whatsapp_business_account\",\"entry\":[${!text}]}"
        assert_signed $name
    done
}

@test "a user with two accounts gets the entries of both in one POST" {
    local first second third
    forward A /
    first=$(entry "$(inbound wamid.1 $P1 $B1)")
    EMAIL=$A_EMAIL make_account_line
    third=$(entry "$(inbound wamid.3 $P1 $B1)")
    as_tenant B
    second=$(entry "$(inbound wamid.2 $P1 $B1)")
    take "$(post "$first" "$second" "$third")"
    courier_once
    assert_equal "$(received_count A)" 1
    assert_forwarded A 1 "$(post "$first" "$third")"
}

# bats test_tags=long
@test "the POST of three users with ten webhooks is stored once" {
    local name number
    for name in A B C; do
        for number in 1 2 3; do
            forward $name "/$number"
        done
    done
    forward C /4
    post_of_three 1
    take "$three"
    assert_equal "$(db 'SELECT count(*), max(length(body)) FROM platform_post')" "1|${#three}"
    assert_equal "$(db "SELECT count(*), count(*) - count(body), count(parts) FROM event")" '3|3|3'
    assert_equal "$(count delivery)" 10
    courier_once
    assert_equal "$(count delivery "state = 'done'")" 10
    assert_equal "$(received_count A) $(received_count B) $(received_count C)" '3 3 4'
    for name in A B C; do
        assert_equal "$(received_hashes $name | uniq | wc -l)" 1
        assert_signed $name
    done
}

@test "a change that names a line of another account is not forwarded" {
    local own
    forward A / '"fields":["*"]'
    forward B / '"fields":["*"]'
    LINE=$B_LINE
    own=$(account_change account_update '{"event":"X"}')
    take "$(payload "$(inbound wamid.1 $P1 $B1)" "$own")"
    courier_once
    assert_equal "$(received_count A) $(received_count B)" '1 0'
    assert_forwarded A 1 "$(payload "$own")"
    take "$(payload "$(inbound wamid.2 $P1 $B1)")"
    courier_once
    assert_equal "$(received_count A) $(received_count B)" '1 0'
}

@test "a change about an archived line is not forwarded" {
    EMAIL=$A_EMAIL make_account_line
    forward A /
    switchboard line archive "$LINE" >/dev/null
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    courier_once
    assert_equal "$(received_count A) $(count event) $(count platform_post)" '0 0 0'
}

@test "an entry of an account that no user has, or of a deleted user, is not forwarded" {
    forward A / '"fields":["*"]'
    forward B / '"fields":["*"]'
    db "UPDATE user SET deleted_at = 1 WHERE email = '$B_EMAIL'"
    take "$(post '{"id":"777","changes":[]}' "{\"id\":\"$B_WABA\",\"changes\":[]}" '{"changes":[]}' 5)"
    db "UPDATE user SET deleted_at = NULL WHERE email = '$B_EMAIL'"
    courier_once
    assert_equal "$(received_count A) $(received_count B) $(count event) $(count platform_post)" '0 0 0 0'
}

# --- what a webhook wants ---

# bats test_tags=long
@test "only changes of the field messages are forwarded, unless the webhook names others" {
    local message flow template
    message=$(inbound wamid.1 $P1 $B1)
    flow=$(account_change flows '{"event":"X"}')
    template=$(account_change message_template_status_update '{"event":"APPROVED"}')
    forward A /default
    forward A /flows '"fields":["flows","message_template_status_update"]'
    forward A /all '"fields":["*"]'
    forward A /none '"fields":["account_update"]'
    take "$(payload "$flow" "$message" "$template")"
    courier_once
    assert_equal "$(received_count A)" 3
    assert_forwarded A "$(received A default)" "$(payload "$message")"
    assert_forwarded A "$(received A flows)" "$(payload "$flow" "$template")"
    assert_forwarded A "$(received A all)" "$(payload "$flow" "$message" "$template")"
}

@test "a webhook with lines gets their changes, and those that name no line" {
    local first second other
    first=$(inbound wamid.1 $P1 $B1)
    LINE=8111111
    switchboard line add "$ACCOUNT" --phone-number-id "$LINE" --number +15550100002 >/dev/null
    second=$(inbound wamid.2 $P1 $B1)
    other=$(account_change flows '{"event":"X"}')
    forward A /one "\"phoneNumberIds\":[\"$A_LINE\"]"
    forward A /both "\"phoneNumberIds\":[\"$LINE\",\"$A_LINE\"]"
    forward A /two "\"fields\":[\"*\"],\"phoneNumberIds\":[\"$LINE\"]"
    take "$(payload "$first" "$second" "$other")"
    courier_once
    assert_equal "$(received_count A)" 3
    assert_forwarded A "$(received A one)" "$(payload "$first")"
    assert_forwarded A "$(received A both)" "$(payload "$first" "$second")"
    assert_forwarded A "$(received A two)" "$(payload "$second" "$other")"
}

@test "a POST of which no webhook wants anything is not stored" {
    forward A / '"fields":["flows"]'
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_equal "$(count event "is_forward = 1") $(count platform_post)" '0 0'
}

@test "POSTs without messages, with unknown fields and with no update reach the owner of their entries" {
    local text number=0
    forward A / '"fields":["*"]'
    for text in '"changes":[]' '"changes":[{"field":"new_field","value":{"a":[1]}}]' '"changes":[{"field":"messages","value":{}}]' '"changes":[{}]' '"time":1'; do
        take "{\"object\":\"whatsapp_business_account\",\"entry\":[{\"id\":\"$WABA\",$text}]}"
        courier_once
        assert_equal "$(received_count A)" $((++number))
        assert_forwarded A $number "@$BATS_TEST_TMPDIR/webhook"
    done
}

# --- one message per POST ---

# bats test_tags=long
@test "split: n messages become n POSTs, each signed, with the card of its person" {
    local number meta cards=() people=() expected
    forward A / '"splitMessages":true'
    for number in 1 2 3 4 5; do
        cards+=("$(card 1650555000$number "US.1000000000000000000$number")")
        people+=("$(message "wamid.s$number" 1650555000$number '' '"type":"text","text":{"body":"M\u00fc \/"}')")
    done
    take "$(payload "$(change messages "\"contacts\":[$(comma_list "${cards[@]}")],\"messages\":[$(comma_list "${people[@]}")]")")"
    courier_once
    assert_equal "$(received_count A)" 5
    assert_signed A
    for number in 1 2 3 4 5; do
        expected=$(payload "$(change messages "\"contacts\":[${cards[number - 1]}],\"messages\":[${people[number - 1]}]")")
        meta=$(grep -lF "\"wamid.s$number\"" "$A_DIR"/*.body)
        assert_forwarded A "$(basename "$meta" .body)" "$expected"
    done
}

# bats test_tags=long
@test "split: statuses, and changes without messages, are POSTs of their own" {
    local status_1 status_2 message flow
    forward A / '"splitMessages":true,"fields":["*"]'
    message=$(message wamid.m $P1 $B1)
    status_1='{"id":"wamid.o1","status":"sent","timestamp":"1780000000","recipient_id":"16505550001"}'
    status_2='{"id":"wamid.o1","status":"read","timestamp":"1780000001","recipient_id":"16505550001"}'
    flow=$(account_change flows '{"event":"X"}')
    take "$(payload "$(change messages "\"statuses\":[$status_1,$status_2],\"messages\":[$message]")" "$flow")"
    courier_once
    assert_equal "$(cat "$A_DIR"/*.body | tr -d '\n' | sed 's/{"object"/\n{"object"/g' | sed 1d | sort)" "$(
        for change in "$(change messages "\"messages\":[$message]")" "$(change messages "\"statuses\":[$status_1]")" \
            "$(change messages "\"statuses\":[$status_2]")" "$flow"; do
            payload "$change"
            echo
        done | sort)"
    assert_signed A
}

@test "split: a POST with one message is forwarded as it is" {
    local text
    forward A / '"splitMessages":true'
    text=" $(payload "$(inbound wamid.1 $P1 $B1)") "
    take "$text"
    courier_once
    assert_forwarded A 1 "$text"
}

# --- some of messages, statuses and echoes ---

# bats test_tags=route
@test "updates: a webhook for messages alone gets no statuses, and the bytes of what is left stay" {
    local message status text=() number
    forward A / '"updates":["messages"]'
    message=$(message wamid.u $P1 $B1 '"type":"text","text":{"body":"M\u00fc \/"}')
    status='{"id":"wamid.o1","status":"sent","timestamp":"1780000000","recipient_id":"16505550001"}'
    take "$(payload "$(change messages "\"statuses\":[$status]")")"
    text[1]=" $(payload "$(change messages "\"messages\":[$message]")") "
    take "${text[1]}"
    take "$(payload "$(change messages "\"messages\":[$message],\"statuses\":[$status]")" \
        "$(change messages "\"statuses\":[$status]")")"
    text[2]=$(payload "$(change messages "\"messages\":[$message]")")
    courier_once
    assert_equal "$(received A | tr '\n' ' ') $(count event 'is_forward = 1')" '1 2  2'
    number=$(grep -lc '^ ' "$A_DIR"/*.body)
    number=$(basename "$number" .body)
    assert_forwarded A "$number" "${text[1]}"
    assert_forwarded A $((3 - number)) "${text[2]}"
    assert_signed A
    # all of them again, after null
    request PATCH "/v2/webhooks/$webhook" --as "$A_TOKEN" -d '{"updates":null}'
    assert_success
    take "$(payload "$(change messages "\"statuses\":[${status/sent/read}]")")"
    courier_once
    assert_equal "$(received_count A)" 3
}

# --- beside events ---

@test "a user with a webhook of each kind gets the event and the POST, with sequences of their own" {
    local text
    set_webhook A "$A_URL/event"
    forward A /forward
    text=$(payload "$(inbound wamid.both 16505559999 US.99999999999999999999)")
    take "$text"
    courier_once
    assert_equal "$(received A forward | wc -l)" 1
    assert_forwarded A "$(received A forward)" "$text"
    assert_equal "$(received_header A "$(received A forward)" webhook-signature)" ''
    assert_equal "$(for number in $(received A event); do jq -r .type "$A_DIR/$number.body"; done | sort | tr '\n' ' ')" \
        'lead.created message.received '
    [[ -n $(received_header A "$(received A event | head -n 1)" webhook-signature) ]]
    # no gap in the sequence of the events
    assert_equal "$(db "SELECT max(sequence) - min(sequence) + 1 = count(*) FROM event WHERE is_forward = 0")" 1
}

@test "a webhook that answers 410 is suspended alone" {
    set_webhook A "$A_URL/event"
    forward A /gone
    forward A /other
    answers A gone 'status 410'
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    courier_once
    take "$(payload "$(inbound wamid.2 $P1 $B1)")"
    courier_once
    assert_equal "$(received A gone | wc -l) $(received A other | wc -l)" '1 2'
    assert_equal "$(db 'SELECT kind, url, suspended_at IS NOT NULL FROM webhook ORDER BY url' | sed 's,http[^/]*//[^/]*,,')" \
        $'event|/event|0\nforward|/gone|1\nforward|/other|0'
}

# --- at least once ---

@test "a repeated POST is forwarded once" {
    local text
    forward A /
    text=$(payload "$(inbound wamid.1 $P1 $B1)")
    take "$text"
    take "$text"
    courier_once
    take "$text"
    courier_once
    assert_equal "$(received_count A) $(count event) $(count platform_post)" '1 1 1'
    take "$text "
    courier_once
    assert_equal "$(received_count A)" 2
}

# bats test_tags=long
@test "a receiver that is down gets all POSTs afterwards, with the same id and bytes" {
    local port=${A_URL##*:} number
    forward A /
    stop_receiver A
    for number in {1..20}; do
        take "$(payload "$(inbound "wamid.$number" $P1 $B1)")"
    done
    courier_once
    assert_equal "$(count delivery "state = 'pending'")" 20
    start_receiver A "$port"
    answers A hook
    db "UPDATE delivery SET next_attempt_at = 0"
    courier_once
    assert_equal "$(count delivery "state = 'done'")" 20
    assert_equal "$(received_hashes A)" "$(db "SELECT lower(hex(hash)) || '  -' FROM platform_post ORDER BY 1")"
    assert_equal "$(for number in $(received A); do received_header A $number webhook-id; done | sort)" \
        "$(db 'SELECT id FROM event ORDER BY id')"
}

# bats test_tags=long
@test "POSTs of one person arrive in order, concurrently with others" {
    local number found sequence=0
    forward A /slow
    answers A slow 'wait 20'
    for number in {11..22}; do
        take "$(payload "$(inbound "wamid.p$number" $P1 $B1)")"
    done
    for number in {1..8}; do
        take "$(payload "$(inbound "wamid.other$number" "1650555111$number" '')")"
    done
    courier_once
    assert_equal "$(received_count A)" 20
    for number in $(received A); do
        found=$(grep -o 'wamid\.p[0-9]*' "$A_DIR/$number.body") || continue
        ((${found#wamid.p} > sequence)) || fail "$found came after $sequence"
        sequence=${found#wamid.p}
    done
    assert_equal "$sequence" 22
}

# bats test_tags=long
@test "a replay sends the same bytes" {
    local id
    forward A /whole
    forward B /part
    post_of_three 1
    take "$three"
    as_tenant A
    take "$(payload "$(inbound wamid.w $P1 $B1)")"
    courier_once
    for id in $(db 'SELECT id FROM event'); do
        switchboard event replay "$id" >/dev/null
    done
    courier_once
    assert_equal "$(received_count A) $(received_count B)" '4 2'
    assert_equal "$(received_hashes A | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '2 2 '
    assert_equal "$(received_hashes B | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '2 '
    assert_signed A
    assert_signed B
}

@test "after a kill of the courier during a delivery the same bytes are sent again" {
    forward A /slow
    answers A slow 'wait 10000'
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    start_courier
    eventually has_received A 1
    kill -KILL "$(cat "$STACK/courier.job")"
    wait "$(cat "$STACK/courier.job")" || true
    rm "$STACK/courier.job"
    answers A slow
    assert_equal "$(count delivery "state = 'pending' AND lease_until > 0")" 1
    db "UPDATE delivery SET lease_until = 1"
    courier_once
    assert_equal "$(received_count A) $(count delivery "state = 'done'")" '2 1'
    cmp "$A_DIR/1.body" "$A_DIR/2.body"
    assert_equal "$(received_header A 1 webhook-id)" "$(received_header A 2 webhook-id)"
}

# bats test_tags=long
@test "a POST that could not be stored is not forwarded until the platform repeats it" {
    local text
    forward A /
    text=$(payload "$(inbound wamid.busy $P1 $B1)")
    hold_database
    deliver "$text"
    release_database
    assert_status 503
    courier_once
    assert_equal "$(received_count A) $(count event) $(count platform_post)" '0 0 0'
    take "$text"
    courier_once
    assert_equal "$(received_count A)" 1
    assert_forwarded A 1 "$text"
}

# bats test_tags=long
@test "a refused payload is forwarded once, when it is retried" {
    local number id
    forward A /
    "$HELPERS/extremes" typed_messages_of_one_contact 4194304 "$WABA" "$LINE" 10001 >"$BATS_TEST_TMPDIR/refused"
    take "@$BATS_TEST_TMPDIR/refused"
    id=$(db 'SELECT id FROM webhook_refusal')
    assert_equal "$(count event "is_forward = 1")" 0
    switchboard refusal retry "$id" >/dev/null
    courier_once
    assert_equal "$(received_count A)" 1
    assert_forwarded A 1 "@$BATS_TEST_TMPDIR/refused"
    take "@$BATS_TEST_TMPDIR/refused"
    switchboard refusal retry "$(db 'SELECT id FROM webhook_refusal')" >/dev/null
    assert_equal "$(count event "is_forward = 1")" 1
}

# --- housekeeping ---

@test "a POST is removed with the last event that is made of it" {
    local first second
    forward A /
    forward B /
    post_of_three 1
    take "$three"
    courier_once
    assert_equal "$(count platform_post) $(count event)" '1 2'
    db "UPDATE event SET finished_at = 1 WHERE user_id = (SELECT id FROM user WHERE email = '$A_EMAIL')"
    courier_once
    assert_equal "$(count platform_post) $(count event) $(count delivery)" '1 1 1'
    db "UPDATE event SET finished_at = 1"
    courier_once
    assert_equal "$(count platform_post) $(count event) $(count delivery)" '0 0 0'
}
