#!/usr/bin/env bats
# The main scenarios of the gateway, for a machine on which the whole suite would take too long: a
# message goes out, one comes in and its event goes on, a file goes both ways, and the programs for
# administrators work on the same database. Run by `make test-arm64`, in an emulator.
# transports: cgi
BATS_TEST_DIRNAME=$(cd "$BATS_TEST_DIRNAME/.." && pwd) # where the helpers are
load helpers/all
load helpers/courier
load helpers/webhook

setup_file() {
    start_stack
    make_user
    start_receiver A
}

teardown_file() {
    stop_receivers
    stop_stack
}

setup() {
    forget_sent
}

@test "a send reaches the platform once, is in the thread, and its statuses are stored" {
    local id text='{"phoneNumberId":"'$LINE'","to":"15551230000","text":"größer ☃"}'
    api POST /v2/messages/send/text -H 'Idempotency-Key: scenario' -d "$text"
    assert_success
    id=$(jq -r '.data.messages[0].id' "$body")
    api POST /v2/messages/send/text -H 'Idempotency-Key: scenario' -d "$text"
    assert_success
    assert_json '.data.messages[0].id' "\"$id\""
    assert_equal "$(sandbox GET 'requests/count?path=/messages' | jq .count)" 1
    assert_sent_json '[.to, .text.body]' '["15551230000","größer ☃"]' path=/messages
    take "$(payload "$(status_of "$id" delivered '"recipient_id":"15551230000"')")"
    api GET /v2/threads
    assert_json '.data.items | map([.lastMessage.wamid, .lastMessage.status])' \
        "[[\"$id\",\"delivered\"]]"
}

@test "a message that comes in is stored, and its event goes out signed" {
    local number
    api POST /v2/webhooks/config -d "{\"webhookUrl\":\"$A_URL\",\"webhookCode\":\"a code\"}"
    assert_success
    take "$(payload "$(inbound wamid.in "$P1" "$B1")")"
    courier_once
    number=$(received A | head -n 1)
    assert_equal "$(jq -r '"\(.type) \(.data.message.id)"' "$STACK/receivers/A/$number.body")" \
        'message.received wamid.in'
    assert_equal "$(received_header A "$number" X-Hub-Signature-256)" \
        "$(sign "$STACK/receivers/A/$number.body" 'a code')"
    deliver "$(payload "$(inbound wamid.forged "$P1" "$B1")")" -H 'X-Hub-Signature-256: sha256=00'
    assert_status 401
    api GET '/v2/messages/wamid.in'
    assert_success
    api GET '/v2/messages/wamid.forged'
    assert_error 404 NOT_FOUND
}

@test "a file of 3 MB is uploaded and downloaded byte for byte" {
    local file=$BATS_TEST_TMPDIR/photo
    { printf '\xff\xd8\xff\xe0\0\x10JFIF\0' && head -c 3000000 /dev/urandom; } >"$file"
    api POST /v2/media/upload -H 'Content-Type: image/jpeg' -H "X-Phone-Number-Id: $LINE" \
        -d "@$file"
    assert_success
    api GET "/v2/media/$(jq -r .data.mediaId "$body")/download"
    assert_status 200
    cmp "$file" "$body"
}

@test "a backup is restored, a key is rotated, and the token of the platform still opens" {
    local copy=$STACK/copy.db
    switchboard backup "$copy" >/dev/null
    switchboard restore "$copy" >/dev/null
    switchboard key rotate >/dev/null
    api GET /v2/templates
    assert_success
    switchboard doctor | grep -qE '^ok +platform tokens '
}
