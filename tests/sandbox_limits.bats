#!/usr/bin/env bats
# transports: direct
# The Graph sandbox refuses, holds and fails messages beyond the limits of the platform, which its
# settings set.
load helpers/all
load helpers/sandbox_calls

offer='"type":"template","template":{"name":"spring_sale","language":{"code":"en_US"},"components":[
    {"type":"body","parameters":[{"type":"text","text":"20%"},{"type":"text","text":"A"}]},
    {"type":"button","sub_type":"copy_code","index":0,"parameters":[
        {"type":"coupon_code","coupon_code":"A"}]}]}'
SALE=310000000000006

# Sends a message to a user: to DIGITS [MEMBERS]
to() {
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"$1\",${2-$text}}"
}

@test "messagesPerSecond: what is more in a second is refused with 130429, of this number alone" {
    local i
    sandbox POST settings '{"messagesPerSecond":1}' >/dev/null
    for i in {1..20}; do
        to 16505551234
        [[ $status == 200 ]] || break
    done
    assert_refused 400 130429
    eventually accepted_again
    sandbox POST settings '{"messagesPerSecond":0}' >/dev/null
    for i in {1..5}; do
        to 16505551234
        assert_accepted
    done
}

accepted_again() {
    to 16505551234
    [[ $status == 200 ]]
}

@test "pairMessages: so many at once to one user, and others are refused with 131056" {
    local i
    sandbox POST settings '{"pairMessages":3}' >/dev/null
    for i in 1 2 3; do
        to 16505551234
        assert_accepted
    done
    for i in {1..20}; do
        to 16505551234
        [[ $status == 200 ]] || break
    done
    assert_refused 400 131056
    to 16505551235
    assert_accepted
}

@test "templateMessages: after so many a template is PAUSED, with its webhook (then 132015)" {
    open_inbox
    sandbox POST settings '{"templateMessages":2}' >/dev/null
    to 16505551234 "$offer"
    assert_accepted
    to 16505551234 "$offer"
    assert_accepted
    eventually inbox_holds 1
    assert_equal "$(sandbox GET 'requests/last/body?path=/inbox' | gojq -c '.entry[0].changes[0]
        | [.field, (.value | .event, .message_template_name, .message_template_language)]')" \
        '["message_template_status_update","PAUSED","spring_sale","en_US"]'
    to 16505551234 "$offer"
    assert_refused 400 132015
    sandbox POST "templates/$SALE" '{"status":"APPROVED"}' >/dev/null
    to 16505551234 "$offer"
    assert_accepted
}

@test "marketingMessages: more to one user in 24 hours are accepted and fail with 131049" {
    local failed
    open_inbox
    sandbox POST settings '{"marketingMessages":1,"automaticStatuses":true,"statusDelayMs":1}' \
        >/dev/null
    to 16505551234 "$offer"
    assert_accepted
    eventually inbox_holds 3
    to 16505551234 "$offer"
    assert_accepted
    eventually inbox_holds 4
    failed=$(sandbox GET 'requests/last/body?path=/inbox')
    assert_equal "$(gojq -c '.entry[0].changes[0].value.statuses[0] | [.status, .errors[0].code]' \
        <<<"$failed")" '["failed",131049]'
    to 16505551235 "$offer"
    assert_accepted
    eventually inbox_holds 7
    wrote 16505551234
    to 16505551234 # no marketing
    assert_accepted
    eventually inbox_holds 10
}

@test "heldTemplates: the answer says that a template is held, of other messages nothing" {
    sandbox POST settings '{"heldTemplates":true}' >/dev/null
    to 16505551234 "$offer"
    assert_accepted
    assert_text '.messages[0].message_status' held_for_quality_assessment
    to 16505551234
    assert_json '.messages[0] | has("message_status")' false
    sandbox POST reset >/dev/null
    to 16505551234 "$offer"
    assert_text '.messages[0].message_status' accepted
}

@test "an answer that is dropped after the message was accepted leaves the message with its status" {
    open_inbox
    sandbox POST settings '{"automaticStatuses":true,"statusDelayMs":1}' >/dev/null
    fault '{"match":{"path":"/messages"},"kind":"reset"}'
    to 16505551234 "$offer"
    [[ $code != 0 && $status == 000 ]] || fail "status $status, curl ended with $code"
    eventually inbox_holds 3
}
