#!/usr/bin/env bats
# /v2/webhooks: the webhooks of a user (4.7.2)
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/pages
load helpers/webhook

setup_file() {
    start_stack
    make_user
    make_user OTHER_
    start_receiver HOOK
}

teardown_file() {
    stop_receivers
    stop_stack
}

setup() {
    forget_sent
    forget_webhooks
}

# Makes a webhook and sets $webhook to its id: add_webhook BODY
add_webhook() {
    api POST /v2/webhooks -d "$1"
    assert_success
    webhook=$(gojq -r .data.id "$body")
}

# The same of the kind forward at a path of the receiver, which verifies it:
# add_forward PATH [MEMBERS]
add_forward() {
    answers HOOK "$1" 'verify v3rify-token'
    add_webhook "{\"kind\":\"forward\",\"url\":\"$HOOK_URL/$1\",\"verifyToken\":\"v3rify-token\"${2:+,$2}}"
}

change_webhook() { # MEMBERS
    api PATCH "/v2/webhooks/$webhook" -d "{$1}"
}

code_of() {
    gojq -r .data.code "$body"
}

column() { # EXPRESSION
    db "SELECT $1 FROM webhook WHERE id = '$webhook'"
}

# Expects 400 for a body, with an issue: refuses BODY PATH MESSAGE-PART
refuses() {
    api "${route[@]}" -d "$1"
    assert_error 400 VALIDATION_ERROR
    assert_issue "$2" "$3"
}

# --- POST /v2/webhooks ---

@test "POST /v2/webhooks makes a webhook of the kind event with a random code (4.7.2)" {
    add_webhook '{"url":"https://example.org/hook"}'
    assert_conventions
    [[ $webhook =~ ^whk_[0-9a-z]{26}$ ]]
    [[ $(code_of) =~ ^[0-9a-f]{64}$ ]]
    assert_that ".data | del(.id, .code, .createdAt, .updatedAt) == {name: \"\", kind: \"event\",
        url: \"https://example.org/hook\", eventTypes: null, accountId: null, phoneNumberIds: null, fields: null,
        updates: null, splitMessages: false, state: \"active\", isFirst: true, pausedAt: null, failingSince: null,
        suspendedAt: null, nextProbeAt: null, pendingEvents: 0, deadEvents: 0}"
    assert_that '.data.createdAt == .data.updatedAt'
    assert_nothing_sent
}

@test "POST /v2/webhooks takes name, code, event types, lines and a pause" {
    add_webhook "{\"url\":\"http://127.0.0.1:1/a?b=1\",\"kind\":\"event\",\"name\":\"Größe ☃\",\"code\":\"s3cret \\\"é\\\"\",
        \"eventTypes\":[\"message.status\",\"lead.created\"],\"phoneNumberIds\":[\"$LINE\"],\"paused\":true}"
    assert_text .data.name 'Größe ☃'
    assert_text .data.code 's3cret "é"'
    assert_json .data.eventTypes '["message.status","lead.created"]'
    assert_json .data.phoneNumberIds "[\"$LINE\"]"
    assert_json .data.state paused
    assert_that '.data.pausedAt == .data.createdAt'
    cp "$body" "$BATS_TEST_TMPDIR/answers"
    api GET "/v2/webhooks/$webhook"
    cmp "$body" "$BATS_TEST_TMPDIR/answers"
}

# Makes a webhook under a key: keyed KEY BODY
keyed() {
    api POST /v2/webhooks -d "$2" -H "Idempotency-Key: $1"
}

webhook_count() {
    db "SELECT count(*) FROM webhook w JOIN user u ON u.id = w.user_id WHERE u.email = '$EMAIL' AND w.deleted_at IS NULL"
}

@test "requests with one Idempotency-Key make one webhook and get the same bytes, and another body or route is 422" {
    local first id
    keyed made '{"url":"https://example.org/k","paused":true}'
    assert_success
    refute_header Idempotent-Replayed
    first=$(sha256sum <"$body")
    id=$(gojq -r .data.id "$body")
    api PATCH "/v2/webhooks/$id" -d '{"name":"other","code":"another-code"}'
    keyed made '{ "url": "https://example.org/k", "paused": true }'
    assert_success
    assert_conventions
    assert_header Idempotent-Replayed true
    assert_equal "$(sha256sum <"$body")" "$first"
    assert_equal "$(webhook_count)" 1
    keyed made '{"url":"https://example.org/k"}'
    assert_error 422 VALIDATION_ERROR 'another body'
    refute_header Idempotent-Replayed
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550007000\",\"text\":\"x\"}" \
        -H 'Idempotency-Key: made'
    assert_error 422 VALIDATION_ERROR 'another route'
    keyed 'a b' '{"url":"https://example.org/k"}'
    assert_error 400 VALIDATION_ERROR Idempotency-Key
    request POST /v2/webhooks -d '{"url":"https://example.org/k","paused":true}' -H 'Idempotency-Key: made' \
        --as "$OTHER_TOKEN"
    assert_success
    refute_header Idempotent-Replayed
    assert_equal "$(webhook_count)" 1
}

# Seals all values with a new key: on a server in the two steps for several hosts.
seal_anew() {
    local new
    if [[ -z ${SERVER-} ]]; then
        switchboard key rotate
    else
        new=$(switchboard key add --json | gojq -r .id)
        switchboard key use "$new"
    fi
}

@test "the code in a stored answer is sealed, and a rotation of the keys seals it again" {
    local first stored
    keyed sealed '{"url":"https://example.org/k"}'
    assert_success
    first=$(sha256sum <"$body")
    stored=$(db "SELECT is_sealed || ' ' || hex(answer) FROM idempotency WHERE key = 'sealed'")
    [[ $stored == '1 '* ]]
    [[ ${stored,,} != *"$(printf %s "$(code_of)" | od -An -v -tx1 | tr -d ' \n')"* ]]
    seal_anew
    keyed sealed '{"url":"https://example.org/k"}'
    assert_header Idempotent-Replayed true
    assert_equal "$(sha256sum <"$body")" "$first"
}

@test "a repeated request for a webhook of the kind forward does not verify its URL again" {
    local first json="{\"kind\":\"forward\",\"url\":\"$HOOK_URL/k\",\"verifyToken\":\"v3rify-token\"}"
    answers HOOK k 'verify v3rify-token'
    keyed forward "$json"
    assert_success
    first=$(sha256sum <"$body")
    answers HOOK k 500
    keyed forward "$json"
    assert_success
    assert_equal "$(sha256sum <"$body")" "$first"
    keyed refused "${json/k\",\"verify/none\",\"verify}"
    assert_error 400 VALIDATION_ERROR
    assert_equal "$(db "SELECT count(*) FROM idempotency WHERE key = 'refused'")" 0
}

@test "a request that ended without an answer is continued by the next one, and makes no second webhook" {
    local id first
    keyed lost '{"url":"https://example.org/k"}'
    id=$(gojq -r .data.id "$body")
    first=$(sha256sum <"$body")
    db "UPDATE idempotency SET status = NULL, answer = NULL, is_sealed = 0 WHERE key = 'lost'"
    keyed lost '{"url":"https://example.org/k"}'
    assert_error 409 VALIDATION_ERROR 'still running'
    assert_header Retry-After 1
    db "UPDATE idempotency SET created_at = created_at - 61000 WHERE key = 'lost'"
    keyed lost '{"url":"https://example.org/k"}'
    assert_success
    assert_equal "$(sha256sum <"$body")" "$first"
    db "UPDATE idempotency SET status = NULL, answer = NULL, is_sealed = 0, created_at = created_at - 61000
        WHERE key = 'lost'; DELETE FROM webhook WHERE id = '$id'"
    keyed lost '{"url":"https://example.org/k"}'
    assert_success
    assert_text .data.id "$id"
    assert_equal "$(webhook_count)" 1
    keyed lost '{"url":"https://example.org/other"}'
    assert_error 422 VALIDATION_ERROR
}

@test "simultaneous requests with one key make one webhook" {
    request_many 8 POST /v2/webhooks -d '{"url":"https://example.org/k"}' -H 'Idempotency-Key: together' --as "$TOKEN"
    [[ $(statuses) =~ ^([0-9]+)\ 200($|$'\n'[0-9]+\ 409$) ]] || fail "$(statuses)"
    assert_equal "$(webhook_count)" 1
}

@test "null stands for the default of each list" {
    add_webhook '{"url":"https://a.example/","eventTypes":null,"phoneNumberIds":null,"fields":null}'
    assert_json '.data | [.eventTypes, .phoneNumberIds, .fields]' '[null,null,null]'
    add_forward good '"phoneNumberIds":null,"fields":null,"eventTypes":null'
    assert_json '.data | [.eventTypes, .phoneNumberIds, .fields]' '[null,null,null]'
}

# bats test_tags=direct,long
@test "each wrong field of a new webhook is 400 with what is wrong and what to do, and nothing is stored" {
    local route=(POST /v2/webhooks) url='"url":"https://a.example/"' many
    refuses '{}' url 'is required: send a string'
    refuses '{"url":"ftp://a.example/"}' url 'must '
    refuses '{"url":"https://user:pw@a.example/"}' url 'must '
    refuses "{$url,\"kind\":\"both\"}" kind 'must be event or forward'
    refuses "{$url,\"name\":\"$(printf 'x%.0s' {1..257})\"}" name 'must be at most 256 bytes long'
    refuses "{$url,\"name\":\"a\\u0000b\"}" name 'must hold no NUL character'
    refuses "{$url,\"code\":\"\"}" code 'must not be empty'
    refuses "{$url,\"code\":\"$(printf 'x%.0s' {1..1025})\"}" code 'must be at most 1024 bytes long'
    refuses "{$url,\"eventTypes\":[]}" eventTypes 'must hold at least 1 item, not 0'
    refuses "{$url,\"eventTypes\":[\"message.received\",\"message.sent\"]}" 'eventTypes[1]' \
        "must be $(jq -r '.types | join(", ") | sub(", (?<last>[^,]*)$"; " or \(.last)")' "$OUT/htdocs/docs/event_types.json")"
    refuses "{$url,\"eventTypes\":[\"ping\"]}" 'eventTypes[0]' 'must be message.received'
    refuses "{$url,\"eventTypes\":[\"lead.created\",\"message.status\",\"lead.created\"]}" 'eventTypes[2]' \
        'is in the list already: name it once'
    refuses "{$url,\"phoneNumberIds\":[]}" phoneNumberIds 'must hold at least 1 item, not 0'
    refuses "{$url,\"phoneNumberIds\":[\"$LINE\",\"$LINE\"]}" 'phoneNumberIds[1]' 'is in the list already'
    refuses "{$url,\"phoneNumberIds\":[\"$LINE\",\"$OTHER_LINE\"]}" 'phoneNumberIds[1]' \
        'is no phoneNumberId of your lines: GET /v2/lines lists them'
    refuses "{$url,\"phoneNumberIds\":[\"$LINE\\u0000\"]}" 'phoneNumberIds[0]' 'is no phoneNumberId'
    refuses "{$url,\"phoneNumberIds\":[5]}" 'phoneNumberIds[0]' 'must be a string, not number'
    refuses "{$url,\"paused\":1}" paused 'must be true or false'
    many=$(jq -nc '[range(1001) | tostring]')
    refuses "{$url,\"phoneNumberIds\":$many}" phoneNumberIds 'must hold at most 1000 items, not 1001'
    assert_equal "$(db 'SELECT count(*) FROM webhook')" 0
}

# bats test_tags=direct
@test "what belongs to the other kind is 400, and null and false are not" {
    local route=(POST /v2/webhooks) url='"url":"https://a.example/"'
    refuses "{$url,\"fields\":[\"messages\"]}" fields 'is for webhooks of the kind forward alone: leave it out'
    refuses "{$url,\"updates\":[\"messages\"]}" updates 'is for webhooks of the kind forward alone: leave it out'
    refuses "{$url,\"splitMessages\":true}" splitMessages 'is for webhooks of the kind forward alone'
    refuses "{$url,\"verifyToken\":\"x\"}" verifyToken 'is for webhooks of the kind forward alone'
    refuses "{$url,\"kind\":\"forward\",\"verifyToken\":\"x\",\"eventTypes\":[\"lead.created\"]}" eventTypes \
        'is for webhooks of the kind event alone'
    add_webhook "{$url,\"fields\":null,\"updates\":null,\"splitMessages\":false}"
    assert_json .data.splitMessages false
}

@test "all wrong fields are listed at once" {
    api POST /v2/webhooks -d '{"url":"https://a.example/","eventTypes":["lead.created","lead.created"],
        "phoneNumberIds":["1"],"fields":["messages","messages","*"]}'
    assert_error 400 VALIDATION_ERROR
    assert_json '[.details[].path] | sort' '["eventTypes[1]","fields","fields[1]","fields[2]","phoneNumberIds[0]"]'
}

# --- the verification of the kind forward ---

@test "a webhook of the kind forward is verified as the platform does, and its token is not stored (4.7.2)" {
    add_forward good '"fields":["messages","account_update"],"updates":["messages","echoes"],"splitMessages":true'
    assert_json .data.kind forward
    assert_json .data.fields '["messages","account_update"]'
    assert_json .data.updates '["messages","echoes"]'
    assert_json .data.splitMessages true
    assert_json .data.isFirst false
    grep -qE '^GET /good\?hub\.mode=subscribe&hub\.verify_token=v3rify-token&hub\.challenge=[0-9]+ HTTP/1\.1$' \
        "$HOOK_DIR/1.head"
    assert_equal "$(count_in_database v3rify-token)" 0
    assert_not_logged 'v3rify-token'
    assert_that '[.. | strings | select(contains("v3rify-token"))] == []'
}

@test "* stands for all fields" {
    add_forward good '"fields":["*"]'
    assert_json .data.fields '["*"]'
}

# bats test_tags=direct
@test "each wrong field of the kind forward is 400" {
    local route=(POST /v2/webhooks) start='"kind":"forward","url":"https://a.example/"'
    refuses "{$start}" verifyToken 'is required with a new url'
    start+=',"verifyToken":"x"'
    refuses "{$start,\"fields\":[]}" fields 'must hold at least 1 item'
    refuses "{$start,\"fields\":[\"messages\",\"Messages\"]}" 'fields[1]' "must be a field of the platform's webhooks"
    refuses "{$start,\"fields\":[\"a b\"]}" 'fields[0]' 'must be a field'
    refuses "{$start,\"fields\":[\"messages\",\"messages\"]}" 'fields[1]' 'is in the list already'
    refuses "{$start,\"fields\":[\"messages\",\"*\"]}" 'fields[1]' 'stands for all fields'
    refuses "{\"kind\":\"forward\",\"url\":\"https://a.example/\",\"verifyToken\":\"$(printf 'x%.0s' {1..1025})\"}" \
        verifyToken 'must be at most 1024 bytes long'
    assert_equal "$(db 'SELECT count(*) FROM webhook')" 0
}

# Expects that a receiver's URL is not verified, with the reason: unverified PATH MESSAGE-PART [DIRECTIVE...]
unverified() {
    answers HOOK "$1" "${@:3}"
    api POST /v2/webhooks -d "{\"kind\":\"forward\",\"url\":\"$HOOK_URL/$1\",\"verifyToken\":\"right\"}"
    assert_error 400 VALIDATION_ERROR 'url could not be verified: '
    assert_issue url "$2"
    assert_equal "$(db 'SELECT count(*) FROM webhook')" 0
}

@test "a receiver that does not answer with the challenge is 400 with the reason, and nothing is stored" {
    unverified wrong 'HTTP 403 was answered instead of 200' 'verify other'
    unverified echo 'the body of the answer is not the value of hub.challenge' 'status 200' 'body 1234567890'
    unverified moved 'HTTP 302 was answered, and redirects are not followed' 'status 302' "header Location: $HOOK_URL/good"
    unverified closed 'Empty reply' close
}

# bats test_tags=direct,long
@test "a receiver that answers nothing for 10 s is 400" {
    local begun=$SECONDS
    unverified slow 'timed out: no whole answer within 10 s' 'wait 20000'
    ((SECONDS - begun >= 9))
}

@test "a user has at most 1,000 webhooks: one more is 409" {
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO webhook (id, user_id, kind, created_at, updated_at)
        SELECT 'whk_' || i, (SELECT id FROM user WHERE email = '$EMAIL'), 'event', i, i FROM n"
    api POST /v2/webhooks -d '{"url":"https://example.org/hook"}'
    assert_error 409 VALIDATION_ERROR 'has 1000 webhooks already'
    request POST /v2/webhooks --as "$OTHER_TOKEN" -d '{"url":"https://example.org/hook"}'
    assert_success
    api DELETE /v2/webhooks/whk_7
    assert_success
    api POST /v2/webhooks -d '{"url":"https://example.org/hook"}'
    assert_success
}

# A slow receiver holds a process of the pool, and the other users' requests would wait for it.
# bats test_tags=long
@test "one URL of a user is verified at a time: another one is 409, and that of another user is not" {
    local body_sent first
    body_sent="{\"kind\":\"forward\",\"verifyToken\":\"right\",\"url\":\"$HOOK_URL"
    answers HOOK slow 'wait 9000' 'verify right'
    answers HOOK good 'verify right'
    mkdir "$BATS_TEST_TMPDIR/first"
    answer_dir=$BATS_TEST_TMPDIR/first api POST /v2/webhooks -d "$body_sent/slow\"}" &
    first=$!
    eventually test -s "$HOOK_DIR/1.head"
    api POST /v2/webhooks -d "$body_sent/good\"}"
    assert_error 409 VALIDATION_ERROR 'is being verified'
    assert_header Retry-After 10
    request POST /v2/webhooks --as "$OTHER_TOKEN" -d "$body_sent/good\"}"
    assert_success
    wait "$first"
    add_webhook "$body_sent/good\"}"
    # one that was broken off does not last
    db "UPDATE user SET verifying_until = $(($(date +%s%3N) + 14000))"
    api POST /v2/webhooks -d "$body_sent/good\"}"
    assert_error 409 VALIDATION_ERROR
    change_webhook "\"verifyToken\":\"right\",\"url\":\"$HOOK_URL/good\""
    assert_error 409 VALIDATION_ERROR 'is being verified'
    db "UPDATE user SET verifying_until = $(($(date +%s%3N) - 1))"
    api POST /v2/webhooks -d "$body_sent/good\"}"
    assert_success
}

# bats test_tags=direct
@test "the verification obeys webhook_egress, and nothing is sent to a refused address" {
    write_config 'webhook_egress = public'
    unverified good 'is not allowed with webhook_egress = public' 'verify right'
    write_config
    [[ ! -e $HOOK_DIR/1.head ]] || fail 'a request was sent'
}

# --- GET /v2/webhooks ---

@test "GET /v2/webhooks is an empty list without a webhook" {
    api GET /v2/webhooks
    assert_success
    assert_conventions
    assert_body_is '{"success":true,"data":{"items":[],"paging":{"cursors":{"after":null}}}}'
}

@test "GET /v2/webhooks lists the webhooks of the caller alone, the oldest first, as GET of each one shows them" {
    local first second one
    add_forward good
    first=$webhook
    add_webhook '{"url":"https://b.example/"}'
    second=$webhook
    request POST /v2/webhooks --as "$OTHER_TOKEN" -d '{"url":"https://other.example/"}'
    assert_success
    api GET /v2/webhooks
    assert_success
    assert_json '[.data.items[].id]' "[\"$first\",\"$second\"]"
    assert_json '[.data.items[].isFirst]' '[false,true]'
    cp "$body" "$BATS_TEST_TMPDIR/answers"
    for one in 0 1; do
        api GET "/v2/webhooks/$(gojq -r ".data.items[$one].id" "$BATS_TEST_TMPDIR/answers")"
        assert_equal "$(gojq -c .data "$body")" "$(gojq -c ".data.items[$one]" "$BATS_TEST_TMPDIR/answers")"
    done
}

# bats test_tags=direct,long
@test "250 webhooks are listed in pages, each once and in order" {
    local expected
    # ids of the same millisecond and of later ones, in the order of their creation
    db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
        INSERT INTO webhook (id, user_id, kind, url, created_at, updated_at)
        SELECT printf('whk_0000000000000000000000%04d', i), u.id, 'event', 'https://a.example/' || i, i / 3, 1
        FROM n JOIN user u ON u.email = '$EMAIL'"
    expected=$(seq -f 'https://a.example/%g' 250)
    assert_equal "$(all_rows '/v2/webhooks?limit=100' .url)" "$expected"
    assert_equal "$(all_rows '/v2/webhooks?limit=7' .url)" "$expected"
    api GET '/v2/webhooks?limit=100'
    assert_that '.data.items | length == 100'
    api GET /v2/webhooks
    assert_that '.data.items | length == 25'
    assert_that '.data.items[0].isFirst and all(.data.items[1:][]; .isFirst | not)'
    api GET '/v2/webhooks?after=ZXZ0XzE'
    assert_error 400 VALIDATION_ERROR 'after must be a cursor of an answer of this route'
    api GET '/v2/webhooks?limit=101'
    assert_error 400 VALIDATION_ERROR 'must be from 1 to 100'
}

# --- one webhook ---

@test "a deleted webhook is 404 for each method" {
    add_webhook '{"url":"https://a.example/"}'
    api DELETE "/v2/webhooks/$webhook"
    assert_body_is '{"success":true,"data":{"deleted":true}}'
    api GET "/v2/webhooks/$webhook"
    assert_error 404 NOT_FOUND 'GET /v2/webhooks lists them'
    api PATCH "/v2/webhooks/$webhook" -d '{"name":"x"}'
    assert_error 404 NOT_FOUND 'GET /v2/webhooks lists them'
    api POST "/v2/webhooks/$webhook/test" -d '{}'
    assert_error 404 NOT_FOUND 'GET /v2/webhooks lists them'
    api DELETE "/v2/webhooks/$webhook"
    assert_error 404 NOT_FOUND 'GET /v2/webhooks lists them'
    api GET /v2/webhooks
    assert_json .data.items '[]'
}

@test "PATCH changes what it names, and the same request again changes nothing more (4.7.2)" {
    local change="\"name\":\"New\",\"url\":\"https://b.example/\",\"eventTypes\":[\"message.status\"],\"phoneNumberIds\":[\"$LINE\"],\"code\":\"another\""
    add_webhook '{"url":"https://a.example/","name":"Old"}'
    change_webhook "$change"
    assert_success
    assert_conventions
    assert_json '.data | [.name, .url, .eventTypes, .phoneNumberIds, .code, .state, .kind]' \
        "[\"New\",\"https://b.example/\",[\"message.status\"],[\"$LINE\"],\"another\",\"active\",\"event\"]"
    cp "$body" "$BATS_TEST_TMPDIR/answers"
    change_webhook "$change"
    assert_equal "$(gojq -c '.data | del(.updatedAt)' "$body")" \
        "$(gojq -c '.data | del(.updatedAt)' "$BATS_TEST_TMPDIR/answers")"
    change_webhook ''
    assert_equal "$(gojq -c '.data | del(.updatedAt)' "$body")" \
        "$(gojq -c '.data | del(.updatedAt)' "$BATS_TEST_TMPDIR/answers")"
    change_webhook '"name":"","eventTypes":null,"phoneNumberIds":null'
    assert_json '.data | [.name, .url, .eventTypes, .phoneNumberIds, .code]' '["","https://b.example/",null,null,"another"]'
}

@test "what GET shows can be sent back by PATCH, and changes nothing" {
    add_webhook "{\"url\":\"https://a.example/\",\"name\":\"x\",\"phoneNumberIds\":[\"$LINE\"],\"eventTypes\":[\"lead.created\"]}"
    cp "$body" "$BATS_TEST_TMPDIR/answers"
    db "UPDATE line SET archived_at = 1 WHERE phone_number_id = '$LINE'"
    api PATCH "/v2/webhooks/$webhook" -d "$(gojq -c .data "$BATS_TEST_TMPDIR/answers")"
    db "UPDATE line SET archived_at = NULL WHERE phone_number_id = '$LINE'"
    assert_success
    assert_equal "$(gojq -c '.data | del(.updatedAt)' "$body")" \
        "$(gojq -c '.data | del(.updatedAt)' "$BATS_TEST_TMPDIR/answers")"
    add_forward good '"fields":["*"],"splitMessages":true'
    cp "$body" "$BATS_TEST_TMPDIR/answers"
    api PATCH "/v2/webhooks/$webhook" -d "$(gojq -c .data "$BATS_TEST_TMPDIR/answers")"
    assert_equal "$(gojq -c '.data | del(.updatedAt)' "$body")" \
        "$(gojq -c '.data | del(.updatedAt)' "$BATS_TEST_TMPDIR/answers")"
}

# bats test_tags=direct,long
@test "each wrong field of PATCH is 400, the kind cannot change, and nothing is changed" {
    local route before
    add_webhook '{"url":"https://a.example/","eventTypes":["lead.created"]}'
    before=$(db 'SELECT * FROM webhook' | md5sum)
    route=(PATCH "/v2/webhooks/$webhook")
    refuses '{"kind":"forward"}' kind 'cannot change: it is event; POST /v2/webhooks makes another webhook'
    refuses '{"url":""}' url 'must not be empty'
    refuses '{"url":null}' url 'must be a string, not null'
    refuses '{"eventTypes":[]}' eventTypes 'must hold at least 1 item'
    refuses '{"eventTypes":["message.status","message.status"]}' 'eventTypes[1]' 'is in the list already'
    refuses "{\"phoneNumberIds\":[\"$OTHER_LINE\"]}" 'phoneNumberIds[0]' 'is no phoneNumberId of your lines'
    refuses '{"fields":["messages"]}' fields 'is for webhooks of the kind forward alone'
    refuses '{"updates":["messages"]}' updates 'is for webhooks of the kind forward alone'
    refuses '{"updates":["statuses","statuses"]}' 'updates[1]' 'is in the list already'
    refuses '{"updates":["reactions"]}' 'updates[0]' 'must be messages, statuses or echoes'
    refuses '{"updates":[]}' updates 'must hold at least 1 item'
    refuses '{"splitMessages":true}' splitMessages 'is for webhooks of the kind forward alone'
    refuses '{"verifyToken":"x"}' verifyToken 'is for webhooks of the kind forward alone'
    refuses '{"code":""}' code 'must not be empty'
    api PATCH "/v2/webhooks/$webhook" -d '{"state":"paused"}' -H 'Prefer: handling=strict'
    assert_error 400 VALIDATION_ERROR 'state is not a field of this request'
    assert_equal "$(db 'SELECT * FROM webhook' | md5sum)" "$before"
    change_webhook '"kind":"event"'
    assert_success
}

@test "a new url of the kind forward is verified again, and the present one only with a token" {
    add_forward good
    rm "$HOOK_DIR"/*.head
    change_webhook '"fields":["messages","flows"],"updates":["statuses"],"splitMessages":true'
    assert_json .data.updates '["statuses"]'
    change_webhook '"updates":null'
    assert_json .data.updates null
    assert_json .data.fields '["messages","flows"]'
    change_webhook "\"url\":\"$HOOK_URL/good\""
    assert_success
    change_webhook "\"url\":\"$HOOK_URL/other\""
    assert_error 400 VALIDATION_ERROR
    assert_issue verifyToken 'is required with a new url'
    change_webhook '"eventTypes":["lead.created"]'
    assert_issue eventTypes 'is for webhooks of the kind event alone'
    [[ ! -e $HOOK_DIR/1.head ]] || fail 'a request was sent'
    answers HOOK other 'verify x'
    change_webhook "\"url\":\"$HOOK_URL/other\",\"verifyToken\":\"y\""
    assert_error 400 VALIDATION_ERROR 'HTTP 403 was answered'
    change_webhook '"verifyToken":"wrong"'
    assert_error 400 VALIDATION_ERROR 'HTTP 403 was answered'
    api GET "/v2/webhooks/$webhook"
    assert_text .data.url "$HOOK_URL/good"
    change_webhook "\"url\":\"$HOOK_URL/other\",\"verifyToken\":\"x\""
    assert_text .data.url "$HOOK_URL/other"
}

# --- codes ---

@test "the code is shown and stays, and a replaced one is kept for 24 h" {
    local code until now
    add_webhook '{"url":"https://a.example/"}'
    code=$(code_of)
    change_webhook '"name":"x"'
    assert_text .data.code "$code"
    assert_equal "$(column 'previous_code IS NULL')" 1
    change_webhook '"code":"s3cond code"'
    assert_text .data.code 's3cond code'
    until=$(column previous_until) now=$(date +%s)
    assert_between "$((until / 1000 - now))" 86300 86400
    change_webhook '"code":"s3cond code"'
    assert_equal "$(column previous_until)" "$until"
    assert_equal "$(count_in_database "$code" 's3cond code')" 0
    assert_not_logged 's3cond code'
}

# bats test_tags=direct
@test "for 24 h events are signed with the previous code too" {
    local signature text code
    answers HOOK good
    add_webhook "{\"url\":\"$HOOK_URL/good\",\"code\":\"f1rst code\"}"
    change_webhook '"code":"s3cond code"'
    api POST "/v2/webhooks/$webhook/test" -d '{}'
    courier_once
    assert_equal "$(received_count HOOK good)" 1
    signature=$(received_header HOOK 1 webhook-signature)
    text="$(received_header HOOK 1 webhook-id).$(received_header HOOK 1 webhook-timestamp).$(cat "$HOOK_DIR/1.body")"
    for code in 's3cond code' 'f1rst code'; do
        [[ " $signature " == *" v1,$(printf %s "$text" | openssl dgst -sha256 -hmac "$code" -binary | base64 -w 0) "* ]] ||
            fail "no signature with $code: $signature"
    done
}

@test "a code that cannot be decrypted is null, the other webhooks are shown, and a new code replaces it" {
    local spoiled
    add_webhook '{"url":"https://a.example/"}'
    db "UPDATE webhook SET code = zeroblob(60)"
    spoiled=$webhook
    add_webhook '{"url":"https://b.example/","code":"r3adable-code"}'
    api GET /v2/webhooks
    assert_success
    assert_json '[.data.items[].code]' '[null,"r3adable-code"]'
    [[ $(log_of_request | gojq -r .error) == *"the code of webhook $spoiled cannot be decrypted"* ]] ||
        grep -qF "the code of webhook $spoiled cannot be decrypted" "$LOG"
    webhook=$spoiled
    change_webhook '"code":"replacing-code"'
    assert_text .data.code replacing-code
}

@test "without the key file a webhook can neither be shown nor made, and it is unchanged afterwards" {
    add_webhook '{"url":"https://a.example/","code":"s3cret code"}'
    mv "$STACK/secret.key" "$STACK/secret.away"
    api GET /v2/webhooks
    assert_error 500 INTERNAL_ERROR 'cannot read its keys'
    api POST /v2/webhooks -d '{"url":"https://b.example/"}'
    assert_error 500 INTERNAL_ERROR 'cannot read its keys'
    change_webhook '"code":"0ther code"'
    assert_error 500 INTERNAL_ERROR 'cannot read its keys'
    mv "$STACK/secret.away" "$STACK/secret.key"
    api GET /v2/webhooks
    assert_json '[.data.items[].code]' '["s3cret code"]'
}

# --- suspension and pause ---

# bats test_tags=direct
@test "a url that is set ends a suspension, and the events that wait are due at once" {
    add_webhook '{"url":"http://127.0.0.1:1/"}'
    api POST "/v2/webhooks/$webhook/test" -d '{}'
    db "UPDATE webhook SET failing_since = 1000, suspended_at = 2000, next_probe_at = 9999999999999;
        UPDATE delivery SET next_attempt_at = 9999999999999"
    api GET "/v2/webhooks/$webhook"
    assert_json '.data | [.state, .failingSince, .suspendedAt, .nextProbeAt, .pendingEvents]' \
        '["suspended","1970-01-01T00:00:01.000Z","1970-01-01T00:00:02.000Z","2286-11-20T17:46:39.999Z",1]'
    change_webhook '"name":"x"'
    assert_json .data.state suspended
    change_webhook '"url":"http://127.0.0.1:1/"'
    assert_json '.data | [.state, .failingSince, .suspendedAt, .nextProbeAt]' '["active",null,null,null]'
    assert_equal "$(db "SELECT count(*) FROM delivery WHERE next_attempt_at > $db_now")" 0
}

# bats test_tags=direct
@test "a paused webhook gets nothing, and resumed it gets what has waited" {
    answers HOOK good
    make_account_line
    add_webhook "{\"url\":\"$HOOK_URL/good\"}"
    change_webhook '"paused":true'
    assert_json .data.state paused
    assert_that '.data.pausedAt != null'
    take "$(payload "$(inbound wamid.P1 15551234567 '')")"
    courier_once
    assert_equal "$(received_count HOOK good)" 0
    api GET "/v2/webhooks/$webhook"
    assert_that '.data.pendingEvents >= 1'
    api POST "/v2/webhooks/$webhook/test" -d '{}'
    assert_error 409 VALIDATION_ERROR 'paused'
    change_webhook '"paused":false'
    assert_json '.data | [.state, .pausedAt]' '["active",null]'
    courier_once
    (($(received_count HOOK good) >= 1)) || fail 'nothing was posted'
    change_webhook '"paused":false'
    assert_json .data.state active
}

# bats test_tags=direct
@test "paused: false ends a suspension too" {
    add_webhook '{"url":"http://127.0.0.1:1/"}'
    db "UPDATE webhook SET suspended_at = 2000, next_probe_at = 9999999999999"
    change_webhook '"paused":false'
    assert_json '.data | [.state, .suspendedAt]' '["active",null]'
}

# --- test ---

@test "POST /v2/webhooks/:webhookId/test posts a ping to this webhook alone (4.7.2)" {
    local id
    answers HOOK one
    answers HOOK two
    add_webhook "{\"url\":\"$HOOK_URL/one\"}"
    add_webhook "{\"url\":\"$HOOK_URL/two\",\"eventTypes\":[\"lead.created\"]}"
    api POST "/v2/webhooks/$webhook/test" -d '{}'
    assert_success
    assert_conventions
    id=$(gojq -r .data.eventId "$body")
    assert_body_is "{\"success\":true,\"data\":{\"eventId\":\"$id\"}}"
    courier_once
    assert_equal "$(received_count HOOK one) $(received_count HOOK two)" '0 1'
    assert_equal "$(received_header HOOK 1 webhook-id)" "$id"
    assert_equal "$(gojq -r .type "$HOOK_DIR/1.body")" ping
    api GET "/v2/events/$id"
    assert_json '.data | [.type, .state]' '["ping","done"]'
}

# bats test_tags=direct
@test "the test of a webhook of the kind forward posts an empty payload of the platform" {
    add_forward good '"code":"an 4pp s3cret"'
    answers HOOK good
    rm -f "$HOOK_DIR"/*.{head,body,meta}
    api POST "/v2/webhooks/$webhook/test" -d '{}'
    assert_success
    courier_once
    assert_equal "$(received_count HOOK good)" 1
    assert_equal "$(cat "$HOOK_DIR/1.body")" '{"object":"whatsapp_business_account","entry":[]}'
    assert_equal "$(received_header HOOK 1 X-Hub-Signature-256)" "$(sign "$HOOK_DIR/1.body" 'an 4pp s3cret')"
}

@test "the test of a webhook that is paused or has no URL is 409 (4.7.2)" {
    api POST /v2/webhooks/config -d '{"webhookUrl":"https://a.example/","webhookCode":"some code"}'
    api DELETE /v2/webhooks/config
    api GET /v2/webhooks
    assert_json '[.data.items[] | [.state, .url, .code]]' '[["unset","",""]]'
    webhook=$(gojq -r '.data.items[0].id' "$body")
    api POST "/v2/webhooks/$webhook/test" -d '{}'
    assert_error 409 VALIDATION_ERROR 'has no url or no code'
    change_webhook '"url":"https://b.example/"' # it gets a code, as a new webhook does
    assert_json '.data | [.state, .isFirst]' '["active",true]'
    [[ $(code_of) =~ ^[0-9a-f]{64}$ ]]
    change_webhook '"paused":true'
    api POST "/v2/webhooks/$webhook/test" -d '{}'
    assert_error 409 VALIDATION_ERROR 'This webhook is paused'
    assert_equal "$(db 'SELECT count(*) FROM event')" 0
}

# --- DELETE ---

# bats test_tags=direct
@test "DELETE cancels what waits for the webhook, and other webhooks keep theirs" {
    local first
    add_webhook '{"url":"http://127.0.0.1:1/a"}'
    first=$webhook
    add_webhook '{"url":"http://127.0.0.1:1/b"}'
    api POST "/v2/webhooks/$first/test" -d '{}'
    api POST "/v2/webhooks/$webhook/test" -d '{}'
    api DELETE "/v2/webhooks/$webhook"
    assert_success
    assert_equal "$(db "SELECT state, count(*) FROM delivery WHERE webhook_id = '$webhook' GROUP BY state")" 'cancelled|1'
    assert_equal "$(db "SELECT state, count(*) FROM delivery WHERE webhook_id = '$first' GROUP BY state")" 'pending|1'
    api GET /v2/webhooks
    assert_json '[.data.items[].id]' "[\"$first\"]"
}

# --- the routes of the configuration ---

@test "the routes of the configuration work on the oldest webhook of the kind event (4.7)" {
    local first
    add_forward good
    add_webhook '{"url":"https://first.example/","code":"f1rst code","name":"kept"}'
    first=$webhook
    add_webhook '{"url":"https://second.example/","code":"s3cond code"}'
    api GET /v2/webhooks/config
    assert_body_is '{"success":true,"data":{"webhookUrl":"https://first.example/","webhookCode":"f1rst code","isVerified":false,"lastVerified":null}}'
    api POST /v2/webhooks/config -d '{"webhookUrl":"https://changed.example/","webhookCode":"0ther code"}'
    assert_success
    api POST /v2/webhooks/generate-code -d '{}'
    assert_success
    api GET "/v2/webhooks/$first"
    assert_json '.data | [.url, .name, .isFirst]' '["https://changed.example/","kept",true]'
    [[ $(code_of) =~ ^[0-9a-f]{64}$ ]]
    api GET "/v2/webhooks/$webhook"
    assert_json '.data | [.url, .code]' '["https://second.example/","s3cond code"]'
    api DELETE /v2/webhooks/config
    assert_success
    api GET /v2/webhooks
    assert_json '[.data.items[] | [.kind, .state]]' '[["forward","active"],["event","unset"],["event","active"]]'
    api DELETE "/v2/webhooks/$first"
    api GET /v2/webhooks/config
    assert_text .data.webhookUrl https://second.example/
}

@test "the routes of the configuration make the first webhook when there is none of the kind event" {
    add_forward good
    api GET /v2/webhooks/config
    assert_body_is '{"success":true,"data":{"webhookUrl":"","webhookCode":"","isVerified":false,"lastVerified":null}}'
    api POST /v2/webhooks/config -d '{"webhookUrl":"https://a.example/","webhookCode":"some code"}'
    assert_success
    api GET /v2/webhooks
    assert_json '[.data.items[] | [.kind, .url, .isFirst]]' \
        "[[\"forward\",\"$HOOK_URL/good\",false],[\"event\",\"https://a.example/\",true]]"
}

# --- busy ---

# bats test_tags=long
@test "a database that is locked for too long is 500 with Retry-After, and nothing is changed" {
    add_webhook '{"url":"https://a.example/"}'
    hold_database
    change_webhook '"url":"https://b.example/"'
    assert_busy
    assert_header Retry-After 1
    release_database
    api GET "/v2/webhooks/$webhook"
    assert_text .data.url https://a.example/
}

@test "simultaneous requests make as many webhooks, and change one without a loss" {
    local stored
    add_webhook '{"url":"https://a.example/"}'
    request_many 16 PATCH "/v2/webhooks/$webhook" -d '{"name":"many"}' --as "$TOKEN"
    assert_equal "$(statuses)" '16 200'
    request_many 16 POST /v2/webhooks -d '{"url":"https://many.example/"}' --as "$TOKEN"
    assert_equal "$(statuses)" '16 200'
    stored=$(cat "${many:?}"/*/body | gojq -r .data.id | sort)
    api GET '/v2/webhooks?limit=100'
    assert_equal "$(gojq -r '.data.items[1:][].id' "$body" | sort)" "$stored"
}
