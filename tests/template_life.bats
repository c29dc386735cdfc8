#!/usr/bin/env bats
# The life of a template through the whole gateway: the sandbox reviews it, its webhooks reach the
# gateway as the platform's do, and the courier delivers the events.
# transports: cgi fcgi
# bats file_tags=long
load helpers/all
load helpers/courier

setup_file() {
    start_stack
    make_user
    make_second_account
    start_receiver EVENTS
    api POST /v2/webhooks/config -d "{\"webhookUrl\":\"$EVENTS_URL/e\",\"webhookCode\":\"code\"}"
    assert_success
    switchboard event enable template.status "$EMAIL" >/dev/null
    sandbox POST settings "{\"appSecret\":\"test-app-secret\",
        \"webhookUrl\":\"$BASE/platform/webhook\"}" >/dev/null
    start_courier
}

teardown_file() {
    stop_courier
    stop_receivers
    stop_stack
}

# The events of templates that arrived, in their order: CHANGE STATUS REASON
events() {
    jq -rs 'map(select(.type == "template.status").data) | sort_by(.sequence)[]
        | "\(.change) \(.status) \(.reason)"' "$EVENTS_DIR"/*.body
}

have_arrived() { # COUNT
    compgen -G "$EVENTS_DIR/*.body" >/dev/null && (($(events | wc -l) >= $1))
}

# The status that GET /v2/templates shows for the template, and that was reported last.
assert_shown() { # STATUS REASON REPORTED-REASON
    api GET '/v2/templates?reported=true&fields=name,language,status,rejected_reason'
    assert_success
    assert_json '[(.data.items[] | select(.name == "tea_time") | .status, .rejected_reason),
        (.data.reported[] | select(.name == "tea_time") | .status, .reason)]' \
        "[\"$1\",\"$2\",\"$1\",$3]"
}

send_it() {
    api POST /v2/templates/send -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",
        \"templateName\":\"tea_time\",\"components\":[{\"type\":\"body\",\"parameters\":[
            {\"type\":\"text\",\"text\":\"two\"}]}]}"
}

@test "a template is made, rejected with a reason, edited, approved, sent and paused, and each change is an event" {
    local id components='[{"type":"BODY","text":"There is tea for {{1}} here.","example":{"body_text":[["two"]]}}]'
    api POST /v2/templates -d "{\"name\":\"tea_time\",\"language\":\"en_US\",\"category\":\"UTILITY\",\"components\":$components}"
    assert_success
    assert_json .data.status '"PENDING"'
    id=$(jq -r .data.id "$body")
    send_it
    assert_error 404 NOT_FOUND
    sandbox POST "templates/$id" '{"status":"REJECTED","rejected_reason":"INVALID_FORMAT"}' >/dev/null
    eventually have_arrived 1
    assert_shown REJECTED INVALID_FORMAT '"INVALID_FORMAT"'
    api PATCH /v2/templates/tea_time -d "{\"components\":${components/here/now}}"
    assert_success
    sandbox POST "templates/$id" '{"status":"APPROVED","rejected_reason":"NONE"}' >/dev/null
    eventually have_arrived 2
    assert_shown APPROVED NONE null
    send_it
    assert_success
    assert_equal "$(db "SELECT direction, type, status FROM message
        WHERE wamid = '$(jq -r '.data.messages[0].id' "$body")'")" 'out|template|accepted'
    sandbox POST "templates/$id" '{"quality_score":{"score":"RED"}}' >/dev/null
    eventually have_arrived 4
    assert_equal "$(events)" "$(printf '%s\n' 'status REJECTED INVALID_FORMAT' \
        'status APPROVED null' 'quality APPROVED null' 'status PAUSED null')"
    send_it
    assert_error 400 VALIDATION_ERROR paused
    # the template of the other account has the same name, and no event
    api GET "/v2/templates?reported=true&accountId=$SECOND_ACCOUNT"
    assert_json .data.reported '[]'
    api POST /v2/templates/tea_time/unpause
    assert_success
    send_it
    assert_success
}
