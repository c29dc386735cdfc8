#!/usr/bin/env bats
# The processor time of a validly signed payload grows only with its length. The payload is stored, or it is
# kept unprocessed as a refusal, which the operator can retry. No payload exceeds the web server's limit of
# processor time: the platform would repeat it, and every attempt would fail.
# shellcheck disable=SC2086  # the names of people ($P1, $B1, ...) are single words
# starts first
load helpers/all
load helpers/webhook

MOST_BYTES=4194304 MOST_UPDATES=10000

setup_file() {
    start_stack
    make_user
    make_webhook
    switchboard event enable message.status "$EMAIL" >/dev/null
}

setup() {
    forget_sent
    make_account_line
    payload=$BATS_TEST_TMPDIR/payload
}

teardown() {
    [[ -z ${has_thousand-} ]] || forget_thousand_webhooks
}

# A payload of tests/helpers/extremes.c for the test's line: extreme SHAPE BYTES [UNITS]
extreme() {
    "$HELPERS/extremes" "$1" "$2" "$WABA" "$LINE" "${@:3}" >"$payload"
    (($(stat -c %s "$payload") <= $2))
}

# Posts the payload and sets `cost` to the milliseconds of processor time that it took.
measure() {
    local signature times TIMEFORMAT='%U %S'
    signature=$(sign "$payload")
    { time request POST /platform/webhook -d "@$payload" -H "X-Hub-Signature-256: $signature" 2>&3; } \
        3>&2 2>"$BATS_TEST_TMPDIR/times"
    times=$(tail -n 1 "$BATS_TEST_TMPDIR/times")
    cost=$(awk '{ printf "%.0f", 1000 * ($1 + $2) }' <<<"$times")
}

# The cost of 10,000 plain messages of one contact on this machine, to which the others are compared.
calibrate() {
    make_account_line
    extreme typed_messages_of_one_contact $MOST_BYTES 10000
    measure
    assert_status 200
    common=$cost
}

# The id of the payload's refusal; empty when it was accepted.
refusal_id() {
    db "SELECT id FROM webhook_refusal WHERE hash = X'$(sha256sum <"$payload" | cut -d ' ' -f 1)'"
}

# The payload was answered 200, and its messages or its refusal are in the database.
assert_stored_or_kept() { # SHAPE
    local id
    [[ $status == 200 ]] || fail_answer "$1: expected the payload to be stored or kept, cost $cost ms"
    assert_body_is '{"success":true,"data":{"received":true}}'
    id=$(refusal_id)
    if [[ -n $id ]]; then
        switchboard refusal show "$id" | cmp - "$payload"
        grep '/platform/webhook' "$LOG" | tail -n 1 | gojq -e '.payload_refused | length > 0' >/dev/null
        switchboard refusal drop "$id" >/dev/null
    elif [[ $1 != entries_of_nothing ]]; then
        grep '/platform/webhook' "$LOG" | tail -n 1 |
            gojq -e '(.stored // 0) + (.duplicate // 0) + (.nobody // 0) + (.not_ours // 0) > 0' >/dev/null ||
            fail "$1: neither stored nor kept"
    fi
}

# Programs that count their lines are slower, by another factor for each shape.
assert_cheap() { # SHAPE
    local most=$((8 * common))
    [[ $OUT != */coverage ]] || return 0
    [[ -z ${TEST_FULL-} ]] || ((most < 2000)) || most=2000
    ((cost <= most)) || fail "$1: $cost ms of processor time; 10,000 messages take $common ms"
}

# The shapes to test: all in make test-full, else those given.
shapes() { # SHAPE...
    if [[ -n ${TEST_FULL-} ]]; then
        "$HELPERS/extremes"
    else
        printf '%s\n' "$@"
    fi
}

# Posts each of the shapes on standard input: sweep BYTES [UNITS]
sweep() {
    local shape
    calibrate
    while IFS= read -r shape; do
        make_account_line
        extreme "$shape" "$@"
        measure
        printf '%-32s %5d ms %s\n' "$shape" "$cost" "$(refusal_id)"
        assert_stored_or_kept "$shape"
        assert_cheap "$shape"
    done
}

# bats test_tags=direct,long
@test "4 MB of any validly signed payload are stored or kept, at a small multiple of the cost of 10,000 messages" {
    [[ $TRANSPORT == direct ]] || skip 'the processor time is that of the executable itself'
    shapes empty_messages messages_of_one_contact messages_of_one_card a_card_for_each_message \
        cards_by_user_id cards_that_match_none a_long_name_of_many_messages a_long_id_of_a_card \
        members_of_an_entry a_long_time_of_an_entry a_long_id_of_a_line a_history_thread values \
        too_deep merges_into_an_older merges_of_a_large_message | sweep $MOST_BYTES
}

# bats test_tags=direct,long
@test "the largest number of updates of every kind is stored or kept as a refusal at a bounded cost" {
    [[ $TRANSPORT == direct ]] || skip 'the processor time is that of the executable itself'
    shapes 10000_people statuses members_beside_the_statuses members_of_a_profile entries_of_others \
        user_id_updates numbers_that_come_back lead_events address_book merges_into_a_younger \
        merges_into_an_older merges_of_a_large_message | sweep $MOST_BYTES $MOST_UPDATES
}

# bats test_tags=direct
@test "a payload of four times the length costs about four times as much at most" {
    local shape short
    [[ $TRANSPORT == direct && -n ${TEST_FULL-} ]] || skip 'only in make test-full'
    calibrate
    for shape in $("$HELPERS/extremes"); do
        make_account_line
        extreme "$shape" $((MOST_BYTES / 4)) $((MOST_UPDATES / 4))
        measure
        assert_stored_or_kept "$shape"
        short=$cost
        make_account_line
        extreme "$shape" $MOST_BYTES $MOST_UPDATES
        measure
        assert_stored_or_kept "$shape"
        ((cost <= 8 * short + common)) || fail "$shape: $short ms, four times the length $cost ms"
    done
}

# bats test_tags=long
@test "the most expensive payload stays below the web server's limit of processor time" {
    local shape
    for shape in a_card_for_each_message messages_of_one_card merges_of_a_large_message a_long_name_of_many_messages; do
        make_account_line
        extreme "$shape" $MOST_BYTES
        measure
        assert_stored_or_kept "$shape"
        make_account_line
        extreme "$shape" $MOST_BYTES $MOST_UPDATES
        measure
        assert_stored_or_kept "$shape"
    done
}

@test "on a server a payload that takes too long is kept in time, and retry stores it" {
    local id
    [[ -n ${SERVER-} && $TRANSPORT != direct ]] || skip 'Apache waits for a server: 60 s'
    delay_rows message
    deliver "$(payload "$(inbound wamid.slow $P1 $B1)")"
    accept_rows message
    assert_status 200
    payload=$BATS_TEST_TMPDIR/webhook
    id=$(refusal_id)
    assert_equal "$(db "SELECT reason FROM webhook_refusal WHERE id = '$id'")" \
        'its updates change too much at once'
    assert_equal "$(contacts)" '[]'
    assert_equal "$(switchboard refusal retry "$id")" '1 updates processed: 0 known already, 0 skipped'
    assert_only_contact $P1/$B1
    assert_messages 'wamid.slow in text received'
}

# Gives the user a thousand webhooks: the configured one, and paused ones.
make_thousand_webhooks() {
    has_thousand=yes
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
        INSERT INTO webhook (id, user_id, kind, url, code, paused_at, created_at, updated_at)
        SELECT 'whk_many' || n.i, w.user_id, 'event', w.url || n.i, w.code, 1, w.created_at + n.i, 1
        FROM n, webhook w WHERE w.id NOT LIKE 'whk_many%'"
}

forget_thousand_webhooks() {
    db "DELETE FROM delivery; DELETE FROM event; DELETE FROM webhook WHERE id LIKE 'whk_many%'"
}

# Posts the payload until it is answered 200, as the platform does, and sets `posts` to the number of
# requests and `took` to the milliseconds of the longest one.
post_until_stored() {
    local began
    took=0
    for ((posts = 1; posts <= 50; posts++)); do
        began=$(date +%s%3N)
        measure
        ((took > $(date +%s%3N) - began)) || took=$(($(date +%s%3N) - began))
        [[ $status != 200 ]] || return 0
        assert_error 503 INTERNAL_ERROR
        assert_header Retry-After 1
    done
    fail_answer 'the payload was never stored'
}

# Every message is stored and has one event, in order, with a delivery to each webhook: assert_in_order COUNT
assert_in_order() {
    assert_equal "$(refusal_id)" ''
    assert_equal "$(db "SELECT count(*), count(DISTINCT wamid) FROM message m JOIN line l ON l.id = m.line_id
        WHERE l.phone_number_id = '$LINE'")" "$1|$1"
    assert_equal "$(db "SELECT type, count(*) FROM event GROUP BY 1 ORDER BY 1" | xargs)" "lead.created|1 message.received|$1"
    assert_equal "$(db "SELECT count(*), count(DISTINCT webhook_id), count(DISTINCT order_key) FROM delivery
        WHERE state = 'pending'")" "$((($1 + 1) * 1000))|1000|1"
    assert_equal "$(db "SELECT count(DISTINCT sequence), max(sequence) - min(sequence) + 1 FROM event")" \
        "$(($1 + 1))|$(($1 + 1))"
    # the wamids count up in the payload
    db "SELECT json_extract(CAST(body AS TEXT), '\$.data.message.id') FROM event WHERE type = 'message.received' ORDER BY sequence" \
        >"$BATS_TEST_TMPDIR/order"
    gojq -r '.entry[].changes[].value.messages[]?.id' "$payload" | cmp - "$BATS_TEST_TMPDIR/order"
}

has_messages() {
    [[ $(db "SELECT count(*) FROM message m JOIN line l ON l.id = m.line_id WHERE l.phone_number_id = '$LINE'") != 0 ]]
}

# bats test_tags=each,long
@test "a batch is stored for a user with a thousand webhooks, whatever was interrupted meanwhile" {
    local count=150 process next posts took
    [[ -z ${TEST_FULL-} ]] || count=1000
    db "DELETE FROM delivery; DELETE FROM event"
    make_thousand_webhooks
    extreme typed_messages_of_one_contact $MOST_BYTES $count
    # the first process dies between two parts, over direct; else its client leaves
    { measure || true; } 3>&- &
    process=$!
    eventually has_messages
    while next=$(children "$process" 2>/dev/null) && [[ ${next// /} ]]; do
        process=${next%% *}
    done
    kill -KILL "$process" 2>/dev/null || true
    wait || true
    post_until_stored
    assert_in_order $count
    printf '# %d messages for 1,000 webhooks: %d requests, the longest %d ms; %d deliveries, %d bytes of database\n' \
        $count "$posts" "$took" "$(db 'SELECT count(*) FROM delivery')" "$(database_bytes)" >&3
    measure
    assert_status 200
    assert_in_order $count
}

# bats test_tags=long
@test "10,000 updates are stored, each once; 10,001 are kept as a refusal, and none of them is stored" {
    local before posts took
    extreme typed_messages_of_one_contact $MOST_BYTES 10000
    post_until_stored
    # a server on a loaded machine may need more than the time of a request
    [[ -z ${SERVER-} || -z $(refusal_id) ]] || switchboard refusal retry "$(refusal_id)" >/dev/null
    assert_equal "$(db "SELECT count(*) FROM message m JOIN line l ON l.id = m.line_id WHERE l.phone_number_id = '$LINE'")" 10000
    assert_equal "$(refusal_id)" ''
    make_account_line
    before=$(stored)
    extreme typed_messages_of_one_contact $MOST_BYTES 10001
    take "@$payload"
    assert_equal "$(stored)" "$before"
    assert_equal "$(db "SELECT reason, size, updates, count FROM webhook_refusal")" \
        "it holds more than 10000 updates|$(stat -c %s "$payload")|10001|1"
    cmp <(switchboard refusal show "$(refusal_id)") "$payload"
    grep -F "a payload of $(stat -c %s "$payload") bytes was stored and not processed: it holds more than 10000 updates" "$LOG"
    switchboard refusal drop "$(refusal_id)" >/dev/null
}

# bats test_tags=direct,long
@test "a repeated refused payload is counted, doctor reports it, and retry stores it once" {
    local id
    extreme typed_messages_of_one_contact $MOST_BYTES 10500
    take "@$payload"
    take "@$payload"
    id=$(refusal_id)
    switchboard refusal list --json | gojq -e --arg id "$id" --argjson size "$(stat -c %s "$payload")" \
        'length == 1 and (.[0] | .id == $id and .count == 2 and .updates == 10500 and .size == $size and .lastAt >= .firstAt)'
    switchboard doctor >"$BATS_TEST_TMPDIR/doctor" || true
    grep -E "^warn +refused payloads +payloads of the platform that were kept and not processed: 1, the last at 20[^ ]+: it holds more than 10000 updates; see .switchboard refusal list." "$BATS_TEST_TMPDIR/doctor"
    assert_equal "$(switchboard refusal retry "$id")" '10500 updates processed: 0 known already, 0 skipped'
    assert_only_contact 16505550001/none
    assert_equal "$(db "SELECT count(*) FROM message m JOIN line l ON l.id = m.line_id WHERE l.phone_number_id = '$LINE'")" 10500
    assert_equal "$(events .type | sort | uniq -c | tr -s ' ')" $' 1 "lead.created"\n 10500 "message.received"'
    assert_equal "$(switchboard refusal list --json)" '[]'
    switchboard doctor >"$BATS_TEST_TMPDIR/doctor" || true
    grep -E '^ok +refused payloads +none' "$BATS_TEST_TMPDIR/doctor"
    take "@$payload"
    id=$(refusal_id)
    assert_equal "$(switchboard refusal retry "$id")" '10500 updates processed: 10500 known already, 0 skipped'
    assert_equal "$(db "SELECT count(*) FROM message m JOIN line l ON l.id = m.line_id WHERE l.phone_number_id = '$LINE'")" 10500
}

# bats test_tags=direct
@test "JSON that is too deep or has too many values is kept as a refusal; invalid JSON is 400" {
    local id output
    extreme too_deep 1000
    take "@$payload"
    id=$(refusal_id)
    assert_equal "$(db "SELECT reason, updates IS NULL FROM webhook_refusal WHERE id = '$id'")" 'it is nested deeper than 128 levels|1'
    ! output=$(switchboard refusal retry "$id" 2>&1) || fail 'the retry succeeded'
    [[ $output == *'it is nested deeper than 128 levels'* ]]
    assert_equal "$(switchboard refusal list --json | jq length)" 1
    switchboard refusal drop "$id"
    ! output=$(switchboard refusal drop "$id" 2>&1) || fail 'the refusal was dropped twice'
    [[ $output == *"there is no refused payload $id"* ]]
    extreme values $MOST_BYTES
    take "@$payload"
    assert_equal "$(db 'SELECT reason FROM webhook_refusal')" 'there are more than 1000000 values'
    switchboard refusal drop "$(refusal_id)"
    deliver '{"entry":'
    assert_error 400 VALIDATION_ERROR 'at line 1, column'
    assert_equal "$(db 'SELECT count(*) FROM webhook_refusal')" 0
}

@test "refusals take at most 64 MiB: then 503, until one is dropped or 30 days old" {
    local before
    extreme too_deep 1000
    db "INSERT INTO webhook_refusal (id, hash, reason, size, count, first_at, last_at, body)
        VALUES ('ref_other', zeroblob(32), 'x', 64 * 1024 * 1024 - 999, 1, 1, ${EPOCHSECONDS}000, X'')"
    before=$(stored)
    deliver "@$payload"
    assert_error 503 INTERNAL_ERROR
    assert_header Retry-After 60
    assert_equal "$(refusal_id)" ''
    assert_equal "$(stored)" "$before"
    db "UPDATE webhook_refusal SET last_at = $((EPOCHSECONDS - 31 * 86400))000"
    take "@$payload"
    [[ -n $(refusal_id) ]]
    assert_equal "$(db "SELECT count(*) FROM webhook_refusal")" 1
    switchboard refusal drop "$(refusal_id)"
}

# bats test_tags=direct
@test "a name of more than 1,024 bytes is truncated after a whole character, for any number of messages" {
    local name
    name=$(printf 'é%.0s' {1..600})
    take "$(payload "$(inbound wamid.1 $P1 $B1 '"type":"text"' "$(card $P1 $B1 "\"profile\":{\"name\":\"x$name\"}")")")"
    assert_equal "$(contacts | gojq -r '.[0].name')" "x$(printf 'é%.0s' {1..511})"
    assert_equal "$(events 'select(.type == "message.received").data.contact.name | length')" 512
}
