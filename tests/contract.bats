#!/usr/bin/env bats
# The OpenAPI document that an instance serves: two linters, and the check that tests/run makes of
# all exchanges at the end (tests/contract/check.js), here of a few and with changed documents.
# transports: cgi
# needs: node
# shellcheck disable=SC2016  # $ is of jq
# starts first
load helpers/all
load helpers/courier
load helpers/sender
load helpers/webhook

export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

setup_file() {
    export DOCUMENT=$BATS_FILE_TMPDIR/openapi.json EXCHANGES=$BATS_FILE_TMPDIR/exchanges
    start_stack
    make_consumer A
    make_user
    request GET /v2/openapi.json
    assert_status 200
    cp "$body" "$DOCUMENT"
    jq . "$DOCUMENT" >"$DOCUMENT.unchanged"
    mkdir "$EXCHANGES"
    RECORD=$EXCHANGES have_exchanges
}

teardown_file() {
    stop_receivers
    stop_stack
}

# Requests with each kind of answer, and a delivered event.
have_exchanges() {
    start_receiver RECORDED
    set_webhook A "$RECORDED_URL/a"
    request GET /v2/health
    api GET /v2/me
    request GET /v2/me
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550007000\",
        \"text\":\"Hello\"}"
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550007000\"}"
    api GET '/v2/forms?limit=0'
    add_events A
    courier_once >/dev/null
    has_received RECORDED 1 || fail 'no event was delivered'
}

# Compares the exchanges with a document, or with the one that jq makes of it: check_document
# [PROGRAM [option of check.js...]]. Sets `status` and `output`.
check_document() {
    local document=$BATS_TEST_TMPDIR/openapi.json
    jq "${1-.}" "$DOCUMENT" >"$document"
    (($# == 0)) || ! cmp -s "$DOCUMENT.unchanged" "$document" || fail "no change: $1"
    run node "$root/tests/contract/check.js" "$document" "$EXCHANGES" "$root/apache.conf" \
        "${exceptions-$root/tests/contract/exceptions.json}" "${@:2}"
}

# With this change of the document the check fails with a line that has each TEXT: is_reported
# PROGRAM TEXT...
is_reported() {
    local text line
    check_document "$1"
    [[ $status == 1 ]] || fail "not reported: $1: $output"
    line=$(grep -m 1 "^contract: .*${2//[\[\].*]/.}" <<<"$output") || fail "$1: no $2 in $output"
    for text in "${@:3}"; do
        [[ $line == *"$text"* ]] || fail "$1: no $text in $line"
    done
}

# --- the linters ---

# bats test_tags=long
@test "redocly finds nothing in the document that a running instance serves" {
    # two operations only redirect; tests/reference.bats finds any other without a success
    "$NODE_MODULES/.bin/redocly" lint --extends recommended --skip-rule operation-2xx-response \
        --format json "$DOCUMENT" \
        >"$BATS_TEST_TMPDIR/found" 2>"$BATS_TEST_TMPDIR/log" || cat "$BATS_TEST_TMPDIR/log"
    assert_equal "$(jq -c '.totals, .problems' "$BATS_TEST_TMPDIR/found")" \
        $'{"errors":0,"warnings":0,"ignored":0}\n[]'
}

# bats test_tags=long
@test "the document keeps our rules" {
    run "$NODE_MODULES/.bin/spectral" lint -q -F hint -r "$root/tests/contract/lint/spectral.yaml" \
        "$DOCUMENT"
    assert_equal "$output" ''
    assert_equal "$status" 0
}

# bats test_tags=long
@test "each of our rules reports a document that breaks it" {
    local rule
    jq '.paths["/v2/health"].get.operationId = ""
        | .paths["/v2/version"].get.responses |= del(.["400"])
        | .paths["/v2/me"].get.responses["401"].content["application/json"].schema =
            {type: "string"}
        | del(.components.schemas.Line.unevaluatedProperties)
        | .paths["/v2/webhooks/config"].get.responses["200"].content["application/json"].example =
            {success: true, data: {webhookUrl: 5}}' "$DOCUMENT" >"$BATS_TEST_TMPDIR/broken.json"
    run "$NODE_MODULES/.bin/spectral" lint -q -F hint -r "$root/tests/contract/lint/spectral.yaml" \
        "$BATS_TEST_TMPDIR/broken.json"
    assert_equal "$status" 1
    for rule in operation-is-named operation-refuses error-is-in-the-envelope object-is-closed \
        oas3-valid-media-example; do
        grep -qw "$rule" <<<"$output" || fail "no $rule in $output"
    done
}

# --- the check of the exchanges ---

# bats test_tags=long
@test "the exchanges agree with the document" {
    check_document
    assert_equal "$status" 0
    [[ $output == 'contract: 7 exchanges and 1 events; '*'; 0 violations' ]] || fail "$output"
}

# bats test_tags=long
@test "a field of an answer that is missing, renamed or of another type is reported" {
    is_reported '.components.schemas.Line.properties.name.type = "integer"' 'GET /v2/me' \
        '/data/phoneNumbers/0/name must be integer' '#/components/schemas/Line/properties/name'
    is_reported '.components.schemas.Line.properties |= (.label = .name | del(.name))' \
        'GET /v2/me' 'must NOT have unevaluated properties (name)'
    is_reported '.components.schemas.Line.required += ["label"]' 'GET /v2/me' \
        "must have required property 'label'"
    is_reported '.components.schemas.Issue.properties.code.enum -= ["out_of_range"]' \
        'GET /v2/forms?limit=0' '/details'
}

# bats test_tags=long
@test "a status, a type or a header of an answer that the document lacks is reported" {
    is_reported 'del(.paths["/v2/me"].get.responses["401"])' 'GET /v2/me' '-> 401' \
        'the status is not listed: /paths/~1v2~1me/get/responses'
    is_reported '.paths["/v2/health"].get.responses["200"].content |= {"text/plain": {}}' \
        'GET /v2/health' 'application/json' 'not listed'
    is_reported 'del(.paths["/v2/health"].get.responses["200"].content)' 'GET /v2/health' \
        'application/json' 'not listed'
    is_reported '.paths["/v2/me"].get.responses["200"].headers.Late = {required: true}' \
        'GET /v2/me' 'the answer has no Late'
    is_reported 'del(.paths["/v2/me"].get.responses["401"].headers["WWW-Authenticate"])' \
        'GET /v2/me' 'www-authenticate' 'not listed'
    is_reported 'del(.paths["/v2/health"])' 'GET /v2/health' 'no operation of the document'
}

# bats test_tags=long
@test "a 401 without a challenge is reported (RFC 9110 15.5.2)" {
    cp -r "$EXCHANGES" "$BATS_TEST_TMPDIR/bare"
    grep -rlai '^www-authenticate:' "$BATS_TEST_TMPDIR/bare" |
        xargs sed -i 's/^www-authenticate:/www-authenticat_:/I'
    local EXCHANGES=$BATS_TEST_TMPDIR/bare
    is_reported 'del(.paths["/v2/me"].get.responses["401"].headers["WWW-Authenticate"])' \
        'GET /v2/me' '-> 401' 'a 401 has no WWW-Authenticate'
}

# bats test_tags=long
@test "a schema of a request that is stricter or laxer than the program is reported" {
    is_reported '.components.schemas[].properties.text |= (select(.) | .maxLength = 3)' \
        'POST /v2/messages/send/text' '-> 200' 'the body'
    is_reported '.components.schemas[].required |= (select(.) - ["text", "to", "recipient"])' \
        'POST /v2/messages/send/text' '-> 400' 'the gateway refused'
    is_reported 'del(.paths["/v2/forms"].get.parameters[].schema.minimum)' \
        'GET /v2/forms?limit=0' 'the gateway refused limit: out_of_range'
}

# bats test_tags=long
@test "an event that differs from its schema, or lacks a header, is reported" {
    is_reported '.webhooks["message.received"].post.requestBody.content["application/json"].schema
        .properties.data.properties.sequence.type = "string"' 'event message.received' \
        '/data/sequence must be string'
    is_reported '.webhooks["message.received"].post.parameters += [{name: "webhook-late",
        required: true, schema: {}}]' 'event message.received' 'webhook-late is missing'
    is_reported 'del(.webhooks["message.received"])' 'event message.received' 'not listed'
}

@test "a pair of operation and status that no test shows is reported, unless a reason is listed" {
    local exceptions=$BATS_TEST_TMPDIR/exceptions.json
    printf '{"accepted": [], "unseen": []}' >"$exceptions"
    check_document '.paths |= {"/v2/health": .["/v2/health"]} | .webhooks |= {"message.received"}' \
        --coverage
    grep -q '^contract: no test shows GET /v2/health 500: add a test' <<<"$output" || fail "$output"
    refute grep -q 'GET /v2/health 200' <<<"$output"
}

# bats test_tags=long
@test "an exception needs a use" {
    local exceptions=$BATS_TEST_TMPDIR/exceptions.json
    printf '{"accepted": [{"rule": "body", "text": "planted", "reason": "none"}], "unseen": []}' \
        >"$exceptions"
    check_document '.info.title = "changed"' --coverage
    grep -q '^contract: this exception is not needed' <<<"$output" || fail "$output"
}

# Ends a queued send and a campaign.
finish_outgoing() {
    local who="\"phoneNumberId\":\"$LINE\",\"to\":\"$P1\""
    have_pulse
    queue late
    start_sender
    eventually row_is "$out" accepted
    stop_sender
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[{\"id\":\"72\",
        \"name\":\"plain\",\"language\":\"de\",\"status\":\"APPROVED\",\"category\":\"UTILITY\",
        \"components\":[{\"type\":\"BODY\",\"text\":\"x\"}]}]}" >/dev/null
    api POST /v2/campaigns -d "{\"phoneNumberId\":\"$LINE\",\"name\":\"x\",
        \"templateName\":\"plain\",\"language\":\"de\"}"
    api POST "/v2/campaigns/$(jq -r .data.id "$body")/cancel" -d '{}'
    assert_success
    courier_once >/dev/null # adds the event of the send
}

# bats test_tags=long
@test "every event of the document is delivered" {
    start_receiver EVENTS
    api POST /v2/webhooks/config -d "{\"webhookUrl\":\"$EVENTS_URL/e\",\"webhookCode\":\"code\"}"
    assert_success
    switchboard event enable message.status "$EMAIL" >/dev/null
    switchboard event enable contact.erased "$EMAIL" >/dev/null
    switchboard event enable template.status "$EMAIL" >/dev/null
    switchboard event enable outgoing.finished "$EMAIL" >/dev/null
    switchboard event enable campaign.changed "$EMAIL" >/dev/null
    switchboard event test "$EMAIL" >/dev/null
    take "$(payload "$(inbound wamid.ad "$P1" "$B1" '"type":"text","text":{"body":"Hi"},
        "referral":{"source_type":"ad","source_id":"1","source_url":"https://example.com/"}')")"
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$P1\",
        \"text\":\"Hello\"}"
    assert_success
    take "$(payload "$(status_of "$(jq -r '.data.messages[0].id' "$body")" delivered \
        "$(to_both "$P1" "$B1")")")"
    take "$(payload "$(account_change message_template_status_update '{"event":"PAUSED",
        "message_template_id":1,"message_template_name":"t","message_template_language":"en",
        "reason":"NONE"}')")"
    finish_outgoing
    courier_once >/dev/null
    for contact in $(switchboard contact list --json | jq -r '.[].id'); do
        switchboard contact erase "$contact" >/dev/null
    done
    courier_once >/dev/null # erases, and adds the events
    courier_once >/dev/null
    assert_equal "$(jq -r .type "$EVENTS_DIR"/*.body | sort -u)" \
        "$(jq -r '.webhooks | keys[]' "$DOCUMENT")"
    jq -r .data.source "$EVENTS_DIR"/*.body | grep -qx ad || fail 'no lead of an ad'
}
