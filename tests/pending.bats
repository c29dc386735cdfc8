#!/usr/bin/env bats
# A send that the platform accepted and the database does not take is kept in pending_dir until the
# courier has stored it: it is in the inbox with its text (spec 1).
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/graph
load helpers/webhook

setup_file() {
    start_stack
    make_user
}

setup() {
    forget_sent
    pending=$STACK/pending
    to=1555$((1000000 + $(next_number)))
    who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\""
}

teardown() {
    rm -f "$pending"/*
    stop_couriers
}

send() { # TEXT [option of request...]
    api POST /v2/messages/send/text -d "{$who,\"text\":\"$1\"}" "${@:2}"
}

# Sends while the database refuses messages, and sets `wamid`: send_unrecorded TEXT [option...]
send_unrecorded() {
    refuse_rows message
    send "$@"
    accept_rows message
    assert_success
    wamid=$(gojq -r '.data.messages[0].id' "$body")
}

# Prints the names of the records that wait.
waiting() {
    ls "$pending" | grep -v '\.' || true
}

assert_waiting() { # COUNT
    assert_equal "$(waiting | wc -l)" "$1"
}

# Prints what is stored of a message: record_of WAMID
record_of() {
    db "SELECT m.source, m.type, m.status, CAST(m.body AS TEXT), c.phone, l.phone_number_id
        FROM message m JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id
        JOIN line l ON l.id = m.line_id WHERE m.wamid = '$1'"
}

# Expects that the courier stores what waits, as an undisturbed send: assert_stored TEXT [STATUS]
assert_stored() {
    courier_once
    assert_waiting 0
    assert_equal "$(record_of "$wamid")" "api|text|${2-accepted}|$(body_sent "$1")|$to|$LINE"
}

# Prints the body that the platform got for a text without a key.
body_sent() {
    printf '{"messaging_product":"whatsapp","recipient_type":"individual",'
    printf '"to":"%s","type":"text","text":{"body":"%s"}}' "$to" "$1"
}

# Expects a line of doctor about pending_dir: finds STATUS TEXT
finds() {
    local line
    line=$(switchboard doctor --json |
        gojq -r '.[] | select(.check == "pending_dir") | "\(.status) \(.detail)"')
    grep -qi "^$1 .*$2" <<<"$line" || fail "$line"
}

metric() { # NAME
    request GET /metrics
    sed -n "s/^$1 //p" "$body"
}

@test "a send whose record the database refuses is answered, kept in a file, and stored with its text" {
    local outcomes
    outcomes=$(metric 'switchboard_pending_records_total{outcome="stored"}')
    send_unrecorded 'größer ☃'
    assert_equal "$(record_of "$wamid")" ''
    assert_waiting 1
    assert_equal "$(stat -c %a "$pending/$(waiting)")" 640
    grep -F "request $(header X-Request-Id): $wamid was accepted but not recorded" "$LOG" |
        grep -F '"level":"warn"' | grep -F 'made to fail' | grep -qF 'waits in pending_dir'
    finds warn '1 record of accepted calls waits'
    assert_equal "$(metric switchboard_pending_records)" 1
    courier_once
    assert_waiting 0
    assert_equal "$(record_of "$wamid")" "api|text|accepted|$(body_sent 'größer ☃')|$to|$LINE"
    finds ok 'no record waits'
    assert_equal "$(metric switchboard_pending_records)" 0
    assert_equal "$(metric 'switchboard_pending_records_total{outcome="stored"}')" $((outcomes + 1))
}

@test "the server is away when the platform answers: the courier stores the send when it is back" {
    [[ -n ${SERVER-} ]] || skip 'a SQLite file that is open stays usable'
    begin_held send away
    take_database_away
    end_held 200
    wamid=$(gojq -r '.data.messages[0].id' "$BATS_TEST_TMPDIR/held/body")
    assert_waiting 1
    start_courier
    sleep 2
    assert_waiting 1
    bring_database_back
    eventually none_waits
    assert_stored away
}

# bats test_tags=long
@test "the database is locked for longer than 5 s: a resident courier stores the send afterwards" {
    start_courier
    begin_held send locked
    hold_database
    answer_now
    eventually test -e "$BATS_TEST_TMPDIR/held/status"
    wamid=$(gojq -r '.data.messages[0].id' "$BATS_TEST_TMPDIR/held/body")
    assert_waiting 1
    release_database
    eventually none_waits
    assert_stored locked
}

none_waits() {
    [[ -z $(waiting) ]]
}

@test "a keyed send that is kept is not sent again, and is answered as before once it is stored" {
    local key="key-$RANDOM$RANDOM"
    send_unrecorded keyed -H "Idempotency-Key: $key"
    cp "$body" "$BATS_TEST_TMPDIR/first"
    send keyed -H "Idempotency-Key: $key"
    assert_error 409 VALIDATION_ERROR 'still running'
    courier_once
    assert_waiting 0
    [[ $(record_of "$wamid") == "api|text|accepted|"*'"text":{"body":"keyed"}'* ]] ||
        fail "$(record_of "$wamid")"
    send keyed -H "Idempotency-Key: $key"
    assert_header Idempotent-Replayed true
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    send another -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another body'
    assert_equal "$(sent_count path=/messages)" 1
}

@test "a message of the platform's form is kept too, with the reply of its key" {
    local key="key-$RANDOM$RANDOM" sent
    sent=$(body_sent graph)
    refuse_rows message
    graph POST "/v23.0/$LINE/messages" -d "$sent" -H "Idempotency-Key: $key"
    accept_rows message
    assert_status 200
    cp "$body" "$BATS_TEST_TMPDIR/first"
    wamid=$(gojq -r '.messages[0].id' "$body")
    assert_stored graph
    graph POST "/v23.0/$LINE/messages" -d "$sent" -H "Idempotency-Key: $key"
    assert_header Idempotent-Replayed true
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    assert_equal "$(sent_count path=/messages)" 1
}

@test "a template that opens a flow, a reply and a BSUID are kept with all that the record has" {
    sandbox POST templates \
        "{\"wabaId\":\"$WABA\",\"generate\":{\"count\":3,\"prefix\":\"k_\"}}" >/dev/null
    db "INSERT INTO template (account_id, name, language, flow_id, updated_at)
        VALUES ('$ACCOUNT', 'k_1', 'en_US', '7002', 0)"
    refuse_rows message
    api POST /v2/templates/send -d "{\"phoneNumberId\":\"$LINE\",\"recipient\":\"US.$to\",
        \"templateName\":\"k_1\",\"contextMessageWamid\":\"wamid.before\"}"
    accept_rows message
    assert_success
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    courier_once
    assert_equal "$(db "SELECT m.type, m.context_wamid, c.bsuid FROM message m
        JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id
        WHERE m.wamid = '$wamid'")" "template|wamid.before|US.$to"
    assert_equal "$(db "SELECT flow_id FROM flow_token WHERE token = '$wamid'")" 7002
}

@test "a status that arrives first makes an unknown message, which the kept record completes" {
    local at
    send_unrecorded first
    take "$(payload "$(status_of "$wamid" delivered "\"recipient_id\":\"$to\"")")"
    assert_equal "$(record_of "$wamid")" "status|unknown|delivered||$to|$LINE"
    assert_stored first delivered
    # in the order of the conversation: when it was sent, not when a status reported it
    at=$(db "SELECT timestamp FROM message WHERE wamid = '$wamid'")
    (($(date +%s%3N) - at < 600000)) || fail "$at"
    assert_equal "$(db "SELECT count(*) FROM message WHERE wamid = '$wamid'")" 1
}

@test "contacts that were merged meanwhile: the kept message is in the thread of the one that is left" {
    local bsuid=US.9$to
    take "$(payload "$(inbound "wamid.b$to" '' "$bsuid")")"
    send_unrecorded merged
    take "$(payload "$(inbound "wamid.p$to" "$to" "$bsuid")")"
    assert_stored merged
    assert_equal "$(db "SELECT count(DISTINCT t.id), count(*) FROM message m
        JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id
        WHERE c.phone = '$to' AND c.bsuid = '$bsuid'")" '1|3'
}

@test "a record that is stored twice, and by two couriers at once, is one message and counts once" {
    local count before used i
    used="SELECT coalesce(sum(count), 0) FROM usage WHERE measure = 'out'"
    before=$(db 'SELECT count(*) FROM message')
    refuse_rows message
    for ((i = 0; i < 8; i++)); do
        send "twice $i"
    done
    accept_rows message
    assert_waiting 8
    cp -r "$pending" "$BATS_TEST_TMPDIR/copy"
    courier_once &
    courier_once
    wait $!
    assert_waiting 0
    count=$(db "$used")
    cp "$BATS_TEST_TMPDIR"/copy/* "$pending"
    courier_once
    assert_waiting 0
    assert_equal "$(db 'SELECT count(*) FROM message')" $((before + 8))
    assert_equal "$(db "$used")" "$count"
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '$to'")" 1
}

@test "a file that is damaged, foreign or refused is set aside and reported; it blocks no other" {
    local name
    send_unrecorded damaged
    name=$(waiting)
    head -c -7 "$pending/$name" >"$pending/rec_0damaged"
    sed 's/^send.type 4/send.type 5/' "$pending/$name" >"$pending/rec_0length"
    sed 's/^send.type/send.kind/' "$pending/$name" >"$pending/rec_0name"
    : >"$pending/rec_0empty"
    mkdir "$pending/rec_0directory"
    ln -s /etc/passwd "$pending/rec_0link"
    # of an account that does not exist any more
    sed "s/$ACCOUNT/${ACCOUNT^^}/;s/$wamid/${wamid%?}?/" "$pending/$name" >"$pending/rec_0account"
    printf x >"$pending/foreign"
    courier_once || true
    assert_equal "$(ls "$pending")" 'foreign
rec_0account.refused
rec_0damaged.refused
rec_0directory
rec_0empty.refused
rec_0length.refused
rec_0link
rec_0name.refused'
    [[ $(record_of "$wamid") == *damaged* ]]
    finds fail '5 records in .* cannot be stored'
    assert_equal "$(metric switchboard_pending_records_refused)" 5
    rm -rf "$pending"/rec_0*
}

@test "without pending_dir sends work; what neither the database nor the disk takes is counted as lost" {
    local lost
    lost=$(metric 'switchboard_pending_records_total{outcome="lost"}')
    mv "$pending" "$pending.away"
    send works
    assert_success
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    [[ $(record_of "$wamid") == *works* ]]
    grep -F "request $(header X-Request-Id): pending_dir $pending: No such file" "$LOG"
    send_unrecorded lost
    finds fail 'No such file'
    mv "$pending.away" "$pending"
    grep -F "$wamid was accepted but not recorded" "$LOG" | grep -F '"level":"error"' |
        grep -qF 'it is lost'
    assert_equal "$(metric 'switchboard_pending_records_total{outcome="lost"}')" $((lost + 1))
}

# In a mount namespace: pending_dir on a small disk of its own.
on_small_disk() {
    mount -t tmpfs -o size=256k,mode=777 tmpfs "$pending"
    trap 'accept_rows message' EXIT
    refuse_rows message
    begin_held send room
    cat /dev/zero >"$pending/.ballast" 2>/dev/null || true
    end_held 200
    [[ $(waiting | wc -l) == 1 ]] || fail 'the record was not kept'
    cp "$pending/$(waiting)" "$BATS_TEST_TMPDIR/record"
    forget_sent
    send none
    assert_error 500 INTERNAL_ERROR 'disk is full'
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "a full disk: a send that began has room for its record, and a later one is not sent" {
    [[ $TRANSPORT == direct ]] || skip 'the web server is outside of the mount namespace'
    unshare -rm true 2>/dev/null || skip 'no mount namespace can be created here'
    export -f on_small_disk send waiting
    run unshare -rm bash -c "BATS_TEST_DIRNAME='$BATS_TEST_DIRNAME'; pending='$pending'
        who='$who'; load() { . \"$root/tests/\$1.bash\"; }
        load helpers/all; load helpers/conventions; set -e; on_small_disk; printf done"
    [[ $status == 0 && $output == *done ]] || fail "$output"
    cp "$BATS_TEST_TMPDIR/record" "$pending/rec_0"
    wamid=$(sed -n '/^send.wamid/{n;p}' "$pending/rec_0")
    assert_stored room
}
