#!/usr/bin/env bats
# Calls of persons and their permission to be called, as the platform reports them (spec 6).
# shellcheck disable=SC2086  # the names of people ($P1, $B1, ...) are single words
load helpers/all
load helpers/webhook
load helpers/courier

setup_file() {
    start_stack
    make_user
    make_webhook
}

setup() {
    forget_sent
    write_config
    make_account_line
}

BEGINS='"event":"connect","timestamp":"1780000000","session":{"sdp_type":"offer","sdp":"v=0"}'
MISSED='"event":"terminate","timestamp":"1780000040","status":"FAILED"'
ANSWERED='"event":"terminate","timestamp":"1780000140","status":"COMPLETED","start_time":"1780000015","end_time":"1780000140","duration":125'
BROKEN='"event":"terminate","timestamp":"1780000035","status":"FAILED","start_time":"1780000015","end_time":"1780000035","duration":20,"errors":[{"code":138021}]'

# Prints the object of a call of P1 and B1: call_object MEMBERS [DIRECTION [ID]]
call_object() {
    printf '{"id":"%s","from":"%s","from_user_id":"%s","to":"15550100001","direction":"%s",%s}' \
        "${3-wacid.1}" $P1 $B1 "${2-USER_INITIATED}" "$1"
}

# Prints a payload with a call: call MEMBERS [DIRECTION [ID]]
call() {
    payload "$(change calls "\"contacts\":[$(card $P1 $B1)],\"calls\":[$(call_object "$@")]")"
}

# Expects the one message of the call: assert_call BODY SECOND UNREAD WAITING
assert_call() {
    assert_only_contact $P1/$B1
    assert_messages 'wacid.1 in call received'
    assert_equal "$(messages | gojq -r '.[].timestamp')" "2026-05-28T20:26:$2.000Z"
    assert_equal "$(db "SELECT CAST(m.body AS TEXT) FROM message m JOIN thread t ON t.id = m.thread_id
        WHERE t.contact_id = '$contact'")" "$(call_object "$1")"
    assert_equal "$(db "SELECT unread, coalesce(waiting_since, 0), last_inbound_at
        FROM thread WHERE contact_id = '$contact'")" "$3|$4|17800000${5-00}000"
}

# Prints how many updates of the account are stored as they are.
raw_updates() {
    db "SELECT count(*) FROM platform_update p JOIN account a ON a.id = p.account_id
        WHERE a.waba_id = '$WABA'"
}

# --- the message of a call ---

@test "a call is one message of its thread from its beginning, without an event" {
    take "$(call "$BEGINS")"
    assert_call "$BEGINS" 40 1 1780000000000
    assert_no_events
    assert_equal "$(raw_updates)" 0
}

@test "the end of a call completes its message: a missed one waits for an answer, and is an event" {
    take "$(call "$BEGINS")"
    take "$(call "$MISSED")"
    assert_call "$MISSED" 40 1 1780000000000
    assert_events message.received lead.created/new_contact
    assert_equal "$(events 'select(.type == "message.received").data.message')" \
        "$(call_object "$MISSED")"
}

@test "a call that was answered waits for nothing, and is unread" {
    take "$(call "$BEGINS")"
    take "$(call "$ANSWERED")"
    assert_call "$ANSWERED" 40 1 0
    assert_events message.received lead.created/new_contact
}

@test "a call that failed while they talked waits for an answer" {
    take "$(call "$BEGINS")"
    take "$(call "$BROKEN")"
    assert_call "$BROKEN" 40 1 1780000000000
}

@test "a call that rang when its thread was marked as done waits once it is missed" {
    local thread
    take "$(call "$BEGINS")"
    assert_only_contact $P1/$B1
    thread=$(db "SELECT id FROM thread WHERE contact_id = '$contact'")
    api POST "/v2/threads/$thread/done" -d "{\"change\":$(db "SELECT changed FROM thread WHERE id = '$thread'")}"
    assert_success
    assert_json .data.waitingSince null
    take "$(call "$MISSED")"
    assert_call "$MISSED" 40 1 1780000000000
}

@test "errors beside a call that failed are kept as they are, and the call is its message" {
    take "$(payload "$(change calls "\"calls\":[$(call_object "$BROKEN")],\"errors\":[{\"code\":138021}]")")"
    assert_call "$BROKEN" 55 1 1780000015000 15
    assert_equal "$(raw_updates)" 1
}

# bats test_tags=long
@test "webhooks of a call in any order and repeated end in the same message with one event" {
    local end begins ends order waiting
    for end in MISSED ANSWERED BROKEN; do
        waiting=1780000000000
        [[ $end != ANSWERED ]] || waiting=0
        for order in 'begins ends' 'ends begins' 'ends ends begins begins ends' 'begins begins ends ends begins'; do
            make_account_line
            begins=$(call "$BEGINS") ends=$(call "${!end}")
            for each in $order; do
                take "${!each}"
            done
            assert_only_contact $P1/$B1
            assert_messages 'wacid.1 in call received'
            assert_equal "$(db "SELECT CAST(m.body AS TEXT), m.timestamp, t.unread, coalesce(t.waiting_since, 0)
                FROM message m JOIN thread t ON t.id = m.thread_id WHERE t.contact_id = '$contact'")" \
                "$(call_object "${!end}")|1780000000000|1|$waiting"
            assert_events message.received lead.created/new_contact
        done
    done
}

@test "both webhooks of a call may be in one payload, also the end first" {
    local order
    for order in "$BEGINS/$ANSWERED" "$ANSWERED/$BEGINS"; do
        make_account_line
        take "$(payload "$(change calls "\"contacts\":[$(card $P1 $B1)],\"calls\":[$(call_object "${order%/*}"),$(call_object "${order#*/}")]")")"
        assert_only_contact $P1/$B1
        assert_messages 'wacid.1 in call received'
        assert_equal "$(db "SELECT CAST(m.body AS TEXT), t.unread, coalesce(t.waiting_since, 0)
            FROM message m JOIN thread t ON t.id = m.thread_id WHERE t.contact_id = '$contact'")" \
            "$(call_object "$ANSWERED")|1|0"
        assert_events message.received lead.created/new_contact
    done
}

@test "an end with other bytes than the first one changes nothing" {
    take "$(call "$MISSED")"
    take "$(call "$ANSWERED")"
    assert_only_contact $P1/$B1
    assert_equal "$(db "SELECT CAST(m.body AS TEXT), coalesce(t.waiting_since, 0) - m.timestamp
        FROM message m JOIN thread t ON t.id = m.thread_id WHERE t.contact_id = '$contact'")" \
        "$(call_object "$MISSED")|0"
    assert_events message.received lead.created/new_contact
}

@test "a call counts as no message of the usage" {
    take "$(call "$BEGINS")"
    take "$(call "$ANSWERED")"
    assert_equal "$(db "SELECT count(*) FROM usage u JOIN line l ON l.id = u.line_id
        WHERE l.phone_number_id = '$LINE'")" 0
}

# --- the person, and what is no call of a person ---

@test "the person of a call is found as that of a message, also without a phone or with another spelling" {
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    take "$(payload "$(change calls "\"calls\":[{\"id\":\"wacid.1\",\"from_user_id\":\"$B1\",\"to\":\"15550100001\",\"direction\":\"USER_INITIATED\",$BEGINS}]")")"
    take "$(payload "$(change calls "\"contacts\":[$(card 5215550000000 $B1)],\"calls\":[{\"id\":\"wacid.2\",\"from\":\"525550000000\",\"to\":\"15550100001\",\"direction\":\"USER_INITIATED\",$MISSED}]")")"
    assert_equal "$(contacts | gojq -r '.[].userId')" $B1
    contact=$(contacts | gojq -r '.[0].id')
    assert_messages 'wamid.1 in text received' 'wacid.1 in call received' 'wacid.2 in call received'
}

@test "a call without a direction is that of the side that is not the line" {
    take "$(payload "$(change calls "\"calls\":[{\"id\":\"wacid.1\",\"from\":\"$P1\",\"to\":\"15550100001\",$BEGINS}]")")"
    take "$(payload "$(change calls "\"calls\":[{\"id\":\"wacid.2\",\"from\":\"15550100001\",\"to\":\"$P2\",$BEGINS}]")")"
    take "$(payload "$(change calls "\"calls\":[{\"id\":\"wacid.3\",\"from\":\"15550100001\",\"to\":\"$P1\",\"direction\":\"USER_INITIATED\",$MISSED}]")")"
    assert_only_contact $P1/none
    assert_messages 'wacid.1 in call received' 'wacid.3 in call received'
    assert_equal "$(raw_updates)" 1
}

@test "calls of the business, their statuses and unknown events of a call are stored as they are" {
    take "$(call "$BEGINS" BUSINESS_INITIATED)"
    take "$(call '"event":"hold","timestamp":"1780000000"')"
    take "$(payload "$(change calls "\"statuses\":[{\"id\":\"wacid.1\",\"type\":\"call\",\"status\":\"RINGING\",\"timestamp\":\"1780000001\",\"recipient_id\":\"$P1\"}]")")"
    take "$(payload "$(status_of wacid.1 ACCEPTED "\"type\":\"call\",$(to_both $P1 $B1)")")"
    take "$(payload "$(change calls "\"calls\":[{\"from\":\"$P1\",\"direction\":\"USER_INITIATED\",$BEGINS}]")")"
    assert_equal "$(contacts)" '[]'
    assert_equal "$(raw_updates)" 5
    assert_no_events
}

# --- permission ---

@test "the reply to a request for a call is a message and an event, also without a type as in the example" {
    local reply='"context":{"from":"15550100001","id":"wacid.1"},"interactive":{"type":"call_permission_reply","call_permission_reply":{"response":"accept","is_permanent":false,"expiration_timestamp":"1780604800","response_source":"automatic"}}'
    take "$(payload "$(inbound wamid.1 $P1 $B1 "\"type\":\"interactive\",$reply")")"
    take "$(payload "$(inbound wamid.2 $P1 $B1 "$reply")")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in interactive received' 'wamid.2 in interactive received'
    assert_equal "$(db "SELECT m.context_wamid FROM message m JOIN thread t ON t.id = m.thread_id
        WHERE t.contact_id = '$contact'")" $'wacid.1\nwacid.1'
    assert_events message.received lead.created/new_contact message.received
}

# --- the API, erasure and retention ---

@test "the API lists a call as a message, and reads it by its id" {
    local thread id
    take "$(call "$BEGINS")"
    take "$(call "$ANSWERED")"
    assert_only_contact $P1/$B1
    thread=$(db "SELECT id FROM thread WHERE contact_id = '$contact'")
    api GET "/v2/threads/$thread/messages"
    assert_success
    assert_json '.data.items | map([.wamid, .direction, .source, .type, .status, .body.duration])' \
        '[["wacid.1","in","webhook","call","received",125]]'
    id=$(jq -r '.data.items[0].id' "$body")
    api GET "/v2/messages/$id"
    assert_success
    assert_json .data.wamid '"wacid.1"'
    api GET "/v2/messages/wacid.1"
    assert_success
    assert_json .data.id "\"$id\""
}

@test "an end of a call that comes after the erasure of its person brings nothing back" {
    take "$(call "$BEGINS")"
    assert_only_contact $P1/$B1
    switchboard contact erase "$contact"
    courier --once
    take "$(call "$MISSED")"
    assert_equal "$(contacts)" '[]'
}

@test "a call is in the export of its person byte for byte" {
    take "$(call "$ANSWERED")"
    assert_only_contact $P1/$B1
    [[ $(switchboard contact export "$contact") == *"$(call_object "$ANSWERED")"* ]]
}

@test "the end of a call that shows that two contacts are one person merges them with the call" {
    take "$(payload "$(change calls "\"calls\":[{\"id\":\"wacid.1\",\"from\":\"$P1\",\"to\":\"15550100001\",\"direction\":\"USER_INITIATED\",$BEGINS}]")")"
    take "$(payload "$(inbound wamid.1 '' $B1 '"type":"text","text":{"body":"x"}')")"
    assert_contacts $P1/none none/$B1
    take "$(call "$MISSED")"
    assert_only_contact $P1/$B1
    assert_messages 'wacid.1 in call received' 'wamid.1 in text received'
    assert_equal "$(db "SELECT CAST(body AS TEXT) FROM message WHERE wamid = 'wacid.1' AND thread_id =
        (SELECT id FROM thread WHERE contact_id = '$contact')")" "$(call_object "$MISSED")"
}
