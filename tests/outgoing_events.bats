#!/usr/bin/env bats
# The events outgoing.finished and campaign.changed.
load helpers/all
load helpers/courier
load helpers/inbox
load helpers/sender
load helpers/webhook

setup_file() {
    start_stack
    make_user
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[
        {\"id\":\"72\",\"name\":\"plain\",\"language\":\"de\",\"status\":\"APPROVED\",
         \"category\":\"UTILITY\",\"components\":[{\"type\":\"BODY\",\"text\":\"x\"}]}]}" >/dev/null
}

setup() {
    forget_sent
    forget_webhooks
    sandbox DELETE faults >/dev/null
    db 'DELETE FROM outgoing; DELETE FROM campaign_recipient; DELETE FROM campaign_count;
        DELETE FROM campaign; DELETE FROM sender_lease; DELETE FROM sender_streak'
    have_pulse
    to=1555$((1000000 + $(next_number)))
    who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\""
    api POST /v2/webhooks/config -d '{"webhookUrl":"http://127.0.0.1:1/","webhookCode":"code"}'
    types 'outgoing.finished campaign.changed'
}

teardown() {
    stop_senders
}

types() { # NULL or TYPES
    db "UPDATE webhook SET event_types = $([[ $1 == NULL ]] && echo NULL || echo "'$1'")"
}

# Has the courier report what has ended, and prints states and reasons of the sends in the events.
reported() {
    courier_once >/dev/null
    events 'select(.type == "outgoing.finished").data.outgoing | [.id, .state, .reason]' |
        sed "s/${out-none}/OUT/g"
}

changes() {
    events 'select(.type == "campaign.changed").data.campaign | [.id, .state, .reason]' |
        sed "s/${campaign-none}/CMP/g"
}

draft() { # PEOPLE
    api POST /v2/campaigns -d "{\"phoneNumberId\":\"$LINE\",\"name\":\"Herbst\",
        \"templateName\":\"plain\",\"language\":\"de\"}"
    campaign=$(gojq -r .data.id "$body")
    {
        echo to
        seq 15552000001 $((15552000000 + $1))
    } >"$BATS_TEST_TMPDIR/table"
    api PUT "/v2/campaigns/$campaign/recipients" -H 'Content-Type: text/csv' \
        -d "@$BATS_TEST_TMPDIR/table"
    assert_success
}

act() { # DEED [BODY]
    api POST "/v2/campaigns/$campaign/$1" -d "${2-{\}}"
}

# --- outgoing.finished ---

@test "a queued send that is accepted is reported once, with the row, the contact and the thread" {
    queue hello
    start_sender
    eventually row_is "$out" accepted
    assert_equal "$(reported)" '["OUT","accepted",null]'
    reported >/dev/null
    api GET "/v2/outgoing/$out"
    assert_equal "$(events .data.outgoing | gojq -c .)" \
        "$(gojq -c '.data | del(.message)' "$body")"
    assert_equal "$(events '.type, (.data | .accountId, .wabaid, .phoneNumberId, .contact.phone)' |
        tr -d '"')" "$(printf '%s\n' outgoing.finished "$ACCOUNT" "$WABA" "$LINE" "$to")"
    assert_equal "$(events '.data.threadId, .data.contact.id' | tr -d '"')" \
        "$(db "SELECT t.id || '
' || c.id FROM thread t JOIN contact c ON c.id = t.contact_id WHERE c.phone = '$to'")"
    assert_equal "$(db "SELECT e.wamid = o.wamid FROM event e, outgoing o" | sed 's/t/1/')" 1
    assert_equal "$(db "SELECT order_key FROM delivery")" "$(db "SELECT contact_id FROM event")"
}

@test "a send that fails, expires or is held back is reported with the reason, and a retry too" {
    fault '{"code":131026}'
    queue a
    start_sender
    eventually row_is "$out" failed
    assert_equal "$(reported)" "[\"OUT\",\"failed\",$(row "$out" \
        "coalesce('\"' || reason || '\"', 'null')")]"
    assert_equal "$(events '.data | [.outgoing.error.error.code, .contact]')" '[131026,null]'
    stop_sender
    forget_events
    api POST "/v2/outgoing/$out/retry" -d '{}'
    out=$(gojq -r .data.id "$body")
    db "UPDATE outgoing SET expires_at = 1 WHERE id = '$out'"
    start_sender
    eventually row_is "$out" expired
    assert_equal "$(reported)" '["OUT","expired",null]'
    assert_equal "$(events '.data.outgoing.retryOf == null')" false
}

forget_events() {
    db 'DELETE FROM event_attempt; DELETE FROM delivery; DELETE FROM event'
}

@test "an unknown outcome is reported after ten minutes, and that the message was accepted later too" {
    fault '{"kind":"reset"}'
    queue a
    start_sender
    eventually row_is "$out" unknown
    stop_sender
    assert_equal "$(reported)" ''
    assert_equal "$(row "$out" 'report_at - finished_at')" 600000
    db "UPDATE outgoing SET report_at = 1 WHERE id = '$out'"
    assert_equal "$(reported | cut -d , -f 1,2)" '["OUT","unknown"'
    take "$(payload "$(status_of wamid.late delivered | gojq -c --arg id "$out" \
        '(.. | objects | select(has("statuses")).statuses[0]).biz_opaque_callback_data = $id')")"
    row_is "$out" accepted
    assert_equal "$(reported | tail -n 1)" '["OUT","accepted",null]'
    assert_equal "$(reported | wc -l)" 2
}

@test "a send whose status comes within ten minutes was never unknown to a webhook" {
    fault '{"kind":"reset"}'
    queue a
    start_sender
    eventually row_is "$out" unknown
    stop_sender
    take "$(payload "$(status_of wamid.soon sent | gojq -c --arg id "$out" \
        '(.. | objects | select(has("statuses")).statuses[0]).biz_opaque_callback_data = $id')")"
    db "UPDATE outgoing SET report_at = 1 WHERE report_at > $db_now"
    assert_equal "$(reported)" '["OUT","accepted",null]'
}

@test "no webhook gets outgoing.finished that does not select it, and none is made up later" {
    types NULL
    queue a
    start_sender
    eventually row_is "$out" accepted
    assert_equal "$(reported)" ''
    assert_equal "$(row "$out" "coalesce(report_at, 0)")" 0
    types outgoing.finished
    assert_equal "$(reported)" ''
}

@test "a cancelled send and one of a campaign are not reported" {
    queue a
    api DELETE "/v2/outgoing/$out"
    draft 2
    act start
    start_sender
    eventually eval '[[ $(db "SELECT state FROM campaign") == finished ]]'
    assert_equal "$(reported)" ''
    assert_equal "$(db 'SELECT count(report_at) FROM outgoing')" 0
}

# bats test_tags=long
@test "couriers that run at once report each send once" {
    local i
    for i in {1..60}; do queue "$i"; done
    db "UPDATE outgoing SET expires_at = 1"
    start_sender
    eventually eval '[[ $(db "SELECT count(*) FROM outgoing WHERE state <> '"'expired'"'") == 0 ]]'
    courier_once >/dev/null &
    i=$!
    courier_once >/dev/null
    wait "$i"
    reported >/dev/null
    assert_equal "$(db "SELECT count(*), count(DISTINCT substr(CAST(body AS TEXT),
        instr(CAST(body AS TEXT), 'out_'), 30)) FROM event")" '60|60'
}

@test "an erased person leaves no event of a queued send, reported or not" {
    take "$(payload "$(inbound wamid.er "$to" US.4711 '"type":"text","text":{"body":"Hi"}')")"
    local contact
    contact=$(db "SELECT id FROM contact WHERE phone = '$to'")
    queue a
    start_sender
    eventually row_is "$out" accepted
    assert_equal "$(reported | wc -l)" 1
    queue b
    eventually row_is "$out" accepted
    stop_sender
    switchboard contact erase "$contact" >/dev/null
    courier_once >/dev/null
    courier_once >/dev/null
    assert_equal "$(db 'SELECT count(*) FROM event')" 0
}

# --- campaign.changed ---

@test "each change of a campaign is one event with its counts, and a repetition is none" {
    draft 3
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    act start
    act pause
    act pause
    act resume
    act cancel
    act cancel
    assert_equal "$(changes)" "$(printf '["CMP","%s",null]\n' scheduled paused scheduled cancelled)"
    assert_equal "$(events '.data.campaign.counts | [.waiting, .cancelled]' | uniq)" \
        $'[3,0]\n[0,3]'
    api GET "/v2/campaigns/$campaign"
    assert_equal "$(events .data.campaign | tail -n 1 | gojq -c .)" "$(gojq -c .data "$body")"
    assert_equal "$(events '.data | [.accountId, .wabaid, .phoneNumberId, .contact, .threadId]' |
        uniq)" "[\"$ACCOUNT\",\"$WABA\",\"$LINE\",null,null]"
    assert_equal "$(db 'SELECT DISTINCT order_key FROM delivery')" "$campaign"
}

@test "a campaign that runs through is reported as running and finished" {
    draft 3
    act start
    start_sender
    eventually eval '[[ $(changes | wc -l) == 2 ]]'
    assert_equal "$(changes)" $'["CMP","running",null]\n["CMP","finished",null]'
    assert_equal "$(events '.data.campaign.counts.accepted' | tail -n 1)" 3
}

@test "a refusal that pauses all campaigns of the line reports each of them once, with the code" {
    local first
    draft 3
    first=$campaign
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    draft 3
    act start
    forget_events
    fault '{"code":190}'
    start_sender
    eventually eval '[[ $(changes | wc -l) == 2 ]]'
    assert_equal "$(changes | sed "s/$first/FIRST/" | sort)" \
        $'["CMP","paused","190"]\n["FIRST","paused","190"]'
}

@test "a template that the platform pauses reports its campaigns, once" {
    local change
    draft 1
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    forget_events
    change=$(account_change message_template_status_update '{"event":"PAUSED","reason":"NONE",
        "message_template_id":72,"message_template_name":"plain","message_template_language":"de"}')
    take "$(payload "$change")"
    take "$(payload "$change")"
    assert_equal "$(changes)" '["CMP","paused","template"]'
}

@test "no webhook gets campaign.changed that does not select it, or is of another line" {
    types NULL
    draft 1
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    types campaign.changed
    db "UPDATE webhook SET line_ids = 'lin_other'"
    act pause
    assert_equal "$(changes)" ''
    db "UPDATE webhook SET line_ids = NULL"
    act resume
    assert_equal "$(changes)" '["CMP","scheduled",null]'
}

@test "a restored backup reports the campaigns and sends that it holds" {
    only_on_sqlite 'backups are copies of files'
    draft 1
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    schedule later "$(moment '+1 hour')"
    forget_events
    switchboard backup "$BATS_TEST_TMPDIR/held.db" >/dev/null
    switchboard restore "$BATS_TEST_TMPDIR/held.db" >/dev/null
    assert_equal "$(changes)" '["CMP","cancelled","restored"]'
    db "UPDATE outgoing SET report_at = 1"
    assert_equal "$(reported)" '["OUT","unknown","restored"]'
}
