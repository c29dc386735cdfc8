#!/usr/bin/env bats
# /v2/outgoing and `Prefer: respond-async`: sends that are queued, and how they can be cancelled.
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/routes
load helpers/sender
load helpers/session
load helpers/webhook

setup_file() {
    start_stack
    make_user OTHER_
    make_user
}

setup() {
    forget_sent
    db 'DELETE FROM outgoing'
    have_pulse
    to=1555$((1000000 + $(next_number)))
    who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\""
}

queued() {
    db 'SELECT count(*) FROM outgoing'
}

@test "the reason of 202 is Accepted (RFC 9110 15.3.3)" {
    [[ $TRANSPORT != direct ]] || skip 'needs a web server'
    run curl -s -D - -o "$BATS_TEST_TMPDIR/answer" "$BASE/v2/messages/send/text" \
        -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
        -H 'Prefer: respond-async' -d "{$who,\"text\":\"x\"}"
    assert_equal "${lines[0]%$'\r'}" 'HTTP/1.1 202 Accepted'
}

@test "respond-async is answered 202 with the row, its path and the preference, and sends nothing" {
    queue 'größer ☃'
    assert_status 202
    assert_conventions
    assert_header Location "/v2/outgoing/$out"
    assert_header Preference-Applied respond-async
    assert_json '.data | del(.id, .createdAt, .sendAt, .nextAttemptAt, .expiresAt)' "{
        \"state\":\"queued\",\"reason\":null,\"error\":null,\"phoneNumberId\":\"$LINE\",
        \"recipient\":\"$to\",\"messageId\":null,\"attempts\":0,\"finishedAt\":null,
        \"retryOf\":null,\"retriedAs\":null,\"campaignId\":null}"
    [[ $out == out_* ]] || fail "the id is $out"
    assert_nothing_sent
    assert_equal "$(row "$out" 'CAST(body AS TEXT)')" "$(
        printf '{"messaging_product":"whatsapp","recipient_type":"individual","to":"%s",' "$to"
        printf '"type":"text","text":{"body":"größer ☃"},"biz_opaque_callback_data":"%s"}' "$out")"
    assert_equal "$(row "$out" 'expires_at - send_at')" $((24 * 60 * 60 * 1000))
    api GET "/v2/outgoing/$out"
    assert_success
    assert_text .data.id "$out"
}

# bats test_tags=long
@test "every route that sends a message queues it with respond-async, or with sendAt and validFor" {
    local count=0 at
    at=$(moment '+1 hour')
    have_routes
    queues() {
        send_sample --as "$TOKEN" -H 'Prefer: respond-async'
        assert_status 202
        sample=$(gojq -c --arg at "$at" '. + {sendAt: $at, validFor: 60}' <<<"$sample")
        send_sample --as "$TOKEN"
        assert_status 202
        count=$((count + 1))
        assert_equal "$(queued)" $((2 * count))
        assert_equal "$(row "$(gojq -r .data.id "$body")" 'send_at, expires_at - send_at')" \
            "$(date -d "$at" +%s)000|60000"
    }
    each_route queues '(.path | test("^/v2/(messages|templates)/.*send")) and .method == "POST"'
    ((count >= 18)) || fail "only $count routes"
    assert_nothing_sent
}

@test "sendAt queues a send without the preference, and the row has its time and its end" {
    local at
    at=$(moment '+1 hour')
    schedule later "$at"
    assert_status 202
    assert_conventions
    assert_header Location "/v2/outgoing/$out"
    refute_header Preference-Applied
    assert_text .data.sendAt "${at%Z}.000Z"
    assert_text .data.nextAttemptAt "${at%Z}.000Z"
    assert_equal "$(row "$out" 'send_at, next_at - send_at, expires_at - send_at')" \
        "$(date -d "$at" +%s)000|0|86400000"
    api GET "/v2/outgoing/$out"
    assert_text .data.sendAt "${at%Z}.000Z"
    api GET /v2/outgoing
    assert_text '.data.items[0].sendAt' "${at%Z}.000Z"
    assert_nothing_sent
}

@test "sendAt is a moment with an offset, of the last minute or the next 30 days" {
    local text
    for text in 2026-11-20 2026-11-20T10:00:00 tomorrow '2026-02-30T10:00:00Z' ''; do
        schedule x "$text"
        assert_issue sendAt
    done
    api POST /v2/messages/send/text -d "{$who,\"text\":\"x\",\"sendAt\":1900000000}"
    assert_issue sendAt 'must be a string, not number'
    schedule x "$(moment '-2 minutes')"
    assert_issue sendAt 'must not be in the past; it is 2'
    schedule x "$(moment '+30 days +1 minute')"
    assert_issue sendAt 'must be at most 30 days ahead'
    schedule x "$(moment '+1 year')"
    assert_issue sendAt 'must be at most 30 days ahead'
    assert_equal "$(queued)" 0
    schedule x "$(moment '+30 days -1 minute')"
    assert_status 202
    schedule x "$(moment '-30 seconds')"
    assert_status 202
    assert_equal "$(row "$out" 'send_at = created_at')" 1
    assert_nothing_sent
}

@test "the offset of sendAt counts, whatever the time zone of the machine" {
    local at
    at=$(moment '+2 hours')
    schedule x "$(TZ=IST-05:30 date -d "$at" +%FT%T)+05:30"
    assert_status 202
    assert_text .data.sendAt "${at%Z}.000Z"
}

@test "validFor is 1 second to 30 days, and has no effect on a send that is not queued" {
    local value
    for value in 0 2592001 -1 1.5; do
        schedule x "$(moment '+1 hour')" "\"validFor\":$value"
        assert_issue validFor
    done
    schedule x "$(moment '+1 hour')" '"validFor":2592000'
    assert_status 202
    assert_equal "$(row "$out" 'expires_at - send_at')" 2592000000
    api POST /v2/messages/send/text -d "{$who,\"text\":\"x\",\"validFor\":1}"
    assert_success
    assert_equal "$(queued)" 1
    assert_equal "$(sent_count)" 1
}

@test "a repeated key with sendAt is answered with the same row" {
    local first at
    at=$(moment '+1 hour')
    api POST /v2/messages/send/text -d "{$who,\"text\":\"x\",\"sendAt\":\"$at\"}" \
        -H 'Idempotency-Key: scheduled'
    assert_status 202
    first=$(gojq -r .data.id "$body")
    api POST /v2/messages/send/text -d "{$who,\"text\":\"x\",\"sendAt\":\"$at\"}" \
        -H 'Idempotency-Key: scheduled'
    assert_status 202
    assert_header Idempotent-Replayed true
    assert_text .data.id "$first"
    assert_equal "$(queued)" 1
}

# A sendAt that is just over is now; `at` will be refused within seconds.
queued_late() {
    at=$(moment '-57 seconds')
    api POST /v2/messages/send/text -d "{$who,\"text\":\"x\",\"sendAt\":\"$at\"}" \
        -H "Idempotency-Key: late-$at"
    [[ $status == 202 ]]
}

is_past() { # TIME: over for more than a minute
    (($(date +%s) > $(date -d "$1" +%s) + 61))
}

# bats test_tags=long
@test "a repeated key is answered with the stored answer after sendAt has passed, and queues nothing" {
    local at first state
    eventually queued_late
    first=$(cat "$body")
    eventually is_past "$at"
    schedule x "$at"
    assert_issue sendAt 'must not be in the past'
    for state in accepted expired; do
        db "UPDATE outgoing SET state = '$state', finished_at = 1"
        api POST /v2/messages/send/text -d "{$who,\"text\":\"x\",\"sendAt\":\"$at\"}" \
            -H "Idempotency-Key: late-$at"
        assert_status 202
        assert_header Idempotent-Replayed true
        assert_equal "$(cat "$body")" "$first"
        assert_equal "$(queued)" 1
    done
    db 'DELETE FROM outgoing' # after its time
    api POST /v2/messages/send/text -d "{$who,\"text\":\"x\",\"sendAt\":\"$at\"}" \
        -H "Idempotency-Key: late-$at"
    assert_equal "$(cat "$body")" "$first"
    assert_equal "$(queued)" 0
    assert_nothing_sent
}

@test "without a sender for two minutes the answer is 503 with Retry-After, and nothing is stored" {
    db "UPDATE heartbeat SET beat_at = beat_at - 125000 WHERE name = 'sender'"
    queue x
    assert_error 503 INTERNAL_ERROR 'No sender runs'
    assert_header Retry-After 60
    assert_equal "$(queued)" 0
    db "DELETE FROM heartbeat WHERE name = 'sender'"
    queue x -H 'Idempotency-Key: without-sender'
    assert_error 503 INTERNAL_ERROR 'No sender runs'
    have_pulse
    queue x -H 'Idempotency-Key: without-sender'
    assert_status 202 # the request with this key goes on
}

@test "a queued send is checked as every send: fields, line, blocked contact" {
    api POST /v2/messages/send/text -d "{$who}" -H 'Prefer: respond-async'
    assert_issue text required
    api POST /v2/messages/send/text -H 'Prefer: respond-async' \
        -d "{\"phoneNumberId\":\"$OTHER_LINE\",\"to\":\"$to\",\"text\":\"x\"}"
    assert_error 403 FORBIDDEN
    take "$(payload "$(inbound "wamid.in.$to" "$to" '')")"
    switchboard contact block "$LINE" "$to" >/dev/null
    queue x
    assert_error 403 FORBIDDEN 'The contact is blocked on this line.'
    assert_equal "$(queued)" 0
}

@test "a repeated key is answered with the same row, also after a kill before its answer was stored" {
    local first
    queue x -H 'Idempotency-Key: again'
    assert_status 202
    first=$out
    queue x -H 'Idempotency-Key: again'
    assert_status 202
    assert_header Idempotent-Replayed true
    assert_equal "$out" "$first"
    db "UPDATE idempotency SET status = NULL, answer = NULL WHERE key = 'again'"
    queue x -H 'Idempotency-Key: again'
    assert_error 409 VALIDATION_ERROR 'still running'
    db "UPDATE idempotency SET created_at = created_at - 61000 WHERE key = 'again'"
    queue x -H 'Idempotency-Key: again'
    assert_status 202
    assert_equal "$out" "$first"
    assert_equal "$(queued)" 1
    queue y -H 'Idempotency-Key: again'
    assert_error 422 VALIDATION_ERROR 'another body'
}

@test "the key of a queued send is refused on a direct one, and the other way round" {
    queue x -H 'Idempotency-Key: queued'
    assert_status 202
    api POST /v2/messages/send/text -d "{$who,\"text\":\"x\"}" -H 'Idempotency-Key: queued'
    assert_error 422 VALIDATION_ERROR '(respond-async); use a new key'
    assert_nothing_sent
    api POST /v2/messages/send/text -d "{$who,\"text\":\"x\"}" -H 'Idempotency-Key: direct'
    assert_success
    queue x -H 'Idempotency-Key: direct'
    assert_error 422 VALIDATION_ERROR 'was used on another route'
    assert_equal "$(queued)" 1
    assert_equal "$(sent_count)" 1
}

@test "the list has the newest first, of one state, in pages, and of the own user alone" {
    local first second
    queue one
    first=$out
    queue two
    second=$out
    db "UPDATE outgoing SET state = 'failed', finished_at = 1 WHERE id = '$first'"
    api GET /v2/outgoing
    assert_json '[.data.items[].id]' "[\"$second\",\"$first\"]"
    api GET '/v2/outgoing?state=failed'
    assert_json '[.data.items[].id]' "[\"$first\"]"
    api GET '/v2/outgoing?limit=1'
    assert_json '[.data.items[].id]' "[\"$second\"]"
    api GET "/v2/outgoing?limit=1&after=$(gojq -r .data.paging.cursors.after "$body")"
    assert_json '[.data.items[].id]' "[\"$first\"]"
    assert_json .data.paging.cursors.after null
    request GET /v2/outgoing --as "$OTHER_TOKEN"
    assert_json .data.items '[]'
    request GET "/v2/outgoing/$first" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request DELETE "/v2/outgoing/$second" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    assert_equal "$(row "$second" state)" queued
}

# Queues a text and lets it end: have_ended STATE [TEXT]
have_ended() {
    queue "${2-x}"
    db "UPDATE outgoing SET state = '$1', finished_at = 1, attempts = 1 WHERE id = '$out'"
}

# Sends it again: retry [option of request...]. Sets `again`, the id of the new row.
retry() {
    api POST "/v2/outgoing/$out/retry" -d '{}' "$@"
    again=$(gojq -r '.data.id // ""' "$body")
}

@test "retry of a send that failed or expired makes a new one of the same content, and both name the other" {
    local state again
    for state in failed expired; do
        have_ended "$state" 'größer ☃'
        db "UPDATE outgoing SET send_at = 1000, expires_at = 8000 WHERE id = '$out'"
        retry
        assert_success
        assert_conventions
        assert_json '.data | del(.id, .createdAt, .sendAt, .nextAttemptAt, .expiresAt, .message)' "{
            \"state\":\"queued\",\"reason\":null,\"error\":null,\"phoneNumberId\":\"$LINE\",
            \"recipient\":\"$to\",\"messageId\":null,\"attempts\":0,\"finishedAt\":null,
            \"retryOf\":\"$out\",\"retriedAs\":null,\"campaignId\":null}"
        [[ $again == out_* && $again != "$out" ]] || fail "the id is $again"
        assert_equal "$(row "$again" 'expires_at - send_at, send_at = created_at')" '7000|1'
        assert_equal "$(row "$again" 'CAST(body AS TEXT)')" \
            "$(row "$out" "replace(CAST(body AS TEXT), '$out', '$again')")"
        api GET "/v2/outgoing/$out"
        assert_text .data.state "$state"
        assert_text .data.retriedAs "$again"
        assert_equal "$(db "SELECT action FROM trail WHERE object_id = '$out'")" outgoing.retry
    done
    assert_nothing_sent
}

@test "a repeated retry is answered with the same new send, also when that has ended, or no sender runs" {
    local again first
    have_ended failed
    retry
    first=$again
    db "UPDATE outgoing SET state = 'failed', finished_at = 1 WHERE id = '$first';
        DELETE FROM heartbeat WHERE name = 'sender'"
    retry
    assert_success
    assert_equal "$again" "$first"
    assert_text .data.state failed
    assert_equal "$(queued)" 2
    assert_equal "$(db "SELECT count(*) FROM trail WHERE object_id = '$out'")" 1
    have_pulse
    out=$first # the new one has a retry of its own
    retry
    assert_success
    assert_text .data.retryOf "$first"
    db "DELETE FROM outgoing WHERE id = '$again'"
    retry # what is not kept any more was sent
    assert_error 409 VALIDATION_ERROR 'was sent again'
    assert_equal "$(queued)" 2
}

@test "of many retries at once one makes the new send, and all are answered with it" {
    have_ended failed
    request_many 16 POST "/v2/outgoing/$out/retry" -d '{}' --as "$TOKEN"
    assert_equal "$(statuses)" '16 200'
    assert_equal "$(cat "$many"/*/body | gojq -r .data.id | sort -u | wc -l)" 1
    assert_equal "$(queued)" 2
}

@test "retry of a send whose outcome is unknown is refused, since it could arrive twice" {
    have_ended unknown
    retry
    assert_error 409 VALIDATION_ERROR \
        'Whether the platform accepted the send is not known, so it is not sent again'
    assert_equal "$(queued)" 1
}

@test "retry of a send that waits, was accepted, cancelled or suppressed, or has no text any more, is refused" {
    local state text
    while read -r state text; do
        have_ended "$state"
        retry
        assert_error 409 VALIDATION_ERROR "$text"
        assert_equal "$(row "$out" 'state, retried_as IS NULL')" "$state|1"
    done <<'END'
queued waits for its turn
sending is being sent
accepted has accepted the send
cancelled was cancelled
suppressed was not allowed
END
    have_ended failed
    db "UPDATE outgoing SET body = CAST('' AS BLOB) WHERE id = '$out'"
    retry
    assert_error 409 VALIDATION_ERROR 'text of the send is not kept'
    assert_equal "$(queued)" 6
}

@test "retry is checked as every send: line, blocked contact, a sender, the owner of the row" {
    have_ended failed
    request POST "/v2/outgoing/$out/retry" -d '{}' --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    db "UPDATE heartbeat SET beat_at = beat_at - 125000 WHERE name = 'sender'"
    retry
    assert_error 503 INTERNAL_ERROR 'No sender runs'
    assert_header Retry-After 60
    have_pulse
    db "UPDATE line SET archived_at = 1 WHERE phone_number_id = '$LINE'"
    retry
    assert_error 403 FORBIDDEN phoneNumberId
    db "UPDATE line SET archived_at = NULL WHERE phone_number_id = '$LINE'"
    take "$(payload "$(inbound "wamid.in.$to" "$to" '')")"
    switchboard contact block "$LINE" "$to" >/dev/null
    retry
    assert_error 403 FORBIDDEN 'The contact is blocked on this line.'
    assert_equal "$(queued)" 1
}

# Prints the ids of a list's page: ids QUERY
ids() {
    api GET "/v2/outgoing?$1"
    gojq -c '[.data.items[].id]' "$body"
}

@test "phoneNumberId lists one line, also an archived one, together with a state, in pages" {
    local first second third other=7$(next_number) second_line
    queue one
    first=$out
    queue two
    second=$out
    switchboard line add "$ACCOUNT" --phone-number-id "$other" --number +15550100003 >/dev/null
    second_line=$(db "SELECT id FROM line WHERE phone_number_id = '$other'")
    db "UPDATE outgoing SET line_id = '$second_line' WHERE id = '$second'"
    queue three
    third=$out
    db "UPDATE outgoing SET state = 'failed', finished_at = 1 WHERE id <> '$third'"
    assert_equal "$(ids "phoneNumberId=$LINE")" "[\"$third\",\"$first\"]"
    assert_equal "$(ids "phoneNumberId=$LINE&state=failed")" "[\"$first\"]"
    assert_equal "$(ids "phoneNumberId=$LINE&state=queued")" "[\"$third\"]"
    assert_equal "$(ids "phoneNumberId=$LINE&state=accepted")" '[]'
    assert_equal "$(ids "phoneNumberId=$LINE&limit=1")" "[\"$third\"]"
    api GET "/v2/outgoing?phoneNumberId=$LINE&limit=1"
    assert_equal "$(ids "phoneNumberId=$LINE&limit=1&after=$(
        gojq -r .data.paging.cursors.after "$body")")" "[\"$first\"]"
    assert_json .data.paging.cursors.after null
    assert_equal "$(ids "phoneNumberId=$other")" "[\"$second\"]"
    db "UPDATE line SET archived_at = 1 WHERE id = '$second_line'"
    assert_equal "$(ids "phoneNumberId=$other&state=failed")" "[\"$second\"]"
}

@test "phoneNumberId of another user's line, of none, and an empty one are refused" {
    local number
    for number in "$OTHER_LINE" 1; do
        api GET "/v2/outgoing?phoneNumberId=$number"
        assert_error 403 FORBIDDEN 'phoneNumberId does not belong to a line'
    done
    api GET '/v2/outgoing?phoneNumberId='
    assert_issue phoneNumberId 'must not be empty'
}

@test "to lists the sends to one phone or BSUID, however it is written, together with line and state, in pages" {
    local first second third other
    queue one
    first=$out
    queue two
    second=$out
    db "UPDATE outgoing SET state = 'failed', finished_at = 1 WHERE id = '$first'"
    api POST /v2/messages/send/text -H 'Prefer: respond-async' \
        -d "{\"phoneNumberId\":\"$LINE\",\"recipient\":\"DE.7a7\",\"text\":\"three\"}"
    third=$(gojq -r .data.id "$body")
    other=$to
    to=1555$((1000000 + $(next_number)))
    who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\""
    queue other
    assert_equal "$(ids "to=$other")" "[\"$second\",\"$first\"]"
    assert_equal "$(ids "to=%2B${other:0:1}%20(${other:1:3})%20${other:4}&phoneNumberId=$LINE")" \
        "[\"$second\",\"$first\"]"
    assert_equal "$(ids "to=$other&phoneNumberId=$LINE&state=failed")" "[\"$first\"]"
    assert_equal "$(ids "to=$other&state=queued")" "[\"$second\"]"
    assert_equal "$(ids "to=DE.7a7")" "[\"$third\"]"
    assert_equal "$(ids "to=DE.7A7")" '[]'
    assert_equal "$(ids "to=15550009999")" '[]'
    api GET "/v2/outgoing?to=$other&limit=1"
    assert_equal "$(ids "to=$other&limit=1&after=$(gojq -r .data.paging.cursors.after "$body")")" \
        "[\"$first\"]"
    db "UPDATE outgoing SET line_id = (SELECT id FROM line WHERE phone_number_id = '$OTHER_LINE')
        WHERE id = '$first'"
    assert_equal "$(ids "to=$other&phoneNumberId=$LINE")" "[\"$second\"]"
    request GET "/v2/outgoing?to=$other" --as "$OTHER_TOKEN"
    assert_json .data.items '[]'
}

@test "to is refused when it is neither a phone nor a BSUID" {
    local text
    for text in 1234 x de.7a7 123456789012345678901; do
        api GET "/v2/outgoing?to=$text"
        assert_issue to 'must be a phone number of 5 to 20 digits with its country code, or'
    done
    api GET '/v2/outgoing?to='
    assert_issue to
}

@test "a send is shown with its message, until that is stored; the answer that queues it has none" {
    queue 'größer ☃'
    assert_json '.data | has("message")' false
    api GET "/v2/outgoing/$out"
    assert_text .data.message.text.body 'größer ☃'
    api GET '/v2/outgoing?limit=1'
    assert_json '.data.items[0] | [.id, has("message")]' "[\"$out\",false]"
    api GET "/v2/outgoing?to=$to"
    assert_text '.data.items[0].message.type' text
    api DELETE "/v2/outgoing/$out"
    assert_text .data.message.to "$to"
    db "UPDATE outgoing SET state = 'accepted', wamid = 'wamid.1', body = CAST('' AS BLOB),
        finished_at = 1 WHERE id = '$out'"
    api GET "/v2/outgoing?to=$to"
    assert_json '.data.items[0].message' null
}

# bats test_tags=long
@test "a list does not read the bodies of its rows: a page of rows of 2 MB is small" {
    local i query
    for i in {1..20}; do queue "$i"; done
    db "UPDATE outgoing SET body = zeroblob(2000000) WHERE recipient = '$to'"
    for query in 'limit=20' "limit=20&state=queued" "limit=20&to=$to&phoneNumberId=$LINE"; do
        api GET "/v2/outgoing?$query"
        assert_success
        assert_json '.data.items | [length, (map(has("message")) | any)]' '[20,false]'
        (($(wc -c <"$body") < 20000)) || fail "$(wc -c <"$body") bytes"
    done
}

@test "DELETE cancels a queued send and leaves a row in the trail; a second one changes nothing" {
    queue x
    api DELETE "/v2/outgoing/$out"
    assert_success
    assert_text .data.state cancelled
    assert_json .data.nextAttemptAt null
    assert_equal "$(db "SELECT action FROM trail WHERE object_id = '$out'")" outgoing.cancel
    api DELETE "/v2/outgoing/$out"
    assert_success
    assert_text .data.state cancelled
}

@test "DELETE of a send that is being sent, or has ended, is 409" {
    local state
    queue x
    for state in sending accepted failed unknown expired suppressed; do
        db "UPDATE outgoing SET state = '$state' WHERE id = '$out'"
        api DELETE "/v2/outgoing/$out"
        assert_error 409 VALIDATION_ERROR 'not queued any more'
        assert_equal "$(row "$out" state)" "$state"
    done
}
